// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/mutex.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

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

} // namespace
} // namespace gputest::os
