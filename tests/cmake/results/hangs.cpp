// SPDX-License-Identifier: BSD-3-Clause
// A test that comes to no end.

#include <gputest/gputest.hpp>

#include <cstdio>

#include <unistd.h>

TEST(Hangs, for_ever) {
  std::printf("what was printed before");
  for (;;) {
    ::pause();
  }
}
