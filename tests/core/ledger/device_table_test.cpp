// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/device_table.hpp"

#include "core/ledger/stored_record.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

namespace gputest::ledger {
namespace {

class DeviceTableTest : public ::testing::Test {
protected:
  tests::PrivateFolder folder_;
  os::SlotStore store_{folder_.path(), "ledger", ledger_layout};
  DeviceTable table_{store_};
};

TEST_F(DeviceTableTest, gives_each_device_a_bit_of_its_own_for_ever) {
  EXPECT_EQ(table_.bit_of("GPU-a"), 1U);
  EXPECT_EQ(table_.bit_of("GPU-b"), 2U);
  EXPECT_EQ(table_.bit_of("GPU-a"), 1U);
  os::SlotStore again{folder_.path(), "ledger", ledger_layout};
  EXPECT_EQ(DeviceTable{again}.bit_of("GPU-c"), 4U);
  EXPECT_EQ(table_.bit_of("GPU-c"), 4U);
  EXPECT_EQ(table_.uuid(0), "GPU-a");
  EXPECT_EQ(table_.uuid(2), "GPU-c");
  EXPECT_EQ(table_.uuid(3), "");
}

TEST_F(DeviceTableTest, adds_no_device_while_another_process_has_the_mutex) {
  const pid_t holder = tests::start_keeper([&] {
    auto store = std::make_unique<os::SlotStore>(folder_.path(), "ledger", ledger_layout);
    store->mutex().lock();
    return store;
  });
  EXPECT_THROW(static_cast<void>(table_.bit_of("GPU-a")), LedgerError); // after 5 s, for which a mutex is waited for
  EXPECT_EQ(DeviceTable{store_}.uuid(0), "");
  ::kill(holder, SIGKILL);
  EXPECT_EQ(tests::end_of(holder), -SIGKILL);
  EXPECT_EQ(table_.bit_of("GPU-a"), 1U);
}

TEST_F(DeviceTableTest, is_full_with_64_devices) {
  for (std::size_t index = 0; index < 64; ++index) {
    EXPECT_EQ(table_.bit_of("GPU-" + std::to_string(index)), policy::DeviceMask{1} << index);
  }
  EXPECT_EQ(table_.bit_of("GPU-63"), policy::DeviceMask{1} << 63U);
  try {
    static_cast<void>(table_.bit_of("GPU-64"));
    ADD_FAILURE() << "there was room";
  } catch (const LedgerError& error) {
    EXPECT_EQ(error.what(), store_.path() + " knows 64 devices already and has no room for GPU-64; when no GPU test is "
                                            "running, remove that folder");
  }
}

TEST_F(DeviceTableTest, remembers_the_overhead_of_each_device) {
  const auto a = table_.bit_of("GPU-a");
  const auto b = table_.bit_of("GPU-b");
  const auto c = table_.bit_of("GPU-c");
  EXPECT_EQ(table_.overhead_bytes(a | b | c), 0U);
  table_.remember(0, a | b, 500);
  table_.remember(0, a, 300);
  EXPECT_EQ(table_.overhead_bytes(a), 475U) << "it falls slowly";
  EXPECT_EQ(table_.overhead_bytes(a | b), 500U) << "the worst of them";
  EXPECT_EQ(table_.overhead_bytes(a | c), 475U) << "wherever it is in the table";
  EXPECT_EQ(table_.overhead_bytes(c), 0U);
  EXPECT_EQ(table_.uuid(0), "GPU-a");
}

TEST_F(DeviceTableTest, remembers_the_most_that_an_executable_has_taken) {
  const auto a = table_.bit_of("GPU-a");
  const auto b = table_.bit_of("GPU-b");
  EXPECT_EQ(table_.context_bytes(1, a), 0U);
  table_.remember(1, a, 520);
  table_.remember(2, a, 700);
  table_.remember(1, a, 500);
  EXPECT_EQ(table_.context_bytes(1, a), 520U);
  EXPECT_EQ(table_.context_bytes(2, a), 700U);
  EXPECT_EQ(table_.context_bytes(1, b), 0U);
  table_.remember(1, b, 600);
  EXPECT_EQ(table_.context_bytes(1, a | b), 600U);
  table_.remember(0, a, 900);
  EXPECT_EQ(table_.context_bytes(0, a), 0U) << "that executable is not known";
}

TEST_F(DeviceTableTest, forgets_executables_when_there_is_no_room_for_all) {
  const auto a = table_.bit_of("GPU-a");
  for (std::uint64_t executable = 1; executable <= 1000; ++executable) {
    table_.remember(executable, a, 500 + executable);
    EXPECT_EQ(table_.context_bytes(executable, a), 500 + executable);
  }
  std::size_t known = 0;
  for (std::uint64_t executable = 1; executable <= 1000; ++executable) {
    const auto bytes = table_.context_bytes(executable, a);
    known += bytes != 0 ? 1 : 0;
    EXPECT_TRUE(bytes == 0 || bytes == 500 + executable) << executable;
  }
  EXPECT_LE(known, max_contexts);
  EXPECT_GT(known, max_contexts / 2);
}

TEST_F(DeviceTableTest, shows_a_uuid_that_anybody_wrote_as_one_line_of_text) {
  DeviceRow row;
  row.uuid.fill('u');
  row.uuid[0] = '\n';
  store_.write_row(0, row);
  DeviceTable table{store_};
  EXPECT_EQ(table.uuid(0), "?" + std::string(94, 'u'));
  EXPECT_EQ(table.bit_of("GPU-a"), 2U);
}

} // namespace
} // namespace gputest::ledger
