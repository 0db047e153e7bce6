// SPDX-License-Identifier: BSD-3-Clause
// Which ancestor look_for_ctest() takes for the ctest that counts, with shells that bear ctest's name.
// What it reads of a real one is in run_mode/.

#include "core/os/ctest_process.hpp"

#include "core/os/process.hpp"
#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace gputest::os {
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

  // What makes a shell keep a log in a folder, as a ctest that runs there does. It has a higher number than that of the
  // ctest that has started this test, which the shell inherits.
  [[nodiscard]] static std::string log_in(const std::string& build, int number = 9) {
    const std::string logs = build + "/Testing/Temporary";
    std::filesystem::create_directories(logs);
    return "exec " + std::to_string(number) + ">'" + logs + "/LastTest.log.tmp'; ";
  }

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

const std::string observer = GPUTEST_CTEST_OBSERVER;
const Strings find{observer, "find"};

TEST_F(CtestProcess, is_not_found_where_no_ancestor_is_one) {
  EXPECT_EQ(found_by({observer, "orphan"}).first, "direct");
}

TEST_F(CtestProcess, is_the_nearest_one_behind_other_processes_by_the_name_of_its_program) {
  const std::string ctest = shell_named("ctest");
  EXPECT_EQ(found_by(below(ctest, {"-j8"}, find)).second, "ctest -j8");
  const auto behind_others = below(shell_named("ctestify"), {}, below("/bin/sh", {}, find));
  EXPECT_EQ(found_by(below(ctest, {"-j8"}, behind_others)).second, "ctest -j8");
  EXPECT_EQ(found_by(below(ctest, {"-j8"}, below(ctest, {}, find))).second, "ctest without -j");
}

TEST_F(CtestProcess, is_not_one_that_only_builds_and_runs_a_command) {
  const std::string ctest = shell_named("ctest");
  // In a file, so that it is not on the outer one's command line too.
  const std::string script = folder() + "/build-and-test.sh";
  std::ofstream{script} << "exec '" << ctest << "' -c '\"$2\" find; exit $?' ctest --build-and-test '" << observer
                        << "'\n";
  EXPECT_EQ(found_by(below(ctest, {"-j8"}, {"/bin/sh", script})).second, "ctest -j8");
}

TEST_F(CtestProcess, runs_where_its_log_is_while_it_is_in_the_folder_of_a_test) {
  const auto build = folder() + "/build";
  const Strings ctest{shell_named("ctest"), "-c", log_in(build) + "cd /; '" + observer + "' folder; exit $?"};
  EXPECT_EQ(found_by(ctest).first, build);
}

TEST_F(CtestProcess, runs_where_the_last_of_its_logs_is) {
  const auto inner = folder() + "/inner";
  // It has inherited the first one from a ctest above it.
  const Strings ctest{shell_named("ctest"), "-c",
                      log_in(folder() + "/outer", 8) + log_in(inner) + "'" + observer + "' folder; exit $?"};
  EXPECT_EQ(found_by(ctest).first, inner);
}

TEST_F(CtestProcess, runs_in_its_own_folder_if_it_keeps_no_log) {
  const std::string ctest = folder() + "/ctest";
  std::filesystem::copy_file(observer, ctest);
  EXPECT_EQ(found_by({"/usr/bin/env", "-C", folder(), ctest, ":", observer, "folder"}).first, folder());
  EXPECT_EQ(found_by({observer, "orphan", "folder"}).first, "none");
}

TEST_F(CtestProcess, of_a_worker_is_the_one_that_it_works_for) {
  tests::ChildProcess ctest{
      {shell_named("ctest"), "-c", log_in(folder()) + "echo ready; read until_the_end", "ctest", "-j77"}, {}};
  EXPECT_EQ(ctest.read_line(), "ready");
  const std::string pid = std::to_string(ctest.pid());
  EXPECT_EQ(found_by({observer, "worker", pid, "find"}).second, "ctest -j77");
  const auto running = found_by({observer, "worker", pid, "folder"});
  EXPECT_EQ(running.first, folder());
  EXPECT_EQ(running.second, pid + " " + std::to_string(start_time_of(ctest.pid()).value()));
}

// Of which only the command line may be read.
TEST_F(CtestProcess, of_another_user_is_known_by_its_command_line) {
  const std::string ctest = shell_named("ctest");
  EXPECT_EQ(found_by(below(ctest, {"-j77"}, {observer, "as-nobody", "find"})).second, "ctest -j77");
  if (::geteuid() == 0) { // others cannot be two users
    EXPECT_EQ(found_by(below(ctest, {}, {observer, "as-nobody", "folder"})).first, "none");
    EXPECT_EQ(found_by(below(ctest, {}, {observer, "as-nobody", "options"})).first, "");
  }
}

TEST_F(CtestProcess, finds_its_tests_again_with_its_folder_and_its_configuration) {
  const std::string ctest = shell_named("ctest");
  const auto options_with = [&](const Strings& arguments) {
    Strings whole{ctest, "-c", log_in(folder()) + "'" + observer + "' options; exit $?", "ctest"};
    whole.insert(whole.end(), arguments.begin(), arguments.end());
    return found_by(whole).first;
  };
  const std::string in_folder = "--test-dir " + folder() + " ";
  EXPECT_EQ(options_with({"-V"}), in_folder);
  EXPECT_EQ(options_with({"-C", "Debug", "-V"}), in_folder + "-C Debug ");
  EXPECT_EQ(options_with({"-V", "--build-config", "Release"}), in_folder + "-C Release ");
  EXPECT_EQ(options_with({"-V", "-C"}), in_folder) << "without its value";
  EXPECT_EQ(found_by({observer, "orphan", "options"}).first, "");
}

} // namespace
} // namespace gputest::os
