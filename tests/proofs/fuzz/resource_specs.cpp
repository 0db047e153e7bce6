// SPDX-License-Identifier: BSD-3-Clause
// CUDA_VISIBLE_DEVICES and CTest's resource groups. An input's first line lists the machine's UUIDs, its second is
// CUDA_VISIBLE_DEVICES, and each further one a CTEST_RESOURCE_GROUP_<i>_GPUS.

#include "core/policy/visible_devices.hpp"
#include "proofs/fuzz/fuzzer.hpp"
#include "proofs/fuzz/tokens.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <set>

using namespace gputest;
using tests::require;

namespace {

using Texts = std::vector<std::string>;
using Indices = std::vector<std::size_t>;

Texts split(std::string_view list) {
  Texts parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

void check_indices(const Indices& indices, const Texts& uuids) {
  const std::set<std::size_t> once{indices.begin(), indices.end()};
  require(once.size() == indices.size(), "each device once");
  require(once.empty() || *once.rbegin() < uuids.size(), "only devices that there are");
}

bool are_uuids(const Texts& uuids) {
  const std::set<std::string> once{uuids.begin(), uuids.end()};
  return once.size() == uuids.size() && std::all_of(uuids.begin(), uuids.end(), [](const std::string& uuid) {
           return uuid.size() > 4 && uuid.compare(0, 4, "GPU-") == 0 && uuid.find_first_of(" \t") == std::string::npos;
         });
}

/// What gputest writes for its children, the UUIDs of what it may use, has to mean the same to them.
void check_that_uuids_name_the_same(const Indices& visible, const Texts& uuids) {
  if (visible.empty() || !are_uuids(uuids)) {
    return;
  }
  std::string list;
  for (const std::size_t index : visible) {
    list += (list.empty() ? "" : ",") + uuids[index];
  }
  require(policy::visible_devices(list, uuids) == visible, "a list of UUIDs names the same devices", list);
}

void check_allocation(const Texts& groups, const Texts& uuids) {
  try {
    if (const auto allocated = policy::ctest_allocation(std::to_string(groups.size()), groups, uuids)) {
      require(!allocated->empty(), "an allocation has devices");
      check_indices(*allocated, uuids);
    }
  } catch (const InvalidSetting& error) {
    require(tests::contains(error.what(), "which names no device"), "a refusal says why", error.what());
    require(uuids.empty() || tests::contains(error.what(), "the devices are 0 ("), "and what there is", error.what());
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tests::Tokens lines{tests::text_of(data, size)};
  const Texts uuids = split(lines.line());
  const std::string visible_value{lines.line()};
  Texts groups;
  while (!lines.rest().empty()) {
    groups.emplace_back(lines.line());
  }
  require(policy::visible_devices(std::nullopt, uuids).size() == uuids.size(), "without the variable all are visible");
  const Indices visible = policy::visible_devices(visible_value, uuids);
  check_indices(visible, uuids);
  check_that_uuids_name_the_same(visible, uuids);
  check_allocation(groups, uuids);
  return 0;
}
