// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/admission.hpp"

#include "core/policy/admission_claims.hpp"
#include "core/policy/admission_rules.hpp"
#include "core/policy/queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

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
    snapshot.external_is_certain = one_in(2);
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
    claim.medium_lock = one_in(3);
    return claim;
  }

  std::mt19937 random_;
};

bool is_asked(const Claim& claim) { return claim.stage == Stage::entering || claim.stage == Stage::waiting; }

bool has_context(const Claim& claim) { return claim.stage != Stage::entering && claim.stage != Stage::outside; }

std::string named(unsigned seed, std::size_t position) {
  return "seed " + std::to_string(seed) + ", claim " + std::to_string(position);
}

constexpr unsigned rounds = 5000;

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

TEST(AdmissionProperties, hold_for_claims_as_they_might_be_and_for_some_that_cannot_be) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    ASSERT_NO_THROW(rules::check(RandomLedger{seed}.snapshot())) << "seed " << seed;
  }
}

/// Whether the waiting claim has room on the device beside everybody in `snapshot`.
bool has_room(const Snapshot& snapshot, std::size_t waiting, std::size_t device) {
  const rules::Load others = rules::load_of_others(snapshot, waiting, device);
  const Claim& claim = snapshot.claims[waiting];
  return others.overheads + claim.overhead_bytes + others.leases + claim.lease_bytes <=
             snapshot.devices[device].total_bytes &&
         (!claim.medium_lock || others.medium_locks == 0) && (!claim.exclusive || others.inside == 0);
}

bool has_room_on(DeviceMask devices, const Snapshot& snapshot, std::size_t waiting) {
  bool has = true;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    has = has && ((devices >> d & 1U) == 0 || has_room(snapshot, waiting, d));
  }
  return has;
}

/// Calls `check` for the ledger and for what becomes of it when any of the other processes end, or are granted or give
/// back their leases, as far as these came before the claim at `waiting`.
template <class Check>
void for_what_may_become(const Snapshot& snapshot, std::size_t passer, std::size_t waiting, Check check) {
  std::size_t states = 1;
  for (std::size_t i = 0; i < snapshot.claims.size(); ++i) {
    states *= 3;
  }
  for (std::size_t state = 0; state < states; ++state) {
    Snapshot then = snapshot;
    std::size_t rest = state;
    bool may_become = true;
    for (std::size_t i = 0; i < then.claims.size(); ++i, rest /= 3) {
      Claim& claim = then.claims[i];
      const bool is_free = i != passer && i != waiting && has_context(claim);
      const bool leases = claim.stage == Stage::waiting || claim.stage == Stage::holding;
      const bool earlier = leases && claim.ticket < snapshot.claims[waiting].ticket;
      may_become = may_become && (rest % 3 == 0 || is_free) && (rest % 3 != 2 || earlier);
      if (is_free && rest % 3 == 1) {
        claim = Claim{};
      } else if (is_free && rest % 3 == 2) {
        claim.stage = Stage::holding;
      } else if (is_free && earlier) {
        claim.stage = Stage::inside;
      }
    }
    if (may_become) {
      check(then);
    }
  }
}

TEST(AdmissionProperties, no_lease_is_granted_that_delays_an_earlier_request_whatever_becomes_of_others) {
  int passed = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomLedger random{seed};
    const Snapshot snapshot = random.snapshot();
    for (std::size_t passer = 0; passer < snapshot.claims.size(); ++passer) {
      const Claim& own = snapshot.claims[passer];
      if (own.stage != Stage::waiting || !std::holds_alternative<Grant>(decide(snapshot, passer))) {
        continue;
      }
      for (std::size_t ahead = 0; ahead < snapshot.claims.size(); ++ahead) {
        const Claim& first = snapshot.claims[ahead];
        if (first.stage != Stage::waiting || first.ticket >= own.ticket || (first.wanted & own.wanted) == 0) {
          continue;
        }
        ++passed;
        for_what_may_become(snapshot, passer, ahead, [&](const Snapshot& then) {
          // Without any later arrivals, and with them: those that hold leases, and the one that passes.
          Snapshot without_later = then;
          Snapshot with_later = then;
          for (Claim& claim : without_later.claims) {
            // A medium lock that a later one holds already is in the way with and without the one that passes.
            const bool has_lock = claim.medium_lock && first.medium_lock;
            const bool later = claim.stage == Stage::holding && claim.ticket > first.ticket;
            claim.stage = later && !has_lock ? Stage::inside : claim.stage;
          }
          with_later.claims[passer].stage = Stage::holding;
          for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
            const bool shared = (first.wanted & own.wanted & own.devices & first.devices) >> d & 1U;
            EXPECT_TRUE(!shared || !has_room(without_later, ahead, d) || has_room(with_later, ahead, d))
                << named(seed, passer) << " delays " << ahead;
          }
        });
      }
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(passed, 100);
}

