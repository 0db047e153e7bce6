// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/process_end.hpp"

#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::os {
namespace {

class ProcessEnd : public ::testing::Test {
protected:
  /// Runs `function` in a child whose standard streams are the files `out` and `err`; the child ends by exit(0) if
  /// `function` returns. As end_of() says.
  template <class Function>
  int run(Function function) const {
    return tests::in_child([&] {
      open(path("out"), STDOUT_FILENO);
      open(path("err"), STDERR_FILENO);
      function();
      std::exit(0); // NOLINT(concurrency-mt-unsafe)
      return 0;
    });
  }

  static void open(const std::string& path, int number) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    ::dup2(file, number);
    ::close(file);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::ifstream file{path(name)};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  tests::PrivateFolder folder_;
};

void print_to_all() {
  std::ios::sync_with_stdio(false); // each has a buffer of its own
  std::cout << "of C++ ";
  std::printf("of C ");
}

TEST_F(ProcessEnd, at_once_writes_what_was_printed_and_runs_no_exit_handler) {
  EXPECT_EQ(run([] {
              std::atexit([] { std::cerr << "exit handler"; });
              print_to_all();
              end_now(7);
            }),
            7);
  EXPECT_EQ(contents("out"), "of C++ of C ");
  EXPECT_EQ(contents("err"), "");
}

} // namespace
} // namespace gputest::os
