// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"

#include <gputest/bytes.hpp>
#include <gputest/request.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace gputest::session {

/// What a test, or a suite with one lease for its tests, may allocate.
struct Allowance {
  std::string who;           ///< with the entry, for messages
  std::string test;          ///< its own name
  bool of_suite = false;     ///< `test` is a suite
  std::vector<Bytes> leased; ///< of each device, as the back end numbers them; of others nothing
  bool whole_devices = false;
  Bytes keeps;   ///< may be left of each device
  Bytes context; ///< what a context takes that may be in a sampled peak
  Request request;
  std::set<std::uint64_t> periods; ///< earlier ones in which the same may be kept
};

/// A use beyond what is allowed.
struct Overuse {
  std::string short_text;       ///< `1 GiB of 256 MiB`
  std::string text;             ///< what was taken and leased, what the peak was made of, and what to write
  bool of_other_device = false; ///< than those of the lease
};

/// Whether memory was taken already, or its test is stopped before it takes it.
enum class Overrun { happened, stopped };

/// The most of one device that was taken, as far as it is known. Pure.
[[nodiscard]] Bytes peak_in(const devices::Usage& usage, const Allowance& allowance);

/// What may be taken of one of the devices, which have `total` bytes, where all of it is free: a test that asks what is
/// free takes as large a part of it. 0: none asks. Pure.
[[nodiscard]] Bytes possible_in(const devices::Usage& usage, Bytes total);

/// What was taken beyond the lease, on the device where it was most; an empty text: nothing is known of it. Drivers
/// hand memory out in pieces of 2 MiB, which is tolerated. A sample may contain what a context has grown by: 512 MiB
/// are tolerated. Pure.
[[nodiscard]] Overuse overuse_in(const devices::Usage& usage, const Allowance& allowance,
                                 Overrun overrun = Overrun::happened);

/// What `who` took while it held no lease; an empty text: nothing is known of it. Only exact figures count, beyond 2
/// MiB. Pure.
[[nodiscard]] Overuse unleased_use_in(const devices::Usage& usage, const std::string& who, const std::string& test);

/// What is left allocated beyond what may be, with what is still there of earlier periods; empty if nothing is known,
/// or nothing is left of this one. Pure.
[[nodiscard]] std::string leak_in(const std::vector<devices::DeviceUsage>& devices, const Allowance& allowance);
[[nodiscard]] Bytes left_of(const devices::DeviceUsage& usage);

/// What it would have had, if the device had not been out of memory: the most that is at most `possible`, since tests
/// ask for more than any device has on purpose; else the most of all. 0: the device has refused nothing.
[[nodiscard]] Bytes wanted_of(const devices::DeviceUsage& usage, Bytes possible);

/// Drivers hand memory out in such pieces.
inline constexpr Bytes granularity_of_drivers{std::uint64_t{2} << 20U};

/// What a context may grow by while a test runs, as CUDA loads modules and their local memory.
inline constexpr Bytes growth_of_a_context{std::uint64_t{512} << 20U};

} // namespace gputest::session
