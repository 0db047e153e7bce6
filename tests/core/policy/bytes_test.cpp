// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/bytes.hpp>

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputest {
namespace {

using namespace literals;

TEST(Bytes, are_read_with_their_unit) {
  struct Case {
    std::string text;
    Bytes expected;
  };
  const std::vector<Case> cases{
      {"1B", 1_B},       {"4096B", 4_KiB},      {"256MiB", 256_MiB}, {"3GiB", 3_GiB}, {"1.5GiB", 1536_MiB},
      {"0.5KiB", 512_B}, {"1024TiB", 1024_TiB}, {"007GiB", 7_GiB},   {"1.9B", 1_B},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(parse_bytes(c.text).count(), c.expected.count()) << c.text;
  }
}

TEST(Bytes, that_cannot_be_read_are_refused_with_the_reason) {
  const std::string advice =
      "; write a number and a unit, such as 256MiB, 3GiB or 1.5GiB (units: B, KiB, MiB, GiB, TiB)";
  struct Case {
    std::string text;
    std::string why;
  };
  const std::vector<Case> cases{
      {"", "is not a size"},
      {"GiB", "is not a size"},
      {" 3GiB", "is not a size"},
      {"-3GiB", "is not a size"},
      {".5GiB", "is not a size"},
      {"5.GiB", "is not a size"},
      {"1.2.3GiB", "is not a size"},
      {"3", "has no unit"},
      {"3GB", "has an unknown unit 'GB'"},
      {"3gib", "has an unknown unit 'gib'"},
      {"3 GiB", "has an unknown unit ' GiB'"},
      {"3GiB ", "has an unknown unit 'GiB '"},
      {"0GiB", "is less than one byte"},
      {"0.4B", "is less than one byte"},
      {"1025TiB", "is more than 1024TiB, the most that is accepted"},
      {"99999999999999999999999999999999TiB", "is more than 1024TiB, the most that is accepted"},
  };
  for (const auto& c : cases) {
    try {
      const Bytes read = parse_bytes(c.text, "GPUTEST_MEMORY");
      ADD_FAILURE() << "'" << c.text << "' was read as " << read.count();
    } catch (const InvalidSetting& error) {
      EXPECT_EQ(error.what(), "GPUTEST_MEMORY '" + c.text + "' " + c.why + advice);
    }
  }
}

TEST(Bytes, are_written_in_the_largest_unit_that_leaves_at_least_one) {
  struct Case {
    Bytes bytes;
    std::string expected;
  };
  const std::vector<Case> cases{
      {0_B, "0 B"},       {1023_B, "1023 B"},   {1_KiB, "1 KiB"}, {1536_MiB, "1.5 GiB"},    {143771_MiB, "140.4 GiB"},
      {10_GiB, "10 GiB"}, {100_GiB, "100 GiB"}, {2_TiB, "2 TiB"}, {1_GiB + 1_MiB, "1 GiB"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(c.bytes), c.expected) << c.bytes.count();
  }
}

TEST(Bytes, saturate_instead_of_wrapping) {
  const Bytes most{UINT64_MAX};
  EXPECT_EQ(most + 1_B, most);
  EXPECT_EQ(1_B + most, most);
  EXPECT_EQ((most - 1_B) + 1_B, most);
  EXPECT_EQ(1_B - 2_B, 0_B);
  EXPECT_EQ(3_B - 2_B, 1_B);
  Bytes bytes = 5_B;
  bytes -= 7_B;
  EXPECT_EQ(bytes, 0_B);
  bytes += most;
  bytes += most;
  EXPECT_EQ(bytes, most);
}

} // namespace
} // namespace gputest
