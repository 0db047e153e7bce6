#pragma once

// Start here. What a test file needs, in the order in which it is met:
#include <gputest/capability.hpp>        // memory_pools, sm(80): for GPUTEST_REQUIRES
#include <gputest/device.hpp>            // current_devices()
#include <gputest/error.hpp>             // what is thrown
#include <gputest/gtest/annotate.hpp>    // GPUTEST_MEMORY(Suite, Test, 3_GiB)
#include <gputest/gtest/environment.hpp> // what run_all_tests() registers
#include <gputest/gtest/fixtures.hpp>    // SmallTest, MediumTest, LargeTest
#include <gputest/gtest/listener.hpp>
#include <gputest/gtest/run_all_tests.hpp> // for projects with their own main(); else link gputest::main
#include <gputest/gtest/scoped.hpp>        // ScopedTest, GPUTEST_LEASE: hold the GPU for a section only
#include <gputest/memory_resource.hpp>     // memory_resource: device memory, held against the test's lease
#include <gputest/simulated_buffer.hpp>    // memory of simulated devices
