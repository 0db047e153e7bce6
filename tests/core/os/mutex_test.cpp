// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/mutex.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

namespace gputest::os {
namespace {

TEST(Mutex, of_a_thread_is_the_one_that_it_has_locked) {
  Mutex first;
  Mutex second;
  const std::lock_guard guard{first};
  EXPECT_TRUE(first.is_of_this_thread());
  EXPECT_FALSE(second.is_of_this_thread());
  EXPECT_FALSE(first.try_lock()) << "it would wait for itself";
  std::thread{[&] {
    EXPECT_FALSE(Mutex::any_of_this_thread());
    EXPECT_FALSE(first.try_lock());
    EXPECT_FALSE(Mutex::any_of_this_thread());
  }}.join();
  EXPECT_EQ(tests::in_child([] { return Mutex::any_of_this_thread() ? 1 : 0; }), 0) << "it has another thread";
}

TEST(Mutex, is_of_no_thread_once_all_are_unlocked_in_any_order) {
  Mutex first;
  Mutex second;
  std::unique_lock outer{first};
  std::unique_lock inner{second};
  outer.unlock();
  EXPECT_FALSE(first.is_of_this_thread());
  EXPECT_TRUE(second.is_of_this_thread());
  inner.unlock();
  EXPECT_FALSE(Mutex::any_of_this_thread());
}

TEST(Mutex, of_another_thread_is_free_in_a_forked_process_which_hears_of_it_once) {
  Mutex own;
  Mutex of_another;
  Mutex of_nobody;
  std::promise<void> locked;
  std::promise<void> forked;
  std::thread other{[&] {
    const std::lock_guard guard{of_another};
    locked.set_value();
    forked.get_future().wait();
  }};
  locked.get_future().wait();
  std::unique_lock guard{own};
  const auto unlocks_all = [&] {
    const auto takes = [](Mutex& mutex, bool was_locked) {
      return mutex.try_lock() && mutex.was_locked_at_fork() == was_locked && !mutex.was_locked_at_fork();
    };
    guard.unlock(); // as where fork() returns in the middle of it
    const bool free = takes(own, true) && takes(of_another, true) && takes(of_nobody, false);
    const bool again = tests::in_child([&] { return of_another.try_lock() ? 0 : 1; }) == 0; // in a grandchild
    of_another.unlock();
    of_another.lock();
    return free && again && of_another.is_of_this_thread() ? 0 : 1;
  };
  EXPECT_EQ(tests::in_child(unlocks_all), 0);
  forked.set_value();
  other.join();
}

} // namespace
} // namespace gputest::os
