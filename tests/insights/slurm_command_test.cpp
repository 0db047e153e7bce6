// SPDX-License-Identifier: BSD-3-Clause
// gputest slurm, with a program in place of a batch system: it runs each task in the background of this machine.
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sys/stat.h>

namespace gputest::insights {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// FAKE is its folder. A test that kills the processes of $FAKE_TASK kills its task; what FAKE_SCRIPT does to the
/// script is done on all nodes. With FAKE_ODD its first answer about an array is of no known form.
constexpr const char* engine = R"sh(#!/bin/bash
set -eu
case $1 in
submit)
  id=1
  while ! mkdir "$FAKE/array-$id" 2>/dev/null; do id=$((id + 1)); done
  sed "${FAKE_SCRIPT-}" "$2" >"$FAKE/script-$id"
  for ((i = 1; i <= $3; i++)); do
    export FAKE_TASK=$FAKE/array-$id/$i GPUTEST_TASK=$i
    : >"$FAKE_TASK"
    (setsid bash -c 'echo $$ >"$FAKE_TASK.pid"; exec bash "$0"' "$FAKE/script-$id" || :
      [[ -z ${FAKE_REQUEUES-} ]] || bash "$FAKE/script-$id" || :
      rm "$FAKE_TASK") >/dev/null 2>&1 &
  done
  echo $id ;;
