// SPDX-License-Identifier: BSD-3-Clause
#include "client/run_folder.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::client {
namespace {

TEST(Marked, are_all_counted_whoever_was_first) {
  const tests::PrivateFolder path;
  const Descriptor folder{::open(path.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  EXPECT_EQ(count_marked(folder, "cases"), 0U);
  // With larger and smaller pids than those that were there before.
  std::array<int, 2> end{};
  ASSERT_EQ(::pipe(end.data()), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    std::array<int, 2> marked{};
    ASSERT_EQ(::pipe(marked.data()), 0);
    children.push_back(::fork());
    if (children.back() == 0) {
      ::close(end[1]);
      const Marked mark{folder, "cases"};
      ::close(marked[1]);
      char none = 0;
      static_cast<void>(::read(end[0], &none, 1) == 0);
      std::_Exit(EXIT_SUCCESS);
    }
    ::close(marked[1]);
    char none = 0;
    EXPECT_EQ(::read(marked[0], &none, 1), 0); // it has closed it
    ::close(marked[0]);
    EXPECT_EQ(count_marked(folder, "cases"), children.size());
  }
  {
    const Marked own{folder, "cases"};
    EXPECT_EQ(count_marked(folder, "cases"), 4U);
    own.set(false);
    EXPECT_EQ(count_marked(folder, "cases"), 3U);
  }
  ::close(end[1]);
  for (const pid_t child : children) {
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(count_marked(folder, "cases"), 0U);
}

} // namespace
} // namespace gputest::client
