// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"

#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

/// What a process that waits for another one does and says.
class Waiting : public SuiteTest {};

TEST_F(Waiting, names_the_holder_once_and_says_when_it_goes_on) {
  auto holder = start_holder();
  auto waiter = start("annotated", {"--gtest_filter=Medium.with_bytes:NoFixture.with_bytes"});
  waiter.wait_for_err("gputest: annotated: Medium.with_bytes waits for 3 GiB: annotated: Medium.with_bytes (pid " +
                      std::to_string(holder.pid()) + ", 3 GiB, for ");
  EXPECT_EQ(holder.finish().exit_code, 0);
  waiter.wait_for_out("@body");
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(count(ended.err, "waits for"), 1U) << ended.err;
  EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("gputest: admitted annotated: Medium.with_bytes: 3 GiB on SIM-1x4096MiB-0 (simulated), "
                        "after waiting "));
}

TEST_F(Waiting, in_a_test_of_ctest_that_is_no_entry_is_for_the_run_log) {
  const auto log = folder() + "/log";
  std::filesystem::create_directory(log);
  auto holder = start_holder();
  set("CTEST_INTERACTIVE_DEBUG_MODE", "1");
  set("GPUTEST_LOG", log);
  auto waiter = start("annotated", {"--gtest_filter=Medium.with_bytes"});
  const auto has_wait = [](const std::filesystem::directory_entry& file) {
    return os::contents_of(file.path()).value_or("").find("\"wait\"") != std::string::npos;
  };
  while (std::none_of(std::filesystem::directory_iterator{log}, {}, has_wait)) {
    std::this_thread::yield();
  }
  EXPECT_EQ(holder.finish().exit_code, 0);
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
}

TEST_F(Waiting, to_enter_is_reported_with_the_processes_inside) {
  auto holder = start("classes", {"--gtest_filter=Large.first"});
  holder.wait_for_out("@constructor");
  auto waiter = start("classes", {"--gtest_filter=Small.first"});
  waiter.wait_for_err("gputest: classes waits for a place on a GPU: classes: Large.first (pid " +
                      std::to_string(holder.pid()) + ", the whole device, for ");
  EXPECT_EQ(holder.finish().exit_code, 0);
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("gputest: classes goes on, on SIM-1x4096MiB-0"));
  EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
}

TEST_F(Waiting, for_a_place_beside_as_many_processes_as_may_be_there_names_the_setting) {
  set("GPUTEST_PROCESSES_PER_DEVICE", "1");
  auto holder = start("classes", {"--gtest_filter=Small.first"});
  holder.wait_for_out("@constructor");
  auto waiter = start("classes", {"--gtest_filter=Small.second"});
  waiter.wait_for_err("gputest: classes waits for one of 1 places on a GPU (GPUTEST_PROCESSES_PER_DEVICE): classes: "
                      "Small.first (pid " +
                      std::to_string(holder.pid()) + ", ");
  EXPECT_EQ(holder.finish().exit_code, 0);
  EXPECT_EQ(waiter.finish().exit_code, 0);
}

TEST_F(Waiting, goes_by_the_kernel_and_not_by_functions_that_a_test_has_in_place_of_the_c_library_s) {
  auto holder = start_holder();
  auto waiter = start("own_functions");
  waiter.wait_for_err("gputest: own_functions: OwnFunctions.with_bytes waits for 2 GiB");
  EXPECT_EQ(holder.finish().exit_code, 0);
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
}

/// Processes of which no test can run, whatever others hold or as long as they hold anything, beside one that holds the
/// whole device.
class NoneCanRun : public SuiteTest {
protected:
  NoneCanRun() {
    holder_.emplace(start("classes", {"--gtest_filter=Large.first"}));
    holder_->wait_for_out("@constructor");
    set("GPUTEST_WAIT_LIMIT", "1s"); // after it a process that waits fails
  }

private:
  std::optional<ChildProcess> holder_;
};

TEST_F(NoneCanRun, does_not_wait_to_skip) {
  struct Row {
    std::string suite;
    std::string filter;
    std::string variable;
    std::string value;
    std::string reason;
  };
  const std::vector<Row> rows{
      {"suite_leases", "TooMuch.first", "GPUTEST_GPUS", "1", "suite_leases: TooMuch needs 100 GiB of a device"},
      {"classes", "Large.second", "GPUTEST_RUN_MODE", "parallel", "is large, and excluded while tests run in parallel"},
      {"classes", "Large.*", "GPUTEST_RUN_MODE", "serial",
       "classes is large, and excluded while other processes use its device: classes: Large.first (pid "},
      {"classes", "NoFixture.first", "GPUTEST_GPUS", "2", "classes: NoFixture.first needs 2 GPUs and may use 1"},
      {"requiring", "Some/Parameterised.*", "GPUTEST_GPUS", "1", "requires what its devices do not have: asked tcc"}};
  for (const auto& row : rows) {
    set(row.variable, row.value);
    const Ended ended = run(row.suite, {"--gtest_filter=" + row.filter});
    EXPECT_EQ(ended.exit_code, 77) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(row.reason));
  }
}

TEST_F(NoneCanRun, waits_if_one_of_its_tests_can_run) {
  const Ended ended = run("suite_leases", {"--gtest_filter=TooMuch.first:After.*"});
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("suite_leases waited 1 s, its wait limit, for a place on a GPU"));
}

} // namespace
} // namespace gputest::tests