state)
  [[ -z ${FAKE_ODD-} || -e $FAKE/asked ]] || { : >"$FAKE/asked"; echo "not quick" >&2; echo "1 R"; exit; }
  for file in "$FAKE/array-$2"/*; do [[ $file == *.pid || ! -e $file ]] || echo "${file##*/} running n${file##*/}"; done ;;
cancel) for file in "$FAKE/array-$2"/*.pid; do kill -KILL -- "-$(cat "$file")" || :; done ;;
esac
)sh";

class SlurmCommand : public ::testing::Test {
protected:
  SlurmCommand() {
    tool_.folder().write("engine", engine, 0700);
    fs::create_directory(folder_ + "/fake");
    tool_.set("FAKE", folder_ + "/fake");
  }

  /// Adds a test that runs this with bash.
  void add(const std::string& name, const std::string& script, const std::string& properties = "") const {
    std::ofstream tests{folder_ + "/CTestTestfile.cmake", std::ios::app};
    tests << "add_test(" << name << " bash -c [==[" << script << "]==])\n";
    if (!properties.empty()) {
      tests << "set_tests_properties(" << name << " PROPERTIES " << properties << ")\n";
    }
  }

  [[nodiscard]] tests::ChildProcess start(std::vector<std::string> options,
                                          const std::vector<std::string>& of_ctest = {}) const {
    options.insert(options.begin(), "slurm");
    options.emplace_back("--");
    options.insert(options.end(), of_ctest.begin(), of_ctest.end());
    return tool_.start(options);
  }
  [[nodiscard]] std::vector<std::string> new_run(const std::string& folder, const std::string& shards) const {
    return {"--test-dir",           folder_,    "--engine", folder_ + "/engine", "--folder",
            folder_ + "/" + folder, "--shards", shards};
  }
  [[nodiscard]] tests::Ended run(const std::string& folder, const std::string& shards,
                                 const std::vector<std::string>& of_ctest = {}) const {
    return start(new_run(folder, shards), of_ctest).finish();
  }
  [[nodiscard]] tests::Ended resume(const std::string& folder) const {
    return start({"--resume", folder_ + "/" + folder}).finish();
  }

  /// What `gputest merge` says of the folders of the run's tasks.
  [[nodiscard]] tests::Ended merge(const std::string& folder) const {
    std::vector<std::string> words{"merge", "--suite", folder_ + "/" + folder + "/suite.json"};
    for (const auto& array : fs::directory_iterator{folder_ + "/" + folder}) {
      if (array.is_directory()) {
        for (const auto& task : fs::directory_iterator{array}) {
          if (task.is_directory()) {
            words.push_back(task.path());
          }
        }
      }
    }
    return tool_.run(words);
  }

  /// A Slurm in PATH whose array 7 runs until it is cancelled, which `scancelled` tells. The user's variables hide jobs
  /// from it.
  void use_slurm() {
    fs::create_directory(folder_ + "/bin");
    tool_.folder().write("bin/scontrol", "#!/bin/sh\nexit 1\n", 0700);
    tool_.folder().write("bin/sbatch", "#!/bin/sh\necho 7\nexit ${SBATCH_WAIT-0}\n", 0700);
    tool_.folder().write("bin/squeue", "#!/bin/sh\n[ $SQUEUE_STATES ] || echo 1 RUNNING n1\n", 0700);
    tool_.folder().write("bin/scancel", "#!/bin/sh\necho $SCANCEL_STATE$1 >> " + folder_ + "/scancelled\n", 0700);
    for (const auto* const name : {"SBATCH_WAIT", "SQUEUE_STATES", "SCANCEL_STATE"}) {
      tool_.set(name, "1");
    }
    tool_.set("PATH", folder_ + "/bin:" + tests::bare_environment().at("PATH"));
  }

  [[nodiscard]] bool exists(const std::string& file) const { return fs::exists(folder_ + "/" + file); }

  [[nodiscard]] std::string text_of(const std::string& file) const {
    std::ifstream stream{folder_ + "/" + file};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  tests::Tool tool_;
  std::string folder_ = tool_.folder().path();
  const std::string kill_task_ = "kill -KILL -- -$(cat $FAKE_TASK.pid)";
  /// Waits until what the ctest of the first task has written counts.
  const std::string settle_ = "(cd r1/try-1/task-1; size=$(stat -c %s progress); "
                              "until (($(tail -n 1 sound || echo 0) >= size)); do sleep 0.01; done) 2>/dev/null; ";
};

} // namespace

TEST_F(SlurmCommand, runs_each_test_once_and_ends_as_one_ctest) {
  for (int i = 0; i < 9; ++i) {
    add("t" + std::to_string(i), "echo >> " + folder_ + "/ran");
  }
  add("skips", "exit 77", "SKIP_RETURN_CODE 77");
  tool_.set("FAKE_ODD", "1");
  auto ended = run("r1", "4");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("100% tests passed, 0 tests failed out of 10\n"));
  EXPECT_EQ(text_of("ran"), "\n\n\n\n\n\n\n\n\n");
  EXPECT_FALSE(exists("r1/try-2"));

  add("fails", "false");
  auto options = new_run("r2", "4");
  options.insert(options.end(), {"--junit", folder_ + "/joined.xml"});
  ended = start(options, {"-j2", "-E", "t[1-7]"}).finish(); // ctest does not count tests that -E excludes
  EXPECT_EQ(ended.exit_code, to_int(tool::ExitCode::tests_failed)) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("75% tests passed, 1 tests failed out of 4\n"));
  EXPECT_THAT(ended.out, HasSubstr("4 - fails (Failed)"));
  EXPECT_THAT(text_of("joined.xml"), HasSubstr("name=\"t8\""));
  EXPECT_EQ(merge("r2").out, ended.out);
}

TEST_F(SlurmCommand, loses_no_test_of_a_task_that_is_killed) {
  add("before", "echo >> " + folder_ + "/ran");
  add("once", "[[ -e killed ]] || { touch killed; " + settle_ + kill_task_ + "; }", "DEPENDS before");
  add("after", "echo >> " + folder_ + "/ran");
  tool_.set("FAKE_REQUEUES", "1"); // the second start of a task does nothing
  auto ended = run("r1", "1");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(text_of("ran"), "\n\n") << "a result that was there counts";
  EXPECT_THAT(ended.err, HasSubstr("r1/try-1 on "));
  EXPECT_THAT(ended.err, HasSubstr("it was killed, its time was over, or its node was lost"));
  EXPECT_EQ(text_of("r1/try-2/task-1/numbers") + text_of("r1/try-2/task-2/numbers"), "0,0,0,2\n0,0,0,3\n");
  EXPECT_EQ(merge("r1").out, ended.out);

  add("always", kill_task_);
  ended = run("r2", "1");
  EXPECT_EQ(ended.exit_code, to_int(tool::ExitCode::tests_failed));
  EXPECT_THAT(ended.out, HasSubstr("75% tests passed, 1 tests failed out of 4\n"));
  EXPECT_THAT(ended.out, HasSubstr("4 - always (Killed its task twice)"));
  EXPECT_EQ(merge("r2").out, ended.out);

  auto options = new_run("r3", "1");
  options.insert(options.end(), {"--tries", "1"});
  ended = start(options).finish();
  EXPECT_THAT(ended.out, HasSubstr("4 - always (Missing)"));
  EXPECT_THAT(start({"--resume", folder_ + "/r3", "--tries", "2"}).finish().out, HasSubstr("(Killed its task twice)"));
  EXPECT_EQ(ended.exit_code, to_int(tool::ExitCode::tests_failed));
}

TEST_F(SlurmCommand, runs_again_what_ctest_wrote_of_a_test_that_ended_with_its_task) {
  ASSERT_EQ(::mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  add("healthy", "echo >> healthy_ran; [[ -e killed ]] || { echo $$ > pid; read x < fifo; }");
  add("will_fail", "[[ -e killed ]] || { bash -c 'echo $$ > other_pid; read x < fifo'; exit 1; }", "WILL_FAIL ON");
  add("kills", "[[ -e killed ]] || { until [[ -s pid && -s other_pid ]]; do sleep 0.01; done; touch killed; " +
                   std::string{"kill -KILL $(cat pid other_pid); cd r1/try-1/task-1; "} +
                   "until [[ $(grep -c ' sec' progress) == 2 ]]; do sleep 0.01; done; " + kill_task_ + "; }");
  const auto ended = run("r1", "1", {"-j3"});
  EXPECT_THAT(ended.out, HasSubstr("67% tests passed, 1 tests failed out of 3\n")) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 - will_fail (Failed)\n"));
  EXPECT_EQ(text_of("healthy_ran"), "\n\n");
}

TEST_F(SlurmCommand, keeps_each_failure_that_ctest_or_the_test_itself_recorded_before_its_task_was_killed) {
  const std::string once = "[[ ! -e killed ]] || exit 0; "; // it would pass if it ran again
  add("aborts", once + "kill -ABRT $$");
  add("settles", "[[ -e killed ]] || " + settle_, "DEPENDS aborts");
  const auto recorded = [](const std::string& name, const std::string& end) { // as a process that uses gputest
    const auto line = [&](const std::string& event) {
      return R"({\"t\":9,\"pid\":$$,\"entry\":\")" + name + R"(\",\"event\":\")" + event + "}";
    };
    return "log=r1/try-1/task-1/Testing/gputest; mkdir -p $log; echo \"" +
           line(R"(enter\",\"devices\":[],\"waited\":0)") + "\" >> $log/$$.jsonl; echo \"" + line(R"(end\",)" + end) +
           "\" >> $log/$$.jsonl; ";
  };
  add("fails", once + recorded("fails", R"(\"exit\":1)") + "exit 1", "DEPENDS settles");
  add("ended", once + recorded("ended", R"(\"signal\":15)") + "kill -TERM $$", "DEPENDS settles");
  add("unknown", once + "exit 1", "DEPENDS settles");
  add("kills", "[[ -e killed ]] || { touch killed; " + kill_task_ + "; }", "DEPENDS \"fails;ended;unknown\"");
  const auto ended = run("r1", "1");
  EXPECT_THAT(ended.out, HasSubstr("67% tests passed, 2 tests failed out of 6\n")) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("1 - aborts (Subprocess aborted)\n"));
  EXPECT_THAT(ended.out, HasSubstr("3 - fails (Failed)\n"));
}

TEST_F(SlurmCommand, takes_no_results_of_a_task_that_is_told_to_end) {
  add("passes_again", "[[ -e ended ]] || { touch ended; kill -TERM $(cat $FAKE_TASK.pid); exit 1; }");
  const auto ended = run("r1", "1");
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("ended without results: it was told to end\n"));
}

TEST_F(SlurmCommand, has_the_time_limit_and_the_ignored_tests_that_one_ctest_has) {
  add("hangs", "cat fifo");
  add("ignored", "false");
  ASSERT_EQ(::mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  tool_.folder().write("DartConfiguration.tcl", "BuildName: none\nTimeOut: 1\n", 0600);
  tool_.folder().write("CTestCustom.cmake", "set(CTEST_CUSTOM_TESTS_IGNORE ignored)\n", 0600);
  auto ended = run("r1", "2");
  EXPECT_THAT(ended.out, HasSubstr("0% tests passed, 1 tests failed out of 1\n")) << ended.err;
  fs::rename(folder_ + "/CTestCustom.cmake", folder_ + "/CTestCustom.ctest");
  add("passes", "true");
  ended = run("r2", "1", {"-E", "hangs"});
  EXPECT_THAT(ended.out, HasSubstr("100% tests passed, 0 tests failed out of 1\n")) << ended.err;
}

TEST_F(SlurmCommand, runs_no_test_of_a_fixture_that_the_options_leave_out) {
  add("server", "false", "FIXTURES_SETUP f");
  add("passes", "true", "FIXTURES_REQUIRED f");
  add("passes_too", "true", "FIXTURES_REQUIRED f");
  const auto ended = run("r1", "2", {"-E", "server"});
  EXPECT_THAT(ended.out, HasSubstr("100% tests passed, 0 tests failed out of 2\n")) << ended.err;
}

TEST_F(SlurmCommand, submits_no_array_again_that_may_have_been_submitted) {
  add("passes", "true");
  const std::vector<std::pair<std::string, std::string>> ends{
      {"kill -TERM $$", " was killed while it submitted an array"},
      {"kill -KILL $PPID", " was killed while it submitted an array"}, // the shell that tells its status
      {"true", " ended with status 0 and printed no id of the array that it submitted"}};
  for (const auto& [end, message] : ends) {
    const auto folder = "r" + std::to_string(&end - &ends.front().first);
    tool_.folder().write("engine", "#!/bin/bash\n" + end + "\n", 0700);
    const auto ended = run(folder, "1");
    EXPECT_THAT(ended.err, HasSubstr(message));
    EXPECT_THAT(ended.err, HasSubstr(". No result is lost. To go on: "));
    EXPECT_THAT(resume(folder).err,
                HasSubstr("it is not known whether " + folder_ + "/" + folder + "/try-1 was submitted"));
  }
}

TEST_F(SlurmCommand, cancels_the_array_if_the_folder_of_its_run_is_gone) {
  ASSERT_EQ(::mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  add("waits", "cat fifo");
  auto follower = start(new_run("r1", "1"));
  follower.wait_for_err("1 running on");
  fs::rename(folder_ + "/r1", folder_ + "/moved");
  auto ended = follower.finish();
  EXPECT_EQ(ended.exit_code, to_int(tool::ExitCode::internal_error));
  EXPECT_THAT(ended.err, HasSubstr("the folder " + folder_ +
                                   "/r1 of the run is gone, and its results are lost: "
                                   "cancelled the array 1\n"));

  use_slurm(); // the program for Slurm was in the folder
  auto of_slurm = start({"--test-dir", folder_, "--folder", folder_ + "/r2", "--shards", "1"});
  of_slurm.wait_for_err("1 running on");
  fs::rename(folder_ + "/r2", folder_ + "/moved_too");
  EXPECT_THAT(of_slurm.finish().err,
              HasSubstr(" of the run is gone, and its results are lost: cancelled the array 7\n"));
  EXPECT_EQ(text_of("scancelled"), "7\n");
}

TEST_F(SlurmCommand, runs_in_a_folder_with_any_name_and_in_any_environment) {
  for (const auto* const name : {"a", "b", "c"}) {
    add(name, "true");
  }
  std::string of_slurm{engine};
  const std::string number = "GPUTEST_TASK=$i";
  tool_.folder().write("engine", of_slurm.replace(of_slurm.find(number), number.size(), "SLURM_ARRAY_TASK_ID=$i"),
                       0700);
  tool_.set("GPUTEST_TASK", "2");
  tool_.set("SLURM_ARRAY_TASK_ID", "3");
  EXPECT_EQ(run("r1", "3").exit_code, 0);
  for (const auto* const folder : {"@token@", "a @try@ @run@", "it's $HOME; @tests@ @arguments@"}) {
    const auto ended = run(folder, "3");
    EXPECT_EQ(ended.exit_code, 0) << folder << ended.err;
  }
}

TEST_F(SlurmCommand, has_the_verdict_and_the_junit_file_also_without_a_run_log) {
  add("passes", "true");
  auto options = new_run("r1", "1");
  options.insert(options.end(), {"--junit", folder_ + "/joined.xml", "--log", folder_ + "/joined.jsonl"});
  const auto ended = start(options).finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("no test has written a run log, so there is none for --log\n"));
  EXPECT_TRUE(exists("joined.xml"));
  EXPECT_FALSE(exists("joined.jsonl"));
}

TEST_F(SlurmCommand, takes_no_result_of_a_killed_task_if_tests_are_repeated) {
  add("repeated", "[[ -e killed ]] || exit 0; [[ ! -e again ]] || exit 1; touch again");
  add("kills", "[[ -e killed ]] || { touch killed; " + kill_task_ + "; }", "DEPENDS repeated");
  const auto ended = run("r1", "1", {"--repeat", "until-fail:1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(exists("again")) << "it ran again";
}

TEST_F(SlurmCommand, cancels_the_array_at_the_end_by_a_signal_and_goes_on_with_resume) {
  ASSERT_EQ(::mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  add("first", "echo >> ran");
  add("waits", "[[ -e go ]] || { " + settle_ + "cat fifo; }", "DEPENDS first");
  auto options = new_run("r1", "1");
  options.insert(options.end(), {"--tries", "1"}); // the cancelled array is none of them
  auto interrupted = start(options);
  interrupted.wait_for_err("1 running on");
  std::ofstream fifo{folder_ + "/fifo"}; // blocks until the test waits
  interrupted.kill(SIGINT);
  const auto ended = interrupted.finish();
  fifo.close();
  EXPECT_EQ(ended.signal, SIGINT) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("To go on: gputest slurm --resume " + folder_ + "/r1\n"));

  std::ofstream{folder_ + "/go"}.flush();
  const auto resumed = resume("r1");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("100% tests passed, 0 tests failed out of 2\n"));
  EXPECT_EQ(text_of("ran"), "\n");
}

TEST_F(SlurmCommand, resumes_an_array_that_still_runs_that_has_ended_or_that_was_not_submitted) {
  ASSERT_EQ(::mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  add("waits", "cat fifo");
  auto killed = start(new_run("r1", "1"));
  killed.wait_for_err("1 running on");
  killed.kill(SIGKILL);
  killed.finish();
  auto follower = start({"--resume", folder_ + "/r1"});
  follower.wait_for_err("1 running on");
  EXPECT_THAT(resume("r1").err, HasSubstr("another 'gputest slurm' follows the run " + folder_ + "/r1."));
  std::ofstream{folder_ + "/fifo"}.flush();
  EXPECT_EQ(follower.finish().exit_code, 0);
  EXPECT_FALSE(exists("fake/array-2"));
  EXPECT_EQ(resume("r1").exit_code, 0);
  EXPECT_FALSE(exists("fake/array-2"));

  for (const auto* const file : {"id", "task-1/tests.xml", "task-1/begun"}) {
    fs::remove(folder_ + "/r1/try-1/" + file);
  }
  auto submits = start({"--resume", folder_ + "/r1"});
  submits.wait_for_err("1 running on");
  std::ofstream{folder_ + "/fifo"}.flush();
  EXPECT_EQ(submits.finish().exit_code, 0);
  EXPECT_TRUE(exists("fake/array-2"));
  fs::remove(folder_ + "/r1/try-1/id");
  std::ofstream{folder_ + "/r1/try-1/submitting"}.flush();
  EXPECT_THAT(resume("r1").err, HasSubstr("it is not known whether " + folder_ + "/r1/try-1 was submitted"));
  EXPECT_FALSE(exists("fake/array-3"));

  std::ofstream{folder_ + "/r1/try-1/task-1/numbers"} << "0,0,0,7\n";
  EXPECT_THAT(resume("r1").err, HasSubstr("/r1 is damaged: a file `numbers` has other things than ctest's numbers"));
  fs::remove_all(folder_ + "/r1/try-1");
  EXPECT_THAT(resume("r1").err, HasSubstr("/r1 has no array yet"));
  std::ofstream{folder_ + "/r1/run.json"} << "{}";
  EXPECT_THAT(resume("r1").err, HasSubstr("is not the folder of a run of 'gputest slurm': its run.json is damaged\n"));
  const auto none = resume("fake");
  EXPECT_EQ(none.exit_code, to_int(tool::ExitCode::internal_error));
  EXPECT_THAT(none.err, HasSubstr("/fake is not the folder of a run of 'gputest slurm'"));
}

TEST_F(SlurmCommand, runs_twice_in_one_tree_at_the_same_time) {
  for (int i = 0; i < 6; ++i) {
    add("t" + std::to_string(i), "true");
  }
  const std::vector<std::string> options{"--test-dir", folder_, "--engine", folder_ + "/engine", "--shards", "3"};
  fs::create_directories(folder_ + "/Testing/gputest-slurm/earlier");
  std::ofstream{folder_ + "/Testing/gputest-slurm/earlier/merged.jsonl"} << "no times\n";
  auto first = start(options);
  auto second = start(options);
  for (const auto& ended : {first.finish(), second.finish()}) {
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("100% tests passed, 0 tests failed out of 6\n"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_ + "/Testing/gputest-slurm"}, {}), 3);
}

TEST_F(SlurmCommand, prints_scripts_that_stand_alone) {
  add("passes", "true");
  auto options = new_run("r1", "1");
  options.emplace_back("--dry-run");
  const auto printed = start(options).finish();
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("ctest --test-dir \"$own\""));
  EXPECT_THAT(printed.out, HasSubstr("# " + folder_ + "/r1/engine submit " + folder_ + "/r1/try-1/task.sh 1\n"));
  EXPECT_FALSE(exists("fake/array-1"));
  EXPECT_EQ(resume("r1").exit_code, 0);
}

TEST_F(SlurmCommand, says_why_tasks_have_no_results) {
  add("gpu_test", "true", "LABELS gpu");
  tool_.set("FAKE_SCRIPT", "s/^token=.*/token=other/");
  auto ended = run("not_shared", "1");
  EXPECT_THAT(ended.out, HasSubstr("1 - gpu_test (Missing)"));
  EXPECT_THAT(ended.err, HasSubstr("no task has left a file in " + folder_ + "/not_shared/try-1."));
  EXPECT_THAT(ended.err, HasSubstr("or the nodes do not share this folder"));

  tool_.set("FAKE_SCRIPT", "s/^version=.*/version='gputest 9.9'/");
  ended = run("other_version", "1");
  EXPECT_THAT(ended.err, HasSubstr("is 'gputest " GPUTEST_VERSION "' on "));
  EXPECT_THAT(ended.err, HasSubstr("and 'gputest 9.9' where the run was started"));

  tool_.set("FAKE_SCRIPT", "s/ ctest -/ ctest --no-such-preset --preset none -/");
  EXPECT_THAT(run("no_ctest", "1").err, HasSubstr("ctest ended with status "));

  tool_.set("FAKE_SCRIPT", "");
  tool_.set("GPUTEST_DEVICES", "none");
  EXPECT_THAT(run("passes", "1").err, Not(HasSubstr("no usable GPU")));
  add("fails", "[[ $GPUTEST_FORBID_SKIP != machine ]]");
  EXPECT_THAT(run("no_gpu", "1").err, HasSubstr("its allocation has no usable GPU. Write --gpus-per-node"));
}

