// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/liveness_watches.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <optional>

using gputest::ledger::LivenessWatches;
using gputest::os::Layout;
using gputest::os::SlotStore;

namespace {

class LivenessWatchesTest : public ::testing::Test {
protected:
  std::optional<SlotStore::Taken> take() {
    const std::lock_guard guard{store_.mutex()};
    return store_.take([](std::size_t) { return true; });
  }

  gputest::tests::PrivateFolder parent_;
  SlotStore store_{parent_.path() + "/gputest", "store", Layout{1, 4096, 256, 16}};
};

// A FIFO that was opened without an owner never hangs up.
TEST_F(LivenessWatchesTest, that_have_found_a_slot_without_an_owner_look_at_its_next_owner_anew) {
  auto owner = take();
  const std::vector<std::size_t> slots{owner->slot};
  owner.reset();

  LivenessWatches watches{store_};
  EXPECT_EQ(watches.watch(slots), slots);
  owner = take();
  ASSERT_EQ(owner->slot, slots.front());
  EXPECT_EQ(watches.watch(slots), std::vector<std::size_t>{});
  owner.reset();
  EXPECT_EQ(watches.ended_among(slots), slots);
  EXPECT_EQ(watches.watch(slots), std::vector<std::size_t>{}) << "watched while its owner lived: it hangs up";
}

TEST_F(LivenessWatchesTest, report_a_slot_without_an_owner_each_time) {
  auto owner = take();
  const std::vector<std::size_t> slots{owner->slot};
  owner.reset();
  LivenessWatches watches{store_};
  EXPECT_EQ(watches.watch(slots), slots);
  EXPECT_EQ(watches.watch(slots), slots);
}

} // namespace
