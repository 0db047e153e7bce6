// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bitset>
#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gputest::workers {

/// What a test can change of its process and leave to the next one, as the kernel and the C library show it.
struct ProcessSnapshot {
  std::map<int, std::string> descriptors; ///< what each open one refers to
  int threads = 0;
  std::string timers; ///< of timer_create(); empty where the kernel does not list them (CONFIG_CHECKPOINT_RESTORE)
  std::bitset<NSIG> blocked;
  std::array<struct sigaction, NSIG> actions{};
  std::vector<std::string> variables;                     ///< the environment, sorted
  std::vector<std::pair<const char*, std::string>> facts; ///< what else there is, each by its name and bytes
};

/// The state now. Takes some 100 µs.
[[nodiscard]] ProcessSnapshot take_snapshot();

/// Makes what was seen after a case what is to be compared with after the next one, to which gputest has given
/// variables and standard streams.
void renew_what_is_given(ProcessSnapshot& state);

/// Likewise of blocked signals and of handlers alone. Pure.
[[nodiscard]] std::string change_of_signals(const ProcessSnapshot& before, const ProcessSnapshot& after);

/// What to leave out of a comparison.
struct Unchecked {
  /// Nor timers: a driver was loaded, and keeps some. It leaves the standard streams alone, which are compared.
  bool files_and_threads = false;
  /// Descriptors that refer to something below one of these are no test's.
  std::vector<std::string> folders;
};

/// Where drivers of GPUs have their files, and gputest its ledgers.
[[nodiscard]] std::vector<std::string> folders_of_devices();

/// What has changed, the first that is found: `the umask`, `descriptor 7 (/tmp/x) is open`; empty if there is none.
/// What gputest itself changes is none: its variables and CUDA_VISIBLE_DEVICES. Pure.
[[nodiscard]] std::string change_between(const ProcessSnapshot& before, const ProcessSnapshot& after,
                                         const Unchecked& unchecked);

} // namespace gputest::workers
