// SPDX-License-Identifier: BSD-3-Clause
// gputest-client [--alone=<why>] <executable> <argument>...
//
// CTest starts it for each case of gpu_discover_tests(ISOLATION worker). It has the case run by a worker: the
// executable itself, which stays and runs one case after another.
#include "client/alone.hpp"
#include "client/client.hpp"

int main(int argc, char** argv) {
  const auto test = gputest::client::read_test_case({argv + 1, argv + argc});
  if (test.command.empty()) {
    gputest::client::say("gputest-client is started by CTest: gputest-client <executable> <argument>...");
    return 64;
  }
  return gputest::client::run_case(test);
}
