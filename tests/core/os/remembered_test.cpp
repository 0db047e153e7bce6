// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/remembered.hpp"

#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include <sys/resource.h>

namespace gputest::os {
namespace {

class Remembered : public ::testing::Test {
protected:
  Remembered() { write('a'); }

  void write(char text) const { folder_.write("library", std::string(std::size_t{1} << 20, text), 0600); }

  /// How often `answer` was asked for it; checks what it says.
  int asked(const std::string& question, bool says) const {
    int times = 0;
    const auto answer = [&] {
      ++times;
      return std::optional{says};
    };
    const auto now = std::chrono::system_clock::now() + std::chrono::seconds{later_};
    EXPECT_EQ(remembered(folder_.path() + "/library", question, answer, now), says);
    return times;
  }

  tests::PrivateFolder folder_;
  int later_ = 4; ///< seconds
};

TEST_F(Remembered, is_asked_once_for_a_large_file_until_that_changes) {
  const auto unique = folder_.path(); // the table is that of this user
  for (const bool says : {true, false}) {
    const auto question = unique + (says ? "yes" : "no");
    EXPECT_EQ(asked(question, says), 1);
    EXPECT_EQ(asked(question, says), 0);
  }
  folder_.write("library", std::string((std::size_t{1} << 20) + 1, 'b'), 0600);
  EXPECT_EQ(asked(unique + "yes", false), 1) << "it changed";
  EXPECT_EQ(asked(unique + "yes", false), 0);
  later_ = 0;
  EXPECT_EQ(asked(unique + "yes", true), 1) << "it may change again at the same time";
  later_ = 4;
  folder_.write("library", "small", 0600);
  EXPECT_EQ(asked(unique + "yes", true), 1);
  EXPECT_EQ(asked(unique + "yes", true), 1) << "it takes no time";
  std::filesystem::remove(folder_.path() + "/library");
  EXPECT_EQ(asked(unique + "yes", true), 1);
}

TEST_F(Remembered, is_asked_each_time_where_nothing_may_be_written) {
  EXPECT_EQ(tests::in_child([&] {
              const rlimit none{0, 0};
              ::setrlimit(RLIMIT_FSIZE, &none);
              static_cast<void>(asked(folder_.path() + "limited", true));
              return asked(folder_.path() + "limited", true) == 1 ? 0 : 1;
            }),
            0);
}

} // namespace
} // namespace gputest::os
