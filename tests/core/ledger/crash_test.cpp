// SPDX-License-Identifier: BSD-3-Clause
#include "ledger_test.hpp"

namespace gputest::tests {
namespace {

class LedgerCrash : public LedgerTest {};

TEST_F(LedgerCrash, reclaims_the_lease_of_a_killed_process) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  a.kill();
  EXPECT_EQ(b.ask("lease b 1 60 try"), "granted 1");
  EXPECT_EQ(stage_of("a"), "outside");
}

TEST_F(LedgerCrash, a_process_waiting_for_a_killed_one_goes_on) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  a.kill();
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerCrash, a_process_killed_first_in_the_queue_lets_the_next_go_on) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 40");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(c.ask("lease c 1 20"), "waits for a b");
  b.kill();
  EXPECT_EQ(c.answer(), "granted 1");
  EXPECT_EQ(stage_of("b"), "outside");
}

TEST_F(LedgerCrash, a_process_killed_in_the_middle_of_the_queue_changes_nothing_for_the_others) {
  auto [a, b, c, d] = start_all_inside("a", "b", "c", "d");
  a.ask("lease a 1 60");
  b.ask("lease b 1 60");
  c.ask("lease c 1 60");
  EXPECT_EQ(d.ask("lease d 1 60"), "waits for a c");
  c.kill();
  EXPECT_EQ(stage_of("d"), "waiting");
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(stage_of("d"), "waiting");
  b.ask("release");
  EXPECT_EQ(d.answer(), "granted 1");
}

TEST_F(LedgerCrash, a_process_behind_one_that_gave_up_detects_the_end_of_the_one_before) {
  auto [a, b, c, d] = start_all_inside("a", "b", "c", "d");
  a.ask("lease a 1 30");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(c.ask("lease c 1 60 for-a-while"), "waits for a b");
  EXPECT_EQ(d.ask("lease d 1 25"), "waits for a c");
  EXPECT_EQ(c.answer(), "timed out for a b");
  b.kill();
  EXPECT_EQ(d.answer(), "granted 1");
}

TEST_F(LedgerCrash, a_process_behind_one_that_entered_elsewhere_detects_the_end_of_the_one_before) {
  auto inside_0 = start_inside("inside_0", "1");
  auto inside_1 = start();
  EXPECT_EQ(inside_1.ask("enter inside_1 2 1 90 0"), "granted 2");
  auto a = start();
  auto b = start();
  auto c = start();
  EXPECT_EQ(a.ask("enter a 1 1 10 0 whole"), "waits for inside_0");
  EXPECT_EQ(b.ask("enter b 3 1 20 0"), "waits for a inside_1");
  EXPECT_EQ(c.ask("enter c 1 1 10 0"), "waits for b");
  inside_1.kill();
  EXPECT_EQ(b.answer(), "granted 2");
  a.kill();
  EXPECT_EQ(c.answer(), "granted 1");
}

TEST_F(LedgerCrash, a_process_killed_while_entering_lets_the_next_in) {
  auto a = start_inside("a");
  auto b = start();
  auto c = start();
  EXPECT_EQ(b.ask("enter b 1 1 10 0 whole"), "waits for a");
  EXPECT_EQ(c.ask("enter c 1 1 10 60"), "waits for b");
  b.kill();
  EXPECT_EQ(c.answer(), "granted 1");
  EXPECT_EQ(stage_of("b"), "outside");
}

TEST_F(LedgerCrash, a_process_killed_inside_leaves_room_for_another_context) {
  auto a = start();
  EXPECT_EQ(a.ask("enter a 1 1 60 40"), "granted 1");
  auto b = start();
  EXPECT_EQ(b.ask("enter b 1 1 10 50"), "waits for a");
  a.kill();
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerCrash, memory_of_the_dead_comes_back_when_the_device_shows_it) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  devices_.device(0).keeps_memory_of_the_dead = true;
  a.kill();
  EXPECT_EQ(b.ask("lease b 1 60 at-once"), "timed out for a(ended)");
  EXPECT_EQ(stage_of("a"), "ended holding");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a(ended)");
  devices_.device(0).keeps_memory_of_the_dead = false;
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(stage_of("a"), "outside");
}

TEST_F(LedgerCrash, all_devices_of_a_dead_process_have_to_show_it) {
  auto a = start_inside("a", "3", "2");
  auto b = start_inside("b", "1");
  a.ask("lease a 3 60");
  devices_.device(1).keeps_memory_of_the_dead = true;
  a.kill();
  EXPECT_EQ(b.ask("lease b 1 60 at-once"), "timed out for a(ended)");
  devices_.device(1).keeps_memory_of_the_dead = false;
  EXPECT_EQ(b.ask("lease b 1 60 at-once"), "granted 1");
}

