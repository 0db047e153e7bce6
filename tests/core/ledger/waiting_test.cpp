// SPDX-License-Identifier: BSD-3-Clause
#include "ledger_test.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <thread>

namespace gputest::tests {
namespace {

class LedgerWaiting : public LedgerTest {
protected:
  static void await(const std::atomic<std::uint64_t>& counter, std::uint64_t count) {
    while (counter < count) {
      ::sched_yield();
    }
  }

  /// What a process that `looks-often` observed before is too old for it afterwards.
  static void pass_the_age_of_an_observation() { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }

  /// Blocks until a process that waits sleeps.
  static void await_sleep(const LedgerProcess& process) {
    for (long call = -1; call != SYS_ppoll; ::sched_yield()) {
      std::ifstream{"/proc/" + std::to_string(process.pid()) + "/syscall"} >> call;
    }
  }

  /// Takes all notifies out of the wake-up FIFO of a process that does not look. Whether there was one.
  bool was_notified(const std::string& who) {
    for (const auto& entry : look().records()) {
      if (entry.who == who) {
        const int fifo = ::open(store().wake_fifo(entry.slot).path.c_str(), O_RDONLY | O_NONBLOCK);
        std::array<char, 256> rings{};
        const ssize_t count = ::read(fifo, rings.data(), rings.size());
        ::close(fifo);
        return count > 0;
      }
    }
    ADD_FAILURE() << who << " is not on the ledger";
    return false;
  }

  /// Whether there is a notification for a process that does not look; leaves it there.
  bool is_notified(const std::string& who) {
    const auto all = look().records();
    const auto entry = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.who == who; });
    EXPECT_NE(entry, all.end()) << who;
    pollfd fifo{::open(store().wake_fifo(entry->slot).path.c_str(), O_RDONLY | O_NONBLOCK), POLLIN, 0};
    const bool notified = ::poll(&fifo, 1, 0) > 0 && (fifo.revents & POLLIN) != 0;
    ::close(fifo.fd);
    return notified;
  }
};

TEST_F(LedgerWaiting, grants_what_fits_beside_others) {
  auto [a, b] = start_all_inside("a", "b");
  EXPECT_EQ(a.ask("lease a 1 40"), "granted 1");
  EXPECT_EQ(b.ask("lease b 1 40"), "granted 1");
  EXPECT_EQ(stage_of("a"), "holding");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(stage_of("a"), "inside");
  EXPECT_EQ(a.ask("release"), "released") << "the second time it does nothing";
  EXPECT_EQ(stage_of("b"), "holding");
}

TEST_F(LedgerWaiting, lets_a_later_one_pass_that_delays_nobody) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  EXPECT_EQ(a.ask("lease a 1 60"), "granted 1");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(c.ask("lease c 1 10"), "granted 1") << "b has room beside it as soon as a is gone";
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(stage_of("c"), "holding");
}

TEST_F(LedgerWaiting, is_first_come_first_served_where_two_cannot_run_side_by_side) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  EXPECT_EQ(a.ask("lease a 1 60"), "granted 1");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(c.ask("lease c 1 25"), "waits for a b");
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
  b.ask("release");
  EXPECT_EQ(c.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_release_wakes_the_first_in_the_queue_and_nobody_else) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 60");
  b.ask("tell-when-told");
  c.ask("tell-when-told");
  // Both are in the queue, and do not look again before they are told to.
  EXPECT_EQ(b.ask("lease b 1 60"), "telling");
  EXPECT_EQ(c.ask("lease c 1 60"), "telling");
  was_notified("b");
  was_notified("c");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_TRUE(was_notified("b"));
  EXPECT_FALSE(was_notified("c"));
  EXPECT_EQ(a.ask("lease a 1 60"), "waits for c") << "who was woken has its turn even if others come before it looks";
  b.say("told");
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_TRUE(is_notified("c")) << "it is the first in the queue now";
  c.say("told");
  b.ask("release");
  EXPECT_EQ(c.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_new_process_wakes_all_that_wait_since_it_may_hide_that_another_has_ended) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  auto c = start_inside("c");
  b.ask("lease b 1 60");
  c.ask("lease c 1 60");
  stop(b);
  stop(c);
  was_notified("b");
  was_notified("c");
  auto d = start_inside("d", "2");
  EXPECT_TRUE(was_notified("b"));
  EXPECT_TRUE(was_notified("c"));
  go_on(b);
  go_on(c);
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, answers_at_once_who_may_not_wait) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60 try"), "would wait for a");
  EXPECT_EQ(stage_of("b"), "inside");
  EXPECT_EQ(b.ask("lease b 1 20 try"), "granted 1");
}

