// SPDX-License-Identifier: BSD-3-Clause
// Which ancestor look_for_ctest() takes for the ctest that counts, with shells that bear ctest's name.
// What it reads of a real one is in run_mode/.

#include "platform/ctest_process.hpp"

#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gputest::platform {
namespace {

using Strings = std::vector<std::string>;

class CtestProcess : public testing::Test {
protected:
  // A shell under that name, which runs a script and passes for a ctest with the given arguments.
  [[nodiscard]] std::string shell_named(const std::string& name) const {
    std::string path = folder_.path() + "/" + name;
    std::filesystem::copy_file("/bin/sh", path, std::filesystem::copy_options::overwrite_existing);
    return path;
  }

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

private:
  tests::PrivateFolder folder_;
};

// A script that runs its arguments, and stays their parent.
constexpr const char* run_arguments = R"(while [ "$1" != : ]; do shift; done; shift; "$@"; exit $?)";

Strings below(const std::string& shell, const Strings& arguments, const Strings& command) {
  Strings whole{shell, "-c", run_arguments, "ctest"};
  whole.insert(whole.end(), arguments.begin(), arguments.end());
  whole.emplace_back(":");
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

// What the program that is run by `command` found: the run mode and the reason.
std::pair<std::string, std::string> found_by(const Strings& command,
                                             const tests::ChildProcess::Environment& variables = {}) {
  const auto ended = tests::ChildProcess{command, variables}.finish();
  std::istringstream text{ended.out};
  std::pair<std::string, std::string> found;
  std::getline(text, found.first);
  std::getline(text, found.second);
  return found;
}

const std::string rendezvous = GPUTEST_RENDEZVOUS;
const Strings find{rendezvous, "find"};

TEST_F(CtestProcess, is_not_found_where_no_ancestor_is_one) {
  EXPECT_EQ(found_by({rendezvous, "orphan"}).first, "direct");
}

TEST_F(CtestProcess, is_found_by_the_name_of_its_program) {
  EXPECT_EQ(found_by(below(shell_named("ctest"), {"-j8"}, find)).second, "ctest -j8");
  EXPECT_EQ(found_by(below(shell_named("ctest3"), {"-j8"}, find)).second, "ctest -j8");
  EXPECT_EQ(found_by(below(shell_named("ctest"), {"-j8"}, below(shell_named("ctestify"), {}, find))).second,
            "ctest -j8");
}

TEST_F(CtestProcess, is_found_behind_other_processes) {
  const auto behind_shells = below("/bin/sh", {}, below("/bin/sh", {}, find));
  EXPECT_EQ(found_by(below(shell_named("ctest"), {"-j8"}, behind_shells)).second, "ctest -j8");
}

TEST_F(CtestProcess, is_the_nearest_one) {
  const std::string ctest = shell_named("ctest");
  EXPECT_EQ(found_by(below(ctest, {"-j8"}, below(ctest, {}, find))).second, "ctest without -j");
}

TEST_F(CtestProcess, is_not_one_that_only_builds_and_runs_a_command) {
  const std::string ctest = shell_named("ctest");
  // In a file, so that it is not on the outer one's command line too.
  const std::string script = folder() + "/build-and-test.sh";
  std::ofstream{script} << "exec '" << ctest << "' -c '\"$2\" find; exit $?' ctest --build-and-test '" << rendezvous
                        << "'\n";
  EXPECT_EQ(found_by(below(ctest, {"-j8"}, {"/bin/sh", script})).second, "ctest -j8");
}

TEST_F(CtestProcess, has_an_environment_of_its_own) {
  const std::string ctest = shell_named("ctest");
  const Strings with_another_level{"/usr/bin/env", "CTEST_PARALLEL_LEVEL=1", rendezvous, "find"};
  EXPECT_EQ(found_by(below(ctest, {}, with_another_level), {{"CTEST_PARALLEL_LEVEL", "8"}}).second,
            "CTEST_PARALLEL_LEVEL=8");
}

TEST_F(CtestProcess, may_not_tell_its_version) {
  const auto found = found_by(below(shell_named("ctest"), {"-j=8"}, find));
  EXPECT_EQ(found.first, "unknown");
  EXPECT_EQ(found.second, "ctest -j=8, by a ctest of unknown version");
}

TEST_F(CtestProcess, may_name_a_preset_that_nobody_can_read) {
  const auto found = found_by(below(shell_named("ctest"), {"--preset", "no-such-preset"}, find));
  EXPECT_EQ(found.first, "unknown");
  EXPECT_EQ(found.second, "test preset \"no-such-preset\", which could not be read");
}

TEST_F(CtestProcess, runs_where_its_log_is_while_it_is_in_the_folder_of_a_test) {
  const auto build = folder() + "/build";
  std::filesystem::create_directories(build + "/Testing/Temporary");
  const Strings ctest{shell_named("ctest"), "-c",
                      "cd '" + build + "'; exec 9>Testing/Temporary/LastTest.log.tmp; cd /; '" + rendezvous +
                          "' folder; exit $?"};
  EXPECT_EQ(found_by(ctest).first, build);
}

} // namespace
} // namespace gputest::platform
