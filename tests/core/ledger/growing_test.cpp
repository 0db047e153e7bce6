// SPDX-License-Identifier: BSD-3-Clause
// Leases that grow while they are held. Each device has 100 bytes, each process 10 bytes of overhead.
#include "ledger_test.hpp"

namespace gputest::tests {
namespace {

class LedgerGrowing : public LedgerTest {
protected:
  LedgerProcess start_holding(const std::string& who, int bytes, const std::string& devices = "1") {
    LedgerProcess process = start_inside(who, devices, devices == "3" ? "2" : "1");
    EXPECT_EQ(process.ask("lease " + who + " " + devices + " " + std::to_string(bytes)), "granted " + devices);
    return process;
  }
};

TEST_F(LedgerGrowing, takes_the_room_that_there_is_and_others_see_it) {
  auto growing = start_holding("growing", 20);
  const auto before = claim_of("growing");
  EXPECT_EQ(growing.ask("grow 50"), "grown");
  EXPECT_EQ(claim_of("growing").lease_bytes, 50);
  EXPECT_EQ(claim_of("growing").ticket, before.ticket);
  auto other = start_inside("other");
  EXPECT_EQ(other.ask("lease other 1 31 try"), "would wait for growing");
  EXPECT_EQ(other.ask("lease other 1 30 try"), "granted 1");
}

TEST_F(LedgerGrowing, without_room_changes_nothing) {
  auto growing = start_holding("growing", 20);
  auto other = start_holding("other", 50);
  EXPECT_EQ(growing.ask("grow 31"), "not grown");
  EXPECT_EQ(claim_of("growing").lease_bytes, 20);
  EXPECT_EQ(stage_of("growing"), "holding");
  EXPECT_EQ(growing.ask("grow 30"), "grown");
  EXPECT_EQ(growing.ask("grow 91"), "not grown") << "more than the device has";
}

TEST_F(LedgerGrowing, needs_no_more_room_for_what_the_lease_covers) {
  auto growing = start_holding("growing", 20);
  auto other = start_holding("other", 60);
  EXPECT_EQ(growing.ask("grow 20"), "grown");
  EXPECT_EQ(growing.ask("grow 5"), "grown");
  EXPECT_EQ(claim_of("growing").lease_bytes, 20);
}

TEST_F(LedgerGrowing, has_to_have_room_on_each_device_of_the_lease) {
  auto growing = start_holding("growing", 20, "3");
  auto other = start_holding("other", 40, "2");
  EXPECT_EQ(growing.ask("grow 41"), "not grown");
  EXPECT_EQ(growing.ask("grow 40"), "grown");
}

TEST_F(LedgerGrowing, delays_nobody_who_waits_and_could_have_the_room) {
  auto growing = start_holding("growing", 10);
  auto holding = start_holding("holding", 30);
  auto waiting = start_inside("waiting");
  EXPECT_EQ(waiting.ask("lease waiting 1 40"), "waits for growing holding");
  EXPECT_EQ(growing.ask("grow 31"), "not grown") << "it fits now, and not when `holding` has released";
  EXPECT_EQ(growing.ask("grow 30"), "grown");
  EXPECT_EQ(holding.ask("release"), "released");
  EXPECT_EQ(waiting.answer(), "granted 1");
}

TEST_F(LedgerGrowing, may_take_the_room_that_one_who_waits_for_its_release_cannot_have) {
  auto growing = start_holding("growing", 31);
  auto waiting = start_inside("waiting");
  EXPECT_EQ(waiting.ask("lease waiting 1 50"), "waits for growing");
  EXPECT_EQ(growing.ask("grow 80"), "grown");
  EXPECT_EQ(growing.ask("release"), "released");
  EXPECT_EQ(waiting.answer(), "granted 1");
}

TEST_F(LedgerGrowing, with_the_medium_lock_delays_nobody_who_waits_for_it) {
  auto growing = start_inside("growing");
  EXPECT_EQ(growing.ask("lease growing 1 10 medium_lock"), "granted 1");
  auto waiting = start_inside("waiting");
  EXPECT_EQ(waiting.ask("lease waiting 1 10 medium_lock"), "waits for growing");
  auto third = start_inside("third");
  EXPECT_EQ(growing.ask("grow 70"), "grown");
  EXPECT_EQ(third.ask("lease third 1 10 try"), "would wait for growing waiting");
}

TEST_F(LedgerGrowing, of_a_whole_device_is_as_large_already) {
  auto growing = start_inside("growing");
  EXPECT_EQ(growing.ask("lease growing 1 60 exclusive try"), "granted 1");
  EXPECT_EQ(growing.ask("grow 1000"), "grown");
  EXPECT_EQ(claim_of("growing").lease_bytes, 60);
}

TEST_F(LedgerGrowing, needs_a_lease) {
  auto process = start_inside("process");
  EXPECT_EQ(process.ask("grow 1"), "not grown");
  EXPECT_EQ(process.ask("lease process 1 20"), "granted 1");
  EXPECT_EQ(process.ask("release"), "released");
  EXPECT_EQ(process.ask("grow 30"), "not grown");
  EXPECT_EQ(claim_of("process").lease_bytes, 0);
}

TEST_F(LedgerGrowing, leaves_what_external_processes_have) {
  auto growing = start_holding("growing", 20);
  devices_.device(0).external_bytes = 50;
  EXPECT_EQ(growing.ask("grow 41"), "not grown");
  EXPECT_EQ(growing.ask("grow 40"), "grown");
}

/// Of a device of which 60 bytes are in use, those of claims first.
class ProbeOfUse : public ledger::DeviceProbe {
public:
  [[nodiscard]] std::shared_ptr<const ledger::Observation> observe(const std::string& /*uuid*/) const override {
    class Seen : public ledger::Observation {
      [[nodiscard]] policy::Capacity capacity(const std::vector<ledger::Record>& records,
                                              policy::DeviceMask /*device*/) const override {
        std::uint64_t external = 60;
        for (const auto& record : records) {
          const bool holds = record.claim.stage == policy::Stage::holding;
          external -= std::min(external, record.claim.overhead_bytes + (holds ? record.claim.lease_bytes : 0));
        }
        return {100, external};
      }
      [[nodiscard]] bool is_back(const ledger::Record& /*ended*/,
                                 const std::vector<ledger::Record>& /*records*/) const override {
        return true;
      }
    };
    return std::make_shared<Seen>();
  }
};

TEST_F(LedgerGrowing, makes_what_the_process_has_beyond_its_lease_part_of_it) {
  ledger::Ledger own{folder(), std::make_shared<ProbeOfUse>()};
  const auto device = own.devices().bit_of("device-0");
  ledger::Ledger::EnterRequest enter;
  enter.who = "own";
  enter.candidates = device;
  enter.overhead_bytes = 10;
  ASSERT_EQ(own.enter(enter, {}).kind, ledger::Result::Kind::granted);
  ASSERT_EQ(own.lease({"own", device, 20}, {}).kind, ledger::Result::Kind::granted);
  EXPECT_FALSE(own.grow(91));
  EXPECT_TRUE(own.grow(90));
}

TEST_F(LedgerGrowing, is_not_hindered_by_a_process_that_was_killed_or_waits_stopped) {
  auto growing = start_holding("growing", 10);
  auto killed = start_holding("killed", 60);
  auto stopped = start_inside("stopped");
  EXPECT_EQ(stopped.ask("lease stopped 1 60"), "waits for growing killed");
  stop(stopped);
  killed.kill();
  EXPECT_EQ(growing.ask("grow 80"), "grown");
  go_on(stopped);
  EXPECT_EQ(growing.ask("release"), "released");
  EXPECT_EQ(stopped.answer(), "granted 1");
}

TEST_F(LedgerGrowing, waits_for_idle_processes_that_are_alone_in_the_way) {
  auto growing = start_holding("growing", 20);
  auto idle = start_inside("idle");
  EXPECT_EQ(idle.ask("idle"), "idle");
  growing.say("grow 90");
  EXPECT_EQ(idle.ask("leave"), "has to leave");
  idle.end();
  EXPECT_EQ(growing.answer(), "grown");
}

TEST_F(LedgerGrowing, asks_no_idle_process_to_leave_where_that_is_not_enough) {
  auto growing = start_holding("growing", 20);
  auto idle = start_inside("idle");
  auto other = start_holding("other", 20);
  EXPECT_EQ(idle.ask("idle"), "idle");
  EXPECT_EQ(growing.ask("grow 70"), "not grown");
  EXPECT_EQ(idle.ask("resume"), "resumed");
}

} // namespace
} // namespace gputest::tests