TEST_F(LedgerWaiting, a_caller_that_may_not_wait_gets_that_answer_although_all_others_wait_behind_it) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  devices_.device(0).keeps_memory_of_the_dead = true;
  a.kill();
  b.ask("tell-when-told"); // else it would look as soon as somebody enters
  EXPECT_EQ(b.ask("lease b 1 85 try"), "telling");
  auto c = start_inside("c");
  EXPECT_EQ(c.ask("lease c 1 10"), "waits for a(ended) b");
  devices_.device(0).keeps_memory_of_the_dead = false;
  b.say("told");
  EXPECT_EQ(b.answer(), "would wait for c");
  EXPECT_EQ(c.answer(), "granted 1");
}

TEST_F(LedgerWaiting, ends_with_the_limit_and_names_the_holder) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60 at-once"), "timed out for a");
  EXPECT_EQ(stage_of("b"), "inside");
  EXPECT_EQ(c.ask("lease c 1 60 for-a-while"), "waits for a");
  EXPECT_EQ(c.answer(), "timed out for a");
  EXPECT_EQ(stage_of("c"), "inside");
  EXPECT_EQ(b.ask("lease b 1 10"), "granted 1") << "nobody is in the queue any more";
}

TEST_F(LedgerWaiting, the_limit_does_not_come_nearer_while_the_process_is_stopped) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60 for-a-while"), "waits for a");
  await_sleep(b);
  stop(b);
  std::this_thread::sleep_for(std::chrono::seconds{1});
  go_on(b);
  auto c = start_inside("c"); // so that b looks
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, the_limit_does_not_come_nearer_while_the_process_is_stopped_after_a_look_that_took_long) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60 for-a-while"), "waits for a");
  await_sleep(b);
  auto& device = devices_.device(0);
  const std::uint64_t begun = device.begun;
  device.slow_process = b.pid();
  auto c = start_inside("c"); // so that b looks
  await(device.begun, begun + 2);
  std::this_thread::sleep_for(std::chrono::milliseconds{700});
  const std::uint64_t observed = device.observed;
  device.slow_process = 0;
  await(device.observed, observed + 1);
  await_sleep(b);
  stop(b);
  std::this_thread::sleep_for(std::chrono::seconds{1});
  go_on(b);
  auto d = start_inside("d");
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, ends_with_the_limit_where_each_look_at_a_device_takes_long) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  devices_.device(0).keeps_memory_of_the_dead = true; // so that b looks again and again
  a.kill();
  devices_.device(0).slow = 9;
  EXPECT_EQ(b.ask("lease b 1 60 for-a-while"), "waits for a(ended)");
  EXPECT_EQ(b.answer(), "timed out for a(ended)");
  EXPECT_GT(devices_.device(0).slow, 0) << "the limit came no nearer while it looked";
}

TEST_F(LedgerWaiting, giving_up_lets_the_next_go_on) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 40");
  b.ask("tell-when-told");
  EXPECT_EQ(b.ask("lease b 1 60"), "telling");
  EXPECT_EQ(c.ask("lease c 1 20"), "waits for a b");
  b.say("fail");
  EXPECT_EQ(b.answer(), "error: cannot tell");
  EXPECT_EQ(c.answer(), "granted 1");
  EXPECT_EQ(stage_of("b"), "inside");
  EXPECT_EQ(b.ask("lease b 1 5"), "granted 1");
}

TEST_F(LedgerWaiting, a_second_request_of_a_process_that_holds_one_is_an_error) {
  auto a = start_inside("a");
  a.ask("lease a 1 20");
  EXPECT_EQ(a.ask("lease again 1 20"),
            "nested: this process asked for a lease for again while it has one for a; waiting for a second one could "
            "deadlock. Give the first back before, or, to lease only around the GPU sections of a test, derive its "
            "fixture from gputest::ScopedTest");
  EXPECT_EQ(stage_of("a"), "holding");
  a.ask("release");
  EXPECT_EQ(a.ask("lease a 1 20"), "granted 1");
}

