// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/request.hpp>

#include "core/policy/make_request.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace gputest {
namespace {

using namespace literals;

TEST(Request, of_bytes_alone_is_small_up_to_256_mib_and_medium_beyond) {
  EXPECT_EQ(Request{1_B}, make_request(MemoryClass::small, 1_B));
  EXPECT_EQ(Request{256_MiB}, make_request(MemoryClass::small, 256_MiB));
  EXPECT_EQ(Request{256_MiB + 1_B}, make_request(MemoryClass::medium, 256_MiB + 1_B));
  EXPECT_EQ(Request{4_TiB}, make_request(MemoryClass::medium, 4_TiB));
}

TEST(Request, is_read_from_a_class_or_a_size) {
  EXPECT_EQ(parse_request("small"), make_request(MemoryClass::small, std::nullopt));
  EXPECT_EQ(parse_request("large"), make_request(MemoryClass::large, std::nullopt));
  EXPECT_EQ(parse_request("3GiB"), make_request(MemoryClass::medium, 3_GiB));
  EXPECT_EQ(parse_request("1MiB"), make_request(MemoryClass::small, 1_MiB));
}

TEST(Request, that_cannot_be_read_is_refused_with_what_is_allowed) {
  const auto message_for = [](const std::string& text) {
    try {
      return "read as " + to_string(parse_request(text, "GPUTEST_MEMORY"));
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

TEST(Request, is_written_for_people) {
  EXPECT_EQ(to_string(Request{MemoryClass::medium}), "medium");
  EXPECT_EQ(to_string(Request{3_GiB}), "3 GiB");
  EXPECT_EQ(to_string(make_request(MemoryClass::large, 40_GiB)), "large with 40 GiB");
  EXPECT_EQ(to_string(make_request(MemoryClass::large, std::nullopt, 4)), "4 x large");
  EXPECT_EQ(to_string(make_request(MemoryClass::medium, 3_GiB, 2)), "2 x 3 GiB");
  EXPECT_EQ(to_string(make_request(MemoryClass::large, 40_GiB, 2)), "2 x large with 40 GiB");
  Request request = make_request(MemoryClass::medium, 3_GiB, 2);
  request.capabilities = {capabilities::sm(80), capabilities::peer_access};
  EXPECT_EQ(to_string(request), "2 x 3 GiB, requiring peer_access, sm_80");
  Request with_heap{3_GiB};
  with_heap.heap = 64_MiB;
  EXPECT_EQ(to_string(with_heap), "3 GiB and a heap of 64 MiB");
  EXPECT_FALSE(with_heap == Request{3_GiB});
}

TEST(Request, differs_by_class_bytes_devices_and_what_these_must_have) {
  const Request request = make_request(MemoryClass::medium, 3_GiB);
  EXPECT_EQ(request, Request{3_GiB});
  EXPECT_FALSE(request == make_request(MemoryClass::large, 3_GiB));
  EXPECT_FALSE(request == make_request(MemoryClass::medium, 4_GiB));
  EXPECT_FALSE(request == make_request(MemoryClass::medium, std::nullopt));
  EXPECT_FALSE(request == make_request(MemoryClass::medium, 3_GiB, 2));
  Request capable = request;
  capable.capabilities = {capabilities::sm(80)};
  EXPECT_FALSE(request == capable);
}

} // namespace
} // namespace gputest
