// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/account.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace gputest::session {
namespace {

using namespace gputest::literals;

class AccountTest : public ::testing::Test {
protected:
  /// Allocates as a memory resource does, at an address of its own.
  void* allocate(Bytes bytes, int device = 0, MemoryKind kind = MemoryKind::pool) {
    const Allocation allocation{kind, device, bytes};
    const auto lease = account_.reserve(allocation);
    void* const place = &places_.at(next_++);
    account_.add(place, allocation, lease);
    return place;
  }

  std::string refusal(Bytes bytes, int device = 0) {
    return tests::message_of<LeaseExceeded>([&] { static_cast<void>(allocate(bytes, device)); });
  }

  Account account_;
  std::vector<char> places_ = std::vector<char>(32);
  std::size_t next_ = 0;
};

TEST_F(AccountTest, limits_nothing_where_gputest_runs_no_tests) { EXPECT_EQ(refusal(1_TiB), "done"); }

TEST_F(AccountTest, refuses_everything_outside_of_a_lease_where_gputest_runs_the_tests) {
  account_.guard();
  EXPECT_EQ(
      refusal(1_MiB),
      "1 MiB were asked of device 0 while this process has leased nothing; allocate in SetUp() or in the body of a "
      "test and not in SetUpTestSuite() or an environment, and under a ScopedTest within a GPUTEST_LEASE");
  account_.open({"Sort.Keys", {1_GiB}});
  EXPECT_EQ(refusal(1_MiB), "done");
  account_.close();
  EXPECT_NE(refusal(1_MiB), "done");
}

TEST_F(AccountTest, allows_the_lease_to_its_last_byte_and_not_one_more) {
  account_.open({"Sort.Keys", {1_GiB}});
  EXPECT_EQ(refusal(1_GiB), "done");
  EXPECT_EQ(refusal(1_B),
            "1 B were asked of device 0, beyond the lease of Sort.Keys: it has leased 1 GiB there and holds 1 GiB of "
            "them already. Free some before, or declare what it needs: GPUTEST_NEEDS(Sort, Keys, 1025_MiB), "
            "GPUTEST_LEASE(<name>, 1025_MiB) or MEMORY 1025MiB in gpu_add_test() or gpu_discover_tests()");
}

TEST_F(AccountTest, counts_devices_apart_and_knows_those_that_are_not_leased) {
  account_.open({"Sort.Keys", {1_GiB, 1_GiB}});
  EXPECT_EQ(refusal(1_GiB, 0), "done");
  EXPECT_EQ(refusal(1_GiB, 1), "done");
  EXPECT_EQ(refusal(1_B, 2),
            "1 B were asked of device 2, and Sort.Keys has leased the first 2 only; ask for 3: gpus(3) "
            "in GPUTEST_NEEDS, or GPUS 3 in gpu_add_test() or gpu_discover_tests()");
}

TEST_F(AccountTest, has_room_again_for_what_was_freed_or_came_to_nothing) {
  account_.open({"Sort.Keys", {1_GiB}});
  void* const place = allocate(1_GiB);
  const auto removed = account_.remove(place);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->bytes, 1_GiB);
  EXPECT_FALSE(account_.remove(place)) << "freed twice";
  account_.cancel({MemoryKind::pool, 0, 1_GiB}, account_.reserve({MemoryKind::pool, 0, 1_GiB}));
  EXPECT_EQ(refusal(1_GiB), "done");
  EXPECT_NE(refusal(1_B), "done");
}

TEST_F(AccountTest, says_at_the_end_what_was_used_and_what_is_left) {
  account_.open({"Sort.Keys", {4_GiB, 4_GiB}});
  account_.remove(allocate(1_GiB));
  allocate(512_MiB, 1);
  allocate(512_MiB, 1);
  allocate(2_GiB, 1, MemoryKind::managed);
  const auto closing = account_.close();
  ASSERT_EQ(closing.left.size(), 1U) << "of each device";
  EXPECT_EQ(closing.left[0].device, 1);
  ASSERT_EQ(closing.left[0].left.size(), 2U) << "of each kind";
  EXPECT_EQ(closing.left[0].left[0].kind, devices::AllocationKind::pool);
  EXPECT_EQ(closing.left[0].left[0].function, "memory_resource");
  EXPECT_EQ(closing.left[0].left[0].bytes, 1_GiB);
  EXPECT_EQ(closing.left[0].left[0].count, 2U);
  EXPECT_EQ(closing.left[0].left[1].kind, devices::AllocationKind::managed);
  EXPECT_EQ(closing.left[0].left[1].bytes, 2_GiB);
  EXPECT_EQ(closing.managed, 2_GiB);
  EXPECT_TRUE(account_.close().left.empty()) << "the lease has ended";
}

TEST_F(AccountTest, does_not_hold_what_one_test_leaves_against_the_next) {
  account_.open({"First.leaves", {1_GiB}});
  void* const left = allocate(1_GiB, 0, MemoryKind::managed);
  EXPECT_EQ(account_.close().left.size(), 1U);
  account_.open({"Second.follows", {1_GiB}});
  EXPECT_EQ(refusal(1_GiB), "done");
  EXPECT_TRUE(account_.remove(left));
  EXPECT_NE(refusal(1_B), "done") << "what the first left was never held against the second, so it frees nothing of it";
  const auto closing = account_.close();
  EXPECT_EQ(closing.left.at(0).left.at(0).bytes, 1_GiB);
  EXPECT_EQ(closing.managed, 0_B);
}

TEST_F(AccountTest, counts_what_was_reserved_under_a_lease_that_has_ended_for_no_later_one) {
  const Allocation late{MemoryKind::pool, 0, 1_GiB};
  account_.open({"First.allocates_in_a_thread", {2_GiB}});
  const auto first = account_.reserve(late);
  EXPECT_EQ(account_.reserve(late), first);
  account_.close();
  account_.open({"Second.follows", {1_GiB}});
  allocate(1_GiB);
  account_.cancel(late, first);
  EXPECT_NE(refusal(1_B), "done") << "it has freed nothing of the second's";
  account_.add(&places_.back(), late, first);
  EXPECT_TRUE(account_.remove(&places_.back()));
  EXPECT_NE(refusal(1_B), "done");
  account_.add(&places_.back(), late, first);
  EXPECT_EQ(account_.close().left.at(0).left.at(0).bytes, 1_GiB) << "only the second's own";
}

TEST_F(AccountTest, still_counts_managed_memory_that_an_earlier_test_left) {
  account_.open({"First.leaves", {1_GiB}});
  allocate(1_GiB, 0, MemoryKind::managed);
  account_.close();
  account_.open({"Second.follows", {1_GiB}});
  const auto closing = account_.close();
  EXPECT_TRUE(closing.left.empty());
  EXPECT_EQ(closing.managed, 1_GiB);
}

TEST_F(AccountTest, never_grants_threads_more_than_the_lease) {
  constexpr std::size_t threads = 8;
  constexpr std::uint64_t each = 1000;
  account_.open({"Sort.Keys", {Bytes{threads * each / 2}}});
  std::atomic<std::uint64_t> granted = 0;
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      for (std::uint64_t n = 0; n < each; ++n) {
        try {
          account_.reserve({MemoryKind::pool, 0, 1_B});
          ++granted;
        } catch (const LeaseExceeded&) { // NOLINT(bugprone-empty-catch): the other half
        }
      }
    });
  }
  for (auto& worker : workers) {
    worker.join();
  }
  EXPECT_EQ(granted, threads * each / 2);
}

} // namespace
} // namespace gputest::session
