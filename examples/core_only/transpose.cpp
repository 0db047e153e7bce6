// SPDX-License-Identifier: BSD-3-Clause
// Leases the memory of a GPU for one section of a program, and gives it back.

#include <gputest/error.hpp>
#include <gputest/session.hpp>
#include <gputest/test_run.hpp>

#include <cstdio>

namespace {

int report(const gputest::Outcome& outcome) {
  std::fprintf(stderr, "transpose: %s\n", outcome.reason.c_str());
  return outcome.kind == gputest::Outcome::Kind::fail ? 1 : gputest::skipped_exit_code;
}

int run() {
  // What CTest asks for. A program may as well fill in Settings and Entry itself.
  auto session = gputest::Session::from_environment();
  gputest::Plan plan;
  plan.requests = {session.entry().request};
  const auto entered = session.enter(plan); // before the first CUDA call: it chooses the device
  if (entered.kind != gputest::Outcome::Kind::granted) {
    return report(entered);
  }

  {
    const gputest::Lease lease = session.lease(session.entry().request, "transpose"); // waits until there is room
    if (!lease) {
      return report(lease.outcome());
    }
    std::printf("transpose: %s of %s\n", to_string(session.entry().request).c_str(),
                session.devices().front().uuid.c_str());
    // ... allocate, launch, compare, free ...
  } // given back here

  int failures = 0;
  for (const auto& problem : session.examine("transpose").problems) {
    std::fprintf(stderr, "transpose: %s\n", problem.c_str());
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}

} // namespace

int main() {
  try {
    return gputest::report_end(run()); // an entry whose process ends without saying so fails
  } catch (const gputest::Error& error) {
    std::fprintf(stderr, "transpose: %s\n", error.what());
    return 1;
  }
}
