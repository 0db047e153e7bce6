// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/process_end.hpp"

#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace gputest::os {
namespace {

TEST(ProcessEnd, at_once_writes_what_was_printed_and_runs_no_exit_handler) {
  const tests::PrivateFolder folder;
  const std::string out = folder.path() + "/out";
  EXPECT_EQ(tests::in_child([&] {
              std::freopen(out.c_str(), "w", stdout);
              std::atexit([] { std::puts("exit handler"); });
              std::ios::sync_with_stdio(false); // each has a buffer of its own
              std::cout << "of C++ ";
              std::printf("of C ");
              end_now(7);
              return 0;
            }),
            7);
  std::ifstream file{out};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), "of C++ of C ");
}

} // namespace
} // namespace gputest::os
