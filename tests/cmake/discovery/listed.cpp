// SPDX-License-Identifier: BSD-3-Clause
// Tests of all kinds, with all names that GoogleTest allows. Each prints its name when it runs.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <ostream>
#include <string>

const char* text_of_a_library();

namespace {

/// Counts the starts of this executable in a file, if it is asked to.
[[maybe_unused]] const bool counted = [] {
  if (const char* const file = std::getenv("COUNT_STARTS_IN"); file != nullptr) {
    std::ofstream{file, std::ios::app} << text_of_a_library();
  }
  return true;
}();

void say_which() {
  const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
  std::cout << "@ran " << test.test_suite_name() << '.' << test.name() << "@end\n";
}

TEST(Plain, first) { say_which(); }
TEST(Plain, DISABLED_second) { say_which(); }
TEST(DISABLED_Suite, test) { say_which(); }

class Host : public gputest::HostTest {};
TEST_F(Host, test) { say_which(); }

class Small : public gputest::SmallTest {};
TEST_F(Small, test) { say_which(); }

class Medium : public gputest::MediumTest {};
TEST_F(Medium, says_no_size) { say_which(); }
GPUTEST_NEEDS(Medium, says_a_size, 1536_MiB);
TEST_F(Medium, says_a_size) { say_which(); }
GPUTEST_NEEDS(Medium, says_devices, 257_MiB, gpus(2));
TEST_F(Medium, says_devices) { say_which(); }

class Large : public gputest::LargeTest {};
TEST_F(Large, test) { say_which(); }
GPUTEST_NEEDS(Large, says_a_size, 2_GiB);
TEST_F(Large, says_a_size) { say_which(); }

GPUTEST_SUITE_NEEDS(Shared, 512_MiB, suite_lease);
TEST(Shared, first) { say_which(); }

/// Printed as it is, without the quotes that GoogleTest puts around strings.
struct Text {
  const char* text;
  friend void PrintTo(const Text& text, std::ostream* out) { *out << text.text; }
};

class Values : public testing::TestWithParam<Text> {};
TEST_P(Values, test) { say_which(); }
INSTANTIATE_TEST_SUITE_P(Odd, Values,
                         testing::Values(Text{";"}, Text{"a;b;"}, Text{"\""}, Text{"$x ${y} $ENV{z} @w@ $<1:v>"},
                                         Text{"["}, Text{"]"}, Text{"]]"}, Text{"]==]"}, Text{"[=[ ]=]"},
                                         Text{"]=====]"}, Text{"\\"}, Text{"\\;"}, Text{"one\ntwo\r\n"}, Text{"\ttab"},
                                         Text{"\xFF"}, Text{"\xC3\xBC"}, Text{"same"}, Text{"same"}, Text{""},
                                         Text{"# TypeParam = x"}, Text{" a "}, Text{"(^|*?:-.)"}, Text{"<&>'"},
                                         Text{"(0x55d0c0ffee10, 3)"}, Text{"4-byte object <01-00 00-00>"},
                                         Text{"0xdeadbeef"}));
INSTANTIATE_TEST_SUITE_P(Named, Values, testing::Values(Text{"x"}), [](const auto&) { return "by_name"; });
INSTANTIATE_TEST_SUITE_P(DISABLED_Instance, Values, testing::Values(Text{"x"}));
class DISABLED_Numbers : public testing::TestWithParam<int> {};
TEST_P(DISABLED_Numbers, test) { say_which(); }
INSTANTIATE_TEST_SUITE_P(Some, DISABLED_Numbers, testing::Values(7));
INSTANTIATE_TEST_SUITE_P(
    Long, Values,
    testing::Values(Text{
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"}));

template <class T>
class Typed : public gputest::SmallTest {};
using Types = testing::Types<int, unsigned char>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, test) { say_which(); }

template <class T>
class Pattern : public gputest::MediumTest {};
TYPED_TEST_SUITE_P(Pattern);
TYPED_TEST_P(Pattern, test) { say_which(); }
REGISTER_TYPED_TEST_SUITE_P(Pattern, test);
INSTANTIATE_TYPED_TEST_SUITE_P(Some, Pattern, Types);

/// Names of types that mean something in a filter.
struct NamesOfTypes {
  template <class T>
  static std::string GetName(int i) {
    return std::string{"a"} + "-:*?b"[i] + "c";
  }
};
template <class T>
class NamedTypes : public gputest::SmallTest {};
using FiveTypes = testing::Types<int, char, long, short, bool>;
TYPED_TEST_SUITE(NamedTypes, FiveTypes, NamesOfTypes);
TYPED_TEST(NamedTypes, test) { say_which(); }

class Registered : public testing::Test {
public:
  void TestBody() override { say_which(); }
};

} // namespace

int main(int argc, char** argv) {
  for (const char* const name : {"odd;name [ $\"x\" \\", "twice", "twice", "new\nline", "\xFE"}) {
    testing::RegisterTest("Registered", name, nullptr, nullptr, __FILE__, __LINE__,
                          []() -> Registered* { return new Registered; });
  }
  testing::RegisterTest("Files", "load", "int", nullptr, __FILE__, __LINE__,
                        []() -> Registered* { return new Registered; });
  testing::InitGoogleTest(&argc, argv);
  if (const char* const first = std::getenv("RUN_FIRST")) { // and then the others
    GTEST_FLAG_SET(filter, first);
    if (const int result = gputest::run_all_tests()) {
      return result;
    }
    GTEST_FLAG_SET(filter, std::string{"-"} + first);
  }
  return gputest::run_all_tests();
}
