// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include "core/ledger/stored_record.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Bytes that no gputest has written, in a ledger that is in use.
class DamagedLedger : public SuiteTest {
protected:
  [[nodiscard]] std::string read() const {
    std::ifstream file{this->file(), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  /// `sound` with other bytes there.
  static std::string damaged(std::string sound, std::size_t offset) {
    return sound.replace(offset, 16, "\x5a\xa5 not gputest's", 16);
  }
  void write(const std::string& bytes) const {
    std::fstream file{this->file(), std::ios::binary | std::ios::in | std::ios::out};
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

private:
  [[nodiscard]] std::string file() const { return ledger() + "/" + ledger::ledger_name + "/ledger"; }
};

TEST_F(DamagedLedger, fails_tests_and_skips_none_wherever_the_damage_is) {
  auto holder = start_holder();
  const std::string sound = read();
  const std::vector<std::pair<std::string, std::size_t>> places{
      {"the header", 0}, {"a device", sound.find("SIM-1x4096MiB-0")}, {"a record", sound.find("Medium.with_bytes")}};
  for (const auto& [place, offset] : places) {
    SCOPED_TRACE(place);
    ASSERT_NE(offset, std::string::npos);
    write(damaged(sound, offset));
    const Ended ended = run("annotated", {"--gtest_filter=Small.says_nothing"});
    EXPECT_EQ(ended.exit_code, 1) << ended.out;
    EXPECT_THAT(ended.out, HasSubstr("/ledger"));
    EXPECT_THAT(ended.out, Not(HasSubstr("Skipped")));
    write(sound);
  }
  EXPECT_EQ(run("annotated", {"--gtest_filter=Small.says_nothing"}).exit_code, 0) << "the damage is gone";
}

TEST_F(DamagedLedger, fails_a_test_of_a_running_process_wherever_it_asks_and_does_not_end_the_process) {
  auto holder = start_holder();
  for (const std::string test :
       {"OneLease.for_all_tests", "Requiring.free_memory", "RequiringScoped.free_memory", "Plain.leases"}) {
    auto suite = start("asking", {"--gtest_filter=First.*:" + test});
    suite.wait_for_out("@TearDownTestSuite");
    const std::string sound = read();
    write(damaged(sound, sound.find("Medium.with_bytes")));
    const Ended ended = suite.finish();
    EXPECT_EQ(ended.exit_code, 1) << test << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("[       OK ] First.passes"));
    EXPECT_THAT(ended.out, HasSubstr("[  FAILED  ] " + test));
    EXPECT_THAT(ended.out, HasSubstr("/ledger is damaged: record "));
    EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
    write(sound);
  }
  EXPECT_EQ(holder.finish().exit_code, 0);
}

} // namespace
} // namespace gputest::tests
