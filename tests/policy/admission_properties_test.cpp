#include "policy/admission.hpp"

#include "policy/admission_claims.hpp"
#include "policy/queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace gputest::policy {
namespace {

/// Ledgers as they might be, and some that cannot be: the decision has to stand up to both.
class RandomLedger {
public:
  explicit RandomLedger(unsigned seed) : random_{seed} {}

  std::uint64_t up_to(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>{0, most}(random_); }
  bool one_in(std::uint64_t n) { return up_to(n - 1) == 0; }

  Snapshot snapshot() {
    Snapshot snapshot;
    const std::uint64_t devices = 1 + up_to(3);
    for (std::uint64_t d = 0; d < devices; ++d) {
      snapshot.devices.push_back({50 + up_to(100), one_in(3) ? up_to(40) : 0});
    }
    const std::uint64_t claims = 1 + up_to(7);
    for (std::uint64_t ticket = 1; ticket <= claims; ++ticket) {
      snapshot.claims.push_back(claim(ticket, (DeviceMask{1} << devices) - 1));
    }
    std::shuffle(snapshot.claims.begin(), snapshot.claims.end(), random_);
    return snapshot;
  }

private:
  DeviceMask some_of(DeviceMask devices) {
    const DeviceMask some = up_to(devices) & devices;
    return some == 0 ? devices : some;
  }

  Claim claim(std::uint64_t ticket, DeviceMask devices) {
    if (one_in(3)) {
      Claim claim = entering(ticket, some_of(devices), up_to(20), up_to(60), 1 + static_cast<unsigned>(one_in(3)));
      claim.whole_devices = one_in(5);
      return claim;
    }
    Claim claim = inside(some_of(devices), up_to(20), up_to(60));
    claim.whole_devices = one_in(8);
    if (one_in(3)) {
      return claim;
    }
    claim = with_lease(claim, one_in(2) ? Stage::waiting : Stage::holding, some_of(claim.devices), up_to(60));
    claim.ticket = ticket;
    claim.exclusive = one_in(6);
    claim.seat = one_in(3);
    return claim;
  }

  std::mt19937 random_;
};

bool is_asked(const Claim& claim) { return claim.stage == Stage::entering || claim.stage == Stage::waiting; }

bool is_inside(const Claim& claim) { return claim.stage != Stage::entering && claim.stage != Stage::outside; }

/// Told from the claim by itself, since what decide() makes of it is under test.
DeviceMask devices_it_asks_for(const Claim& claim) {
  return claim.stage == Stage::entering ? claim.candidates : claim.wanted;
}

/// The claim after a grant, as the ledger writes it.
Claim granted(Claim claim, const Grant& grant) {
  if (claim.stage == Stage::entering) {
    claim.stage = Stage::inside;
    claim.devices = grant.devices;
  } else {
    claim.stage = Stage::holding;
  }
  return claim;
}

/// What is claimed of one device, added up the plain way.
struct Claimed {
  std::uint64_t overheads = 0;
  std::uint64_t leases = 0;
  std::uint64_t largest = 0;
  int inside = 0;
  int seats = 0;
  int exclusive = 0; ///< leases
  int whole = 0;     ///< processes
};

Claimed claimed(const Snapshot& snapshot, std::size_t device) {
  Claimed sums;
  for (const Claim& claim : snapshot.claims) {
    if (!is_inside(claim) || (claim.devices >> device & 1U) == 0) {
      continue;
    }
    ++sums.inside;
    sums.overheads += claim.overhead_bytes;
    sums.largest = std::max(sums.largest, claim.largest_bytes);
    sums.whole += claim.whole_devices ? 1 : 0;
    if (claim.stage == Stage::holding && (claim.wanted >> device & 1U) != 0) {
      sums.leases += claim.lease_bytes;
      sums.seats += claim.seat ? 1 : 0;
      sums.exclusive += claim.exclusive ? 1 : 0;
    }
  }
  return sums;
}

std::string named(unsigned seed, std::size_t position) {
  return "seed " + std::to_string(seed) + ", claim " + std::to_string(position);
}

constexpr unsigned rounds = 20000;

/// Calls `check(snapshot, position, decision, name)` for every claim that asks for something in many random ledgers.
template <class Check>
void for_many_decisions(Check check) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    const Snapshot snapshot = RandomLedger{seed}.snapshot();
    for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
      if (is_asked(snapshot.claims[position])) {
        check(snapshot, position, decide(snapshot, position), named(seed, position));
      }
    }
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(AdmissionProperties, a_grant_keeps_every_device_within_its_rules) {
  int grants = 0;
  for_many_decisions([&](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    const auto* grant = std::get_if<Grant>(&decision);
    if (grant == nullptr) {
      return;
    }
    ++grants;
    const Claim& own = snapshot.claims[position];
    const bool enters = own.stage == Stage::entering;
    EXPECT_EQ(grant->devices & ~devices_it_asks_for(own), 0U) << name;
    EXPECT_EQ(__builtin_popcountll(grant->devices),
              enters ? static_cast<int>(own.gpus) : __builtin_popcountll(own.wanted))
        << name;
    Snapshot after = snapshot;
    after.claims[position] = granted(own, *grant);
    for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
      if ((grant->devices >> d & 1U) == 0) {
        continue;
      }
      const Claimed sums = claimed(after, d);
      const std::uint64_t room = snapshot.devices[d].total_bytes - snapshot.devices[d].stranger_bytes;
      EXPECT_LE(sums.overheads + sums.leases, room) << name;
      if (enters) {
        EXPECT_LE(sums.overheads + sums.largest, room) << name;
        EXPECT_TRUE(sums.inside == 1 || sums.whole + sums.exclusive == 0) << name;
      }
      EXPECT_TRUE(!own.exclusive || enters || sums.inside == 1) << name;
      EXPECT_TRUE(!own.seat || enters || sums.seats == 1) << name;
    }
  });
  EXPECT_GT(grants, 1000);
}

