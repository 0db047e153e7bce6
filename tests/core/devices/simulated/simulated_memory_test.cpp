// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/simulated/simulated_memory.hpp"

#include "core/devices/simulated/simulated.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <string>

namespace gputest::devices {
namespace {

using namespace literals;
using tests::end_of;
using tests::in_child;
using tests::start_keeper;

class SimulatedMemoryTest : public ::testing::Test {
protected:
  SimulatedMemory open() { return SimulatedMemory{setting_, folder_.path()}; }

  [[nodiscard]] std::unique_ptr<DeviceList> open_list() const {
    Settings settings;
    settings.folder = folder_.path();
    return open_simulated(setting_, settings);
  }

  /// Starts a child that does something with the memory and then does nothing until it is killed.
  pid_t start(const std::function<void(SimulatedMemory&)>& function) {
    return start_keeper([&] {
      auto memory = std::make_unique<SimulatedMemory>(setting_, folder_.path());
      function(*memory);
      return memory;
    });
  }

  static void kill(pid_t child) {
    EXPECT_EQ(::kill(child, SIGKILL), 0);
    EXPECT_EQ(end_of(child), -SIGKILL);
  }

  /// Bytes in use of a device, by anybody.
  static Bytes used(SimulatedMemory& memory, std::size_t device) { return Bytes{memory.use(device).used_bytes}; }

