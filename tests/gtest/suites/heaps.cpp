// SPDX-License-Identifier: BSD-3-Clause
// Tests that ask for a device heap.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

using namespace gputest::literals;

class Small : public gputest::SmallTest {};
TEST_F(Small, says_nothing) { stop_at("body"); }

GPUTEST_NEEDS(Small, with_64, heap(64_MiB));
GPUTEST_NEEDS(Small, with_64_too, heap(64_MiB));
GPUTEST_NEEDS(Small, with_256, heap(256_MiB));
TEST_F(Small, with_256) { stop_at("body"); }

class Medium : public gputest::MediumTest {};
GPUTEST_NEEDS(Medium, with_bytes_and_256, heap(256_MiB), 1_GiB);
TEST_F(Medium, with_bytes_and_256) { stop_at("body"); }

class Scoped : public gputest::ScopedTest {};
GPUTEST_NEEDS(Scoped, with_256, heap(256_MiB));
TEST_F(Scoped, with_256) {
  GPUTEST_LEASE(gpu, 1_GiB);
  stop_at("body");
}

} // namespace
