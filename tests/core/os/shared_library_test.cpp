// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/shared_library.hpp"

#include "core/os/process.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace gputest::os {
namespace {

namespace fs = std::filesystem;

TEST(LoadedLibraries, have_changed_if_one_is_written_touched_removed_or_replaced) {
  const tests::PrivateFolder folder;
  const std::string before = folder.path() + "/a.so"; // which is looked at first
  const std::string path = folder.path() + "/b.so";
  std::string why;
  fs::copy_file(GPUTEST_LIBRARY_TO_OPEN, before);
  fs::copy_file(GPUTEST_LIBRARY_TO_OPEN, path);
  const auto set_time = [&](timespec time) {
    const std::array<timespec, 2> times{time, time};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
  };
  set_time({1000, 7});
  const auto first = SharedLibrary::open(before.c_str(), why);
  const auto library = SharedLibrary::open(path.c_str(), why);
  ASSERT_TRUE(first && library) << why;
  const auto files = states_of_program();
  EXPECT_EQ(change_of(files), "");
  set_time({1000, 8});
  EXPECT_EQ(change_of(files), path);
  set_time({1001, 7});
  EXPECT_EQ(change_of(files), path);
  set_time({1000, 7});
  EXPECT_EQ(change_of(files), "");
  const auto size = fs::file_size(path);
  fs::resize_file(path, size + 1);
  set_time({1000, 7});
  EXPECT_EQ(change_of(files), path) << "longer";
  fs::resize_file(path, size);
  set_time({1000, 7});
  EXPECT_EQ(change_of(files), "");
  fs::rename(path, path + "-old");
  EXPECT_EQ(change_of(files), path) << "gone";
  fs::copy_file(path + "-old", path);
  set_time({1000, 7});
  EXPECT_EQ(change_of(files), path) << "another file of the same size and time";
}

TEST(SharedLibraries, are_found_if_they_are_loaded_and_never_loaded_for_that) {
  EXPECT_FALSE(SharedLibrary::if_loaded(GPUTEST_LIBRARY_TO_OPEN));
  EXPECT_FALSE(SharedLibrary::if_loaded(GPUTEST_LIBRARY_TO_OPEN)) << "nor by looking";
  std::string why;
  std::optional<SharedLibrary> library = SharedLibrary::open(GPUTEST_LIBRARY_TO_OPEN, why);
  ASSERT_TRUE(library) << why;
  EXPECT_TRUE(SharedLibrary::if_loaded(GPUTEST_LIBRARY_TO_OPEN));
  int (*function)() = nullptr;
  EXPECT_TRUE(library->bind(function, "number_of_the_library"));
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function(), 7);
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "number_of_the_library"), nullptr) << "its symbols are lent to nobody";
  EXPECT_FALSE(library->bind(function, "no_such_function"));
  EXPECT_EQ(function, nullptr);
  library.reset();
  EXPECT_FALSE(SharedLibrary::if_loaded(GPUTEST_LIBRARY_TO_OPEN))
      << "it is closed with the object, and each look at it";
}

} // namespace
} // namespace gputest::os
