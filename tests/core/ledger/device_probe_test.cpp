// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/device_probe.hpp"

#include "core/devices/simulated/simulated.hpp"
#include "core/os/process.hpp"

#include "support/child_process.hpp"
#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace gputest::ledger {
namespace {

using policy::Stage;

/// One device of 1000 bytes, of which the driver keeps 100, that shows what the test says.
class FakeDevices : public devices::DeviceList {
public:
  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t /*index*/) const override { return reserved; }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t /*index*/) const override { return 0; }
  [[nodiscard]] devices::MemoryUse memory(std::size_t /*index*/) const override { return use; }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t /*index*/, devices::AskDriver /*ask*/) const override {
    return about;
  }
  [[nodiscard]] std::uint64_t set_aside_bytes(std::size_t /*index*/) const override { return set_aside; }
  [[nodiscard]] std::string origin() const override { return "fake"; }

  devices::MemoryUse use;
  std::uint64_t reserved = 100;
  std::uint64_t set_aside = 0;
  policy::DeviceFacts about;

private:
  std::vector<Device> devices_{{"GPU-other", "fake", Bytes{5}, false}, {"GPU-a", "fake", Bytes{1000}, false}};
};

constexpr policy::DeviceMask device = 4;
constexpr std::int64_t no_process = INT32_MAX; // larger than any pid

Record entry(std::size_t slot, std::int64_t pid, std::uint64_t overhead, std::uint64_t lease = 0) {
  Record entry;
  entry.slot = slot;
  entry.pid = pid;
  entry.claim.stage = lease > 0 ? Stage::holding : Stage::inside;
  entry.claim.devices = device;
  entry.claim.wanted = lease > 0 ? device : 0;
  entry.claim.overhead_bytes = overhead;
  entry.claim.lease_bytes = lease;
  return entry;
}

class DeviceProbeTest : public ::testing::Test {
protected:
  std::uint64_t external(const std::vector<Record>& entries) {
    return probe_->capacity("GPU-a", entries, device).external_bytes;
  }

  bool is_back(const Record& ended, const std::vector<Record>& others = {}) {
    return probe_->is_back("GPU-a", ended, others);
  }

  std::shared_ptr<FakeDevices> devices_ = std::make_shared<FakeDevices>();
  std::shared_ptr<const DeviceProbe> probe_ = make_probe(devices_);
  std::int64_t self_ = ::getpid();
  std::int64_t parent_ = ::getppid();
};

TEST_F(DeviceProbeTest, takes_what_the_driver_reserves_off_a_devices_memory) {
  EXPECT_EQ(probe_->capacity("GPU-a", {}, device).total_bytes, 900U);
  devices_->reserved = 5000;
  EXPECT_EQ(probe_->capacity("GPU-a", {}, device).total_bytes, 0U);
}

TEST_F(DeviceProbeTest, takes_all_that_is_in_use_for_external_where_it_need_not_know_whose_it_is) {
  devices_->use = {400, {{{self_, 400}}}};
  EXPECT_EQ(external({entry(0, self_, 400)}), 0U);
  const auto least = probe_->least_capacity("GPU-a");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->total_bytes, 900U);
  EXPECT_EQ(least->external_bytes, 400U);
  devices_->set_aside = 300;
  EXPECT_EQ(probe_->least_capacity("GPU-a")->external_bytes, 100U);
  EXPECT_FALSE(probe_->least_capacity("GPU-none"));
}

TEST_F(DeviceProbeTest, says_with_and_without_a_list_how_many_processes_a_device_lets_in) {
  for (const int allowed : {0, 4, 1}) {
    devices_->about.processes_allowed = allowed == 1 ? 4 : allowed;
    devices_->about.compute_mode = allowed == 1 ? policy::ComputeMode::exclusive_process : policy::ComputeMode::usual;
    const auto probe = make_probe(devices_);
    EXPECT_EQ(probe->least_capacity("GPU-a")->most_processes, allowed);
    EXPECT_EQ(probe->capacity("GPU-a", {}, device).most_processes, allowed);
  }
}

TEST_F(DeviceProbeTest, gives_a_device_that_is_not_there_no_capacity) {
  devices_->use.used_bytes = 500;
  EXPECT_EQ(probe_->capacity("GPU-none", {}, device).total_bytes, 0U);
  EXPECT_EQ(probe_->capacity("GPU-none", {}, device).external_bytes, 0U);
}

TEST_F(DeviceProbeTest, lets_external_processes_take_first_what_no_decision_counts_on) {
  devices_->set_aside = 300;
  devices_->use = {200, {{{parent_, 200}}}};
  EXPECT_EQ(external({}), 0U);
  devices_->use = {350, {{{parent_, 350}}}};
  EXPECT_EQ(external({}), 50U);
}

