#include <gputest/requirement.hpp>

#include "policy/make_requirement.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace gputest {
namespace {

using namespace literals;

TEST(Requirement, of_bytes_alone_is_small_up_to_256_mib_and_medium_beyond) {
  EXPECT_EQ(Requirement{1_B}, make_requirement(MemoryClass::small, 1_B));
  EXPECT_EQ(Requirement{256_MiB}, make_requirement(MemoryClass::small, 256_MiB));
  EXPECT_EQ(Requirement{256_MiB + 1_B}, make_requirement(MemoryClass::medium, 256_MiB + 1_B));
  EXPECT_EQ(Requirement{4_TiB}, make_requirement(MemoryClass::medium, 4_TiB));
}

TEST(Requirement, is_read_from_a_class_or_a_size) {
  EXPECT_EQ(parse_requirement("small"), make_requirement(MemoryClass::small, std::nullopt));
  EXPECT_EQ(parse_requirement("large"), make_requirement(MemoryClass::large, std::nullopt));
  EXPECT_EQ(parse_requirement("3GiB"), make_requirement(MemoryClass::medium, 3_GiB));
  EXPECT_EQ(parse_requirement("1MiB"), make_requirement(MemoryClass::small, 1_MiB));
}

TEST(Requirement, that_cannot_be_read_is_refused_with_what_is_allowed) {
  const auto message_for = [](const std::string& text) {
    try {
      return "read as " + to_string(parse_requirement(text, "GPUTEST_MEMORY"));
    } catch (const InvalidSetting& error) {
      return std::string{error.what()};
    }
  };
  EXPECT_EQ(message_for("huge"),
            "GPUTEST_MEMORY 'huge' is unknown; it is one of small, medium, large, or a size such as 3GiB");
  EXPECT_EQ(message_for(""), "GPUTEST_MEMORY '' is unknown; it is one of small, medium, large, or a size such as 3GiB");
  EXPECT_EQ(message_for("3GB"), "GPUTEST_MEMORY '3GB' has an unknown unit 'GB'; write a number and a unit, such as "
                                "256MiB, 3GiB or 1.5GiB (units: B, KiB, MiB, GiB, TiB)");
}

TEST(Requirement, is_written_for_people) {
  EXPECT_EQ(to_string(Requirement{MemoryClass::medium}), "medium");
  EXPECT_EQ(to_string(Requirement{3_GiB}), "3 GiB");
  EXPECT_EQ(to_string(make_requirement(MemoryClass::large, 40_GiB)), "large with 40 GiB");
  EXPECT_EQ(to_string(make_requirement(MemoryClass::large, std::nullopt, 4)), "4 x large");
  EXPECT_EQ(to_string(make_requirement(MemoryClass::medium, 3_GiB, 2)), "2 x 3 GiB");
  EXPECT_EQ(to_string(make_requirement(MemoryClass::large, 40_GiB, 2)), "2 x large with 40 GiB");
  Requirement requirement = make_requirement(MemoryClass::medium, 3_GiB, 2);
  requirement.capabilities = {capabilities::sm(80), capabilities::peer_access};
  EXPECT_EQ(to_string(requirement), "2 x 3 GiB, requiring peer_access, sm_80");
  Requirement with_heap{3_GiB};
  with_heap.heap = 64_MiB;
  EXPECT_EQ(to_string(with_heap), "3 GiB and a heap of 64 MiB");
  EXPECT_FALSE(with_heap == Requirement{3_GiB});
}

TEST(Requirement, differs_by_class_bytes_devices_and_what_these_must_have) {
  const Requirement requirement = make_requirement(MemoryClass::medium, 3_GiB);
  EXPECT_EQ(requirement, Requirement{3_GiB});
  EXPECT_FALSE(requirement == make_requirement(MemoryClass::large, 3_GiB));
  EXPECT_FALSE(requirement == make_requirement(MemoryClass::medium, 4_GiB));
  EXPECT_FALSE(requirement == make_requirement(MemoryClass::medium, std::nullopt));
  EXPECT_FALSE(requirement == make_requirement(MemoryClass::medium, 3_GiB, 2));
  Requirement capable = requirement;
  capable.capabilities = {capabilities::sm(80)};
  EXPECT_FALSE(requirement == capable);
}

} // namespace
} // namespace gputest
