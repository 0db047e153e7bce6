// SPDX-License-Identifier: BSD-3-Clause
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp> // Catch2 3
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp> // Catch2 2
#endif

#include <cstdlib>
#include <string>

TEST_CASE("the launcher has pinned one device") {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  REQUIRE(visible != nullptr);
  INFO("CUDA_VISIBLE_DEVICES=" << visible);
  const std::string device = visible; // by UUID: an ordinal could mean another device elsewhere
  CHECK_FALSE(device.empty());
  CHECK(device.find('-') != std::string::npos);
  CHECK(device.find(',') == std::string::npos);
}