TEST_F(SlurmCommand, passes_on_why_nothing_can_be_submitted_and_leaves_no_folder) {
  add("passes", "true");
  const auto bin = folder_ + "/bin";
  fs::create_directory(bin);
  std::string path = tests::bare_environment().at("PATH");
  const auto slurm = [&](const std::string& shards) {
    return start({"--test-dir", folder_, "--folder", folder_ + "/run", "--shards", shards, "--sbatch",
                  "--partition='no such'"})
        .finish();
  };
  const auto expect = [&](const tests::Ended& ended, const std::string& text) {
    EXPECT_EQ(ended.exit_code, to_int(tool::ExitCode::internal_error));
    EXPECT_THAT(ended.err, HasSubstr(text));
    EXPECT_FALSE(exists("run"));
  };
  tool_.set("PATH", bin + ":" + path);
  tool_.folder().write("bin/scontrol", "#!/bin/sh\necho 'MaxArraySize            = 1'\n", 0700);
  tool_.folder().write("bin/sbatch", "#!/bin/sh\nfor word; do echo \"<$word>\"; done >&2\nexit 255\n", 0700);
  expect(slurm("1"), "an array may have at most 0 tasks here (MaxArraySize=1 of 'scontrol show config')");
  tool_.folder().write("bin/scontrol", "#!/bin/sh\nexit 1\n", 0700);
  expect(slurm("1"), "the array could not be submitted: <--parsable>\n");
  expect(slurm("1"), "<--partition=no such>\n");

  fs::remove(bin + "/sbatch");
  for (std::istringstream folders{path}; std::getline(folders, path, ':');) {
    for (const auto* const program : {"ctest", "bash"}) {
      if (fs::exists(path + "/" + program) && !fs::exists(bin + "/" + program)) {
        fs::create_symlink(path + "/" + program, bin + "/" + program);
      }
    }
  }
  tool_.set("PATH", bin);
  expect(slurm("1"), "there is no sbatch in PATH. Start 'gputest slurm' on a login node");
}

