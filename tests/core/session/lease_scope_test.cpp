// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/lease_scope.hpp"

#include "support/private_folder.hpp"

#include <gputest/memory_resource.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace gputest::session {
namespace {

using namespace gputest::literals;

constexpr std::size_t gib = std::size_t{1} << 30U;

TEST(LeaseScope, says_what_of_each_device_spilled_to_the_host_and_records_the_sum) {
  const tests::PrivateFolder folder;
  setenv("GPUTEST_DIR", folder.path().c_str(), 1);
  setenv("GPUTEST_DEVICES", "simulated:2x4GiB,context=0", 1);
  unsetenv("CUDA_VISIBLE_DEVICES");
  Account::instance().open({"Sort.Keys", {8_GiB, 8_GiB}});
  managed_memory_resource first{0};
  managed_memory_resource second{1};
  memory_resource other{0};
  memory_resource other_second{1};
  void* const managed = first.allocate(3 * gib);
  void* const managed_second = second.allocate(3 * gib);
  void* const fixed = other.allocate(2 * gib);
  void* const fixed_second = other_second.allocate(3 * gib);
  ::testing::internal::CaptureStderr();
  const auto summary = close_lease();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "gputest: Sort.Keys: 1 GiB of managed memory of device 0 spilled to the host, since the device had no room "
            "for them\n"
            "gputest: Sort.Keys: 2 GiB of managed memory of device 1 spilled to the host, since the device had no room "
            "for them\n");
  EXPECT_EQ(summary.spilled, "3 GiB");
  EXPECT_EQ(summary.managed, 3_GiB) << "on the device with most of it";
  EXPECT_EQ(summary.left.size(), 2U);
  first.deallocate(managed, 3 * gib);
  second.deallocate(managed_second, 3 * gib);
  other.deallocate(fixed, 2 * gib);
  other_second.deallocate(fixed_second, 3 * gib);
}

} // namespace
} // namespace gputest::session
