// SPDX-License-Identifier: BSD-3-Clause
#include "gtest/kept_environments.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

namespace gputest::tests {
namespace {

using detail::find_vector;
using detail::Words;
using ::testing::Environment;

/// As GoogleTest's object is: its environments stand between others.
struct Object {
  const void* first = this;
  std::vector<int> numbers{1, 2, 3};
  std::vector<Environment*> environments;
  std::vector<Environment*> others;
};

Words words_of(const Object& object) {
  Words words(sizeof object / sizeof words[0]);
  std::memcpy(words.data(), static_cast<const void*>(&object), sizeof object);
  return words;
}

TEST(FindVector, finds_the_one_that_was_appended_to_whether_it_had_to_move_or_not) {
  std::vector<Environment> added(10);
  Object object;
  object.others = {added.data()};
  const auto place =
      (reinterpret_cast<std::uintptr_t>(&object.environments) - reinterpret_cast<std::uintptr_t>(&object)) /
      sizeof(std::uintptr_t);
  for (auto& environment : added) {
    const auto before = words_of(object);
    object.environments.push_back(&environment);
    EXPECT_EQ(find_vector(before, words_of(object), &environment), place);
  }
}

TEST(FindVector, finds_none_where_nothing_was_appended) {
  Environment added;
  Object object;
  object.environments = {&added};
  EXPECT_EQ(find_vector(words_of(object), words_of(object), &added), std::nullopt);
  const auto before = words_of(object);
  Environment another;
  object.environments.push_back(&another);
  EXPECT_EQ(find_vector(before, words_of(object), &added), std::nullopt);
  EXPECT_EQ(find_vector({}, {}, &added), std::nullopt);
}

} // namespace
} // namespace gputest::tests