TEST_F(DeviceProbeTest, gives_a_device_that_cannot_be_used_no_capacity) {
  devices_->about.compute_mode = policy::ComputeMode::prohibited;
  EXPECT_EQ(make_probe(devices_)->capacity("GPU-a", {}, device).total_bytes, 0U);
  devices_->about = {};
  devices_->about.lost = true;
  EXPECT_EQ(make_probe(devices_)->capacity("GPU-a", {}, device).total_bytes, 0U);
}

TEST_F(DeviceProbeTest, counts_all_that_the_host_uses_of_memory_that_it_shares) {
  devices_->use = {500, {{{self_, 100}}}};
  EXPECT_EQ(external({entry(0, self_, 400)}), 100U) << "unlisted memory may be a claim's";
  devices_->about.shares_host_memory = true;
  probe_ = make_probe(devices_);
  EXPECT_EQ(external({entry(0, self_, 400)}), 400U);
}

TEST_F(DeviceProbeTest, does_not_take_a_process_that_has_got_the_pid_of_an_ended_one_for_it) {
  devices_->use = {50, {{{self_, 50}}}};
  auto ended = entry(0, self_, 50);
  ended.start_time = os::start_time_of(os::own_pid()).value_or(0);
  ASSERT_NE(ended.start_time, 0U);
  EXPECT_FALSE(is_back(ended)) << "the driver still lists it";
  ++ended.start_time;
  EXPECT_TRUE(is_back(ended)) << "another process uses that memory";
  ended.start_time = 0;
  EXPECT_FALSE(is_back(ended)) << "not known";
}

TEST_F(DeviceProbeTest, counts_a_process_that_was_started_under_a_lease_by_somebody_else_for_its_holder) {
  // As an MPI rank is that Slurm's daemon starts: no descendant of the lease's holder.
  tests::ChildProcess rank{{"/bin/sh", "-c", "echo runs; cat"}, {{"GPUTEST_LEASE_OF", "0:3:77"}}};
  rank.wait_for_out("runs");
  devices_->use = {50, {{{rank.pid(), 50}}}};
  auto holder = entry(3, 999999999, 60);
  holder.identity = 77;
  EXPECT_EQ(external({holder}), 0U);
  holder.identity = 78;
  EXPECT_EQ(external({holder}), 50U) << "of a lease that is no more";
}

TEST_F(DeviceProbeTest, counts_listed_processes_that_are_not_on_the_ledger_as_external_processes) {
  devices_->use = {80, {{{self_, 50}, {parent_, 30}}}};
  EXPECT_EQ(external({}), 80U);
  EXPECT_EQ(external({entry(0, self_, 50)}), 30U);
  EXPECT_EQ(external({entry(0, self_, 20, 30)}), 30U) << "a lease is claimed, too";
  EXPECT_EQ(external({entry(0, self_, 20, 20)}), 40U)
      << "what a process uses beyond its claim is an external process's";
}

TEST_F(DeviceProbeTest, adds_up_a_claim_of_any_size) {
  devices_->use = {50, {{{self_, 50}}}};
  EXPECT_EQ(external({entry(0, self_, UINT64_MAX - 10, 20)}), 0U);
}

TEST_F(DeviceProbeTest, counts_no_claims_of_other_devices) {
  devices_->use = {50, {{{self_, 50}}}};
  Record elsewhere = entry(0, self_, 50);
  elsewhere.claim.devices = 8;
  EXPECT_EQ(external({elsewhere}), 50U);
  Record leases_elsewhere = entry(0, self_, 20, 30);
  leases_elsewhere.claim.devices = device | 8U;
  leases_elsewhere.claim.wanted = 8;
  EXPECT_EQ(external({leases_elsewhere}), 30U);
  Record waits = entry(0, self_, 20, 30);
  waits.claim.stage = Stage::waiting;
  EXPECT_EQ(external({waits}), 30U);
}

