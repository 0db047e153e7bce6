// SPDX-License-Identifier: BSD-3-Clause
#include "platform/shared_pages.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/use_up_descriptors.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::platform {
namespace {

constexpr std::size_t size = 8192;

char& last_byte(const SharedPages& pages) { return static_cast<char*>(pages.data())[size - 1]; }

TEST(SharedPagesTest, are_zero_at_first_and_what_another_process_writes_then) {
  const SharedPages pages{size};
  EXPECT_EQ(last_byte(pages), 0);
  EXPECT_EQ(tests::in_child([path = pages.path()] {
              const auto same = SharedPages::open(path, size);
              if (!same || last_byte(*same) != 0) {
                return 1;
              }
              last_byte(*same) = 7;
              return 0;
            }),
            0);
  EXPECT_EQ(last_byte(pages), 7);
}

TEST(SharedPagesTest, have_the_size_that_they_were_made_with_for_ever) {
  const SharedPages pages{size};
  EXPECT_FALSE(SharedPages::open(pages.path(), size - 1));
  EXPECT_FALSE(SharedPages::open(pages.path(), size + 1));
  EXPECT_NE(::truncate(pages.path().c_str(), size - 1), 0);
  EXPECT_NE(::truncate(pages.path().c_str(), size + 1), 0);
  const Descriptor file{::open(pages.path().c_str(), O_RDWR | O_CLOEXEC)};
  EXPECT_NE(::fcntl(file.number(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0) << "nor can anybody seal them against writing";
}

TEST(SharedPagesTest, are_none_where_something_else_is_that_may_shrink) {
  const tests::PrivateFolder folder;
  folder.write("file", std::string(size, '\0'), 0600);
  EXPECT_FALSE(SharedPages::open(folder.path() + "/file", size));
  EXPECT_FALSE(SharedPages::open(folder.path() + "/none", size));
  ASSERT_EQ(::mkfifo((folder.path() + "/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(SharedPages::open(folder.path() + "/fifo", 0));
  const Descriptor unsealed{::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  ASSERT_EQ(::ftruncate(unsealed.number(), size), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(unsealed.number());
  EXPECT_FALSE(SharedPages::open(path, size));
  ASSERT_EQ(::fcntl(unsealed.number(), F_ADD_SEALS, F_SEAL_GROW), 0);
  EXPECT_FALSE(SharedPages::open(path, size));
  ASSERT_EQ(::fcntl(unsealed.number(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(SharedPages::open(path, size));
}

} // namespace
} // namespace gputest::platform