  policy::SimulatedDevices setting_{2, 1_GiB, 100_MiB};
  tests::PrivateFolder folder_;
};

TEST_F(SimulatedMemoryTest, charges_a_process_once_for_its_context_on_each_device) {
  SimulatedMemory memory = open();
  EXPECT_EQ(used(memory, 0), 0_B);
  memory.allocate(0, 50_MiB);
  EXPECT_EQ(used(memory, 0), 150_MiB);
  memory.allocate(0, 50_MiB);
  EXPECT_EQ(used(memory, 0), 200_MiB);
  EXPECT_EQ(used(memory, 1), 0_B);
  memory.free(0, 50_MiB);
  memory.free(0, 50_MiB);
  EXPECT_EQ(used(memory, 0), 100_MiB) << "the context stays";
  memory.allocate(0, 1_MiB);
  EXPECT_EQ(used(memory, 0), 101_MiB);
  memory.allocate(1, 1_MiB);
  EXPECT_EQ(used(memory, 1), 101_MiB);
}

TEST_F(SimulatedMemoryTest, is_shared_by_processes_and_lists_them) {
  const pid_t a = start([](SimulatedMemory& memory) { memory.allocate(0, 300_MiB); });
  const pid_t b = start([](SimulatedMemory& memory) { memory.allocate(1, 200_MiB); });
  SimulatedMemory memory = open();
  const MemoryUse first = memory.use(0);
  ASSERT_TRUE(first.processes && first.processes->size() == 1);
  EXPECT_EQ(first.used_bytes, (400_MiB).count());
  EXPECT_EQ(first.processes->front().pid, a);
  EXPECT_EQ(first.processes->front().used_bytes, (400_MiB).count());
  const MemoryUse second = memory.use(1);
  ASSERT_TRUE(second.processes && second.processes->size() == 1);
  EXPECT_EQ(second.processes->front().pid, b);
  kill(a);
  kill(b);
}

TEST_F(SimulatedMemoryTest, runs_out_for_the_second_process) {
  const pid_t a = start([](SimulatedMemory& memory) { memory.allocate(0, 600_MiB); });
  SimulatedMemory memory = open();
  try {
    memory.allocate(0, 225_MiB);
    ADD_FAILURE() << "there was room";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(), "out of memory: 225 MiB and a context of 100 MiB asked of simulated device 0, which has "
                               "324 MiB of 1 GiB left; 1 processes use the rest");
  }
  EXPECT_EQ(used(memory, 0), 700_MiB) << "nothing was taken";
  memory.allocate(0, 224_MiB);
  EXPECT_EQ(tests::message_of<OutOfMemory>([&] { memory.allocate(0, 1_B); }),
            "out of memory: 1 B asked of simulated device 0, which has 0 B of 1 GiB left; 2 processes use the rest");
  memory.allocate(1, 924_MiB);
  EXPECT_EQ(tests::message_of<OutOfMemory>([&] { memory.allocate(1, 2_MiB); }),
            "out of memory: 2 MiB asked of simulated device 1, which has 0 B of 1 GiB left; 1 processes use the rest");
  kill(a);
}

TEST_F(SimulatedMemoryTest, of_a_killed_process_is_in_use_while_a_child_it_forked_lives) {
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(pids.data()), 0);
  const pid_t parent = start([&](SimulatedMemory& memory) {
    memory.allocate(0, 400_MiB);
    const pid_t child = start_keeper([] { return 0; });
    static_cast<void>(!::write(pids[1], &child, sizeof child));
  });
  pid_t child = 0;
  ASSERT_EQ(::read(pids[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  kill(parent);
  SimulatedMemory memory = open();
  EXPECT_EQ(used(memory, 0), 500_MiB);
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  ::close(pids[0]);
  ::close(pids[1]);
}

TEST_F(SimulatedMemoryTest, of_a_parent_is_left_alone_by_the_child_it_forks) {
  SimulatedMemory memory = open();
  memory.allocate(0, 100_MiB);
  EXPECT_EQ(in_child([&] {
              memory.free(0, 100_MiB);
              const bool left_alone = used(memory, 0) == 200_MiB;
              memory.allocate(0, 50_MiB);
              const bool its_own = used(memory, 0) == 350_MiB; // a second context, and its memory
              memory.free(0, 50_MiB);
              return left_alone && its_own && used(memory, 0) == 300_MiB ? 0 : 1;
            }),
            0);
  EXPECT_EQ(used(memory, 0), 200_MiB);
}

TEST_F(SimulatedMemoryTest, of_a_killed_process_comes_back_only_after_the_time_that_the_setting_says) {
  setting_.return_after = std::chrono::hours{1};
  const pid_t a = start([](SimulatedMemory& memory) { memory.allocate(0, 900_MiB); });
  kill(a);
  SimulatedMemory memory = open();
  EXPECT_EQ(used(memory, 0), 1000_MiB);
  ASSERT_EQ(memory.use(0).processes->size(), 1U);
  EXPECT_EQ(memory.use(0).processes->front().pid, a) << "as the driver lists a process that is being torn down";
  EXPECT_THROW(memory.allocate(0, 100_MiB), OutOfMemory);
  memory.allocate(1, 100_MiB);
  EXPECT_EQ(used(memory, 0), 1000_MiB) << "its record was not taken over";
  setting_.return_after = std::chrono::milliseconds{1};
  SimulatedMemory hasty = open();
  while (used(hasty, 0) != 0_B) {
  }
  hasty.allocate(0, 900_MiB);
}

TEST_F(SimulatedMemoryTest, of_a_device_in_exclusive_mode_is_one_process_s) {
  setting_.facts.compute_mode = policy::ComputeMode::exclusive_process;
  const pid_t a = start([](SimulatedMemory& memory) { memory.allocate(0, 1_MiB); });
  SimulatedMemory memory = open();
  EXPECT_EQ(tests::message_of<Error>([&] { memory.allocate(0, 1_MiB); }),
            "simulated device 0 is busy: its compute mode is EXCLUSIVE_PROCESS, and pid " + std::to_string(a) +
                " uses it");
  memory.allocate(1, 1_MiB);
  memory.allocate(1, 1_MiB);
  kill(a);
  memory.allocate(0, 1_MiB);
}

TEST_F(SimulatedMemoryTest, of_other_kinds_of_devices_is_other_memory) {
  setting_ = policy::parse_simulated_devices("1x1GiB,context=0");
  SimulatedMemory usual = open();
  usual.allocate(0, 500_MiB);
  setting_ = policy::parse_simulated_devices("1x1GiB,context=0,sm_75");
  SimulatedMemory older = open();
  EXPECT_EQ(used(older, 0), 0_B);
  EXPECT_NE(simulated_uuids(setting_), simulated_uuids(policy::parse_simulated_devices("1x1GiB,context=0")));
}

TEST_F(SimulatedMemoryTest, is_what_the_list_of_simulated_devices_shows) {
  const auto list = open_list();
  ASSERT_EQ(list->devices().size(), 2U);
  EXPECT_EQ(list->devices()[0].uuid, "SIM-2x1024MiB-0");
  EXPECT_EQ(list->devices()[1].uuid, "SIM-2x1024MiB-1");
  EXPECT_EQ(list->devices()[1].total, 1_GiB);
  EXPECT_TRUE(list->devices()[1].simulated);
  EXPECT_EQ(list->usual_overhead_bytes(0), (100_MiB).count());
  EXPECT_EQ(list->reserved_bytes(0), 0U);
  EXPECT_EQ(list->origin(), "simulated");
  SimulatedMemory memory = open();
  memory.allocate(1, 1_MiB);
  EXPECT_EQ(list->memory(0).used_bytes, 0U);
  EXPECT_EQ(list->memory(1).used_bytes, (101_MiB).count());
}

TEST_F(SimulatedMemoryTest, is_listed_as_far_as_such_a_driver_would) {
  setting_.facts.lists_processes = false;
  SimulatedMemory memory = open();
  memory.allocate(0, 1_MiB);
  EXPECT_FALSE(open_list()->memory(0).processes);
  setting_.facts.lists_processes = true;
  setting_.facts.driver_model = policy::DriverModel::wddm;
  const auto use = open_list()->memory(0);
  ASSERT_TRUE(use.processes && use.processes->size() == 1);
  EXPECT_EQ(use.processes->front().used_bytes, std::nullopt);
  EXPECT_EQ(use.used_bytes, (101_MiB).count());
}

TEST_F(SimulatedMemoryTest, that_is_the_hosts_is_free_as_far_as_the_hosts_is) {
  setting_ = policy::parse_simulated_devices("1x1024TiB,integrated");
  const auto list = open_list();
  EXPECT_GT(list->memory(0).used_bytes, (1000_TiB).count()) << "no host has as much";
  EXPECT_LT(list->memory(0).used_bytes, (1024_TiB).count()) << "and every one has some";
}

} // namespace
} // namespace gputest::devices
