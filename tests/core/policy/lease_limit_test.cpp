// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/lease_limit.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace gputest::policy {
namespace {

using namespace gputest::literals;

TEST(LeaseLimit, advises_a_size_that_is_enough_and_no_mebibyte_more) {
  struct Row {
    Bytes asked;
    Bytes held;
    std::string advice;
  };
  const std::vector<Row> rows{
      {1_B, 0_B, "1_MiB"},      {1_MiB, 0_B, "1_MiB"},       {1_MiB, 1_B, "2_MiB"},       {1_GiB, 2_GiB, "3_GiB"},
      {1_GiB, 1_B, "1025_MiB"}, {512_MiB, 512_MiB, "1_GiB"}, {1536_MiB, 0_B, "1536_MiB"},
  };
  for (const auto& row : rows) {
    const auto text = beyond_lease({"Sort.Keys", 0, row.asked, row.held, 0_B, 1, row.asked + row.held});
    EXPECT_NE(text.find("GPUTEST_NEEDS(Sort, Keys, " + row.advice + ")"), std::string::npos) << text;
  }
  const auto text = beyond_lease({"Sort.Keys", 0, 1_GiB, 15_GiB, 15_GiB, 1, 15_GiB});
  EXPECT_EQ(text.find("GPUTEST_NEEDS"), std::string::npos) << text;
  EXPECT_NE(text.find("No device here has more than 15 GiB"), std::string::npos) << text;
}

TEST(LeaseLimit, advises_an_annotation_with_the_names_that_stand_in_the_source) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"Sort.keys", "Sort, keys"},
      {"All/Sort.keys/3", "Sort, keys"},
      {"Sort/0.keys", "Sort, keys"},
      {"All/Sort/12.keys", "Sort, keys"},
      {"All/Sort/12.keys/int", "Sort, keys"},
      {"Graph", "<suite>, <test>"}, // a suite's own lease
      {"a Catch2 case. Or two", "<suite>, <test>"},
      {"entry: Sort.keys", "<suite>, <test>"},
  };
  for (const auto& [test, names] : rows) {
    EXPECT_EQ(allow_to_keep(test, 3_GiB, {}, Named::test),
              "GPUTEST_NEEDS(" + names + ", keeps(3_GiB)) or KEEPS 3GiB in gpu_add_test() or gpu_discover_tests()")
        << test;
    EXPECT_EQ(declare(test, 3_GiB, {}),
              "GPUTEST_NEEDS(" + names + ", 3_GiB) or MEMORY 3GiB in gpu_add_test() or gpu_discover_tests()")
        << test;
  }
}

/// A request with every word of an annotation.
Request request_said_by(SaidBy by) {
  Request request{2_GiB};
  request.gpus = 2;
  request.heap = 64_MiB;
  request.keeps = 32_MiB;
  request.capabilities = {capabilities::memory_pools, capabilities::sm(80), capabilities::total_memory(40_GiB)};
  request.memory_by = request.keeps_by = by;
  return request;
}

TEST(LeaseLimit, advises_all_words_of_an_annotation_and_nothing_that_it_overrides) {
  const std::string others = "gpus(2), heap(64_MiB), memory_pools, sm(80), total_memory(40_GiB)";
  auto request = request_said_by(SaidBy::test);
  EXPECT_EQ(declare("Sort.keys", 3_GiB, request), "GPUTEST_NEEDS(Sort, keys, 3_GiB, " + others + ", keeps(32_MiB))");
  EXPECT_EQ(allow_to_keep("Sort.keys", 3_GiB, request, Named::test),
            "GPUTEST_NEEDS(Sort, keys, 2_GiB, keeps(3_GiB), " + others + ")");
  request.memory_class = MemoryClass::large;
  EXPECT_EQ(declare("Sort.keys", 3_GiB, request),
            "GPUTEST_NEEDS(Sort, keys, 3_GiB, large, " + others + ", keeps(32_MiB))");
  request = request_said_by(SaidBy::suite);
  EXPECT_EQ(declare("Sort", 3_GiB, request, Named::suite),
            "GPUTEST_SUITE_NEEDS(Sort, 3_GiB, " + others + ", keeps(32_MiB), suite_lease)");
  EXPECT_EQ(allow_to_keep("Sort", 3_GiB, request, Named::suite),
            "GPUTEST_SUITE_NEEDS(Sort, 2_GiB, keeps(3_GiB), " + others + ", suite_lease)");
  EXPECT_EQ(declare("Sort.keys", 3_GiB, request), "GPUTEST_NEEDS(Sort, keys, 3_GiB, " + others + ", keeps(32_MiB))");
  Request small;
  small.memory_by = SaidBy::fixture;
  EXPECT_EQ(declare("Sort.keys", 3_GiB, small), "GPUTEST_NEEDS(Sort, keys, 3_GiB)");
  auto medium = small;
  medium.memory_class = MemoryClass::medium;
  EXPECT_THAT(declare("Sort.keys", 3_GiB, medium),
              testing::EndsWith(" or MEMORY 3GiB in gpu_add_test() or gpu_discover_tests()"));
  small.memory_by = SaidBy::section;
  EXPECT_EQ(declare("Sort.keys", 3_GiB, small), "GPUTEST_LEASE(<name>, 3_GiB)");
}

