// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include <gtest/gtest.h>

TEST(Sort, keys) { const auto memory = take(1000); }

TEST(Sort, is_small) { const auto memory = take(100); }

struct Graph : testing::Test {};
// clang-format off
TEST_F(Graph,
       has_a_definition_of_two_lines) { const auto memory = take(2048); }
// clang-format on

struct Sizes : testing::TestWithParam<int> {};
TEST_P(Sizes, have_one_definition) { const auto memory = take(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Sizes, testing::Values(100, 700, 900));

template <class T>
struct Types : testing::Test {};
struct Names {
  template <class T>
  static const char* GetName(int) {
    return sizeof(T) == 4 ? "Four" : "Eight";
  }
};
using FourAndEight = testing::Types<int, double>;
TYPED_TEST_SUITE(Types, FourAndEight, Names);
TYPED_TEST(Types, have_one_definition) { const auto memory = take(100 * sizeof(TypeParam)); }
