// SPDX-License-Identifier: BSD-3-Clause
// A process has one view of its devices, so each test looks in a child of its own. These come before the tests of the
// executable that use devices in its own process.
#include "core/devices/simulated/own_simulated_devices.hpp"

#include "core/devices/metering.hpp"
#include "core/devices/simulated/simulated.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>
#include <gputest/simulated_buffer.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace gputest::devices {
namespace {

using namespace gputest::literals;

/// Three simulated devices, of which the process sees the last and the first, in this order.
class OwnSimulatedDevicesTest : public ::testing::Test {
protected:
  void in_process(const std::function<void()>& look) {
    EXPECT_EQ(tests::in_child([&] {
                setenv("GPUTEST_DIR", folder_.path().c_str(), 1);
                setenv("GPUTEST_DEVICES", devices_.c_str(), 1);
                setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
                look();
                return HasFailure() ? 1 : 0;
              }),
              0);
  }

  static OwnSimulatedDevices& devices() { return OwnSimulatedDevices::instance("a test"); }

  /// Bytes in use of a device, as the machine numbers them.
  [[nodiscard]] Bytes used(std::size_t index) const {
    SimulatedMemory memory{policy::parse_simulated_devices(devices_.substr(devices_.find(':') + 1)), folder_.path()};
    return Bytes{memory.use(index).used_bytes};
  }

  std::string devices_ = "simulated:3x4GiB,context=1MiB";
  tests::PrivateFolder folder_;
};

using Uuids = std::vector<std::string>;

TEST_F(OwnSimulatedDevicesTest, are_numbered_as_the_process_sees_them) {
  in_process([&] {
    EXPECT_EQ(devices().uuids(), (Uuids{"SIM-3x4096MiB-2", "SIM-3x4096MiB-0"}));
    devices().take(0, 10_MiB);
    EXPECT_EQ(used(2), 11_MiB);
    EXPECT_EQ(used(0), 0_B);
    devices().take(1, 20_MiB);
    EXPECT_EQ(used(0), 21_MiB);
    EXPECT_EQ(devices().free_bytes(0), 4_GiB - 11_MiB);
    EXPECT_EQ(devices().free_bytes(1), 4_GiB - 21_MiB);
    const std::vector<std::uint64_t> left{(4_GiB - 11_MiB).count(), (4_GiB - 21_MiB).count()};
    EXPECT_EQ(devices().left_by_this_process(), left);
    devices().give_back(0, 10_MiB);
    EXPECT_EQ(used(2), 1_MiB) << "the context stays";
    EXPECT_EQ(used(0), 21_MiB);
  });
}

TEST_F(OwnSimulatedDevicesTest, are_in_use_once_somebody_asked_for_them) {
  in_process([] {
    EXPECT_FALSE(OwnSimulatedDevices::in_use());
    EXPECT_FALSE(simulated_process().synchronize_and_trim().has_context);
    EXPECT_FALSE(OwnSimulatedDevices::in_use()) << "settling begins no use";
    static_cast<void>(devices());
    EXPECT_TRUE(OwnSimulatedDevices::in_use());
    EXPECT_FALSE(simulated_process().synchronize_and_trim().has_context) << "nothing was allocated";
    devices().take(1, 1_MiB);
    const auto settled = simulated_process().synchronize_and_trim();
    EXPECT_TRUE(settled.has_context);
    EXPECT_EQ(settled.free_bytes, std::vector<std::uint64_t>{(4_GiB - 2_MiB).count()});
  });
}

} // namespace
} // namespace gputest::devices
