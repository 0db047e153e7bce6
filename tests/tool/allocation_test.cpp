// SPDX-License-Identifier: BSD-3-Clause
// The launcher, and what it starts, where ctest has allocated devices by a resource spec file of the user's own.
#include "support/suite_test.hpp"
#include "support/tool.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace gputest::tool {
namespace {

using testing::HasSubstr;

const std::string launcher = tests::Tool::path();
const std::string print_devices =
    "echo $CUDA_VISIBLE_DEVICES $CTEST_RESOURCE_GROUP_0_GPUS $CTEST_RESOURCE_GROUP_1_GPUS";

class Allocation : public tests::SuiteTest {
protected:
  Allocation() { set("GPUTEST_DEVICES", "simulated:4x4GiB,context=0"); }

  void allocate(const std::vector<std::string>& groups) {
    set("CTEST_RESOURCE_GROUP_COUNT", std::to_string(groups.size()));
    for (std::size_t i = 0; i < groups.size(); ++i) {
      set("CTEST_RESOURCE_GROUP_" + std::to_string(i) + "_GPUS", groups[i]);
    }
  }

  /// What a command under a lease of so many devices prints.
  [[nodiscard]] std::string launch(const std::string& gpus, std::vector<std::string> command) const {
    command.insert(command.begin(), {launcher, "run", "--gpus", gpus, "--memory", "2GiB", "--"});
    const auto ended = start_program(std::move(command)).finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    return ended.out;
  }
};

/// Such as the one that rapids-cmake's tests have.
TEST_F(Allocation, has_the_numbers_of_ctest_in_a_script_which_may_choose_devices_by_them) {
  allocate({"id:2,slots:1"});
  EXPECT_EQ(launch("1", {"sh", "-c", print_devices}), "SIM-4x4096MiB-2 id:2,slots:1\n");
  EXPECT_EQ(launch("1", {"env", "A=1", "timeout", "60", "sh", "-c", print_devices}), "SIM-4x4096MiB-2 id:2,slots:1\n");
}

TEST_F(Allocation, has_the_numbers_of_cuda_in_a_program) {
  allocate({"id:2,slots:1"});
  EXPECT_EQ(launch("1", {"printenv", "CTEST_RESOURCE_GROUP_0_GPUS"}), "id:0,slots:1\n");
  EXPECT_EQ(launch("1", {"env", "A=1", "printenv", "CTEST_RESOURCE_GROUP_0_GPUS"}), "id:0,slots:1\n");
}

TEST_F(Allocation, has_the_numbers_of_cuda_also_by_the_name_of_ginkgo) {
  set("CTEST_RESOURCE_GROUP_COUNT", "1");
  set("CTEST_RESOURCE_GROUP_0_CUDAGPU", "id:2,slots:1");
  EXPECT_EQ(launch("1", {"printenv", "CUDA_VISIBLE_DEVICES", "CTEST_RESOURCE_GROUP_0_CUDAGPU"}),
            "SIM-4x4096MiB-2\nid:0,slots:1\n");
}

TEST_F(Allocation, has_the_numbers_of_cuda_in_a_program_that_a_script_starts) {
  const std::string program = "'" + launcher +
                              "' run --gpus 2 -- printenv CUDA_VISIBLE_DEVICES CTEST_RESOURCE_GROUP_0_GPUS "
                              "CTEST_RESOURCE_GROUP_1_GPUS";
  allocate({"id:2,slots:1", "id:3,slots:1"});
  EXPECT_EQ(launch("2", {"sh", "-c", program}), "SIM-4x4096MiB-2,SIM-4x4096MiB-3\nid:0,slots:1\nid:1,slots:1\n");
  allocate({"id:2,slots:1", "id:1,slots:1"});
  EXPECT_EQ(launch("2", {"sh", "-c", program}), "SIM-4x4096MiB-2,SIM-4x4096MiB-1\nid:0,slots:1\nid:1,slots:1\n");
  const std::string in_a_script = "'" + launcher + "' run --gpus 2 -- sh -c \"" + program + "\"";
  EXPECT_EQ(launch("2", {"sh", "-c", in_a_script}), "SIM-4x4096MiB-2,SIM-4x4096MiB-1\nid:0,slots:1\nid:1,slots:1\n");
}

TEST_F(Allocation, of_a_ctest_below_a_lease_counts_the_devices_of_the_lease) {
  const std::string suite = "'" + path_of("pinned") + "' --gtest_filter=Visible.*";
  const std::string of_second = "CTEST_RESOURCE_GROUP_COUNT=1 CTEST_RESOURCE_GROUP_0_GPUS=id:1,slots:1 ";
  const std::string says = "the test sees SIM-4x4096MiB-1, id:0,slots:1 of it\n";
  EXPECT_THAT(launch("2", {"sh", "-c", of_second + suite}), HasSubstr(says));
  EXPECT_EQ(launch("2", {"sh", "-c", of_second + "'" + launcher + "' run -- sh -c '" + print_devices + "'"}),
            "SIM-4x4096MiB-1 id:1,slots:1\n");
  allocate({"id:3,slots:1", "id:1,slots:1"}); // the one above
  EXPECT_THAT(launch("2", {"sh", "-c", of_second + suite}), HasSubstr(says));
}

TEST_F(Allocation, stays_with_the_lease_in_a_script_of_ctest_in_an_entry) {
  allocate({"id:2,slots:1"});
  set("GPUTEST_DEPTH", "+");
  const std::string script = folder() + "/script.cmake";
  std::ofstream{script} << "set(CTEST_RUN_CURRENT_SCRIPT OFF)\n"
                           "execute_process(COMMAND \"" +
                               launcher + "\" run -- printenv CTEST_RESOURCE_GROUP_0_GPUS)\n";
  EXPECT_THAT(launch("1", {"ctest", "-S", script}), HasSubstr("id:0,slots:1\n"));
}

} // namespace
} // namespace gputest::tool