TEST_F(LedgerWaiting, a_lease_of_a_process_that_has_not_entered_is_an_error) {
  auto a = start();
  EXPECT_EQ(a.ask("lease a 1 20"), "error: a lease for a was asked for by a process that has not entered the ledger");
}

TEST_F(LedgerWaiting, a_whole_device_is_granted_when_the_others_have_left_and_keeps_others_out) {
  auto a = start_inside("a");
  auto b = start();
  auto c = start();
  EXPECT_EQ(b.ask("enter b 1 1 10 0 whole"), "waits for a");
  EXPECT_EQ(c.ask("enter c 1 1 10 60"), "waits for b");
  a.end();
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(b.ask("lease b 1 0 exclusive"), "granted 1");
  EXPECT_EQ(stage_of("c"), "entering");
  b.ask("release");
  EXPECT_EQ(stage_of("c"), "entering") << "b may want the whole device again";
  b.end();
  EXPECT_EQ(c.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_whole_device_that_was_not_announced_is_granted_only_if_the_process_is_alone) {
  auto a = start_inside("a");
  EXPECT_EQ(a.ask("lease a 1 0 exclusive"), "unannounced beside");
  EXPECT_EQ(a.ask("lease a 1 0 exclusive try"), "granted 1");
  auto b = start();
  EXPECT_EQ(b.ask("enter b 1 1 10 60"), "waits for a");
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(a.ask("lease a 1 0 exclusive try"), "would wait for b");
}

TEST_F(LedgerWaiting, the_medium_lock_of_a_device_admits_one_at_a_time_and_bytes_fit_beside_it) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  EXPECT_EQ(a.ask("lease a 1 20 medium_lock"), "granted 1");
  EXPECT_EQ(c.ask("lease c 1 20"), "granted 1");
  EXPECT_EQ(b.ask("lease b 1 20 medium_lock"), "waits for a");
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, two_devices_are_granted_both_or_not_at_all) {
  auto a = start_inside("a", "1");
  auto b = start_inside("b", "2");
  auto both = start_inside("both", "3", "2");
  EXPECT_EQ(a.ask("lease a 1 50"), "granted 1");
  EXPECT_EQ(b.ask("lease b 2 50"), "granted 2");
  EXPECT_EQ(both.ask("lease both 3 50"), "waits for a b");
  b.ask("release");
  EXPECT_EQ(b.ask("lease b 2 60 at-once"), "timed out for both") << "it keeps its place on the device that is free";
  EXPECT_EQ(stage_of("both"), "waiting");
  a.ask("release");
  EXPECT_EQ(both.answer(), "granted 3");
}

TEST_F(LedgerWaiting, memory_that_was_given_back_while_somebody_looked_is_no_external_process_s) {
  auto a = start_inside("a");
  auto& device = devices_.device(0);
  device.external_bytes = 50;
  EXPECT_EQ(a.ask("beyond-claims 1"), "external");
  {
    const std::lock_guard guard{store().mutex()};
    const std::uint64_t observed = device.observed;
    a.say("beyond-claims 1");
    await(device.observed, observed + 1); // from here on it tries the mutex
    device.external_bytes = 0;
  }
  EXPECT_EQ(a.answer(), "none");
}

TEST_F(LedgerWaiting, a_lease_larger_than_announced_is_waited_for_only_without_risk) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 81"), "unannounced beside a");
  EXPECT_EQ(stage_of("b"), "inside");
  EXPECT_EQ(b.ask("lease b 1 80"), "waits for a") << "with both contexts, 80 bytes fit once a has finished";
  auto c = start();
  EXPECT_EQ(c.ask("enter c 1 1 10 10"), "waits for a b") << "now b is known to wait for 80 bytes";
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, what_a_process_keeps_for_itself_is_counted) {
  auto [a, b] = start_all_inside("a", "b");
  EXPECT_EQ(a.ask("overhead 50"), "overhead");
  EXPECT_EQ(b.ask("lease b 1 50"), "waits for a");
  EXPECT_EQ(a.ask("overhead 40"), "overhead");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, contexts_that_have_grown_end_in_an_answer_and_not_in_a_deadlock) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("overhead 50");
  EXPECT_EQ(a.ask("lease a 1 50"), "waits for b"); // b does not wait yet, and may end
  b.ask("overhead 40");
  EXPECT_EQ(b.ask("lease b 1 50"), "waits for a");
  EXPECT_EQ(a.answer(), "stuck beside b");
  EXPECT_EQ(a.ask("overhead 10"), "overhead");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, memory_of_external_processes_is_waited_for) {
  auto a = start_inside("a");
  devices_.device(0).external_bytes = 50;
  EXPECT_EQ(a.ask("lease a 1 60 try"), "would wait for external processes");
  EXPECT_EQ(a.ask("lease a 1 60"), "waits for external processes");
  devices_.device(0).external_bytes = 30;
  EXPECT_EQ(a.answer(), "granted 1");
}

