// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/test_list.hpp>

#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gputest {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::Not;

class TestList : public testing::Test {
protected:
  [[nodiscard]] std::string written(const std::vector<ListedTest>& tests) const {
    const std::string file = folder_.path() + "/list.cmake";
    write_test_list(file, tests);
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  [[nodiscard]] static ListedTest test(const std::string& name, const std::optional<Request>& request) {
    ListedTest listed;
    listed.filter = "Sort.a?b";
    listed.suite = "Sort";
    listed.test = name;
    listed.request = request;
    return listed;
  }

  [[nodiscard]] static Request request(Bytes bytes, int gpus) {
    Request request = bytes;
    request.gpus = gpus;
    return request;
  }

  tests::PrivateFolder folder_;
};

TEST_F(TestList, makes_one_of_tests_with_one_filter_which_needs_the_most_of_any) {
  const auto list = written({test("a:b", request(1_GiB, 1)), test("a-b", std::nullopt), test("a*b", request(64_MiB, 2)),
                             test("a]b", request(3_GiB, 1))});
  EXPECT_THAT(list, HasSubstr("gputest_listed_test([[Sort.a?b]] [[Sort]] [[]] [[]] [[a:b]] [[]] [[]] [[]] ENABLED "));
  EXPECT_THAT(list, HasSubstr(" 3GiB 2 [[]])\ngputest_listed_all(1)\n"));
}

TEST_F(TestList, has_names_that_can_be_printed) {
  EXPECT_THAT(written({test("a\nb\tc\x7F"
                            "d",
                            std::nullopt)}),
              HasSubstr("[[a\\nb\\x09c\\x7Fd]]"));
}

TEST_F(TestList, takes_a_class_for_more_than_a_size_of_that_class) {
  for (const auto& tests : {std::vector{test("a:b", request(64_MiB, 1)), test("a-b", Request{MemoryClass::small})},
                            std::vector{test("a-b", Request{MemoryClass::small}), test("a:b", request(64_MiB, 1))}}) {
    EXPECT_THAT(written(tests), HasSubstr(" small any 1 [[]])\n"));
  }
}

TEST_F(TestList, makes_a_disabled_one_of_tests_with_one_filter_only_if_all_are) {
  auto disabled = test("a:b", std::nullopt);
  disabled.disabled = true;
  EXPECT_THAT(written({disabled, disabled}), HasSubstr(" DISABLED host any 1 [[]])"));
  EXPECT_THAT(written({disabled, test("a-b", std::nullopt)}), Not(HasSubstr("DISABLED")));
}

TEST_F(TestList, that_cannot_be_written_is_an_error) {
  EXPECT_THROW(write_test_list(folder_.path() + "/none/list.cmake", {}), Error);
}

} // namespace
} // namespace gputest
