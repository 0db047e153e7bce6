// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/ledger_view.hpp"

#include "ledger_test.hpp"

namespace gputest::tests {
namespace {

using LedgerView = LedgerTest;

TEST_F(LedgerView, has_a_process_as_ended_whose_pid_is_another_ones_here) {
  auto a = start_inside("a");
  const auto view = [this] { return ledger::look_at_ledger(folder(), std::make_shared<SharedProbe>(probe_file())); };
  EXPECT_EQ(view().states.at(0), os::ProcessState::running);
  { // as if it were in another container
    const std::lock_guard guard{store().mutex()};
    auto record = store().read<ledger::StoredRecord>(0);
    ++record.start_time;
    store().write(0, record);
  }
  EXPECT_EQ(view().states.at(0), os::ProcessState::ended);
  EXPECT_TRUE(view().records.at(0).alive);
}

} // namespace
} // namespace gputest::tests
