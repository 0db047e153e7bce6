// SPDX-License-Identifier: BSD-3-Clause
// Uses devices where gputest cannot have chosen them: before main(), and others than it has given.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>

namespace {

using namespace gputest::literals;

std::unique_ptr<gputest::SimulatedBuffer> use_device(const char* variable) {
  const char* const index = std::getenv(variable);
  return index == nullptr ? nullptr : std::make_unique<gputest::SimulatedBuffer>(1_GiB, std::atoi(index));
}

const auto first = use_device("EARLY");
const auto second = use_device("EARLY_TOO");

TEST(Early, says_what_it_has) {
  std::cout << "current_devices() are";
  for (const auto& device : gputest::current_devices()) {
    std::cout << " " << device.uuid;
  }
  std::cout << std::endl;
  stop_at("body");
}

TEST(Early, asks_for_more) {}
GPUTEST_NEEDS(Early, asks_for_more, 2_GiB);

TEST(Stray, uses_device_1) { const gputest::SimulatedBuffer buffer{1_MiB, 1}; }
TEST(Stray, uses_nothing) {}
TEST(Stray, uses_device_1_again) { const gputest::SimulatedBuffer buffer{1_MiB, 1}; }
TEST(Stray, uses_device_2) { const gputest::SimulatedBuffer buffer{1_MiB, 2}; }
} // namespace
