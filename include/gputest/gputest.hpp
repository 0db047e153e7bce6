// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Start here. What a test file needs, in the order in which it is met:
#include <gputest/device.hpp>              // current_devices()
#include <gputest/error.hpp>               // what is thrown
#include <gputest/gtest/annotate.hpp>      // GPUTEST_NEEDS(Suite, Test, 3_GiB), GPUTEST_SUITE_NEEDS
#include <gputest/gtest/fixtures.hpp>      // SmallTest, MediumTest, LargeTest; ScopedTest with GPUTEST_LEASE
#include <gputest/gtest/run_all_tests.hpp> // for projects with their own main(); else link gputest::main
#include <gputest/memory_resource.hpp>     // memory_resource: device memory, held against the test's lease
#include <gputest/simulated_buffer.hpp>    // memory of simulated devices