TEST_F(LedgerCrash, memory_of_the_dead_is_waited_for_even_if_the_caller_may_not_wait) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  devices_.device(0).keeps_memory_of_the_dead = true;
  a.kill();
  EXPECT_EQ(b.ask("lease b 1 60 try"), "waits for a(ended)");
  devices_.device(0).keeps_memory_of_the_dead = false;
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerCrash, a_caller_that_may_not_wait_does_not_wait_for_the_living_beside_the_dead) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 30");
  c.ask("lease c 1 30");
  devices_.device(0).keeps_memory_of_the_dead = true;
  a.kill();
  EXPECT_EQ(b.ask("lease b 1 60 try"), "would wait for a(ended) c");
}

TEST_F(LedgerCrash, the_dead_lose_their_place_in_the_queue_before_their_memory_is_back) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 40");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(c.ask("lease c 1 20"), "waits for a b");
  devices_.device(0).keeps_memory_of_the_dead = true;
  b.kill();
  EXPECT_EQ(c.answer(), "granted 1");
  EXPECT_EQ(stage_of("b"), "ended inside") << "its context is still counted";
}

TEST_F(LedgerCrash, the_place_of_a_dead_process_is_not_given_away_before_its_memory_is_back) {
  auto a = start_inside("a");
  devices_.device(0).keeps_memory_of_the_dead = true;
  a.kill();
  auto b = start_inside("b");
  EXPECT_EQ(stage_of("a"), "ended inside");
  EXPECT_EQ(stage_of("b"), "inside");
}

TEST_F(LedgerCrash, a_forked_child_keeps_the_claim_after_its_parent_is_killed) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  const pid_t child = std::stoi(a.ask("fork"));
  a.kill();
  EXPECT_EQ(b.ask("lease b 1 60 try"), "would wait for a(kept by 0)");
  EXPECT_EQ(b.ask("lease b 1 60 at-once"), "timed out for a(kept by " + std::to_string(child) + ")");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a(kept by 0)");
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerCrash, a_forked_child_keeps_no_place_in_the_queue_after_its_parent_is_killed) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 60");
  const pid_t child = std::stoi(b.ask("fork"));
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(c.ask("lease c 1 60 looks-often"), "waits for a b");
  b.kill();
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(c.answer(), "granted 1");
  auto d = start_inside("d");
  EXPECT_EQ(d.ask("lease d 1 60 try"), "would wait for c");
  c.ask("release");
  EXPECT_EQ(d.ask("lease d 1 60 try"), "granted 1");
  EXPECT_EQ(::kill(child, SIGKILL), 0);
}

TEST_F(LedgerCrash, a_forked_child_cannot_change_the_claim) {
  auto a = start_inside("a");
  a.ask("lease a 1 20");
  EXPECT_EQ(a.ask("fork-enter"), "child cannot enter the ledger: it was forked by a process that has, and runs under "
                                 "that one's claim; start it as a program of its own");
  EXPECT_NE(a.answer().find("lease"), std::string::npos);
  EXPECT_EQ(a.answer(), "released");
  EXPECT_EQ(a.answer(), "overhead");
  EXPECT_EQ(a.answer(), "the child has ended");
  EXPECT_EQ(stage_of("a"), "holding");
  EXPECT_EQ(look().records().at(0).claim.overhead_bytes, 10U);
}

TEST_F(LedgerCrash, the_program_that_a_process_becomes_keeps_the_claim) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(a.ask("exec"), "becoming cat");
  EXPECT_EQ(a.ask("I am a cat"), "I am a cat");
  EXPECT_EQ(b.ask("lease b 1 60 try"), "would wait for a");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  a.end();
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerCrash, a_credential_names_its_process_as_long_as_that_lives) {
  auto a = start();
  EXPECT_EQ(a.ask("credential"), "");
  a.ask("enter a 1 1 10 60");
  const std::string credential = a.ask("credential");
  a.ask("lease a 1 20");
  const auto holder = look().holder_of(credential);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->who, "a");
  EXPECT_EQ(holder->pid, a.pid());
  EXPECT_EQ(holder->claim.lease_bytes, 20U);
  a.kill();
  EXPECT_FALSE(look().holder_of(credential)) << "it has ended";
  auto b = start_inside("b");
  EXPECT_EQ(b.ask("credential").substr(0, 2), credential.substr(0, 2)) << "b has a's place";
  EXPECT_FALSE(look().holder_of(credential)) << "but is not a";
  for (const std::string& wrong :
       std::vector<std::string>{"", ":", "0", "0:", "0:x", credential + "x", "9999:1", "-1:1"}) {
    EXPECT_FALSE(look().holder_of(wrong)) << wrong;
  }
}

} // namespace
} // namespace gputest::tests