TEST_F(LedgerWaiting, enters_before_a_process_that_waits_for_external_processes) {
  auto a = start();
  auto b = start();
  auto c = start();
  devices_.device(0).external_bytes = 50;
  EXPECT_EQ(a.ask("enter a 1 1 10 60"), "waits for external processes");
  EXPECT_EQ(b.ask("enter b 1 1 10 20"), "granted 1");
  EXPECT_EQ(stage_of("a"), "entering");
  devices_.device(0).external_bytes = 0;
  EXPECT_EQ(a.answer(), "granted 1") << "it looks again by itself";
  EXPECT_EQ(c.ask("enter c 1 1 10 90"), "waits for a b");
}

TEST_F(LedgerWaiting, enters_before_a_process_ahead_of_it_that_comes_to_wait_for_external_processes) {
  auto a = start_inside("a");
  auto b = start();
  auto c = start();
  EXPECT_EQ(b.ask("enter b 1 1 10 85"), "waits for a");
  EXPECT_EQ(c.ask("enter c 1 1 10 20"), "waits for b");
  devices_.device(0).external_bytes = 10;
  a.end();
  EXPECT_EQ(c.answer(), "granted 1");
  c.end();
  devices_.device(0).external_bytes = 0;
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, enters_before_a_process_that_waits_for_external_processes_as_soon_as_one_inside_ends) {
  devices_.device(0).external_bytes = 50;
  auto a = start();
  EXPECT_EQ(a.ask("enter a 1 1 10 60"), "waits for external processes");
  for (int i = 0; i < 20; ++i) { // either of those that wait may take the record of c off the ledger
    auto b = start();
    auto c = start();
    EXPECT_EQ(c.ask("enter c 1 1 10 0 whole"), "granted 1");
    EXPECT_EQ(b.ask("enter b 1 1 10 20"), "waits for c");
    c.kill();
    EXPECT_EQ(b.answer(), "granted 1");
    b.end();
  }
}

TEST_F(LedgerWaiting, looks_again_who_is_in_its_way_when_a_claim_changed_while_it_looked) {
  devices_.device(0).external_bytes = 50;
  auto a = start();
  auto b = start();
  auto c = start();
  EXPECT_EQ(a.ask("enter a 1 1 10 60"), "waits for external processes");
  EXPECT_EQ(c.ask("enter c 1 1 10 20 whole"), "granted 1");
  EXPECT_EQ(b.ask("enter b 1 1 10 20"), "waits for c");
  EXPECT_EQ(c.ask("lease c 1 20"), "granted 1");
  auto d = start_inside("d", "2"); // wakes all that wait
  c.end();
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, is_told_when_external_processes_alone_keep_out_who_is_ahead) {
  auto a = start();
  auto b = start();
  auto c = start();
  EXPECT_EQ(c.ask("enter c 1 1 10 10"), "granted 1");
  devices_.device(0).external_bytes = 20;
  EXPECT_EQ(a.ask("enter a 1 1 10 65"), "waits for c external processes");
  EXPECT_EQ(b.ask("enter b 1 1 10 10"), "waits for a");
  devices_.device(0).external_bytes = 30;
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, passes_a_process_that_was_stopped_ahead_of_it) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(c.ask("lease c 1 60 looks-often"), "waits for a b");
  stop(b);
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(c.answer(), "granted 1");
  EXPECT_EQ(stage_of("b"), "waiting");
  c.ask("release");
  go_on(b);
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, enters_before_a_process_that_was_stopped_ahead_of_it) {
  auto a = start();
  auto b = start();
  auto c = start();
  EXPECT_EQ(a.ask("enter a 1 1 10 0 whole"), "granted 1");
  EXPECT_EQ(b.ask("enter b 1 1 10 60"), "waits for a");
  EXPECT_EQ(c.ask("enter c 1 1 10 80 looks-often"), "waits for b");
  stop(b);
  a.end();
  EXPECT_EQ(c.answer(), "granted 1");
  EXPECT_EQ(stage_of("b"), "entering");
  go_on(b);
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_caller_that_may_not_wait_passes_all_that_are_stopped) {
  auto [a, b, c, d] = start_all_inside("a", "b", "c", "d");
  a.ask("lease a 1 60");
  b.ask("lease b 1 60");
  c.ask("lease c 1 60");
  stop(b);
  stop(c);
  a.ask("release");
  EXPECT_EQ(d.ask("lease d 1 60 try"), "granted 1");
  go_on(b);
  go_on(c);
  d.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(stage_of("c"), "waiting");
}

