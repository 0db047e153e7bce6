// SPDX-License-Identifier: BSD-3-Clause
#include "tool/ctest_facts.hpp"

#include "core/os/file.hpp"
#include "core/policy/request.hpp"
#include "core/policy/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

namespace gputest::tool {

namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;

std::uint64_t rounded_up(Bytes bytes) { return (bytes.count() + mebibyte - 1) / mebibyte; }

} // namespace

std::string ctest_facts(const DevicesReport& report) {
  std::string devices;
  std::uint64_t context = 0;
  std::uint64_t largest = 0;
  int most_processes = 0;
  std::optional<Bytes> smallest;
  std::uint64_t most_free = 0;
  for (const auto& device : report.devices) {
    most_free = std::max(most_free, bytes_for_tests(device).value_or(Bytes{}).count() / mebibyte);
  }
  for (const auto& device : report.devices) {
    if (const auto free = bytes_for_tests(device); free && free->count() >= mebibyte) {
      const auto total = (device.device.total - Bytes{device.reserved_bytes}).count() / mebibyte;
      const auto* const kind = device.facts.mig ? "slice" : "whole";
      const auto mib = free->count() / mebibyte; // nearly all of it, and so much as nearly the most of any
      const bool is_free = mib * 10 >= std::max(total, most_free) * 9;
      devices += fmt::format(" \"{} {} {}{}\"", total, mib, kind, is_free ? " free" : "");
      context = std::max(context, rounded_up(Bytes{device.next_context_bytes}));
      largest = std::max(largest, total);
      most_processes = std::max(most_processes, policy::most_processes(device.facts));
      smallest = std::min(smallest.value_or(device.device.total), device.device.total);
    }
  }
  if (!smallest) {
    return "";
  }
  // One process at a time can use such a device: a server of MPS would keep all others from it. A slice needs one of
  // its own.
  const bool suits_mps = std::none_of(report.devices.begin(), report.devices.end(), [](const auto& device) {
    return device.visible && (device.facts.compute_mode == policy::ComputeMode::exclusive_process || device.facts.mig);
  });
  const auto small = policy::to_memory_request(MemoryClass::small, Bytes{});
  const auto medium = policy::to_memory_request(MemoryClass::medium, *smallest);
  const std::uint64_t alone = context == 0 ? 1 : 0; // two halves are a whole device
  return fmt::format("set(gputest_devices{})\n"
                     "set(gputest_largest_mib {})\n"
                     "set(gputest_most_processes {})\n"
                     "set(gputest_context_mib {})\n"
                     "set(gputest_small_mib {})\n"
                     "set(gputest_medium_mib {})\n"
                     "set(gputest_beside_heap_mib {})\n"
                     "set(gputest_mps{})\n",
                     devices, largest, most_processes, context, rounded_up(small.bytes),
                     rounded_up(medium.bytes) + alone, rounded_up(policy::heap_cost(Bytes{mebibyte})) - 1,
                     suits_mps ? "" : " ENVIRONMENT GPUTEST_MPS=off");
}

RunByCtest run_by_ctest(const std::string& folder) {
  std::error_code none;
  auto run = RunByCtest::unknown;
  for (const auto& file : std::filesystem::directory_iterator{folder + "/Testing/Temporary", none}) {
    const auto name = file.path().filename().string();
    if (name.rfind("LastTest", 0) != 0 || name.rfind("LastTestsFailed", 0) == 0) {
      continue;
    }
    const auto log = os::contents_of(file.path().string()).value_or("");
    if (log.find("/gputest-entry\" \"") != std::string::npos || log.find("/gputest\" \"run\"") != std::string::npos) {
      return RunByCtest::entries;
    }
    const bool any = log.find("\nCommand: \"") != std::string::npos;
    run = std::max(run, any ? RunByCtest::others : RunByCtest::nothing);
  }
  return run;
}

std::string nothing_ran(const std::string& folder) {
  return fmt::format("ctest has run no test in {}: it has listed them (-N), or selected none. Run them: {}", folder,
                     policy::shell_words({"ctest", "--test-dir", folder}));
}

} // namespace gputest::tool
