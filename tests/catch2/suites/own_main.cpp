// SPDX-License-Identifier: BSD-3-Clause
// A main() of one's own that drops the result.

#include <gputest/catch2/run_tests.hpp>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("passes", "[no_gpu]") {}
TEST_CASE("fails", "[no_gpu]") { CHECK(false); }
TEST_CASE("hidden", "[.][gpu_large]") {}

int main(int argc, char** argv) {
  static_cast<void>(gputest::run_catch2_tests(argc, argv));
  return 0;
}
