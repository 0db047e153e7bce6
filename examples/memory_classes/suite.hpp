// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the tests of this suite share. With MEMORY_CLASSES_PLAIN the same tests are built without gputest, so that the
// two can be compared: the fixtures are ordinary ones, and the annotations say nothing. Your own suite needs neither
// that branch nor this header, only <gputest/gputest.hpp>.

#include "device_buffer.hpp"

#include <gputest/bytes.hpp>

#include <gtest/gtest.h>

#include <chrono>

#ifdef MEMORY_CLASSES_PLAIN
using SmallTest = testing::Test;
using MediumTest = testing::Test;
using LargeTest = testing::Test;
using ScopedTest = testing::Test;
#define GPUTEST_NEEDS(suite, test, ...) static_assert(true)
#define GPUTEST_LEASE(name, ...) static_cast<void>(0)
#else
#include <gputest/gputest.hpp>
using gputest::LargeTest;
using gputest::MediumTest;
using gputest::ScopedTest;
using gputest::SmallTest;
#endif

using namespace gputest::literals;

/// `n` sixteenths of the device that the suite is built for (MEMORY_CLASSES_UNIT in CMakeLists.txt).
inline gputest::Bytes units(std::uint64_t n) {
  return gputest::Bytes{n * gputest::parse_bytes(MEMORY_CLASSES_UNIT, "MEMORY_CLASSES_UNIT").count()};
}

/// How long each test works on its memory.
inline constexpr std::chrono::milliseconds work_time{300};
