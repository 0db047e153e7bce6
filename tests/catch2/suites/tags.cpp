// SPDX-License-Identifier: BSD-3-Clause
// Test cases that say by tags what they need.

#include "../../gtest/suites/stop_at.hpp"

#include <gputest/device.hpp>
#include <gputest/simulated_buffer.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

using namespace gputest::literals;

TEST_CASE("small", "[gpu_small]") { stop_at("body"); }
TEST_CASE("medium", "[gpu_medium]") { stop_at("body"); }
TEST_CASE("large", "[gpu_large]") { stop_at("body"); }
TEST_CASE("bytes", "[gpu:3GiB][sort]") {
  const gputest::SimulatedBuffer buffer{3_GiB};
  stop_at("body");
}
TEST_CASE("untagged") { stop_at("body"); }
TEST_CASE("sections", "[gpu:1GiB]") {
  SECTION("first") { stop_at("body"); }
  SECTION("second") { stop_at("body"); }
}
TEST_CASE("fails", "[gpu_small]") { REQUIRE(gputest::current_devices().empty()); }
TEST_CASE("too much", "[gpu:100GiB]") { std::cout << "@never" << std::endl; }
TEST_CASE("bad size", "[gpu:3GB]") { std::cout << "@never" << std::endl; }
TEST_CASE("may fail", "[!mayfail][gpu_small]") { CHECK(false); }
TEST_CASE("fails and takes more", "[sort]") {
  CHECK(false);
  const gputest::SimulatedBuffer buffer{2_GiB};
}
TEST_CASE("may fail and takes more", "[!mayfail]") {
  CHECK(false);
  const gputest::SimulatedBuffer buffer{2_GiB};
}
TEST_CASE("host", "[no_gpu]") { stop_at("body"); }
TEST_CASE("host with a size", "[no_gpu][gpu:3GiB]") { std::cout << "@never" << std::endl; }
TEST_CASE("hidden", "[.][gpu_large]") {}
TEST_CASE("takes too much", "[gpu_small]") { const gputest::SimulatedBuffer buffer{1_GiB}; }
TEST_CASE("takes too much and throws", "[gpu_small]") {
  const gputest::SimulatedBuffer buffer{1_GiB};
  throw std::runtime_error{"of its own"};
}
TEST_CASE("takes without a lease", "[no_gpu]") { const gputest::SimulatedBuffer buffer{64_MiB}; }
TEST_CASE("leaves memory", "[gpu_small]") { static const gputest::SimulatedBuffer buffer{64_MiB}; }
TEST_CASE("leaves memory and skips", "[gpu_small]") {
  static const gputest::SimulatedBuffer buffer{64_MiB};
  SKIP("of its own accord");
}
TEST_CASE("exits", "[gpu_small]") { std::exit(0); } // NOLINT(concurrency-mt-unsafe)
TEST_CASE("fails 77 times", "[no_gpu]") {
  for (int i = 0; i < 77; ++i) {
    CHECK(i < 0);
  }
}