TEST_F(DeviceProbeTest, counts_children_of_a_process_on_the_ledger_as_that_one) {
  std::array<int, 2> end{};
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(end.data()), 0);
  ASSERT_EQ(::pipe(pids.data()), 0);
  const auto live_on = [&] {
    ::close(end[1]);
    char nothing = 0;
    return ::read(end[0], &nothing, 1) == 0 ? 0 : 1;
  };
  const pid_t child = tests::start_child([&] {
    const pid_t grandchild = tests::start_child(live_on);
    static_cast<void>(!::write(pids[1], &grandchild, sizeof grandchild));
    live_on();
    return tests::end_of(grandchild);
  });
  pid_t grandchild = 0;
  ASSERT_EQ(::read(pids[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  devices_->use = {60, {{{child, 20}, {grandchild, 40}}}};
  EXPECT_EQ(external({entry(0, self_, 60)}), 0U);
  EXPECT_EQ(external({entry(0, self_, 50)}), 10U);
  EXPECT_EQ(external({entry(0, self_, 60), entry(1, child, 60)}), 0U);
  EXPECT_EQ(external({entry(0, self_, 60), entry(1, child, 50)}), 10U) << "the nearest ancestor's claim counts";
  EXPECT_EQ(external({entry(0, 1, 60)}), 60U) << "everybody descends from process 1";
  for (const auto& ends : {end, pids}) {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  EXPECT_EQ(tests::end_of(child), 0);
}

TEST_F(DeviceProbeTest, counts_what_is_used_beyond_all_claims_where_pids_mean_nothing_here) {
  devices_->use = {80, {{{no_process, 80}}}};
  EXPECT_EQ(external({entry(0, self_, 50)}), 30U);
  devices_->use = {80, std::nullopt};
  EXPECT_EQ(external({entry(0, self_, 50)}), 30U);
  EXPECT_EQ(external({entry(0, self_, 90)}), 0U);
}

TEST_F(DeviceProbeTest, sees_memory_back_when_the_process_is_not_listed_any_more) {
  const Record ended = entry(0, self_, 50);
  devices_->use = {900, {{{parent_, 850}, {self_, 50}}}};
  EXPECT_FALSE(is_back(ended));
  devices_->use = {900, {{{parent_, 900}}}};
  EXPECT_TRUE(is_back(ended)) << "whatever others use";
}

TEST_F(DeviceProbeTest, waits_for_memory_of_an_ended_process_that_the_dead_one_may_have_started) {
  const Record launcher = entry(0, 7, 50, 300);
  const Record other = entry(1, no_process, 50);
  devices_->use = {bytes_of_an_unused_device + 1, {{{self_, 350}, {no_process, 350}}}};
  EXPECT_FALSE(is_back(launcher, {launcher, entry(2, self_, 350)})) << "it may be the launcher's command";
  EXPECT_TRUE(is_back(launcher, {launcher, other})) << "it is another process of the ledger";
  EXPECT_FALSE(is_back(other, {launcher, other}));
  EXPECT_TRUE(make_probe(devices_, std::chrono::hours{0})->is_back("GPU-a", launcher, {launcher}))
      << "it is somebody else's";
}

TEST_F(DeviceProbeTest, knows_what_external_processes_use_while_memory_of_an_ended_process_is_on_its_way_back) {
  const Record ended = entry(0, no_process, 50, 300);
  const Record has_not_allocated = entry(1, self_, 10, 400);
  devices_->use = {600, {{{no_process, 350}, {parent_, 250}}}};
  EXPECT_EQ(external({ended, has_not_allocated}), 250U);
}

TEST_F(DeviceProbeTest, without_a_list_waits_for_memory_of_the_dead_as_long_as_it_can_be_theirs) {
  const Record ended = entry(0, 7, 50, 300);
  const std::vector<std::optional<std::vector<devices::ProcessMemory>>> lists{
      std::nullopt, std::vector<devices::ProcessMemory>{}, std::vector<devices::ProcessMemory>{{no_process, 1}}};
  for (const auto& list : lists) {
    devices_->use = {(32U << 20U) + 1, list};
    EXPECT_FALSE(make_probe(devices_, std::chrono::hours{1})->is_back("GPU-a", ended, {}));
    EXPECT_TRUE(make_probe(devices_, std::chrono::hours{0})->is_back("GPU-a", ended, {})) << "it is somebody else's";
    devices_->use = {32U << 20U, list}; // what a driver keeps by itself
    EXPECT_TRUE(make_probe(devices_, std::chrono::hours{1})->is_back("GPU-a", ended, {}));
  }
}

TEST_F(DeviceProbeTest, leaves_a_device_that_is_not_visible_to_other_processes_unless_it_is_simulated) {
  const Record ended = entry(0, 7, 50);
  EXPECT_FALSE(probe_->is_back("GPU-none", ended, {}));
  const auto uuid = [](const std::string& setting) {
    return devices::simulated_uuids(policy::parse_simulated_devices(setting)).front();
  };
  EXPECT_TRUE(probe_->is_back(uuid("1x1GiB"), ended, {}));
  EXPECT_TRUE(probe_->is_back(uuid("1x1GiB,mig"), ended, {}));
  EXPECT_FALSE(probe_->is_back(uuid("1x1GiB,return=1ms"), ended, {})) << "it may come back later";
}

} // namespace
} // namespace gputest::ledger
