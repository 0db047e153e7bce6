// SPDX-License-Identifier: BSD-3-Clause
#include "metering/allocation_book.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

namespace gputest::metering {
namespace {

using namespace gputest::literals;

constexpr auto device_memory = devices::AllocationKind::device;

class AllocationBookTest : public ::testing::Test {
protected:
  void add(std::uint64_t address, Bytes bytes, devices::AllocationKind kind = device_memory, int device = 0,
           const char* function = "cuMemAlloc") {
    book_.add(address, {kind, device, function, bytes.count()});
  }

  AllocationBook book_;
};

TEST_F(AllocationBookTest, does_not_count_what_was_there_before_the_period) {
  add(1, 1_GiB);
  book_.begin();
  add(2, 10_MiB);
  book_.remove(1);
  const auto usage = book_.so_far();
  ASSERT_EQ(usage.devices.size(), 1U);
  EXPECT_EQ(usage.devices[0].peak, 10_MiB);
  ASSERT_EQ(usage.devices[0].left.size(), 1U);
  EXPECT_EQ(usage.devices[0].left[0].bytes, 10_MiB);
  book_.begin();
  EXPECT_EQ(book_.so_far().devices.at(0).peak, Bytes{});
  EXPECT_TRUE(book_.so_far().devices.at(0).left.empty());
}

TEST_F(AllocationBookTest, tells_what_is_left_by_kind_and_function) {
  book_.begin();
  add(1, 1_MiB);
  add(2, 2_MiB);
  add(3, 4_MiB, device_memory, 0, "cuMemCreate");
  add(4, 8_MiB);
  book_.remove(4);
  const auto usage = book_.so_far();
  ASSERT_EQ(usage.devices.size(), 1U);
  const auto& left = usage.devices[0].left;
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].function, "cuMemCreate");
  EXPECT_EQ(left[0].bytes, 4_MiB);
  EXPECT_EQ(left[1].function, "cuMemAlloc");
  EXPECT_EQ(left[1].bytes, 3_MiB);
  EXPECT_EQ(left[1].count, 2U);
}

TEST_F(AllocationBookTest, can_be_used_in_a_process_that_is_forked_while_another_thread_allocates) {
  std::atomic<bool> goes_on{true};
  std::thread other{[&] {
    for (std::uint64_t address = 2; goes_on; ++address) {
      add(address, 1_MiB);
      book_.remove(address - 8);
    }
  }};
  for (int forks = 0; forks < 20; ++forks) { // most of them while the other thread has the mutex
    EXPECT_EQ(tests::in_child([&] {
                book_.begin();
                add(1, 1_GiB);
                return book_.so_far().devices.at(0).peak == 1_GiB ? 0 : 1;
              }),
              0);
  }
  goes_on = false;
  other.join();
}

TEST_F(AllocationBookTest, forgets_what_an_owner_frees_when_it_ends) {
  constexpr std::uint64_t context = 7;
  book_.begin();
  book_.add(1, {device_memory, 0, "cuMemAlloc", 1024, context});
  book_.add(2, {devices::AllocationKind::pool, 0, "cuMemAllocAsync", 2048, context});
  book_.add(3, {device_memory, 0, "cuMemAlloc", 4096, 8});
  book_.add(4, {device_memory, 0, "cuMemCreate", 8192});
  book_.remove_owner(context);
  book_.remove_owner(0);
  book_.remove(1); // a destructor that comes later
  const auto usage = book_.so_far();
  ASSERT_EQ(usage.devices.size(), 1U);
  ASSERT_EQ(usage.devices[0].left.size(), 2U);
  EXPECT_EQ(usage.devices[0].left[0].bytes.count(), 8192U);
  EXPECT_EQ(usage.devices[0].left[1].bytes.count(), 4096U);
}

TEST_F(AllocationBookTest, knows_what_there_would_have_been_with_what_was_refused) {
  add(1, 100_MiB); // before the period
  book_.begin();
  add(2, 200_MiB);
  book_.refuse(0, (50_MiB).count());
  book_.refuse(1, (3_GiB).count());
  add(3, 20_MiB);
  book_.refuse(0, (10_MiB).count());
  const auto usage = book_.so_far();
  ASSERT_EQ(usage.devices.size(), 2U);
  EXPECT_EQ(usage.devices[0].wanted, 250_MiB);
  EXPECT_EQ(usage.devices[0].refused.back(), 250_MiB);
  EXPECT_EQ(usage.devices[1].wanted, 3_GiB);
  EXPECT_EQ(usage.devices[1].peak, Bytes{});
  book_.begin();
  EXPECT_EQ(book_.so_far().devices.at(0).wanted, Bytes{});
}

TEST_F(AllocationBookTest, knows_the_most_that_the_program_was_told_is_free_before_it_allocates) {
  book_.begin();
  book_.tell_free(0, (3_GiB).count());
  book_.tell_free(0, (2_GiB).count());
  add(1, 1_GiB);
  book_.tell_free(0, (4_GiB).count());
  EXPECT_EQ(book_.so_far().devices.at(0).reported_free, 3_GiB) << "it allocates no more";
  book_.begin();
  add(2, 1_GiB);
  EXPECT_EQ(book_.so_far().devices.at(0).reported_free, Bytes{});
}

