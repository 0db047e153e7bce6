// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/test_list.hpp>

#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <locale>
#include <string>
#include <utility>
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

TEST_F(TestList, has_numbers_without_separators_whatever_locale_the_program_has_set) {
  struct Separators : std::numpunct<char> {
    [[nodiscard]] char do_thousands_sep() const override { return '.'; }
    [[nodiscard]] std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before =
      std::locale::global(std::locale{std::locale::classic(), new Separators}); // NOLINT: it owns it
  std::vector<ListedTest> tests(1234);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    tests[i].filter = std::to_string(i);
  }
  const auto list = written(tests);
  std::locale::global(before);
  EXPECT_THAT(list, HasSubstr("gputest_listed_all(1234)\n"));
}

TEST_F(TestList, keeps_characters_of_utf_8_and_shows_all_other_bytes_by_their_numbers) {
  const auto printed = [&](const std::string& bytes) {
    const auto list = written({test("<" + bytes + ">", std::nullopt)});
    const auto at = list.find("[[<") + 3;
    return list.substr(at, list.find(">]]", at) - at);
  };
  const std::vector<std::pair<std::string, std::string>> others{
      {" ~", " ~"},           {"\xC2\x80", "\xC2\x80"},          {"\x1F", "\\x1F"},
      {"\x7F", "\\x7F"},      {"\xC3\xC3\xBC", "\\xC3\xC3\xBC"}, // the second is whole
      {"]=====]", "]=====]"},
  };
  for (const auto& [bytes, text] : others) {
    EXPECT_EQ(printed(bytes), text);
  }
  EXPECT_THAT(written({test("\xC3", std::nullopt)}), HasSubstr("[[\\xC3]]")) << "which ends before its character does";
}

TEST_F(TestList, has_sizes_in_the_largest_unit_that_is_exact) {
  for (const auto& [size, text] : {std::pair{0_B, "0B"}, std::pair{1_B, "1B"}, std::pair{1023_B, "1023B"},
                                   std::pair{1_KiB, "1KiB"}, std::pair{1025_KiB, "1025KiB"}, std::pair{3_MiB, "3MiB"},
                                   std::pair{2048_GiB, "2TiB"}, std::pair{1024_TiB, "1024TiB"}}) {
    EXPECT_THAT(written({test("a", request(size, 3))}), HasSubstr(std::string{" "} + text + " 3 [[]])\n"));
  }
}

TEST_F(TestList, has_all_that_is_known_of_each_test_in_its_place) {
  ListedTest all{"filter", "suite", "type_name", "type", "test", "index", "value", "file", 17, false, {}, "alone"};
  auto other = all;
  other.filter = "]] ]=]";
  other.file = "";
  other.alone = "\n";
  const auto list = written({all, other});
  EXPECT_THAT(list, HasSubstr("gputest_listed_test([[filter]] [[suite]] [[type_name]] [[type]] [[test]] [[index]] "
                              "[[value]] [[file:17]] ENABLED host any 1 [[alone]])\n"));
  EXPECT_THAT(list, HasSubstr("gputest_listed_test([==[]] ]=]]==] [[suite]] [[type_name]] [[type]] [[test]] [[index]] "
                              "[[value]] [[]] ENABLED host any 1 [[\n\n]])\ngputest_listed_all(2)\n"));
  other.filter = all.filter; // the reason of the first that has one
  EXPECT_THAT(written({all, other}), HasSubstr("[[alone]])\ngputest_listed_all(1)\n"));
  all.alone = "";
  EXPECT_THAT(written({all, other}), HasSubstr("[[\n\n]])\ngputest_listed_all(1)\n"));
}

TEST_F(TestList, makes_a_disabled_one_of_tests_with_one_filter_only_if_all_are) {
  auto disabled = test("a:b", std::nullopt);
  disabled.disabled = true;
  EXPECT_THAT(written({disabled, disabled}), HasSubstr(" DISABLED host any 1 [[]])"));
  EXPECT_THAT(written({disabled, test("a-b", std::nullopt)}), Not(HasSubstr("DISABLED")));
}

} // namespace
} // namespace gputest