TEST(LeaseLimit, advises_a_tag_where_tests_have_tags_and_the_entry_for_what_no_tag_says) {
  constexpr auto tags = Notation::tags;
  EXPECT_EQ(declare("sorts. Or not", 3_GiB, {}, Named::test, tags),
            "the tag [gpu:3GiB] or MEMORY 3GiB in gpu_add_test()");
  Request request;
  request.memory_by = SaidBy::test;
  EXPECT_EQ(declare("sorts", 3_GiB, request, Named::test, tags), "the tag [gpu:3GiB] in place of [gpu_small]")
      << "together they contradict each other";
  EXPECT_EQ(declare("sorts", 3_GiB, request_said_by(SaidBy::test), Named::test, tags), "the tag [gpu:3GiB]");
  EXPECT_EQ(declare("", 3_GiB, {}, Named::test, tags), "MEMORY 3GiB in gpu_add_test()");
  EXPECT_EQ(allow_to_keep("sorts", 64_MiB, request_said_by(SaidBy::test), Named::test, tags),
            "KEEPS 64MiB in gpu_add_test()");
  EXPECT_THAT(beyond_lease({"sorts", 0, 1_GiB, 1_GiB, 1_GiB}, tags),
              testing::EndsWith("declare what it needs: the tag [gpu:2GiB] or MEMORY 2GiB in gpu_add_test()"));
  EXPECT_THAT(beyond_lease({"sorts", 1, 1_GiB, 0_B, 0_B}, tags),
              testing::EndsWith("ask for 2: the tag [gpus:2], or GPUS 2 in gpu_add_test()"));
  EXPECT_THAT(advise_lease("sorts", 64_MiB, tags), testing::EndsWith("the tag [gpu:64MiB]"));
  EXPECT_THAT(without_lease(0, 1_GiB, tags), testing::EndsWith("not in one with the tag [no_gpu]"));
}

TEST(LeaseLimit, advises_a_mark_where_tests_have_marks) {
  constexpr auto marks = Notation::marks;
  for (const auto& text : {declare("test_it.py::test_sorts", 3_GiB, request_said_by(SaidBy::test), Named::test, marks),
                           beyond_lease({"test_it.py::test_sorts", 0, 1_GiB, 2_GiB, 2_GiB}, marks),
                           advise_lease("test_it.py::test_sorts", 3_GiB, marks)}) {
    EXPECT_THAT(text, testing::EndsWith("@pytest.mark.gpu(\"3GiB\")"));
  }
  EXPECT_EQ(allow_to_keep("test_it.py::test_sorts", 64_MiB, {}, Named::test, marks),
            "@pytest.mark.gpu(..., keeps=\"64MiB\")");
}

TEST(Advice, has_words_in_each_notation) {
  for (auto advice = Advice::in_cmake; advice <= Advice::own_process;
       advice = static_cast<Advice>(static_cast<int>(advice) + 1)) {
    EXPECT_THAT(words(advice, Notation::tags, "2"), testing::Not(testing::ContainsRegex("NEEDS|Suite|[{}]")));
    EXPECT_THAT(words(advice, Notation::marks, "2"), testing::Not(testing::ContainsRegex("GPUTEST|gpu_discover|[{}]")));
  }
}

} // namespace
} // namespace gputest::policy