TEST_F(SlurmCommand, refuses_a_folder_that_is_in_use_and_options_that_hide_results) {
  add("passes", "true");
  EXPECT_THAT(run("fake/..", "1").err, HasSubstr(" is not empty. Write --folder with a new one, or --resume"));
  const auto ended = run("r1", "1", {"--output-on-failure"});
  EXPECT_EQ(ended.exit_code, to_int(tool::ExitCode::wrong_command_line));
  EXPECT_THAT(ended.err, HasSubstr("'--output-on-failure' of ctest cannot be used here"));
  for (const auto* const option : {"--version", "--help", "--print-labels"}) {
    EXPECT_THAT(run("r1", "1", {option}).err,
                HasSubstr(std::string{"ctest lists no tests with the options '"} + option));
  }
  EXPECT_FALSE(exists("r1"));
  EXPECT_THAT(start({"--resume", folder_, "--shards", "2"}).finish().err, HasSubstr(" excludes "));
  EXPECT_THAT(start({"--engine", folder_ + "/engine", "--sbatch", "-q x"}).finish().err, HasSubstr(" excludes "));
  EXPECT_THAT(start({"--resume", folder_}, {"-j2"}).finish().err, HasSubstr("leave out what is after '--'"));
  EXPECT_THAT(start({"--test-dir", folder_, "--engine", "none"}).finish().err,
              HasSubstr("--engine none cannot be executed"));
}

} // namespace gputest::insights
