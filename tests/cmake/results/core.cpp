// SPDX-License-Identifier: BSD-3-Clause
// A program without a test framework, which says at its end that it has ended, or does not.

#include <gputest/session.hpp>
#include <gputest/test_run.hpp>

#include <cstdlib>

int main(int argc, char** argv) {
  auto session = gputest::Session::from_environment();
  const int result = argc > 1 ? std::atoi(argv[1]) : 0;
  return argc > 2 ? result : gputest::report_end(result);
}
