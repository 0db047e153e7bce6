// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/memory_class.hpp>

#include <gputest/error.hpp>

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputest {
namespace {

TEST(MemoryClass, is_read_as_it_is_written_or_refused_with_those_there_are) {
  for (const std::string word : {"small", "medium", "large"}) {
    EXPECT_EQ(to_string(parse_memory_class(word)), word);
  }
  for (const std::string text : {"", "huge", "Small", "small ", "smal"}) {
    EXPECT_EQ(tests::message_of<InvalidSetting>([&] { static_cast<void>(parse_memory_class(text, "MEMORY")); }),
              "MEMORY '" + text + "' is unknown; it is one of small, medium, large");
  }
}

TEST(LargePolicy, is_read_as_it_is_written_or_refused_with_those_there_are) {
  for (const std::string word : {"exclude", "serial", "wait"}) {
    EXPECT_EQ(to_string(parse_large_policy(word)), word);
  }
  EXPECT_EQ(tests::message_of<InvalidSetting>([] { static_cast<void>(parse_large_policy("skip")); }),
            "large policy 'skip' is unknown; it is one of exclude, serial, wait");
}

} // namespace
} // namespace gputest
