// SPDX-License-Identifier: BSD-3-Clause
// Kills a holder of most of a simulated device whose memory comes back late, as a GPU's does, while another process
// waits for the same bytes and allocates them as soon as it is admitted.
#include "core/devices/simulated/simulated.hpp"
#include "core/devices/simulated/simulated_memory.hpp"
#include "core/ledger/device_probe.hpp"
#include "core/ledger/ledger.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <thread>

namespace gputest::devices {
namespace {

using namespace literals;
using tests::end_of;
using tests::start_child;
using tests::start_keeper;

constexpr Bytes most_of_it = 12_GiB;
constexpr int rounds = 5;

/// What came of a waiter that allocates what it has just been granted.
enum class Allocation { done = 0, out_of_memory = 1 };

class ReturnOfMemory : public ::testing::Test {
protected:
  /// This process on the ledger, with a lease; blocks until it is.
  struct Client {
    std::unique_ptr<ledger::Ledger> ledger;
    std::unique_ptr<SimulatedMemory> memory;
  };

  [[nodiscard]] Client lease(Bytes bytes = most_of_it) const {
    Settings settings;
    settings.folder = folder_.path();
    const std::shared_ptr<const DeviceList> list = open_simulated(setting_, settings);
    Client client{std::make_unique<ledger::Ledger>(folder_.path(), ledger::make_probe(list)),
                  std::make_unique<SimulatedMemory>(setting_, folder_.path())};
    const auto device = client.ledger->devices().bit_of(list->devices().front().uuid);
    ledger::Ledger::EnterRequest enter;
    enter.who = "client";
    enter.candidates = device;
    enter.largest_bytes = bytes.count();
    const auto entered = client.ledger->enter(enter, {});
    const auto leased = client.ledger->lease({"client", device, bytes.count()}, {});
    if (entered.kind != ledger::Result::Kind::granted || leased.kind != ledger::Result::Kind::granted) {
      throw std::runtime_error{"not granted"};
    }
    return client;
  }

  [[nodiscard]] Client hold() const {
    Client client = lease();
    while (client.memory->use(0).used_bytes != 0) { // of the round before
    }
    client.memory->allocate(0, most_of_it);
    return client;
  }

  /// Starts a process that waits for the same bytes, and returns when it is seen to wait.
  [[nodiscard]] pid_t start_waiter(Bytes bytes = most_of_it) const {
    const pid_t waiter = start_child([&] {
      const Client client = lease(bytes);
      try {
        client.memory->allocate(0, bytes);
        return static_cast<int>(Allocation::done);
      } catch (const OutOfMemory&) {
        return static_cast<int>(Allocation::out_of_memory);
      }
    });
    wait_until(waiter, policy::Stage::waiting);
    return waiter;
  }

  void wait_until(pid_t process, policy::Stage stage) const {
    ledger::Ledger book{folder_.path(), nullptr};
    for (bool seen = false; !seen; std::this_thread::yield()) {
      for (const auto& entry : book.records()) {
        seen = seen || (entry.pid == process && entry.claim.stage == stage);
      }
    }
  }

  static void kill(pid_t process) { ASSERT_EQ(::kill(process, SIGKILL), 0); }

  /// How many of the waiters ran out of memory.
  [[nodiscard]] int failures_after_killing_the_holder() const {
    int failures = 0;
    for (int round = 0; round < rounds; ++round) {
      const pid_t holder = start_keeper([&] { return hold(); });
      const pid_t waiter = start_waiter();
      kill(holder);
      failures += end_of(waiter) == static_cast<int>(Allocation::out_of_memory) ? 1 : 0;
      EXPECT_EQ(end_of(holder), -SIGKILL);
    }
    return failures;
  }

  policy::SimulatedDevices setting_ = policy::parse_simulated_devices("1x16GiB,context=0,return=110ms");
  tests::PrivateFolder folder_;
};

TEST_F(ReturnOfMemory, is_waited_for_after_the_holder_was_killed) { EXPECT_EQ(failures_after_killing_the_holder(), 0); }

TEST_F(ReturnOfMemory, is_waited_for_where_the_driver_lists_no_processes) {
  setting_ = policy::parse_simulated_devices("1x16GiB,context=0,return=110ms,no_process_list");
  EXPECT_EQ(failures_after_killing_the_holder(), 0);
}

// As the command of a launcher, which takes no lease of its own.
TEST_F(ReturnOfMemory, is_waited_for_where_a_child_of_the_holder_had_it) {
  setting_ = policy::parse_simulated_devices("1x16GiB,context=0,return=500ms");
  const Client own = lease(8_GiB);
  own.memory->allocate(0, 1_GiB); // what it has not allocated yet must not hide what the child has left
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t holder = start_child([&] {
    const Client client = lease(7_GiB);
    const auto allocate = [&] {
      SimulatedMemory{setting_, folder_.path()}.allocate(0, 7_GiB);
      return 0;
    };
    char begin = 0;
    return ::read(pipe[0], &begin, 1) == 1 ? tests::in_child(allocate) : 1;
  });
  wait_until(holder, policy::Stage::holding);
  const pid_t waiter = start_waiter(8_GiB);
  ASSERT_EQ(::write(pipe[1], "+", 1), 1);
  EXPECT_EQ(end_of(holder), 0);
  EXPECT_EQ(end_of(waiter), static_cast<int>(Allocation::done));
  EXPECT_NO_THROW(own.memory->allocate(0, 7_GiB)) << "within its lease";
  for (const int end : pipe) {
    ::close(end);
  }
}

} // namespace
} // namespace gputest::devices
