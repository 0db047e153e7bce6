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

TEST(JsonObjects, keep_every_character_on_one_line_and_replace_what_is_none) {
  std::string all;
  for (char c = 0; c < 127; ++c) {
    all += c;
  }
  all += "\x7f ü € 😀 </script>";
  EXPECT_EQ(text_after(all), all);
  EXPECT_EQ(text_after("a\xff, cut \xe2\x82"), "a\uFFFD, cut \uFFFD\uFFFD");
  JsonObject object;
  object.text("two\nlines", "a\nb\r\n");
  EXPECT_EQ(object.to_string().find_first_of("\r\n"), std::string::npos) << "a line of the log stays one";
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