TEST_F(LedgerWaiting, a_stopped_process_that_continues_takes_its_place_in_the_queue_again) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 60");
  b.ask("lease b 1 60");
  c.ask("lease c 1 60 looks-often");
  stop(b);
  while (claim_of("c").behind != 0) {
    ::sched_yield(); // until it has looked
  }
  go_on(b);
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(stage_of("c"), "waiting");
  b.ask("release");
  EXPECT_EQ(c.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_stopped_process_keeps_what_it_holds) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  stop(a);
  EXPECT_EQ(b.ask("lease b 1 60 try"), "would wait for a");
  EXPECT_EQ(b.ask("lease b 1 60 for-a-while looks-often"), "waits for a");
  EXPECT_EQ(b.answer(), "timed out for a");
  EXPECT_EQ(b.ask("lease b 1 60 looks-often"), "waits for a");
  go_on(a);
  a.ask("release");
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_process_that_was_stopped_is_granted_nothing_by_what_it_observed_before) {
  auto a = start_inside("a");
  auto& device = devices_.device(0);
  {
    os::SlotStore& store = this->store();
    const std::lock_guard guard{store.mutex()};
    const std::uint64_t observed = device.observed;
    a.say("lease a 1 60 looks-often");
    await(device.observed, observed + 1); // from here on it tries the mutex
    stop_anywhere(a);
  }
  device.external_bytes = 50;
  pass_the_age_of_an_observation();
  go_on(a);
  EXPECT_EQ(a.answer(), "waits for external processes");
  device.external_bytes = 0;
  EXPECT_EQ(a.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_lease_larger_than_announced_counts_for_others_as_soon_as_it_was_allowed) {
  auto a = start();
  auto b = start();
  a.ask("enter a 1 1 10 20");
  auto& device = devices_.device(0);
  std::uint64_t begun = 0;
  {
    os::SlotStore& store = this->store();
    const std::lock_guard guard{store.mutex()};
    const std::uint64_t observed = device.observed;
    a.say("lease a 1 85 looks-often");
    await(device.observed, observed + 1); // from here on it tries the mutex
    begun = device.begun;
    device.slow_process = a.pid();
    pass_the_age_of_an_observation();
  }
  await(device.begun, begun + 1); // the lease was allowed, and it observes again before it is granted
  EXPECT_EQ(b.ask("enter b 1 1 10 20"), "waits for a");
  device.slow_process = 0;
  EXPECT_EQ(a.answer(), "granted 1");
}

TEST_F(LedgerWaiting, a_lease_that_was_released_while_another_process_had_the_mutex_is_gone_at_the_next_one) {
  auto a = start_inside("a");
  a.ask("lease a 1 60");
  {
    const std::lock_guard guard{store().mutex()};
    EXPECT_EQ(a.ask("release"), "released"); // after 5 s, for which a mutex is waited for
  }
  EXPECT_EQ(stage_of("a"), "holding");
  EXPECT_EQ(a.ask("lease a 1 20"), "granted 1");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(stage_of("a"), "inside");
}

TEST_F(LedgerWaiting, telling_of_a_wait_holds_nobody_up) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  b.ask("tell-when-told");
  EXPECT_EQ(b.ask("lease b 1 60"), "telling");
  EXPECT_EQ(a.ask("release"), "released") << "while b is still busy telling";
  b.say("told");
  EXPECT_EQ(b.answer(), "granted 1");
}

} // namespace
} // namespace gputest::tests
