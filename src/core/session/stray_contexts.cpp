// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/stray_contexts.hpp"

#include "core/session/messages.hpp"

#include <algorithm>

namespace gputest::session {

namespace {

/// Less than that is not a context: a device shows some MiB if it is visible to a context on another device (4 MiB,
/// H200).
constexpr Bytes smallest_context{std::uint64_t{16} << 20U};

} // namespace

std::vector<std::string> StrayContexts::look(const OwnContexts& contexts, const devices::DeviceList& machine,
                                             const std::vector<std::size_t>& given, const std::string& who) {
  std::vector<Device> own;
  own.reserve(given.size());
  for (const std::size_t index : given) {
    own.push_back(machine.devices()[index]);
  }
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < machine.devices().size(); ++i) {
    if (found_.count(i) != 0 || std::find(given.begin(), given.end(), i) != given.end()) {
      continue;
    }
    const auto context = contexts.on(i);
    if (!context || context->used.value_or(smallest_context) < smallest_context) {
      continue;
    }
    found_.insert(i);
    const auto& device = machine.devices()[i];
    problems.push_back(
        who + " leaves this process a context on a device that was not given to it: " +
        (context->used ? std::to_string(context->used->count() >> 20U) + " MiB" : "of unknown size") + " on " +
        device.uuid + " (" + device.name + "), where the tests of others count on that memory. It was given " +
        describe(own) +
        ". Use only the devices that are visible to it, leave CUDA_VISIBLE_DEVICES as gputest has set it, and ask for "
        "more devices with GPUS in gpu_add_test() or gpu_discover_tests(); if CUDA is used before the tests start, let "
        "the launcher choose: "
        "LAUNCHER on, or gputest run");
  }
  return problems;
}

} // namespace gputest::session
