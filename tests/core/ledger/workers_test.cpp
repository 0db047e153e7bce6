// SPDX-License-Identifier: BSD-3-Clause
// Processes that are idle, and leave when they are notified. Each device has 100 bytes.
#include "ledger_test.hpp"

namespace gputest::tests {
namespace {

class LedgerWorkers : public LedgerTest {
protected:
  LedgerProcess start_idle(const std::string& who, const std::string& devices = "1") {
    LedgerProcess process = start_inside(who, devices);
    EXPECT_EQ(process.ask("idle"), "idle");
    return process;
  }

  template <class... Names>
  std::array<LedgerProcess, sizeof...(Names)> start_all_idle(const Names&... names) {
    return {start_idle(names)...};
  }

  static void leave(LedgerProcess& process) {
    EXPECT_EQ(process.ask("leave"), "has to leave");
    process.end();
  }
};

TEST_F(LedgerWorkers, take_work_again_where_nobody_waits) {
  auto worker = start_idle("worker");
  EXPECT_EQ(stage_of("worker"), "idle");
  EXPECT_EQ(worker.ask("resume"), "resumed");
  EXPECT_EQ(stage_of("worker"), "inside");
  EXPECT_EQ(worker.ask("lease test 1 60"), "granted 1");
  EXPECT_EQ(worker.ask("release"), "released");
  EXPECT_EQ(worker.ask("idle"), "idle");
  EXPECT_EQ(worker.ask("resume"), "resumed") << "as often as there is work";
}

TEST_F(LedgerWorkers, count_until_they_have_left) {
  auto worker = start_idle("worker");
  devices_.device(0).keeps_memory_of_the_dead = true;
  auto whole = start();
  EXPECT_EQ(whole.ask("enter whole 1 1 10 0 whole"), "waits for worker");
  leave(worker);
  EXPECT_EQ(stage_of("whole"), "entering");
  devices_.device(0).keeps_memory_of_the_dead = false;
  EXPECT_EQ(whole.answer(), "granted 1");
}

TEST_F(LedgerWorkers, leave_for_one_that_wants_the_whole_device) {
  auto [first, second] = start_all_idle("first", "second");
  auto whole = start();
  EXPECT_EQ(whole.ask("enter whole 1 1 10 0 whole"), "waits for first second");
  leave(second);
  leave(first);
  EXPECT_EQ(whole.answer(), "granted 1");
}

TEST_F(LedgerWorkers, stay_where_another_one_makes_enough_room) {
  auto [first, second, third, fourth] = start_all_idle("first", "second", "third", "fourth");
  auto next = start();
  EXPECT_EQ(next.ask("enter next 1 1 10 60"), "waits for first fourth second third");
  leave(first); // it has not worked for longest
  EXPECT_EQ(next.answer(), "granted 1");
  EXPECT_EQ(second.ask("resume"), "resumed");
  EXPECT_EQ(third.ask("resume"), "resumed");
  EXPECT_EQ(fourth.ask("resume"), "resumed");
}

TEST_F(LedgerWorkers, that_were_notified_take_no_work_any_more) {
  auto worker = start_idle("worker");
  auto whole = start();
  EXPECT_EQ(whole.ask("enter whole 1 1 10 0 whole"), "waits for worker");
  EXPECT_EQ(worker.ask("resume"), "has to leave");
  EXPECT_EQ(worker.ask("resume"), "has to leave");
  EXPECT_EQ(stage_of("worker"), "idle");
  worker.end();
  EXPECT_EQ(whole.answer(), "granted 1");
}

TEST_F(LedgerWorkers, that_were_notified_for_one_that_has_ended_leave_all_the_same) {
  auto worker = start_idle("worker");
  auto whole = start();
  EXPECT_EQ(whole.ask("enter whole 1 1 10 0 whole"), "waits for worker");
  whole.kill();
  EXPECT_EQ(worker.ask("resume"), "has to leave");
}

TEST_F(LedgerWorkers, are_notified_when_they_run_out_of_work_while_somebody_waits_for_them) {
  auto worker = start_inside("worker");
  auto whole = start();
  EXPECT_EQ(whole.ask("enter whole 1 1 10 0 whole"), "waits for worker");
  EXPECT_EQ(worker.ask("lease test 1 20"), "granted 1");
  worker.ask("release");
  EXPECT_EQ(worker.ask("idle"), "idle");
  leave(worker);
  EXPECT_EQ(whole.answer(), "granted 1");
}

TEST_F(LedgerWorkers, take_no_work_before_one_that_waits_has_seen_that_they_are_idle) {
  auto worker = start_inside("worker");
  auto whole = start();
  whole.ask("tell-when-told");
  EXPECT_EQ(whole.ask("enter whole 1 1 10 0 whole"), "telling"); // and does not look until it is told to
  EXPECT_EQ(worker.ask("idle"), "idle");
  EXPECT_EQ(worker.ask("resume"), "has to leave");
  worker.end();
  whole.say("told");
  EXPECT_EQ(whole.answer(), "granted 1");
}

TEST_F(LedgerWorkers, forget_what_woke_them_while_they_waited_themselves) {
  auto [holder, worker] = start_all_inside("holder", "worker");
  holder.ask("lease holder 1 60");
  EXPECT_EQ(worker.ask("lease test 1 60"), "waits for holder");
  holder.ask("release");
  EXPECT_EQ(worker.answer(), "granted 1");
  worker.ask("release");
  EXPECT_EQ(holder.ask("lease holder 1 60"), "granted 1");
  worker.ask("tell-when-told");
  EXPECT_EQ(worker.ask("lease test 1 60"), "telling");
  holder.ask("release"); // notifies the worker, which does not wait for that when it is granted its lease
  worker.say("told");
  EXPECT_EQ(worker.answer(), "granted 1");
  worker.ask("release");
  EXPECT_EQ(worker.ask("idle"), "idle");
  EXPECT_EQ(worker.ask("resume"), "resumed");
}

TEST_F(LedgerWorkers, leave_for_a_lease_of_the_whole_device_that_may_not_wait) {
  auto large = start_inside("large");
  auto worker = start_idle("worker");
  large.say("lease large 1 0 exclusive try");
  EXPECT_EQ(large.answer(), "waits for worker");
  leave(worker);
  EXPECT_EQ(large.answer(), "granted 1");
}

TEST_F(LedgerWorkers, leave_for_one_whose_limit_is_over_already) {
  auto worker = start_idle("worker");
  auto whole = start();
  EXPECT_EQ(whole.ask("enter whole 1 1 10 0 whole at-once"), "waits for worker");
  leave(worker);
  EXPECT_EQ(whole.answer(), "granted 1");
}

TEST_F(LedgerWorkers, are_not_waited_for_beside_others_by_one_that_may_not_wait) {
  auto [large, other] = start_all_inside("large", "other");
  auto worker = start_idle("worker");
  EXPECT_EQ(large.ask("lease large 1 0 exclusive try"), "would wait for other worker");
  EXPECT_EQ(worker.ask("resume"), "resumed") << "it was not notified in vain";
}

TEST_F(LedgerWorkers, that_do_not_leave_are_waited_for_no_longer_than_that_may_take) {
  auto large = start_inside("large");
  auto worker = start_idle("worker");
  EXPECT_EQ(large.ask("lease large 1 0 exclusive try leaving-briefly"), "waits for worker");
  EXPECT_EQ(large.answer(), "would wait for worker");
  EXPECT_EQ(worker.ask("resume"), "has to leave");
}

TEST_F(LedgerWorkers, that_are_stopped_are_in_the_way_like_others) {
  auto large = start_inside("large");
  auto worker = start_idle("worker");
  stop(worker);
  EXPECT_EQ(large.ask("lease large 1 0 exclusive try"), "would wait for worker");
  ASSERT_EQ(::kill(worker.pid(), SIGCONT), 0);
  EXPECT_EQ(large.ask("lease large 1 0 exclusive try looks-often"), "waits for worker");
  stop(worker);
  EXPECT_EQ(large.answer(), "would wait for worker");
  ASSERT_EQ(::kill(worker.pid(), SIGCONT), 0);
  leave(worker);
}

TEST_F(LedgerWorkers, that_are_stopped_are_made_up_for_by_others) {
  auto [first, second, third, fourth] = start_all_idle("first", "second", "third", "fourth");
  stop(first);
  auto next = start();
  EXPECT_EQ(next.ask("enter next 1 1 10 60 looks-often"), "waits for first fourth second third");
  leave(second);
  EXPECT_EQ(next.answer(), "granted 1");
  EXPECT_EQ(fourth.ask("resume"), "resumed");
  ASSERT_EQ(::kill(first.pid(), SIGCONT), 0);
  EXPECT_EQ(first.ask("resume"), "resumed");
}

TEST_F(LedgerWorkers, make_room_for_a_larger_lease_than_was_announced) {
  auto a = start_inside("a");
  auto worker = start_idle("worker");
  EXPECT_EQ(a.ask("lease a 1 85"), "waits for worker");
  leave(worker);
  EXPECT_EQ(a.answer(), "granted 1");
}

TEST_F(LedgerWorkers, of_which_each_waits_for_room_that_another_one_has_let_each_other_go_on) {
  auto [first, second] = start_all_inside("first", "second");
  EXPECT_EQ(first.ask("overhead 45"), "overhead");
  EXPECT_EQ(second.ask("overhead 45"), "overhead");
  EXPECT_EQ(second.ask("idle"), "idle");
  EXPECT_EQ(first.ask("lease first 1 20"), "waits for second");
  EXPECT_EQ(second.ask("resume"), "has to leave") << "it would wait for the first one";
  second.end();
  EXPECT_EQ(first.answer(), "granted 1");
}

TEST_F(LedgerWorkers, that_have_a_lease_or_have_not_entered_cannot_be_idle) {
  auto worker = start();
  EXPECT_EQ(worker.ask("idle"),
            "error: this process cannot be idle on the ledger: it has not entered, has a lease, or is idle");
  EXPECT_EQ(worker.ask("enter worker 1 1 10 60"), "granted 1");
  EXPECT_EQ(worker.ask("resume"), "error: worker cannot take work again: it is not idle on the ledger");
  EXPECT_EQ(worker.ask("lease test 1 60"), "granted 1");
  EXPECT_EQ(worker.ask("idle"),
            "error: test cannot be idle on the ledger: it has not entered, has a lease, or is idle");
  worker.ask("release");
  worker.ask("idle");
  EXPECT_EQ(worker.ask("lease test 1 60"),
            "error: a lease for test was asked for by a process that is idle on the ledger");
}

} // namespace
} // namespace gputest::tests
