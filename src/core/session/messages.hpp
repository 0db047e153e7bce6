// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/policy/notation.hpp"

#include <gputest/device.hpp>
#include <gputest/request.hpp>
#include <gputest/settings.hpp>
#include <gputest/test_run.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

/// `12 s`, `3 min`, `2 h`: whole units, as people say it.
[[nodiscard]] std::string short_duration(std::chrono::seconds duration);

/// What to do where there is no GPU.
inline constexpr const char* simulated_instead =
    "Simulated devices, which have memory and run no kernels: GPUTEST_DEVICES=simulated:1x16GiB";

/// What somebody holds or waits for: `Sort.Keys (pid 4711, 3 GiB, for 12 s)`.
[[nodiscard]] std::string describe(const ledger::Record& record);

/// Who stands in the way, in one line; names the first few. Those that have memory beyond their claims come first.
[[nodiscard]] std::string describe(const ledger::Blocked& blocked);

/// `GPU-…` or `GPU-…, GPU-…`.
[[nodiscard]] std::string describe(const std::vector<Device>& devices);

/// How the tests of this process declare what they need: what messages advise is written so. For the whole process, as
/// it has tests of one framework.
[[nodiscard]] detail::Notation advice_notation();
void write_advice_in(detail::Notation notation);

/// policy::words() in that notation.
using policy::Advice;
[[nodiscard]] std::string advised(Advice advice, const std::string& value = {});

/// Writes one line, `gputest: <text>`, to stderr at once and in one piece. Not where CTest judges the output of this
/// process's entry (os::Output): what fails the entry is written by who watches it.
void tell(const std::string& text);

/// The same for a line that says nothing is wrong. Not in a test of CTest's that is no entry, either: CTest may judge
/// that by its output, and the line has its name.
void note(const std::string& text);

/// What CTest is told of an entry: of its tests the most.
struct EntryMeasurements {
  std::optional<Bytes> peak; ///< that a test has allocated of a device; nullopt: not known
  Bytes leased;              ///< of each device; 0: there was no lease
  std::string devices;       ///< UUIDs of the last lease
};

/// Writes them to standard output, in the form that CTest takes for measurements of the entry: `gputest_peak_mib`,
/// `gputest_lease_mib`, `gputest_device` and, if this is not the first, `gputest_attempt`. Not where it judges the
/// output.
void tell_measurements(const EntryMeasurements& measurements);

// Why a test is skipped or fails: what was asked, what was seen, what to do next.

/// A large test while ctest runs tests in parallel; `because` is the evidence for that.
[[nodiscard]] std::string excluded_in_parallel(const std::string& who, const std::string& because,
                                               const std::string& command);

/// A large test that found other processes on its device.
[[nodiscard]] std::string excluded_by_others(const std::string& who, const ledger::Blocked& others,
                                             const std::string& command);

/// A request that no device can ever hold.
[[nodiscard]] std::string never_fits(const std::string& who, const policy::Refusal& refusal);

/// More GPUs than this process may use; `why_no_more` says what keeps it from the others, if anything does.
[[nodiscard]] std::string too_few_gpus(const std::string& who, int gpus, const std::vector<Device>& devices,
                                       const std::string& why_no_more);

/// Devices that lack what a test requires; `why` is what was asked and what they have.
[[nodiscard]] std::string not_capable(const std::string& who, const std::string& why);

/// The wait limit ran out.
[[nodiscard]] std::string waited_too_long(const std::string& who, const std::string& what, std::chrono::seconds limit,
                                          const ledger::Blocked& blocked);

/// Contexts that have grown, and memory that was taken without a lease, leave no room for the first in the queue, and
/// everybody waits. `unleased` is what took such memory in this process, if that is known.
[[nodiscard]] std::string no_room_beside_overheads(const std::string& who, const std::string& what,
                                                   const ledger::Blocked& blocked, const std::string& unleased);

/// The same in one process: `overhead` is what it has of the device by itself.
[[nodiscard]] std::string no_room_in_process(const std::string& who, const std::string& what, Bytes overhead,
                                             const std::string& unleased);

/// `where` took memory while its process had no lease.
[[nodiscard]] std::string used_unasked(const std::string& who, bool seen);
[[nodiscard]] std::string took_without_lease(const std::string& where, Bytes taken);

/// The process has `grown` by so much since the test began, by the device's own figure.
[[nodiscard]] std::string keeps_more(const std::string& who, Bytes grown);

/// What a test had itself when it ran out of memory.
struct OwnUse {
  std::string text; ///< in a sentence; empty if it is not known
  Bytes wanted;     ///< what it would have had of a device, with what it asked for in vain; 0: not known
  Bytes largest{};  ///< that a test can have of any device here; 0: not known
};

/// A test ran out of memory under a lease of `leased` for `request` (nullopt, null: it had none), while `beyond` had
/// memory beyond theirs, and `holders` had leases. `shared` is the sentence of shares_parent_lease(), or empty.
[[nodiscard]] std::string ran_out_of_memory(const std::string& who, const std::string& test,
                                            const std::optional<Bytes>& leased, const Request* request,
                                            const OwnUse& own, const std::string& shared,
                                            const std::vector<ledger::Record>& holders, const ledger::Blocked& beyond);

/// More than the process announced when it entered; nothing, if it `began_early` where there was no room.
[[nodiscard]] std::string not_announced(const std::string& who, const std::string& what, const ledger::Blocked& others,
                                        bool began_early);

/// More than the smallest device of a process can hold, of which it can have `smallest`, and not free now.
[[nodiscard]] std::string beyond_smallest_device(const std::string& who, const std::string& what, Bytes smallest,
                                                 const ledger::Blocked& blocked);

/// A rank of an MPI program that has no parent lease, and would have to wait.
[[nodiscard]] std::string rank_would_wait(const std::string& who, const std::string& what, const MpiRank& rank,
                                          const ledger::Blocked& blocked);

/// More than a rank's part of the lease of so many devices, under which all ranks run; `needed` is what all ranks on a
/// device would need.
[[nodiscard]] std::string beyond_share(const std::string& what, Bytes needed, Bytes leased, const MpiRank& rank,
                                       int ranks_on_a_device, std::size_t devices, const ledger::Record& parent_lease);

/// CUDA was in use before devices could be chosen.
[[nodiscard]] std::string began_too_early(const std::vector<Device>& devices);

/// Other processes use the lease under which the process runs.
[[nodiscard]] std::string shares_parent_lease(const ledger::Record& parent_lease);

/// More than the lease under which the process runs.
[[nodiscard]] std::string beyond_parent_lease(const Request& request, const ledger::Record& parent_lease);

} // namespace gputest::session
