// SPDX-License-Identifier: BSD-3-Clause
// Tests that look whether the launcher has given them a lease. LEASE_IS_WANTED says which should have one.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#ifdef USES_GPU
const volatile char* runtime = "libcuda.so.1"; // as the static runtime of CUDA has it
constexpr bool uses_gpu = true;
#else
constexpr bool uses_gpu = false;
#endif

class Lease : public testing::TestWithParam<const char*> {};

TEST_P(Lease, is_there_if_it_is_wanted) {
  const char* const wanted = std::getenv("LEASE_IS_WANTED");
  EXPECT_EQ(std::getenv("GPUTEST_LEASE_OF") != nullptr, uses_gpu && wanted != nullptr);
}

INSTANTIATE_TEST_SUITE_P(Some, Lease, testing::Values("a", "b;c", "\"quoted\" $x"));
