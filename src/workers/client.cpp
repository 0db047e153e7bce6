// SPDX-License-Identifier: BSD-3-Clause
#include "workers/client.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/text.hpp"
#include "core/policy/verdict.hpp"
#include "supervise/events.hpp"
#include "supervise/relays.hpp"
#include "supervise/supervised_command.hpp"
#include "supervise/wait_notice.hpp"
#include "supervise/watcher.hpp"
#include "workers/job.hpp"
#include "workers/meeting_place.hpp"
#include "workers/mps_server.hpp"
#include "workers/own_process.hpp"
#include "workers/supervisor.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using namespace supervise; // NOLINT(google-build-using-namespace)
using Kind = WorkerMessage::Kind;

/// How often a waiting process looks whether something has changed.
constexpr milliseconds between_looks_at_folder{20};
/// A supervisor whose worker is free takes a case sooner.
constexpr milliseconds usual_answer{1};
/// For how long the first case of a worker keeps others from being started.
constexpr milliseconds longest_first_case{500};
/// CUDA usually starts within this time. A client that has waited longer is probably behind a long case.
constexpr milliseconds usual_start{250};
/// A case that has waited for so long gets another worker: those that there are may be stuck.
constexpr milliseconds longest_trust{5'000};

/// CTest starts a case first that took so long when it ran last (gpu_discover_tests()).
constexpr milliseconds long_case{5'000};

/// How often the client checks whether its case waits for a device.
constexpr milliseconds look_at_wait{1'000};

/// The most workers that one client starts. If none of so many takes its case, such workers end at once.
constexpr int most_starts = 50;

/// For how long a supervisor may take to kill its worker.
constexpr milliseconds longest_answer{10'000};

/// A further worker that is to be started.
struct Start {
  std::string why;                     ///< for the run log; empty: none is
  bool also_beside_first_case = false; ///< even if a worker runs its first case
};

/// Decides whether to start another worker for a case that has waited for so long. Not if there is a supervisor for
/// each case. Where other executables of the run have cases, a start takes time from them, so the workers must have
/// earned it: what they earned before, and the time that the case has waited, in which all of them were busy.
Start decide_start(const MeetingPlace& place, milliseconds earned_when_it_began_to_wait, milliseconds waited) {
  const auto supervisors = count_present(place.key_folder, "supervisors");
  const auto cases = count_present(place.key_folder, "cases");
  if (supervisors == 0) {
    return {is_there(place.key_folder, "executable") ? "because no other was left" : "for the first case"};
  }
  if (waited > longest_trust) {
    return {"because a case had waited for 5 s"};
  }
  if (supervisors >= cases) {
    return {};
  }
  if (count_cases(place.run_folder) == cases) {
    return {"because no other executable had cases", waited > usual_start};
  }
  const auto balance = std::max(earned_when_it_began_to_wait + static_cast<int>(supervisors) * waited,
                                milliseconds_in(place.key_folder, "earned"));
  return {balance.count() > 0 ? "because the others had worked for long enough" : ""};
}

/// Whether a worker runs its first case, in which CUDA starts; but not for long any more.
bool is_starting(const Descriptor& start) {
  struct stat mark {};
  if (::fstat(start.number(), &mark) != 0 || mark.st_size == 0) {
    return false;
  }
  const auto age = std::chrono::system_clock::now().time_since_epoch() - std::chrono::seconds{mark.st_mtim.tv_sec} -
                   std::chrono::nanoseconds{mark.st_mtim.tv_nsec};
  return age >= std::chrono::nanoseconds{0} && age < longest_first_case; // the clock may have been set back
}

/// Takes the one start at a time of this worker key, and starts a supervisor, unless somebody else does. Returns why
/// there can be none; empty: no reason. Counts the starts.
std::string start_one(MeetingPlace& place, const TestCase& test, const Start& start, int& starts) {
  auto lock = open_lock_file(place.key_folder, "start");
  const bool may_start =
      lock && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0 && (start.also_beside_first_case || !is_starting(lock));
  if (may_start && ++starts > most_starts) {
    return std::to_string(most_starts) + " workers were started for it, and none has taken it";
  }
  if (may_start ? !start_supervisor(place, test, std::move(lock), start.why) : !lock) {
    return std::string{"no worker could be started: "} + ::strerror(errno); // NOLINT: one thread
  }
  return {};
}

/// Waits until a supervisor has taken the job, and starts one if decide_start() says so. Returns the connection to it.
/// No descriptor: `why_none` says why the case has to run alone, or is empty because ctest has ended.
Descriptor find_supervisor(MeetingPlace& place, const TestCase& test, std::string& why_none) {
  std::string name;
  const auto job = announce_job(place.key_folder, name);
  Descriptor found;
  why_none = job ? "" : "its folder cannot be used: " + place.path;
  std::optional<milliseconds> earned; // when it began to wait
  Clock::time_point begun;
  int starts = 0;
  auto limit = usual_answer;
  while (why_none.empty() && (why_none = contents_of(place.key_folder, "no-workers")).empty()) {
    Events events;
    if (events.add(job).add(place.ctest).wait(limit)) {
      if (events.is_ready(0)) {
        found = Descriptor{::accept4(job.number(), nullptr, nullptr, SOCK_CLOEXEC)};
        why_none = found ? "" : std::string{"a worker could not take it: "} + ::strerror(errno); // NOLINT: one thread
      }
      break;
    }
    const bool may_be_busy = std::exchange(limit, between_looks_at_folder) == usual_answer &&
                             !present_in(place.key_folder, "supervisors", 1).empty();
    if (may_be_busy) {
      continue;
    }
    if (!earned) {
      earned = milliseconds_in(place.key_folder, "earned");
      begun = Clock::now();
    }
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - begun);
    if (const auto start = decide_start(place, *earned, waited); !start.why.empty()) {
      why_none = start_one(place, test, start, starts);
    }
  }
  ::unlinkat(place.key_folder.number(), name.c_str(), 0);
  return found;
}

/// The result of a case that has failed in its worker, or was skipped there, when it has run once more, alone.
int end_after_rerun(const MeetingPlace& place, const TestCase& test, Mps mps, const Circumstances& circumstances) {
  const auto second = run_again_in_own_process(test, circumstances);
  if (!second.passed && (second.signal != 0 || !does_not_fail(second.exit_code))) {
    blame_for_shared_errors(place, mps);
  }
  if (second.passed && circumstances.shares_errors && !second.depends) {
    give_up_mps_server(place, mps); // also one that CUDA cannot begin with
  }
  if (second.signal != 0) {
    end_by_signal(second.signal);
  }
  const auto what = "failed in " + test.name + ", which did not fail alone";
  if (second.shared && test.dependence_fails && !note_end(place.key_folder, true, "", what)) {
    say("failed: there is no room in " + place.path + " to note that " + test.name + " was run again");
    return EXIT_FAILURE;
  }
  return second.exit_code;
}

/// `time_out` is what is to be said if the limit has ended it; empty: it has not.
int exit_code_for_answer(const MeetingPlace& place, const TestCase& test, const WorkerMessage& answer,
                         const policy::EntryReport& report, const std::string& time_out) {
  if (answer.kind == Kind::own_process) {
    return run_in_own_process(test, answer.text());
  }
  if (answer.kind == Kind::stopped) {
    return supervise::watch_tests(test.command, report);
  }
  const bool died = answer.kind == Kind::death;
  const bool at_its_end = died && !answer.text().empty(); // after the verdict
  const auto how = describe_end(answer.code) + answer.text();
  if (answer.runs_again != 0) {
    Circumstances circumstances;
    if (!answer.descriptors.empty()) {
      circumstances.before = lines_of(read_from(answer.descriptors.front(), 0));
    }
    circumstances.shares_errors = answer.mps != Mps::none;
    circumstances.has_shared_one =
        circumstances.shares_errors && (died || answer.device == WorkerMessage::Device::has_sticky_error);
    circumstances.skipped = !died && does_not_fail(answer.code);
    circumstances.at_its_end = at_its_end && !circumstances.shares_errors;
    if (died) {
      say(test.name + (time_out.empty() ? " ended its process " + how : " was ended by its time limit"));
    }
    return end_after_rerun(place, test, answer.mps, circumstances);
  }
  if (!died) {
    return answer.code;
  }
  if (!time_out.empty()) {
    say(time_out);
    return EXIT_FAILURE;
  }
  say("failed: " + test.name + " ended its process " + how);
  if (WIFSIGNALED(answer.code)) {
    end_by_signal(WTERMSIG(answer.code));
  }
  return does_not_fail(WEXITSTATUS(answer.code)) ? EXIT_FAILURE : WEXITSTATUS(answer.code);
}

/// What a worker is told of the case. `page` is the case's.
WorkerMessage make_job_message(const TestCase& test, const std::string& page) {
  WorkerMessage job;
  job.kind = Kind::job;
  job.code = static_cast<std::int32_t>(
      std::min<std::int64_t>(time_limit_of(test).count(), std::numeric_limits<std::int32_t>::max()));
  job.texts = {test.filter, test.report};
  for (const auto& assignment : test.variables) { // its limit is counted here
    if (assignment.rfind("GPUTEST_ENTRY=", 0) != 0 && !(test.limit && assignment.rfind("GPUTEST_TIMEOUT=", 0) == 0)) {
      job.texts.push_back(assignment);
    }
  }
  job.texts.push_back("GPUTEST_ENTRY=" + page);
  return job;
}

/// Has a worker run the case. nullopt if its supervisor gave the case back before it began.
std::optional<int> run_by_worker(MeetingPlace& place, const TestCase& test) {
  std::string why_none;
  const auto supervisor = find_supervisor(place, test, why_none);
  if (!supervisor) {
    return why_none.empty() ? EXIT_FAILURE : run_in_own_process(test, why_none);
  }
  auto& page = *new os::TestStatusPage; // NOLINT: it goes with the process
  const Watch watch{test.limit ? test.limit->duration : std::chrono::nanoseconds{0}, &page, {}, look_at_wait};
  const auto begun = os::KernelClock::now();
  Relays relays{test.limit.has_value()};
  const bool is_sent = send_message(supervisor.number(), make_job_message(test, page.path()),
                                    {STDIN_FILENO, relays.output_for(STDOUT_FILENO), relays.output_for(STDERR_FILENO)});
  relays.close_write_ends();
  if (!is_sent && !is_ready(supervisor)) { // it may have waited for this process long enough, and says so
    return run_in_own_process(test, "it could not be handed over");
  }
  std::string time_out;
  Clock::time_point answers_until;
  WaitNotice notice;
  bool any = false;
  for (bool has_ctest_ended = false; !any && !has_ctest_ended;) {
    std::chrono::nanoseconds left = time_out.empty() ? look_at_wait : answers_until - Clock::now();
    if (const auto exact = time_left(watch, begun); exact && time_out.empty()) {
      left = std::min(*exact, left);
    }
    notice.print_if_due(page);
    if (left.count() <= 0 && !time_out.empty()) {
      break;
    }
    if (left.count() <= 0) {
      answers_until = Clock::now() + longest_answer;
      time_out = policy::text_of_time_out({test.name, page.report().running, page.waited(), ""}, *test.limit);
      ::shutdown(supervisor.number(), SHUT_WR); // it kills the worker, and says so
      ucred process{};
      socklen_t size = sizeof process;
      if (::getsockopt(supervisor.number(), SOL_SOCKET, SO_PEERCRED, &process, &size) == 0) {
        ::kill(process.pid, SIGCONT); // the case may have stopped it
      }
      continue;
    }
    std::vector<pollfd> polled{{supervisor.number(), POLLIN, 0}, {place.ctest.number(), POLLIN, 0}};
    relays.wait(polled, left);
    any = polled.front().revents != 0;
    has_ctest_ended = polled.back().revents != 0;
  }
  relays.pass_on_what_is_there();
  WorkerMessage answer;
  const bool is_answered = any && receive_message(supervisor.number(), answer) == Received::message;
  if (!is_answered && time_out.empty()) {
    return is_ready(place.ctest) ? EXIT_FAILURE
                                 : run_in_own_process(test, "the gputest-supervisor of its worker was killed");
  }
  if (is_answered && answer.kind == Kind::not_begun) {
    return answer.texts.empty() ? std::nullopt : std::optional{run_in_own_process(test, answer.text())};
  }
  const bool has_run = is_answered && (answer.kind == Kind::verdict || answer.kind == Kind::death);
  if (const bool is_long = os::KernelClock::now() - begun - page.waited() >= long_case;
      has_run && is_long != test.was_long) {
    add_to_file(place.key_folder, "long", (is_long ? "+" : "-") + test.name + "\n");
  }
  const auto writers = wait_for_output(relays, watch, begun, place.ctest);
  if (!writers.empty() && time_out.empty()) {
    say(policy::text_of_time_out({test.name, "", page.waited(), writers}, *test.limit));
    return EXIT_FAILURE;
  }
  if (const auto names = answer.processes_left_behind(); !names.empty()) {
    say(test.name + " left processes running; gputest does not kill them: " + names);
  }
  if (!is_answered) {
    say(time_out);
    return EXIT_FAILURE;
  }
  return exit_code_for_answer(place, test, answer, page.report(), time_out);
}

} // namespace

int run_case(const TestCase& test) {
  if (!test.reason_for_own_process.empty()) {
    return run_in_own_process(test, test.prints_reason ? test.reason_for_own_process : "");
  }
  const auto worker_key = worker_key_of(test);
  if (worker_key.empty()) {
    return run_in_own_process(test, "its executable cannot be read");
  }
  supervise::block_in_this_process(SIGXFSZ); // a supervisor inherits that, and says what it cannot write

  auto& place =
      *new MeetingPlace{open_meeting_place(worker_key)}; // NOLINT: its descriptors are closed with the process
  if (!place.problem.empty()) {
    return run_in_own_process(test, place.problem);
  }
  new PresenceLock{place.key_folder, "cases"}; // NOLINT: likewise
  constexpr int most_workers = 3;
  for (int workers = 0; workers < most_workers; ++workers) {
    if (const auto exit_code = run_by_worker(place, test)) {
      return *exit_code;
    }
  }
  return run_in_own_process(test, std::to_string(most_workers) + " workers gave it back before they began it");
}

} // namespace gputest::workers
