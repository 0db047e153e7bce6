// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/json_object.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <string>

namespace gputest::runlog {
namespace {

std::string text_after(const std::string& text) {
  JsonObject object;
  object.text("x", text);
  return nlohmann::json::parse(object.to_string()).at("x").get<std::string>();
}

TEST(JsonObjects, keep_every_byte_that_is_a_character) {
  std::string all;
  for (char c = 0; c < 127; ++c) {
    all += c;
  }
  all += "\x7f ü € 😀 </script>";
  EXPECT_EQ(text_after(all), all);
}

TEST(JsonObjects, keep_the_first_and_the_last_character_of_each_length) {
  const std::string all =
      "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
  EXPECT_EQ(text_after(all), all);
  JsonObject object;
  object.text("x", "\"\\/\x1f\x7f x");
  EXPECT_EQ(object.to_string(), R"({"x":"\"\\/\u001f\u007f x"})");
}

TEST(JsonObjects, have_no_line_end_in_them) {
  JsonObject object;
  object.text("two\nlines", "a\nb\r\n");
  EXPECT_EQ(object.to_string().find_first_of("\r\n"), std::string::npos);
}

TEST(JsonObjects, replace_each_byte_that_is_no_utf_8) {
  EXPECT_EQ(text_after("a\xff\xfe"), "a\uFFFD\uFFFD");
  EXPECT_EQ(text_after("cut \xe2\x82"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(text_after("long \xc0\x80"), "long \uFFFD\uFFFD");
  EXPECT_EQ(text_after("surrogate \xed\xa0\x80"), "surrogate \uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text_after("long \xc1\xbf"), "long \uFFFD\uFFFD");
  EXPECT_EQ(text_after("long \xe0\x9f\xbf"), "long \uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text_after("long \xf0\x8f\xbf\xbf"), "long \uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text_after("too far \xf5\x80\x80\x80"), "too far \uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text_after("broken \xc3x\xe2\x82x\xe2x"), "broken \uFFFDx\uFFFD\uFFFDx\uFFFDx");
  EXPECT_EQ(text_after("alone \x80\xbf"), "alone \uFFFD\uFFFD");
  EXPECT_EQ(text_after("too far \xf4\x90\x80\x80"), "too far \uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(JsonObjects, write_seconds_to_the_microsecond_and_whatever_is_no_number_as_0) {
  JsonObject object;
  object.seconds("a", 1732271234.5).seconds("b", -0.25).seconds("c", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(object.to_string(), R"({"a":1732271234.500000,"b":-0.250000,"c":0.000000})");
  JsonObject extreme;
  extreme.seconds("a", 1e300).seconds("b", -std::numeric_limits<double>::infinity()).seconds("c", 0.0000016);
  EXPECT_EQ(extreme.to_string(), R"({"a":1000000000000.000000,"b":0.000000,"c":0.000002})");
}

TEST(JsonObjects, nest) {
  JsonObject inner;
  inner.number("n", 18446744073709551615U);
  JsonObject outer;
  outer.flag("yes", true).object("one", inner).objects("two", {inner, JsonObject{}}).texts("three", {"a", "\""});
  JsonObject all;
  all.members(JsonObject{}).members(outer).members(inner);
  EXPECT_EQ(JsonObject{}.flag("no", false).objects("o", {}).texts("t", {}).members({}).to_string(),
            R"({"no":false,"o":[],"t":[]})");
  EXPECT_EQ(all.to_string(), R"({"yes":true,"one":{"n":18446744073709551615},"two":[{"n":18446744073709551615},{}],)"
                             R"("three":["a","\""],"n":18446744073709551615})");
}

} // namespace
} // namespace gputest::runlog
