// SPDX-License-Identifier: BSD-3-Clause
#include "insights/saving.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputest::insights {
namespace {

using namespace literals;

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

/// A run of two jobs on a device of 16 GiB, and what is declared in it.
struct DeclaredRun {
  RunLog log;
  std::vector<Declaration> declarations;

  DeclaredRun() {
    log.jobs = 2;
    log.devices = {{"GPU-1", "H200", 16 * gib}};
  }

  /// A test of 10 s; 0 bytes: its class.
  DeclaredRun& ran(const std::string& entry, const std::string& test, std::uint64_t bytes, Bytes advised = {},
                   const std::string& memory_class = "medium") {
    LoggedLease lease;
    lease.entry = entry;
    lease.test = test;
    lease.memory_class = memory_class;
    lease.whole_devices = memory_class == "large";
    lease.bytes = bytes != 0 ? bytes : lease.whole_devices ? 0 : 8 * gib;
    lease.declared_bytes = bytes == 0 ? std::nullopt : std::optional{bytes};
    lease.devices = {"GPU-1"};
    lease.ended = 10;
    log.leases.push_back(lease);
    Declaration of;
    of.entry = entry;
    of.test = test;
    of.advised = advised;
    declarations.push_back(of);
    return *this;
  }
};

TEST(Savings, are_what_a_plan_gains_by_the_advised_sizes) {
  struct Case {
    std::string what;
    DeclaredRun run;
    double now;
    double then;
  };
  const std::vector<Case> cases{
      {"nothing ran", DeclaredRun{}, 0, 0},
      {"two that fit together", DeclaredRun{}.ran("a", "", 4 * gib).ran("b", "", 4 * gib), 10, 10},
      {"two that would fit", DeclaredRun{}.ran("a", "", 12 * gib, 2_GiB).ran("b", "", 12 * gib), 20, 10},
      {"two that only seem to fit", DeclaredRun{}.ran("a", "", 4 * gib, 12_GiB).ran("b", "", 8 * gib), 10, 20},
      {"the largest of an entry counts",
       DeclaredRun{}.ran("a", "x", 12 * gib, 2_GiB).ran("a", "y", 12 * gib).ran("b", "", 12 * gib), 30, 30},
      {"large tests have the device alone", DeclaredRun{}.ran("a", "", 0, 2_GiB, "large").ran("b", "", 2 * gib), 20,
       10},
      {"a large test that has said a size", DeclaredRun{}.ran("a", "", 8 * gib, {}, "small").ran("b", "", 8 * gib), 10,
       10},
      {"the largest of an entry counts, be it the first or the last",
       DeclaredRun{}.ran("a", "x", 2 * gib).ran("a", "y", 12 * gib).ran("b", "", 12 * gib), 30, 30},
      {"a large test takes more than a medium one",
       DeclaredRun{}.ran("a", "x", 0).ran("a", "y", 0, {}, "large").ran("b", "", 2 * gib), 30, 30},
      {"a large test takes more than a medium one, in whatever order they ran",
       DeclaredRun{}.ran("a", "x", 0, {}, "large").ran("a", "y", 0).ran("b", "", 2 * gib), 30, 30},
      {"a class takes more than a size",
       DeclaredRun{}.ran("a", "x", 0, {}, "large").ran("a", "y", 2 * gib).ran("b", "", 2 * gib), 30, 30},
      {"medium tests take turns", DeclaredRun{}.ran("a", "", 0, 2_GiB).ran("b", "", 0, 2_GiB), 20, 10},
  };
  auto beside_contexts = DeclaredRun{}.ran("a", "", 8 * gib, 2_GiB).ran("b", "", 8 * gib, 2_GiB);
  beside_contexts.log.processes.resize(2);
  beside_contexts.log.processes[1].overhead_bytes = gib;
  EXPECT_NEAR(saving_of(beside_contexts.log, beside_contexts.declarations).now, 20, 1e-6);
  EXPECT_NEAR(saving_of(beside_contexts.log, beside_contexts.declarations).then, 10, 1e-6);
  auto alone = DeclaredRun{}.ran("a", "", 4 * gib).ran("b", "", 4 * gib);
  for (const auto jobs : {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{0}, {1}}) {
    alone.log.jobs = jobs;
    EXPECT_NEAR(saving_of(alone.log, {}).now, 20, 1e-6) << "one after the other";
  }
  auto two_devices = DeclaredRun{}.ran("a", "", 12 * gib).ran("b", "", 12 * gib, 2_GiB);
  two_devices.log.devices.push_back({"GPU-2", "H200", 16 * gib});
  EXPECT_NEAR(saving_of(two_devices.log, two_devices.declarations).now, 10, 1e-6) << "each on a device of its own";
  two_devices.log.leases[1].devices = {"GPU-1", "GPU-2"};
  EXPECT_NEAR(saving_of(two_devices.log, two_devices.declarations).now, 20, 1e-6) << "one needs both";
  EXPECT_NEAR(saving_of(two_devices.log, two_devices.declarations).then, 10, 1e-6);
  two_devices.declarations[1].advised = 12_GiB;
  EXPECT_NEAR(saving_of(two_devices.log, two_devices.declarations).then, 20, 1e-6) << "with the advised size, too";
  for (const auto& [what, run, now, then] : cases) {
    const auto saving = saving_of(run.log, run.declarations);
    EXPECT_NEAR(saving.now, now, 1e-6) << what;
    EXPECT_NEAR(saving.then, then, 1e-6) << what;
  }
}

} // namespace
} // namespace gputest::insights
