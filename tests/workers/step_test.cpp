// SPDX-License-Identifier: BSD-3-Clause
// Clients, supervisors, workers and ctest killed and stopped before any of their system calls.

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "support/ctest_run.hpp"
#include "watched_processes.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

std::string contents(const std::string& path) { return os::contents_of(path).value_or(""); }

std::string proc(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

pid_t field_of_status(pid_t pid, const std::string& name) {
  const auto text = contents(proc(pid, "status"));
  const auto at = text.find("\n" + name + ":\t");
  return at == std::string::npos ? 0 : std::stoi(text.substr(at + name.size() + 3));
}

/// What a process of a run does there. `helper`: those that a client forks, until they are something else, the one
/// that removes the run's folder, and the owner of a control daemon. `other`: none of these, such as a case alone.
enum class Role { ctest, client, supervisor, worker, helper, other };

const char* name_of(Role role) {
  constexpr std::array names{"ctest", "client", "supervisor", "worker", "helper", "other"};
  return names.at(static_cast<std::size_t>(role));
}

Role role_of(pid_t process, pid_t ctest) {
  if (process == ctest) {
    return Role::ctest;
  }
  const auto executable = os::executable_of(process).value_or("");
  const auto is_supervisor = [](pid_t pid) { return contents(proc(pid, "comm")) == "gputest-supervi\n"; };
  if (executable == ENTRY_PROGRAM) {
    return is_supervisor(process)                      ? Role::supervisor
           : field_of_status(process, "PPid") == ctest ? Role::client
                                                       : Role::helper;
  }
  return executable == CASES && is_supervisor(field_of_status(process, "PPid")) ? Role::worker : Role::other;
}

/// The process of the thread that is about to do the step.
pid_t process_of(const WatchedProcesses::Step& step) { return field_of_status(step.thread, "Tgid"); }

class Steps : public WorkerCase {
protected:
  void SetUp() override {
    if (const auto reason = WatchedProcesses::why_not(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    // LeakSanitizer looks for leaks in a process of its own. If that is killed, its parent waits for ever.
    const auto options = environment().find("ASAN_OPTIONS");
    set("ASAN_OPTIONS", (options == environment().end() ? "" : options->second + ":") + "detect_leaks=0");
  }

  /// What came of a run.
  struct Outcome {
    std::map<std::string, Result> results;
    std::vector<std::string> failed;
    std::string out;
    pid_t ctest = 0;
  };

  /// Runs ctest. `act` is called before each step, and may kill. Returns when all processes have ended.
  using Act = std::function<void(WatchedProcesses&, const WatchedProcesses::Step&, pid_t process, Role)>;
  Outcome run_watched(const std::vector<std::string>& arguments, const Act& act) {
    WatchedProcesses processes{command_of_ctest(arguments), environment(), path("out")};
    while (const auto step = processes.next()) {
      const auto process = process_of(*step);
      act(processes, *step, process, role_of(process, processes.pid()));
      processes.execute(*step);
    }
    Outcome outcome;
    outcome.ctest = processes.pid();
    outcome.out = contents(path("out"));
    outcome.results = results_of(outcome.out);
    for (const auto& [name, result] : outcome.results) {
      if (result.word != "Passed") {
        outcome.failed.push_back(name);
      }
    }
    return outcome;
  }

  /// Each entry is reported, and once.
  void expect_each_once(const Outcome& outcome) const {
    EXPECT_EQ(outcome.results.size(), entries()) << outcome.out;
    for (const auto& [name, result] : outcome.results) {
      EXPECT_EQ(result.times, 1) << name << outcome.out;
    }
  }

  /// Nothing of former runs is left that keeps others out, or that a further run does not remove.
  void expect_nothing_is_left() {
    const auto last = run_watched({}, [](auto&&...) {});
    expect_each_once(last);
    EXPECT_THAT(last.failed, IsEmpty()) << last.out;
    ctests_.insert(last.ctest);
    for (const auto ctest : ctests_) {
      EXPECT_THAT(folders_of(ctest), IsEmpty());
    }
    auto at_once = environment();
    at_once["GPUTEST_RUN_MODE"] = "serial"; // not to wait
    const auto large = ChildProcess{{TOOL, "run", "--memory", "large", "--", "/bin/true"}, at_once}.finish();
    EXPECT_EQ(large.exit_code, 0) << large.err;
  }

  std::set<pid_t> ctests_;
};

bool forks(const WatchedProcesses::Step& step) {
#ifdef SYS_fork
  if (step.call == SYS_fork || step.call == SYS_vfork) {
    return true;
  }
#endif
  return step.call == SYS_clone || step.call == SYS_clone3;
}

TEST_F(Steps, of_a_user_without_another_watch_for_a_folder_still_have_one_worker) {
  for (const char* const name : {"Plain.a", "Plain.b", "Plain.c", "Plain.d"}) {
    add(name);
  }
  const auto outcome = run_watched({}, [](auto& processes, const auto& step, pid_t, Role) {
    if (step.call == SYS_inotify_init1) {
      processes.refuse(step, EMFILE);
    }
  });
  EXPECT_THAT(outcome.failed, IsEmpty()) << outcome.out;
  for (const auto& [name, result] : outcome.results) {
    EXPECT_EQ(result.processes, outcome.results.at("Plain.a").processes) << name;
  }
}

TEST_F(Steps, that_fail_have_cases_run_alone_and_say_which) {
  add("Plain.a");
  add("Plain.b");
  struct Refusal {
    Role role;
    std::function<bool(const WatchedProcesses::Step&)> is_refused;
    int error;
    std::string why;
  };
  const auto call = [](long number) {
    return [number](const WatchedProcesses::Step& step) { return step.call == number; };
  };
  const std::string not_started = "no worker could be started: ";
  const std::string folder = "its folder cannot be used: " + workers_folder() + "/";
  for (const auto& refusal :
       {Refusal{Role::client, forks, EAGAIN, not_started + std::strerror(EAGAIN)},
        Refusal{Role::helper, forks, EAGAIN, not_started + std::strerror(EAGAIN)},
        Refusal{Role::supervisor, forks, EAGAIN, not_started + "fork: " + std::strerror(EAGAIN)},
        Refusal{Role::client, call(SYS_bind), ENOSPC, folder}, Refusal{Role::client, call(SYS_listen), ENOSPC, folder},
        Refusal{Role::client, call(SYS_pidfd_open), ENOSPC, "the end of ctest could not be seen here"},
        Refusal{Role::supervisor, call(SYS_socketpair), ENOSPC, not_started + "socketpair: No space left on device"},
        Refusal{Role::supervisor, call(SYS_pidfd_open), ENOSPC, not_started + "pidfd_open: No space left on device"}}) {
    const auto outcome = run_watched({}, [&](auto& processes, const auto& step, pid_t, Role role) {
      if (role == refusal.role && refusal.is_refused(step)) {
        processes.refuse(step, refusal.error);
      }
    });
    expect_each_once(outcome);
    // A client without a process for its case has nothing that could watch it either.
    const bool runs_none = refusal.role == Role::client && refusal.error == EAGAIN;
    EXPECT_THAT(outcome.failed, SizeIs(runs_none ? 2 : 0)) << outcome.out;
    for (const auto& [name, result] : outcome.results) {
      EXPECT_THAT(result.output, HasSubstr("gputest: " + name + " runs in a process of its own: " + refusal.why));
    }
  }
}

TEST_F(Steps, end_every_supervisor_until_its_client_runs_the_case_alone) {
  add("Plain.a");
  const auto outcome = run_watched({}, [](auto&, const auto&, pid_t process, Role role) {
    if (role == Role::supervisor) {
      ::kill(process, SIGKILL);
    }
  });
  EXPECT_THAT(outcome.failed, IsEmpty()) << outcome.out;
  EXPECT_THAT(outcome.results.at("Plain.a").output,
              HasSubstr("Plain.a runs in a process of its own: 50 workers were started for it, and none has taken it"));
}

/// A process in one of the roles is killed before its `step`-th step in the run, or stopped there for a while.
struct Point {
  Role role;
  int step;
};

/// All of them (CLIENT_STEPS=all), or a sample.
int stride_for(int steps) {
  const char* const wanted = std::getenv("CLIENT_STEPS");
  constexpr int sample = 8;
  return wanted != nullptr && std::string{wanted} == "all" ? 1 : std::max(steps / sample, 1);
}

struct Run {
  Role role;
  bool with_mps; ///< whether workers share a server of MPS, by a control daemon that is none
};

class EachStep : public Steps, public ::testing::WithParamInterface<Run> {
protected:
  EachStep() {
    if (GetParam().with_mps) {
      set("GPUTEST_MPS", "on");
      set("FAKE_MPS_LOG", path("daemons"));
      set("PATH", FAKE_MPS ":/usr/bin:/bin");
    }
    add("Plain.a");
    add("Plain.medium", "", {}, "", "DEPENDS Plain.a");
    add("Large.takes_the_device", "", {}, "GPUTEST_MEMORY=large", "DEPENDS Plain.medium");
    add("Plain.c", "", {}, "", "DEPENDS Large.takes_the_device");
    add("Plain.d", "", {}, "", "DEPENDS Plain.c");
    add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS Plain.d");
  }

  void SetUp() override {
    Steps::SetUp();
    if (!IsSkipped() && GetParam().with_mps && fs::exists("/tmp/nvidia-mps/control")) {
      GTEST_SKIP() << "this machine has a control daemon, which all workers join";
    }
  }

  int steps_without_a_kill() {
    int steps = 0;
    const auto outcome =
        run_watched({}, [&](auto&, auto&, pid_t, Role role) { steps += role == GetParam().role ? 1 : 0; });
    expect_each_once(outcome);
    EXPECT_THAT(outcome.failed, IsEmpty()) << outcome.out;
    EXPECT_EQ(fs::exists(path("daemons")), GetParam().with_mps);
    return steps;
  }

  template <class Act>
  void for_each_step(Act act) {
    const int steps = steps_without_a_kill();
    ASSERT_GT(steps, 0);
    std::cout << "every " << stride_for(steps) << ". of " << steps << " steps\n";
    for (int step = 1; step <= steps; step += stride_for(steps)) {
      SCOPED_TRACE(std::string{name_of(GetParam().role)} + " at step " + std::to_string(step) + " of " +
                   std::to_string(steps));
      act(step);
      if (HasFailure()) {
        return;
      }
    }
    expect_nothing_is_left();
  }
};

TEST_P(EachStep, may_be_a_processs_last) {
  for_each_step([&](int last) {
    int steps = 0;
    const auto outcome = run_watched({}, [&](auto&, const auto&, pid_t process, Role role) {
      steps += role == GetParam().role ? 1 : 0;
      if (role == GetParam().role && steps == last) {
        ::kill(process, SIGKILL);
      }
    });
    ctests_.insert(outcome.ctest);
    if (GetParam().role == Role::ctest) {
      return;
    }
    expect_each_once(outcome);
    // The case that it ran, and the entry that ends workers if others had passed there before.
    const bool may_fail_one =
        GetParam().role == Role::client || (GetParam().role == Role::worker && !GetParam().with_mps);
    const bool has_run_cases = GetParam().role != Role::helper;
    std::size_t cases = 0;
    std::size_t ends = 0;
    for (const auto& name : outcome.failed) {
      if (name == "workers_end") {
        ++ends;
      } else if (GetParam().role != Role::helper || name != "Large.takes_the_device") {
        ++cases; // a helper may be the process of that one, which runs alone, before it is another program
      }
    }
    EXPECT_LE(cases, may_fail_one ? 1U : 0U) << outcome.out;
    EXPECT_LE(ends, has_run_cases ? 1U : 0U) << outcome.out;
  });
}

TEST_P(EachStep, may_be_where_a_process_is_stopped_for_a_while) {
  for_each_step([&](int last) {
    int steps = 0;
    pid_t stopped = 0;
    int others = 0;
    const auto outcome =
        run_watched({}, [&](WatchedProcesses& processes, const WatchedProcesses::Step& step, pid_t process, Role role) {
          steps += role == GetParam().role ? 1 : 0;
          if (stopped == 0 && role == GetParam().role && steps == last) {
            stopped = process;
            ::kill(process, SIGSTOP);
          }
          constexpr int enough = 100; // steps of others meanwhile
          if (stopped > 0 && process != stopped) {
            ++others;
          }
          processes.execute(step);
          if (stopped > 0 && (others == enough || !processes.has_next())) {
            ::kill(std::exchange(stopped, -1), SIGCONT);
          }
        });
    ctests_.insert(outcome.ctest);
    expect_each_once(outcome);
    EXPECT_THAT(outcome.failed, IsEmpty()) << outcome.out;
  });
}

INSTANTIATE_TEST_SUITE_P(Of, EachStep,
                         ::testing::Values(Run{Role::client, false}, Run{Role::supervisor, false},
                                           Run{Role::worker, false}, Run{Role::helper, false}, Run{Role::ctest, false},
                                           Run{Role::supervisor, true}, Run{Role::helper, true}, Run{Role::ctest, true},
                                           Run{Role::client, true}, Run{Role::worker, true}),
                         [](const auto& run) {
                           return name_of(run.param.role) + std::string{run.param.with_mps ? "_with_mps" : ""};
                         });

class Storm : public Steps {
protected:
  Storm() {
    const char* const wanted = std::getenv("CLIENT_STORM_SEED");
    seed_ = wanted != nullptr ? static_cast<unsigned>(std::stoul(wanted)) : is_long() ? std::random_device{}() : 1;
    random_.seed(seed_);
    const std::array cases{"Plain.a", "Plain.b", "Plain.c", "Plain.medium", "Host.a", "Plain.d"};
    const int count = is_long() ? 200 : 40;
    for (int i = 0; i < count; ++i) {
      const bool is_large = i % 30 == 20;
      add(is_large ? "Large.takes_the_device" : cases.at(static_cast<std::size_t>(i) % cases.size()),
          "case_" + std::to_string(i), {}, is_large ? "GPUTEST_MEMORY=large;GPUTEST_LARGE=wait" : "");
    }
  }
  static bool is_long() { return stride_for(100) == 1; }

  bool one_in(int steps) { return std::uniform_int_distribution<>{1, steps}(random_) == 1; }

  /// Before a step: sometimes kills or stops its process.
  void act(WatchedProcesses& processes, const WatchedProcesses::Step& step, pid_t process, Role role) {
    const bool may_be_hit =
        role == Role::client || role == Role::supervisor || role == Role::worker || role == Role::helper;
    if (may_be_hit && one_in(400)) {
      if (role == Role::client || role == Role::helper) { // which may be about to become a case's own process
        killed_clients_.insert(os::variable_of(process, "GPUTEST_TEST").value_or(""));
      }
      killed_workers_ += role == Role::worker ? 1U : 0U;
      ++kills_;
      ::kill(process, SIGKILL);
    } else if (may_be_hit && stopped_ == 0 && one_in(400)) {
      stopped_ = process;
      ++stops_;
      ::kill(process, SIGSTOP);
    }
    processes.execute(step);
    if (stopped_ > 0 && (one_in(50) || !processes.has_next())) { // all others may wait for it
      ::kill(std::exchange(stopped_, 0), SIGCONT);
    }
  }

  unsigned seed_ = 0;
  std::mt19937 random_;
  std::set<std::string> killed_clients_; ///< by their cases
  std::size_t killed_workers_ = 0;
  pid_t stopped_ = 0;
  int kills_ = 0;
  int stops_ = 0;
};

TEST_F(Storm, of_kills_and_stops_loses_no_case_blames_no_other_and_leaves_nothing) {
  for (int run = 0; run < (is_long() ? 50 : 1) && !HasFailure(); ++run) {
    SCOPED_TRACE("CLIENT_STORM_SEED=" + std::to_string(seed_) + ", run " + std::to_string(run));
    killed_clients_.clear();
    killed_workers_ = 0;
    const auto outcome = run_watched({"-j8"}, [this](auto&&... about) { act(about...); });
    ctests_.insert(outcome.ctest);
    expect_each_once(outcome);
    std::size_t of_workers = 0;
    for (const auto& name : outcome.failed) {
      of_workers += killed_clients_.count(name) == 0 ? 1U : 0U;
    }
    EXPECT_LE(of_workers, killed_workers_) << outcome.out;
  }
  std::cout << kills_ << " kills, " << stops_ << " stops\n";
  expect_nothing_is_left();
}

} // namespace
} // namespace gputest::tests
