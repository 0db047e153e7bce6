// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

namespace gputest::os {
namespace {

TEST(FileStamp, has_the_size_and_the_time_to_the_nanosecond) {
  const tests::PrivateFolder folder;
  folder.write("file", "12345", 0644);
  const std::string file = folder.path() + "/file";
  const auto set_time = [&](timespec modified) {
    const std::array<timespec, 2> times{timespec{1, 1}, modified};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
  };
  set_time({1'700'000'000, 23});
  const auto stamp = stamp_of(file);
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->bytes, 5U);
  EXPECT_EQ(stamp->modified, 1'700'000'000'000'000'023U);
  EXPECT_TRUE(stamp_of(file) == stamp);
  set_time({1'700'000'000, 24});
  EXPECT_FALSE(stamp_of(file) == stamp) << "another time";
  std::filesystem::resize_file(file, 4);
  set_time({1'700'000'000, 23});
  EXPECT_FALSE(stamp_of(file) == stamp) << "another size";
  EXPECT_EQ(stamp_of(folder.path() + "/none"), std::nullopt);
  EXPECT_NE(executable_identity().value_or(0), 0U);
  EXPECT_EQ(executable_identity(), executable_identity());
}

} // namespace
} // namespace gputest::os
