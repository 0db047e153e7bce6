// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/admission.hpp"

#include "core/policy/admission_claims.hpp"
#include "core/policy/queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gputest::policy {
namespace {

/// A machine full of processes that enter, run some tests one after another, and end. They move in random order, and
/// nothing but decide() lets them go on, or their leases grow. Some are idle between their tests and after them, until
/// they have to leave. (admission_properties_test.cpp checks each decision.)
class Machine {
public:
  explicit Machine(unsigned seed) : random_{seed} {
    const std::uint64_t devices = 1 + up_to(2);
    for (std::uint64_t d = 0; d < devices; ++d) {
      snapshot_.devices.push_back({100, 0});
    }
    all_devices_ = (DeviceMask{1} << devices) - 1;
    const std::uint64_t count = 2 + up_to(10);
    for (std::uint64_t i = 0; i < count; ++i) {
      snapshot_.claims.emplace_back();
      tests_left_.push_back(1 + static_cast<int>(up_to(4)));
      arrived_.push_back(false);
      is_worker_.push_back(up_to(2) == 0);
      notified_.push_back(false);
    }
  }

  /// Runs until nobody can move. Returns how many have ended, or are idle without work.
  std::size_t run() {
    for (bool moved = true; moved;) {
      moved = false;
      std::vector<std::size_t> order(snapshot_.claims.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
      }
      std::shuffle(order.begin(), order.end(), random_);
      for (const std::size_t position : order) {
        moved = move(position) || moved;
      }
    }
    return ended_ + static_cast<std::size_t>(std::count_if(snapshot_.claims.begin(), snapshot_.claims.end(),
                                                           [](const Claim& c) { return c.stage == Stage::idle; }));
  }

  [[nodiscard]] std::size_t size() const { return snapshot_.claims.size(); }
  [[nodiscard]] int granted_past_others() const { return granted_past_others_; }
  [[nodiscard]] int grown() const { return grown_; }
  [[nodiscard]] int notified() const { return static_cast<int>(std::count(notified_.begin(), notified_.end(), true)); }

private:
  std::uint64_t up_to(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>{0, most}(random_); }

  bool move(std::size_t position) {
    Claim& claim = snapshot_.claims[position];
    switch (claim.stage) {
    case Stage::outside:
      return arrive(position);
    case Stage::entering:
    case Stage::waiting:
      return try_to_go_on(position);
    case Stage::idle:
      return leave_or_resume(position);
    case Stage::inside:
      if (is_worker_[position] && tests_left_[position] == 0) {
        claim.stage = Stage::idle;
      } else if (tests_left_[position]-- == 0) {
        claim = Claim{};
        ++ended_;
      } else {
        ask(claim);
      }
      return true;
    case Stage::holding:
      if (up_to(2) == 0 && grow(position)) {
        return true;
      }
      claim = inside(claim.devices, claim.overhead_bytes, claim.largest_bytes);
      claim.whole_devices = whole_[position];
      claim.stage = is_worker_[position] ? Stage::idle : Stage::inside;
      return true;
    }
    return false;
  }

  bool grow(std::size_t position) {
    Snapshot larger = snapshot_;
    const std::uint64_t held = larger.claims[position].lease_bytes;
    larger.claims[position].lease_bytes += 1 + up_to(20);
    if (larger.claims[position].exclusive ||
        !std::holds_alternative<Grant>(decide(with_growing(larger, position, held), position))) {
      return false;
    }
    snapshot_.claims[position].lease_bytes = larger.claims[position].lease_bytes;
    ++grown_;
    return true;
  }

  bool leave_or_resume(std::size_t position) {
    Claim& claim = snapshot_.claims[position];
    if (notified_[position] || (tests_left_[position] > 0 && is_in_the_way(snapshot_, position))) {
      claim = Claim{};
      ++ended_;
      return true;
    }
    claim.stage = tests_left_[position] > 0 ? Stage::inside : Stage::idle;
    return tests_left_[position] > 0;
  }

  /// Whether that notified somebody.
  bool notify_who_has_to_leave(std::size_t position, const Wait& wait) {
    bool moved = false;
    for (const std::size_t idle : idle_to_evict(snapshot_, position, wait).positions) {
      moved = moved || !notified_[idle];
      notified_[idle] = true;
    }
    return moved;
  }

  bool arrive(std::size_t position) {
    if (arrived_[position]) {
      return false;
    }
    arrived_[position] = true;
    const DeviceMask candidates = up_to(1) == 0 ? all_devices_ : DeviceMask{1} << up_to(snapshot_.devices.size() - 1);
    const bool two = candidates != 1 && (candidates & (candidates - 1)) != 0 && up_to(2) == 0;
    Claim claim = entering(next_ticket_++, candidates, up_to(20), up_to(80), two ? 2 : 1);
    claim.whole_devices = up_to(5) == 0;
    whole_.resize(size());
    whole_[position] = claim.whole_devices;
    snapshot_.claims[position] = claim;
    return true;
  }

  void ask(Claim& claim) {
    const bool whole_devices = claim.whole_devices;
    const DeviceMask first = claim.devices & ~(claim.devices - 1);
    claim.stage = Stage::waiting;
    claim.ticket = next_ticket_++;
    claim.wanted = up_to(1) == 0 ? claim.devices : first;
    claim.exclusive = whole_devices && up_to(1) == 0;
    claim.lease_bytes = claim.exclusive ? 0 : up_to(claim.largest_bytes);
    claim.medium_lock = !claim.exclusive && up_to(2) == 0;
  }

  bool try_to_go_on(std::size_t position) {
    Claim& claim = snapshot_.claims[position];
    const Decision decision = decide(snapshot_, position);
    if (const auto* wait = std::get_if<Wait>(&decision)) {
      return notify_who_has_to_leave(position, *wait);
    }
    const auto* grant = std::get_if<Grant>(&decision);
    if (grant == nullptr) {
      return false;
    }
    if (claim.stage == Stage::entering) {
      claim.devices = grant->devices;
      claim.stage = Stage::inside;
    } else {
      claim.stage = Stage::holding;
      granted_past_others_ += std::any_of(snapshot_.claims.begin(), snapshot_.claims.end(),
                                          [&](const Claim& other) {
                                            return other.stage == Stage::waiting && other.ticket < claim.ticket &&
                                                   (other.wanted & claim.wanted) != 0;
                                          })
                                  ? 1
                                  : 0;
    }
    return true;
  }

  std::mt19937 random_;
  Snapshot snapshot_;
  DeviceMask all_devices_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::vector<int> tests_left_;
  std::vector<bool> arrived_;
  std::vector<bool> is_worker_;
  std::vector<bool> notified_; ///< workers, to leave
  std::vector<bool> whole_;
  std::size_t ended_ = 0;
  int granted_past_others_ = 0;
  int grown_ = 0;
};

TEST(AdmissionLiveness, everybody_finishes_although_some_pass_others) {
  int granted_past_others = 0;
  int grown = 0;
  int notified = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Machine machine{seed};
    ASSERT_EQ(machine.run(), machine.size()) << "seed " << seed << ": the others wait for each other";
    granted_past_others += machine.granted_past_others();
    grown += machine.grown();
    notified += machine.notified();
  }
  EXPECT_GT(granted_past_others, 1000) << "those that delay nobody pass";
  EXPECT_GT(grown, 1000);
  EXPECT_GT(notified, 1000) << "workers leave for others";
}

} // namespace
} // namespace gputest::policy