TEST_F(AllocationBookTest, asks_for_what_several_threads_are_about_to_allocate_together) {
  book_.begin();
  std::vector<Bytes> asked;
  book_.ask_beyond({{64_MiB}, 80_GiB}, [&](const devices::Usage& usage) { asked.push_back(usage.devices.at(0).peak); });
  const auto ask = [&] { book_.ask({device_memory, 0, "f", (40_MiB).count()}); };
  ask();
  EXPECT_TRUE(asked.empty());
  std::thread{[&] {
    ask();
    book_.settle();
  }}.join();
  EXPECT_EQ(asked, std::vector{80_MiB}) << "the first one is not made yet";
  add(1, 40_MiB);
  ask();
  EXPECT_EQ(asked.back(), 80_MiB);
  book_.settle();
  book_.remove(1);
  ask();
  EXPECT_EQ(asked.size(), 2U) << "and what was not made does not count";
  book_.settle();
}

TEST_F(AllocationBookTest, asks_before_an_allocation_beyond_a_limit) {
  add(1, 100_MiB); // before the period
  book_.begin();
  add(2, 10_MiB);
  std::vector<devices::DeviceUsage> asked;
  book_.ask_beyond({{64_MiB}, 80_GiB}, [&](const devices::Usage& usage) { asked.push_back(usage.devices.at(0)); });
  const auto ask = [&](Bytes bytes, int device) {
    book_.ask({devices::AllocationKind::managed, device, "f", bytes.count()});
  };
  ask(54_MiB, 0);
  EXPECT_TRUE(asked.empty()) << "it is within the limit";
  ask(55_MiB, 0);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].peak, 65_MiB);
  EXPECT_EQ(asked[0].at_peak.at(devices::AllocationKind::managed), 55_MiB);
  EXPECT_EQ(book_.so_far().devices.at(0).peak, 10_MiB) << "it was not made";
  ask(1_B, 1);
  EXPECT_EQ(asked.size(), 2U) << "a device without a limit has none to give";
  book_.ask_beyond({}, {});
  ask(1_GiB, 0);
  EXPECT_EQ(asked.size(), 2U);
}

TEST_F(AllocationBookTest, does_not_ask_for_what_the_driver_will_refuse) {
  constexpr auto managed = devices::AllocationKind::managed;
  book_.begin();
  std::vector<Bytes> asked;
  book_.ask_beyond({{64_MiB}, 80_GiB}, [&](const devices::Usage& usage) { asked.push_back(usage.devices.at(0).peak); });
  const auto ask = [&](devices::AllocationKind kind, std::uint64_t bytes) { book_.ask({kind, 0, "f", bytes}); };
  ask(device_memory, (1_GiB).count() << 20);
  ask(device_memory, ~std::uint64_t{});
  ask(managed, (1_GiB).count() << 20);
  EXPECT_TRUE(asked.empty());
  std::thread{[&] { // while this thread's allocation is on its way
    ask(device_memory, (65_MiB).count());
    book_.settle();
    ask(device_memory, (64_MiB).count());
    book_.settle();
  }}
      .join();
  EXPECT_EQ(asked, std::vector{65_MiB}) << "it does not count for other threads";
  book_.settle();
  ask(managed, (100_GiB).count());
  EXPECT_EQ(asked.back(), 100_GiB) << "managed memory may exceed a device";
  book_.settle();
  add(1, 50_GiB);
  ask(device_memory, (31_GiB).count());
  EXPECT_EQ(asked.size(), 2U) << "50 GiB are taken";
  ask(device_memory, (30_GiB).count());
  EXPECT_EQ(asked.back(), 80_GiB);
  book_.settle();
  book_.remove(1);
  add(2, 20_GiB); // in the period before
  book_.begin();
  book_.ask_beyond({{}, Bytes{~std::uint64_t{}}},
                   [&](const devices::Usage& usage) { asked.push_back(usage.devices.at(0).peak); });
  ask(device_memory, 1);
  EXPECT_EQ(asked.back(), 1_B);
}

TEST_F(AllocationBookTest, knows_what_earlier_periods_have_left) {
  add(1, 1_MiB); // before any period
  book_.begin();
  add(2, 2_MiB);
  const auto first = book_.so_far().period;
  book_.begin();
  add(4, 8_MiB);
  const auto second = book_.so_far();
  EXPECT_NE(second.period, first);
  ASSERT_EQ(second.devices.size(), 1U);
  EXPECT_EQ(second.devices[0].kept, (std::map<std::uint64_t, Bytes>{{first, 2_MiB}}));
  book_.remove(2);
  EXPECT_TRUE(book_.so_far().devices.at(0).kept.empty());
}

TEST_F(AllocationBookTest, knows_what_was_left_when_a_period_began_though_it_was_freed_since) {
  add(1, 1_MiB); // before any period
  book_.begin();
  add(2, 2_MiB);
  EXPECT_EQ(book_.so_far().devices.at(0).kept_at_begin, Bytes{});
  book_.begin();
  EXPECT_EQ(book_.so_far().devices.at(0).kept_at_begin, 2_MiB) << "though the period has nothing of its own";
  book_.remove(1);
  book_.remove(2);
  EXPECT_EQ(book_.so_far().devices.at(0).kept_at_begin, 2_MiB);
  EXPECT_EQ(book_.so_far().devices.at(0).peak, Bytes{});
  book_.begin();
  EXPECT_TRUE(book_.so_far().devices.empty());
}

} // namespace
} // namespace gputest::metering
