// SPDX-License-Identifier: BSD-3-Clause
// gputest-entry [--alone=<why>] <executable> <argument>...
// gputest-entry --end <executable>
// gputest-entry --watch <executable> <argument>...
//
// CTest starts it for each case of gpu_discover_tests(ISOLATION worker). It has the case run by a worker: the
// executable itself, which stays and runs one case after another; or, with --alone, by a process of the case's own, and
// says why. When all cases have ended, CTest starts the second form, whose entry fails if a worker does not end as it
// should. The third form runs and watches any other executable whose tests gputest runs.
#include "workers/alone.hpp"
#include "workers/entry_run.hpp"
#include "workers/supervised_command.hpp"
#include "workers/worker_case.hpp"

#include <gputest/error.hpp>

#include <csignal>
#include <string>

int main(int argc, char** argv) try {
  if (argc > 2 && std::string{argv[1]} == "--watch") {
    return gputest::workers::watch({argv + 2, argv + argc});
  }
  if (argc > 2 && std::string{argv[1]} == "--end") { // what `ctest -- ARGS` adds to every command is for the tests
    return gputest::workers::end_workers(argv[2]);
  }
  const auto test = gputest::workers::read_test_case({argv + 1, argv + argc});
  if (test.command.empty()) {
    gputest::workers::say("gputest-entry is started by CTest: gputest-entry <executable> <argument>...");
    return 64;
  }
  return gputest::workers::run_case(test);
} catch (const gputest::Error& error) {
  gputest::workers::say(std::string{"failed: "} + error.what());
  gputest::workers::end_by_signal(SIGKILL); // CTest may invert an exit code
}
