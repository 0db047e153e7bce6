// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "core/policy/verdict.hpp"
#include "workers/test_case.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gputest::workers {

/// Runs the case in a process of its own, and ends as watch_tests() says. Says why, unless `why` is empty.
[[nodiscard]] int run_in_own_process(const TestCase& test, const std::string& why);

/// What may be why a case has failed in a worker, or was skipped there, if not the case itself.
struct Circumstances {
  std::vector<std::string> before; ///< the filters of the cases that had run before it in the worker
  bool shares_errors = false;      ///< the worker is a client of MPS
  bool has_shared_one = false;     ///< and has died, or has an error there that stays
  bool skipped = false;            ///< it has not failed
  bool at_its_end = false;         ///< it has passed, and then its process has failed
};

/// What came of a case in a process of its own.
struct SecondRun {
  int exit_code;
  int signal = 0;       ///< by which this process has to end; 0: it exits
  bool passed = false;  ///< or was skipped, other than in the worker
  bool depends = false; ///< on what ran before it in the worker: seen again
  bool shared = false;  ///< it does not fail, because it has failed in the worker for the error of another one
};

/// Runs a case in a process of its own that has failed in a worker, or was skipped there. If it fails there too, that
/// is the result. Else says how to repeat the failure, as far as a search for the case that it depends on has found it
/// within some seconds; the result is a failure, unless GPUTEST_DEPENDENCE=show. What may be an error of another
/// process is not searched for.
[[nodiscard]] SecondRun run_again_in_own_process(const TestCase& test, const Circumstances& circumstances);

/// What cases have shown that had passed, and ran once more.
enum class Rerun {
  ended_well,   ///< they have passed again
  cases_failed, ///< some have not, which does not count: they may need what was there the first time
  not_shown,    ///< many end their process before exit() has come to its end, so others may hide what fails there
  out_of_time,  ///< it was `until` before all had ended
  ended_badly,  ///< their process has failed otherwise
};

/// Runs these cases once more, one after another, in one process like a worker's (in several, if their names are too
/// long for one), as run_entry() does: their memory may grow, or they run again. A process may take `limits`, the sum
/// of the cases' time limits, but none goes on after `until`, when the entry that ends workers soon ends. If exit()
/// does not come to its end after several cases, they are halved until each that causes that is alone. Not if exit()
/// never does in this executable: `left_exit` says that it has not in the worker, so nothing runs then. Says how a
/// process has ended badly. Ends this process if ctest ends meanwhile. Changes the environment.
[[nodiscard]] Rerun rerun_and_check_end(const TestCase& test, std::vector<std::string> cases,
                                        std::chrono::milliseconds limits, std::chrono::steady_clock::time_point until,
                                        bool left_exit, const os::Descriptor& ctest);

} // namespace gputest::workers
