// SPDX-License-Identifier: BSD-3-Clause
// A program without a test framework, which says at its end that it has ended, or does not.

#include <gputest/session.hpp>
#include <gputest/test_run.hpp>

#include <cstdlib>
#include <string>

#include <unistd.h>

int main(int argc, char** argv) {
  auto session = gputest::Session::from_environment();
  const int result = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::string does = argc > 2 ? argv[2] : "";
  if (does == "starts_another") { // and ends without a word, which the other one has said for itself
    static_cast<void>(session.enter({}));
    return std::system((std::string{argv[0]} + " 0").c_str());
  }
  if (does == "hangs") {
    static_cast<void>(session.enter({}));
    for (;;) {
      ::pause();
    }
  }
  if (does == "leases") {
    static_cast<void>(session.enter({}));
    return gputest::report_end(session.lease(gputest::MemoryClass::small, "core") ? result : EXIT_FAILURE);
  }
  if (does == "drops") {
    static_cast<void>(gputest::report_end(result));
    return 0;
  }
  if (does == "succeeds_later") {
    static_cast<void>(gputest::report_end(result));
    return gputest::report_end(0);
  }
  return argc > 2 ? result : gputest::report_end(result);
}