TEST(AdmissionProperties, no_lease_grows_that_delays_a_request_whatever_becomes_of_others) {
  int grown = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomLedger random{seed};
    Snapshot snapshot = random.snapshot();
    for (std::size_t grower = 0; grower < snapshot.claims.size(); ++grower) {
      const Claim held = snapshot.claims[grower];
      Snapshot larger = snapshot;
      larger.claims[grower].lease_bytes += 1 + random.up_to(30);
      if (held.stage != Stage::holding || held.exclusive ||
          !std::holds_alternative<Grant>(decide(with_growing(larger, grower, held.lease_bytes), grower))) {
        continue;
      }
      for (std::size_t ahead = 0; ahead < snapshot.claims.size(); ++ahead) {
        const Claim& first = snapshot.claims[ahead];
        if (first.stage != Stage::waiting || (first.wanted & held.wanted) == 0) {
          continue;
        }
        ++grown;
        for_what_may_become(snapshot, grower, ahead, [&](const Snapshot& then) {
          Snapshot without_later = then;
          for (std::size_t i = 0; i < then.claims.size(); ++i) {
            Claim& claim = without_later.claims[i];
            const bool has_lock = claim.medium_lock && first.medium_lock;
            const bool later = claim.stage == Stage::holding && claim.ticket > first.ticket && i != grower;
            claim.stage = later && !has_lock ? Stage::inside : claim.stage;
          }
          Snapshot with_growth = then;
          with_growth.claims[grower].lease_bytes = larger.claims[grower].lease_bytes;
          EXPECT_TRUE(!has_room_on(first.wanted, without_later, ahead) ||
                      has_room_on(first.wanted & held.wanted, with_growth, ahead))
              << named(seed, grower) << " delays " << ahead;
        });
      }
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(grown, 100);
}

TEST(AdmissionProperties, a_wait_names_claims_of_which_one_must_change_first) {
  int waits = 0;
  for_many_decisions([&](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    const auto* wait = std::get_if<Wait>(&decision);
    if (wait == nullptr) {
      return;
    }
    ++waits;
    EXPECT_TRUE(!wait->blockers.empty() || wait->external) << name;
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

TEST(AdmissionProperties, a_refusal_does_not_depend_on_other_claims) {
  for_many_decisions([](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    Snapshot alone;
    alone.devices = snapshot.devices;
    alone.claims.push_back(snapshot.claims[position]);
    EXPECT_EQ(std::holds_alternative<Refusal>(decision), std::holds_alternative<Refusal>(decide(alone, 0))) << name;
  });
}

TEST(AdmissionProperties, a_claim_behind_another_waits_while_that_one_does) {
  int followers = 0;
  for_many_decisions([&](const Snapshot& snapshot, std::size_t position, const Decision& decision, const auto& name) {
    const auto* wait = std::get_if<Wait>(&decision);
    if (wait == nullptr || wait->behind == 0 || snapshot.claims[position].stage != Stage::waiting) {
      return;
    }
    ++followers;
    ASSERT_EQ(wait->blockers.size(), 1U) << name;
    EXPECT_EQ(snapshot.claims[wait->blockers.front()].ticket, wait->behind) << name;
    EXPECT_EQ(snapshot.claims[wait->blockers.front()].stage, Stage::waiting) << name;
  });
  EXPECT_GT(followers, 100);
}

} // namespace
} // namespace gputest::policy
