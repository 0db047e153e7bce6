// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/meter.hpp"

#include "core/devices/simulated/simulated.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>
#include <gputest/simulated_buffer.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <utility>

namespace gputest::metering {
namespace {

using namespace literals;

/// The devices are those of SimulatedSourceTest: a process has one view of them.
class SimulatedMeterTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    static const tests::PrivateFolder folder;
    setenv("GPUTEST_DIR", folder.path().c_str(), 1);
    setenv("GPUTEST_DEVICES", "simulated:2x4GiB,context=0", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
  }

  static devices::Meter& meter(MeterSetting setting = MeterSetting::automatic) {
    return devices::simulated_process().meter(setting);
  }

  devices::SimulatedProcess* source_ = &devices::simulated_process();
};

TEST_F(SimulatedMeterTest, sees_each_buffer_and_who_took_it) {
  meter().begin();
  {
    SimulatedBuffer first{3_MiB};
    SimulatedBuffer second{std::move(first)};
    const SimulatedBuffer third{1_MiB, 1};
    second = SimulatedBuffer{2_MiB}; // both exist for a moment
  }
  const auto usage = meter().end();
  EXPECT_EQ(usage.evidence, devices::Evidence::exact);
  ASSERT_EQ(usage.devices.size(), 2U);
  EXPECT_EQ(usage.devices[0].peak, 5_MiB);
  EXPECT_EQ(usage.devices[1].peak, 1_MiB);
  EXPECT_TRUE(usage.devices[0].left.empty());
}

TEST_F(SimulatedMeterTest, sees_memory_of_resources_by_kind_and_managed_memory_in_full) {
  meter().begin();
  void* const pool = source_->allocate(MemoryKind::pool, 0, 1_GiB, {}, true);
  void* const plain = source_->allocate(MemoryKind::malloc, 0, 1_GiB, {}, true);
  void* const managed = source_->allocate(MemoryKind::managed, 0, 2_GiB, {}, true);
  EXPECT_EQ(meter().so_far().devices.at(0).peak, 4_GiB);
  source_->free(MemoryKind::managed, 0, managed, 2_GiB, {});
  source_->free(MemoryKind::pool, 0, pool, 1_GiB, {});
  const auto usage = meter().end().devices.at(0);
  source_->free(MemoryKind::malloc, 0, plain, 1_GiB, {});
  EXPECT_EQ(usage.at_peak, (std::map<devices::AllocationKind, Bytes>{{devices::AllocationKind::device, 1_GiB},
                                                                     {devices::AllocationKind::pool, 1_GiB},
                                                                     {devices::AllocationKind::managed, 2_GiB}}));
  ASSERT_EQ(usage.left.size(), 1U);
  EXPECT_EQ(usage.left[0].kind, devices::AllocationKind::device);
  EXPECT_EQ(usage.left[0].function, "memory_resource");
  EXPECT_EQ(usage.left[0].bytes, 1_GiB);
}

TEST_F(SimulatedMeterTest, counts_no_memory_that_was_refused_and_no_device_heap) {
  EXPECT_EQ(tests::in_child([&] { // the heap stays as long as the process
              meter().begin();
              EXPECT_THROW(SimulatedBuffer{5_GiB}, OutOfMemory);
              EXPECT_THROW(static_cast<void>(source_->allocate(MemoryKind::malloc, 1, 6_GiB, {}, true)), OutOfMemory);
              EXPECT_EQ(devices::simulated_process().set_heap(1, 8_MiB), "");
              const auto usage = meter().end();
              EXPECT_EQ(usage.evidence, devices::Evidence::exact);
              EXPECT_EQ(usage.devices.size(), 2U);
              EXPECT_EQ(usage.devices.at(0).peak, Bytes{});
              EXPECT_EQ(usage.devices.at(0).wanted, 5_GiB);
              EXPECT_EQ(usage.devices.at(1).wanted, 6_GiB);
              return HasFailure() ? 1 : 0;
            }),
            0);
}

TEST_F(SimulatedMeterTest, that_is_off_knows_nothing) {
  meter(MeterSetting::off).begin();
  const SimulatedBuffer buffer{1_MiB};
  const auto usage = meter(MeterSetting::off).end();
  EXPECT_EQ(usage.evidence, devices::Evidence::unknown);
  EXPECT_TRUE(usage.devices.empty());
}

TEST_F(SimulatedMeterTest, tells_samples_for_a_lower_bound) {
  meter(MeterSetting::sampled).begin();
  { const SimulatedBuffer buffer{3_MiB}; }
  const SimulatedBuffer kept{1_MiB};
  const auto usage = meter(MeterSetting::sampled).end();
  EXPECT_EQ(usage.evidence, devices::Evidence::sampled);
  EXPECT_EQ(usage.because, "GPUTEST_METER=sampled");
  EXPECT_EQ(usage.devices.at(0).peak, 3_MiB);
  EXPECT_TRUE(usage.devices.at(0).left.empty());
  EXPECT_TRUE(usage.devices.at(0).at_peak.empty());
  meter(MeterSetting::sampled).begin();
  EXPECT_THROW(SimulatedBuffer{5_GiB}, OutOfMemory);
  const auto later = meter(MeterSetting::sampled).end();
  EXPECT_EQ(later.devices.at(0).wanted, Bytes{}) << "samples do not see what was refused";
  EXPECT_EQ(later.devices.at(0).kept_at_begin, Bytes{});
  EXPECT_TRUE(later.devices.at(0).kept.empty());
  EXPECT_FALSE(meter(MeterSetting::sampled).sees_allocations());
  EXPECT_TRUE(meter().sees_allocations());
}

} // namespace
} // namespace gputest::metering
