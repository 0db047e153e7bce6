// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/memory_class.hpp>

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace gputest {
namespace {

TEST(MemoryClass, is_read_as_it_is_written) {
  for (const auto value : {MemoryClass::small, MemoryClass::medium, MemoryClass::large}) {
    EXPECT_EQ(parse_memory_class(to_string(value)), value);
  }
  EXPECT_EQ(to_string(MemoryClass::small), "small");
  EXPECT_EQ(to_string(MemoryClass::medium), "medium");
  EXPECT_EQ(to_string(MemoryClass::large), "large");
}

TEST(MemoryClass, that_is_unknown_is_refused_with_those_there_are) {
  for (const std::string text : {"", "huge", "Small", "small ", "smal"}) {
    try {
      static_cast<void>(parse_memory_class(text, "MEMORY"));
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const InvalidSetting& error) {
      EXPECT_EQ(error.what(), "MEMORY '" + text + "' is unknown; it is one of small, medium, large");
    }
  }
}

TEST(LargePolicy, is_read_as_it_is_written) {
  for (const auto value : {LargePolicy::exclude, LargePolicy::serial, LargePolicy::wait}) {
    EXPECT_EQ(parse_large_policy(to_string(value)), value);
  }
  EXPECT_EQ(to_string(LargePolicy::exclude), "exclude");
  EXPECT_EQ(to_string(LargePolicy::serial), "serial");
  EXPECT_EQ(to_string(LargePolicy::wait), "wait");
}

TEST(LargePolicy, that_is_unknown_is_refused_with_those_there_are) {
  try {
    static_cast<void>(parse_large_policy("skip"));
    ADD_FAILURE() << "'skip' was read";
  } catch (const InvalidSetting& error) {
    EXPECT_STREQ(error.what(), "large policy 'skip' is unknown; it is one of exclude, serial, wait");
  }
}

} // namespace
} // namespace gputest
