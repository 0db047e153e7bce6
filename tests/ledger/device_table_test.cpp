#include "ledger/device_table.hpp"

#include "ledger/record.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace gputest::ledger {
namespace {

class DeviceTableTest : public ::testing::Test {
protected:
  tests::PrivateFolder folder_;
  SlotStore store_{folder_.path(), "ledger", ledger_layout};
  DeviceTable table_{store_};
};

TEST_F(DeviceTableTest, gives_each_device_a_bit_of_its_own_for_ever) {
  EXPECT_EQ(table_.bit_of("GPU-a"), 1U);
  EXPECT_EQ(table_.bit_of("GPU-b"), 2U);
  EXPECT_EQ(table_.bit_of("GPU-a"), 1U);
  SlotStore again{folder_.path(), "ledger", ledger_layout};
  EXPECT_EQ(DeviceTable{again}.bit_of("GPU-c"), 4U);
  EXPECT_EQ(table_.bit_of("GPU-c"), 4U);
  EXPECT_EQ(table_.uuid(0), "GPU-a");
  EXPECT_EQ(table_.uuid(2), "GPU-c");
  EXPECT_EQ(table_.uuid(3), "");
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
  table_.remember_overhead(a | b, 500);
  table_.remember_overhead(a, 300);
  EXPECT_EQ(table_.overhead_bytes(a), 300U);
  EXPECT_EQ(table_.overhead_bytes(a | b), 500U) << "the worst of them";
  EXPECT_EQ(table_.overhead_bytes(c), 0U);
  EXPECT_EQ(table_.uuid(0), "GPU-a");
}

TEST_F(DeviceTableTest, shows_a_uuid_that_anybody_wrote_as_one_line_of_text) {
  DeviceRow row;
  row.uuid.fill('u');
  row.uuid[0] = '\n';
  store_.write_row(0, row);
  EXPECT_EQ(table_.uuid(0), "?" + std::string(94, 'u'));
  EXPECT_EQ(table_.bit_of("GPU-a"), 2U);
}

TEST(ForEachDevice, visits_every_bit) {
  const auto visited = [](policy::DeviceMask devices) {
    std::vector<std::size_t> indices;
    for_each_device(devices, [&](std::size_t index) { indices.push_back(index); });
    return indices;
  };
  EXPECT_EQ(visited(0), std::vector<std::size_t>{});
  EXPECT_EQ(visited(5), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(visited(policy::DeviceMask{1} << 63U | 1U), (std::vector<std::size_t>{0, 63}));
}

} // namespace
} // namespace gputest::ledger
