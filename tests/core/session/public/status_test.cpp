// SPDX-License-Identifier: BSD-3-Clause
// What gputest::status() says of processes in a ledger. Each test is a process of its own.

#include "core_test.hpp"
#include "support/in_child.hpp"

#include <gputest/error.hpp>
#include <gputest/session.hpp>
#include <gputest/simulated_buffer.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <vector>

#include <unistd.h>

namespace gputest {
namespace {

using namespace literals;
using testing::ElementsAre;
using Kind = Outcome::Kind;
using Stage = Claimant::Stage;

class Status : public tests::CoreTest {
protected:
  Status() : CoreTest{"512MiB"} { entry_.name = "entry"; }

  /// A process that enters the ledger for a request, and ends.
  [[nodiscard]] pid_t start_to_enter(const Request& request) const {
    return tests::start_child([&] {
      Session session{settings_, entry_};
      Plan plan;
      plan.requests = {request};
      return session.enter(plan).kind == Kind::granted ? 0 : 1;
    });
  }

  /// All processes, as soon as the second of them is at this stage.
  [[nodiscard]] std::vector<Claimant> once_the_second_is(Stage stage) const {
    std::vector<Claimant> all;
    while (all.size() < 2 || all[1].stage != stage) { // CTest's limit ends a test that waits in vain
      all = status(settings_);
    }
    return all;
  }
};

TEST_F(Status, is_empty_and_makes_nothing_where_there_is_no_ledger) {
  EXPECT_TRUE(status(settings_).empty());
  EXPECT_FALSE(std::filesystem::exists(settings_.folder));
}

TEST_F(Status, refuses_a_folder_that_each_working_directory_would_have_for_itself) {
  settings_.folder = "ledger";
  EXPECT_THROW(static_cast<void>(status(settings_)), InvalidSetting);
  EXPECT_THROW(Session(settings_, entry_), InvalidSetting);
}

TEST_F(Status, has_what_a_process_holds_and_where) {
  auto& session = enter({3_GiB});
  auto all = status(settings_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].stage, Stage::inside);
  EXPECT_EQ(all[0].lease, 0_B);
  EXPECT_EQ(all[0].overhead, 512_MiB);
  EXPECT_THAT(all[0].devices, ElementsAre(session.devices().front().uuid));
  const auto before = std::chrono::system_clock::now();
  const auto lease = session.lease(3_GiB, "Sort.Keys");
  all = status(settings_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].who, "entry: Sort.Keys");
  EXPECT_GE(all[0].since, before - std::chrono::seconds{1}); // as exactly as it is kept
  EXPECT_EQ(all[0].pid, getpid());
  EXPECT_EQ(all[0].stage, Stage::holding);
  EXPECT_EQ(all[0].lease, 3_GiB);
  EXPECT_FALSE(all[0].whole_devices);
  EXPECT_FALSE(all[0].ended);
  EXPECT_LE(all[0].since, std::chrono::system_clock::now());
}

TEST_F(Status, has_what_a_process_may_ask_for_that_waits_for_its_devices) {
  settings_.visible_devices = DeviceRestriction{"CUDA_VISIBLE_DEVICES", "0"};
  entry_.large = LargePolicy::wait;
  enter({MemoryClass::large});
  const pid_t child = start_to_enter(3_GiB);
  const auto all = once_the_second_is(Stage::entering);
  EXPECT_EQ(all[1].pid, child);
  EXPECT_EQ(all[1].lease, 3_GiB);
  EXPECT_FALSE(all[1].whole_devices);
  EXPECT_THAT(all[1].devices, ElementsAre(session_->devices().front().uuid));
  EXPECT_EQ(all[0].pid, getpid());
  EXPECT_EQ(all[0].stage, Stage::inside);
  ::kill(child, SIGKILL);
  EXPECT_EQ(tests::end_of(child), -SIGKILL);
}

TEST_F(Status, has_the_lease_for_which_a_process_waits) {
  settings_.visible_devices = DeviceRestriction{"CUDA_VISIBLE_DEVICES", "0"};
  auto& session = enter({1_GiB});
  const auto lease = session.lease(1_GiB, "Sort.Keys");
  const pid_t child = tests::start_child([&] {
    Session other{settings_, entry_};
    Plan plan;
    plan.requests = {2_GiB + 512_MiB};
    return other.enter(plan).kind == Kind::granted && other.lease(2_GiB + 512_MiB, "Sort.Pairs") ? 0 : 1;
  });
  const auto all = once_the_second_is(Stage::waiting);
  EXPECT_EQ(all[0].stage, Stage::holding);
  EXPECT_EQ(all[0].lease, 1_GiB);
  EXPECT_EQ(all[1].pid, child);
  EXPECT_EQ(all[1].who, "entry: Sort.Pairs");
  EXPECT_EQ(all[1].lease, 2_GiB + 512_MiB);
  EXPECT_THAT(all[1].devices, ElementsAre(session.devices().front().uuid));
  ::kill(child, SIGKILL);
  EXPECT_EQ(tests::end_of(child), -SIGKILL);
}

TEST_F(Status, forgets_a_process_that_has_exited_and_whose_memory_is_back) {
  const int result = tests::in_child([&]() -> int {
    auto& session = enter({3_GiB});
    const auto lease = session.lease(3_GiB, "Sort.Keys");
    const bool seen = status(settings_).size() == 1;
    _exit(lease && seen ? 0 : 1); // nothing is given back
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(status(settings_).empty());
}

TEST_F(Status, shows_an_exited_process_until_its_memory_is_back) {
  settings_.devices = "simulated:2x4GiB,context=512MiB,return=60000ms";
  const int result = tests::in_child([&]() -> int {
    auto& session = enter({3_GiB});
    const auto lease = session.lease(3_GiB, "Sort.Keys");
    const SimulatedBuffer buffer{3_GiB};
    _exit(lease ? 0 : 1);
  });
  EXPECT_EQ(result, 0);
  const auto all = status(settings_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].ended);
}

} // namespace
} // namespace gputest
