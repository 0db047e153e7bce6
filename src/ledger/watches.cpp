#include "ledger/watches.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gputest::ledger {

std::vector<std::size_t> Watches::watch(const std::vector<std::size_t>& slots) {
  std::vector<std::size_t> ended;
  std::vector<system::BellWatch> bells;
  bells.reserve(slots.size());
  for (const std::size_t slot : slots) {
    if (auto* const known = find(slot)) {
      bells.push_back(std::move(*known));
      continue;
    }
    bells.emplace_back(store_->bell(slot));
    if (!bells.back().owner_lives()) {
      ended.push_back(slot);
    }
  }
  slots_ = slots;
  bells_ = std::move(bells);
  return ended;
}

system::Woken Watches::wait(const system::Bell& own, std::chrono::milliseconds at_most) const {
  auto woken = system::wait(own, bells_, at_most);
  for (std::size_t& ended : woken.ended) {
    ended = slots_[ended];
  }
  return woken;
}

std::vector<std::size_t> Watches::ended_among(const std::vector<std::size_t>& slots) {
  std::vector<std::size_t> ended;
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(ended), [&](std::size_t slot) {
    const auto* const known = find(slot);
    return known != nullptr ? !known->owner_lives() : !system::BellWatch{store_->bell(slot)}.owner_lives();
  });
  return ended;
}

system::BellWatch* Watches::find(std::size_t slot) {
  const auto known = std::find(slots_.begin(), slots_.end(), slot);
  return known == slots_.end() ? nullptr : &bells_[static_cast<std::size_t>(known - slots_.begin())];
}

} // namespace gputest::ledger
