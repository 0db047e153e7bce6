// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/measurement.hpp"

#include "core/policy/lease_limit.hpp"
#include "core/session/messages.hpp"

#include <algorithm>
#include <iterator>

namespace gputest::session {

namespace {

using devices::AllocationKind;
using devices::Allocations;
using devices::DeviceUsage;
using devices::Evidence;
using devices::Usage;

const char* to_string(AllocationKind kind) {
  return kind == AllocationKind::device ? "device memory"
         : kind == AllocationKind::pool ? "pool memory"
                                        : "managed memory";
}

std::string to_string(const Allocations& allocations) {
  return allocations.function + (allocations.count == 1 ? "" : " x " + std::to_string(allocations.count)) + ": " +
         gputest::to_string(allocations.bytes);
}

/// ` At the peak: device memory 1 GiB, pool memory 20 MiB.`; empty if it is not known.
std::string peak_text(const DeviceUsage& usage) {
  std::string text;
  for (const auto& [kind, bytes] : usage.at_peak) {
    text += (text.empty() ? " At the peak: " : ", ") + std::string{to_string(kind)} + " " + gputest::to_string(bytes);
  }
  return text + (text.empty() ? "" : ".");
}

Bytes taken_of(const DeviceUsage& usage, const Allowance& allowance) {
  return usage.with_context ? usage.peak - allowance.context : usage.peak;
}

Bytes leased_of(const DeviceUsage& usage, const Allowance& allowance) {
  const auto device = static_cast<std::size_t>(usage.device);
  return device < allowance.leased.size() ? allowance.leased[device] : Bytes{};
}

} // namespace

Bytes peak_in(const Usage& usage, const Allowance& allowance) {
  Bytes peak;
  for (const auto& device : usage.devices) {
    peak = std::max(peak, taken_of(device, allowance));
  }
  return peak;
}

Bytes possible_in(const Usage& usage, Bytes total) {
  double largest_part = 0;
  for (const auto& device : usage.devices) {
    if (device.reported_free > Bytes{}) {
      largest_part = std::max(largest_part, static_cast<double>(device.peak.count()) /
                                                static_cast<double>(device.reported_free.count()));
    }
  }
  return Bytes{static_cast<std::uint64_t>(static_cast<double>(total.count()) * std::min(largest_part, 1.0))};
}

Overuse overuse_in(const Usage& usage, const Allowance& allowance, Overrun overrun) {
  if (usage.evidence == Evidence::unknown || allowance.whole_devices) {
    return {};
  }
  const bool exact = usage.evidence == Evidence::exact;
  const Bytes tolerated = exact ? granularity_of_drivers : growth_of_a_context;
  const auto excess = [&](const DeviceUsage& device) {
    return taken_of(device, allowance) - leased_of(device, allowance) - tolerated;
  };
  const auto worst =
      std::max_element(usage.devices.begin(), usage.devices.end(),
                       [&](const DeviceUsage& a, const DeviceUsage& b) { return excess(a) < excess(b); });
  if (worst == usage.devices.end() || excess(*worst) == Bytes{}) {
    return {};
  }
  const std::string taken = (exact ? "" : "at least ") + gputest::to_string(taken_of(*worst, allowance));
  const std::string took = allowance.who +
                           (overrun == Overrun::happened ? " took " : " asked for memory with which it would have ") +
                           taken + (worst->device == 0 ? "" : " of device " + std::to_string(worst->device));
  const std::string consequence = overrun == Overrun::happened
                                      ? ": tests of other processes may run out of memory."
                                      : ". It was stopped before it took more (GPUTEST_OVERUSE=stop).";
  const auto devices = allowance.leased.size();
  if (static_cast<std::size_t>(worst->device) >= devices) {
    const auto needed = std::to_string(worst->device + 1);
    return {
        taken + " of 0 B",
        took + ", and its lease is of the first " + std::to_string(devices) + consequence + peak_text(*worst) +
            " Ask for " + needed + ": " +
            (allowance.test.empty() ? "GPUS " + needed + advised(Advice::in_cmake) : advised(Advice::gpus, needed)) +
            ". Leave CUDA_VISIBLE_DEVICES as it is",
        true};
  }
  const auto leased = gputest::to_string(leased_of(*worst, allowance));
  return {taken + " of " + leased,
          took + ", and its lease is " + leased + consequence + peak_text(*worst) +
              (exact ? "" : " The device was asked from time to time.") + " Declare what it needs: " +
              policy::declare(allowance.test, taken_of(*worst, allowance), allowance.request,
                              allowance.of_suite ? policy::Named::suite : policy::Named::test, advice_notation())};
}

Overuse unleased_use_in(const Usage& usage, const std::string& who, const std::string& test) {
  const auto most = std::max_element(usage.devices.begin(), usage.devices.end(),
                                     [](const DeviceUsage& a, const DeviceUsage& b) { return a.peak < b.peak; });
  if (usage.evidence != Evidence::exact || most == usage.devices.end() || most->peak <= granularity_of_drivers) {
    return {};
  }
  const auto taken = gputest::to_string(most->peak);
  return {taken + " of 0 B", who + " took " + taken +
                                 (most->device == 0 ? "" : " of device " + std::to_string(most->device)) +
                                 " without a lease: tests of other processes may run out of memory." +
                                 peak_text(*most) + " " + policy::advise_lease(test, most->peak, advice_notation())};
}

Bytes left_of(const DeviceUsage& usage) {
  Bytes left;
  for (const auto& allocations : usage.left) {
    left += allocations.bytes;
  }
  return left;
}

Bytes wanted_of(const devices::DeviceUsage& usage, Bytes possible) {
  const auto beyond = std::upper_bound(usage.refused.begin(), usage.refused.end(), possible);
  return beyond == usage.refused.begin() ? usage.wanted : *std::prev(beyond);
}

std::string leak_in(const std::vector<DeviceUsage>& devices, const Allowance& allowance) {
  std::string text;
  std::string kept;
  Bytes most;
  for (const auto& device : devices) {
    const Bytes left = left_of(device);
    Bytes before;
    for (const auto& [period, bytes] : device.kept) {
      before += allowance.periods.count(period) != 0 ? bytes : Bytes{};
    }
    if (left == Bytes{} || left + before <= allowance.keeps) {
      continue;
    }
    most = std::max(most, left + before);
    if (before > Bytes{}) {
      kept += (kept.empty() ? ". What may be kept in sum has " : ", and of device ") +
              (kept.empty() ? "" : std::to_string(device.device) + " ") + gputest::to_string(before) +
              " of earlier tests in it already";
    }
    text += (text.empty() ? "" : "; and with ") + gputest::to_string(left) + " of device " +
            std::to_string(device.device) + " still allocated: ";
    constexpr std::size_t max_named = 3;
    for (std::size_t i = 0; i < std::min(device.left.size(), max_named); ++i) {
      text += std::string{i == 0 ? "" : ", "} + to_string(device.left[i].kind) + " by " + to_string(device.left[i]);
    }
    text += device.left.size() > max_named ? " and more" : "";
  }
  if (text.empty()) {
    return {};
  }
  return allowance.who + " ends with " + text +
         (allowance.keeps > Bytes{} ? ". It may keep " + gputest::to_string(allowance.keeps) : "") + kept +
         ". It counts as this process's own until it is freed or the process ends. Free it before the " +
         (allowance.of_suite ? "suite" : "test") +
         " ends. For what a library keeps on purpose: " + advised(Advice::keep_library) +
         policy::allow_to_keep(allowance.test, most, allowance.request,
                               allowance.of_suite ? policy::Named::suite : policy::Named::test, advice_notation());
}

} // namespace gputest::session
