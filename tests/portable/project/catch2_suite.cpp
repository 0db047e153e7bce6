// SPDX-License-Identifier: BSD-3-Clause
// Tests of Catch2 that gpu_discover_tests() names and labels by their tags.
#include <gputest/simulated_buffer.hpp>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("says nothing") {}
TEST_CASE("has a size", "[gpu:3GiB]") {
  const gputest::SimulatedBuffer taken{gputest::Bytes{3ULL << 30U}};
  REQUIRE(taken.size() == gputest::Bytes{3ULL << 30U});
}
TEST_CASE("uses no GPU", "[no_gpu]") {}
TEST_CASE("is large", "[gpu_large]") { SKIP("not today"); }