TEST(AdmissionProperties, nobody_is_passed_by_a_later_one_of_the_same_queue_and_device) {
  for_many_decisions([](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    const auto* grant = std::get_if<Grant>(&decision);
    if (grant == nullptr) {
      return;
    }
    const Claim& own = snapshot.claims[position];
    for (const Claim& other : snapshot.claims) {
      EXPECT_FALSE(other.stage == own.stage && other.ticket < own.ticket &&
                   (devices_it_asks_for(other) & grant->devices) != 0)
          << name;
    }
  });
}

TEST(AdmissionProperties, a_wait_names_whoever_it_could_not_go_on_without) {
  int waits = 0;
  for_many_decisions([&](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    const auto* wait = std::get_if<Wait>(&decision);
    if (wait == nullptr) {
      return;
    }
    ++waits;
    EXPECT_TRUE(!wait->blockers.empty() || wait->strangers) << name;
    // Whatever becomes of those that are not named, it has to wait on: who does not wake it need not.
    Snapshot without_others = snapshot;
    for (std::size_t other = 0; other < snapshot.claims.size(); ++other) {
      if (other != position && std::find(wait->blockers.begin(), wait->blockers.end(), other) == wait->blockers.end()) {
        without_others.claims[other] = Claim{};
      }
    }
    const Decision then = decide(without_others, position);
    EXPECT_TRUE(std::holds_alternative<Wait>(then))
        << name << ": " << in_words(decision) << ", then " << in_words(then);
    EXPECT_EQ(std::count(wait->blockers.begin(), wait->blockers.end(), position), 0) << name;
  });
  EXPECT_GT(waits, 1000);
}

TEST(AdmissionProperties, who_is_alone_on_its_devices_is_granted_or_refused) {
  for_many_decisions([](const Snapshot& snapshot, std::size_t position, const Decision&, const auto& name) {
    Snapshot alone;
    alone.devices = snapshot.devices;
    for (Capacity& device : alone.devices) {
      device.stranger_bytes = 0;
    }
    alone.claims.push_back(snapshot.claims[position]);
    EXPECT_FALSE(std::holds_alternative<Wait>(decide(alone, 0))) << name;
  });
}

TEST(AdmissionProperties, a_refusal_stays_one_whoever_comes_and_goes) {
  for_many_decisions([](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    Snapshot alone;
    alone.devices = snapshot.devices;
    alone.claims.push_back(snapshot.claims[position]);
    EXPECT_EQ(std::holds_alternative<Refusal>(decision), std::holds_alternative<Refusal>(decide(alone, 0))) << name;
  });
}

TEST(AdmissionProperties, the_order_of_the_records_does_not_matter) {
  for_many_decisions([](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    Snapshot turned = snapshot;
    std::reverse(turned.claims.begin(), turned.claims.end());
    const Decision again = decide(turned, snapshot.claims.size() - 1 - position);
    EXPECT_EQ(again.index(), decision.index()) << name;
    if (const auto* grant = std::get_if<Grant>(&decision); grant != nullptr && again.index() == decision.index()) {
      EXPECT_EQ(std::get<Grant>(again).devices, grant->devices) << name;
    }
  });
}

TEST(AdmissionProperties, whoever_is_granted_is_a_head_of_its_queue) {
  for_many_decisions([](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    const auto first = heads(snapshot);
    EXPECT_TRUE(!std::holds_alternative<Grant>(decision) ||
                std::find(first.begin(), first.end(), position) != first.end())
        << name << ": whoever is not woken cannot go ahead";
  });
}

} // namespace
} // namespace gputest::policy
