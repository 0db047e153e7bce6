// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/lease_above.hpp"

#include <algorithm>

namespace gputest::policy {

std::optional<std::size_t> lease_above(const std::vector<Ancestor>& ancestors,
                                       const std::vector<LeaseHolder>& holders) {
  const auto position_of = [&](auto is_it) {
    const auto found = std::find_if(holders.begin(), holders.end(), is_it);
    return found == holders.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - holders.begin())};
  };
  for (const Ancestor& ancestor : ancestors) {
    const auto position = position_of([&](const LeaseHolder& holder) {
      return holder.pid == ancestor.pid && holder.uid == ancestor.uid && holder.start_time != 0 &&
             holder.start_time == ancestor.start_time;
    });
    if (position) {
      return position;
    }
  }
  return position_of([](const LeaseHolder& holder) { return holder.is_inherited; });
}

} // namespace gputest::policy
