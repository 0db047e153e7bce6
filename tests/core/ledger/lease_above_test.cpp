// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/records.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace gputest::ledger {
namespace {

constexpr std::size_t inherited = 7; // a slot whose FIFO the process has inherited

Record holder(std::int64_t pid, std::uint64_t start_time, std::uint32_t uid, std::size_t slot = 0) {
  Record record;
  record.slot = slot;
  record.pid = pid;
  record.start_time = start_time;
  record.uid = uid;
  return record;
}

std::int64_t pid_above(const std::vector<os::Ancestor>& ancestors, const std::vector<Record>& holders) {
  const auto above = lease_above(ancestors, holders, [](const Record& record) { return record.slot == inherited; });
  return above ? above->pid : 0;
}

TEST(LeaseAbove, is_the_nearest_ancestors_or_that_of_an_inherited_fifo) {
  const std::vector<os::Ancestor> ancestors{{30, 300, 7}, {20, 200, 7}, {10, 100, 0}};
  struct Case {
    const char* what;
    std::vector<Record> holders;
    std::int64_t expected;
  };
  const std::vector<Case> cases{
      {"nobody holds one", {}, 0},
      {"the parent's", {holder(30, 300, 7)}, 30},
      {"one of some generations before", {holder(40, 400, 7), holder(20, 200, 7)}, 20},
      {"another user's, such as of a program that sudo was started by", {holder(10, 100, 0)}, 10},
      {"the nearest of two", {holder(20, 200, 7), holder(30, 300, 7)}, 30},
      {"of a later process with the same pid", {holder(30, 301, 7)}, 0},
      {"of a process whose start is not known", {holder(30, 0, 7)}, 0},
      {"of a user that has written another one's pid", {holder(30, 300, 8)}, 0},
      {"a process beside", {holder(40, 400, 7)}, 0},
      {"one that has left its FIFO to a process whose parent has ended",
       {holder(40, 400, 7), holder(50, 500, 7, inherited)},
       50},
      {"an ancestor before a FIFO", {holder(50, 500, 7, inherited), holder(20, 200, 7)}, 20},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(pid_above(ancestors, c.holders), c.expected) << c.what;
  }
  EXPECT_EQ(pid_above({{30, 0, 7}}, {holder(30, 0, 7)}), 0);
}

} // namespace
} // namespace gputest::ledger
