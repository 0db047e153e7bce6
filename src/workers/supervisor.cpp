// SPDX-License-Identifier: BSD-3-Clause
#include "workers/supervisor.hpp"

#include "core/os/test_status_page.hpp"
#include "core/policy/text.hpp"
#include "supervise/events.hpp"
#include "supervise/orphan.hpp"
#include "supervise/supervised_command.hpp"
#include "workers/job.hpp"
#include "workers/mps_server.hpp"
#include "workers/served_cases.hpp"
#include "workers/worker_message.hpp"
#include "workers/worker_process.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using namespace supervise; // NOLINT(google-build-using-namespace)
using Kind = WorkerMessage::Kind;

constexpr milliseconds longest_idle{3'000}; ///< it holds a context, and has had nothing to do for a while
constexpr milliseconds least_balance{50};   ///< that is written down
constexpr milliseconds longest_end_after_ctest{10'000};

/// Why workers end.
constexpr const char* at_the_end = "when there were no more cases";
constexpr const char* by_a_death = "by a death";
constexpr const char* for_others = "because others needed their devices";
constexpr const char* after_a_change = "after a case that changed its process";
constexpr const char* for_more_memory = "because a case needed more memory than there was, so its entry ran again";
constexpr const char* with_others_again = ": the cases before it ran once more at the end";
constexpr const char* without_exit = ": its exit() did not come to its end, or had other handlers of signals";

milliseconds since(Clock::time_point start) { return std::chrono::duration_cast<milliseconds>(Clock::now() - start); }

class Supervisor {
public:
  Supervisor(MeetingPlace& place, const TestCase& test, Descriptor start_lock, MpsServer server)
      : place_{place}, test_{test}, start_{std::move(start_lock)}, server_{std::move(server)},
        worker_{place, test, server_}, jobs_{place}, served_{place, test, server_.owner()} {}

  void run(const std::string& why_started) {
    if (start_worker(why_started)) {
      run_jobs();
    }
  }

private:
  void run_jobs() {
    auto idle_since = Clock::now();
    for (;;) {
      if (server_.is_outdated(place_)) {
        end_worker(server_.owner() == Mps::none ? "because workers share a server now (MPS)"
                                                : "after an error that it may share (MPS)");
        return;
      }
      jobs_.forget_changes(); // before the look
      // A client publishes its job before it counts supervisors, so one of the two always sees the other.
      const auto left = longest_idle - since(idle_since);
      takes_cases_.set(left.count() > 0);
      if (jobs_.take_oldest(job_)) {
        takes_cases_.set(true);
        if (!run_job()) {
          return;
        }
        idle_since = Clock::now();
        continue;
      }
      if (left.count() <= 0 || is_there(place_.key_folder, "end")) {
        end_worker(left.count() <= 0 ? "after 3 s without a case" : at_the_end);
        return;
      }
      Events events;
      events.add(place_.ctest).add(worker_.end()).add(worker_.socket());
      jobs_.wait(events, left);
      if (events.is_ready(0) || events.is_ready(1) || events.is_ready(2)) {
        // ctest has ended; or the worker has, or is about to: others need its devices.
        end_worker(events.is_ready(0) ? at_the_end : for_others);
        return;
      }
    }
  }

  /// Also of other worker keys: a `ctest -S` may have built the executable again, or set another variable.
  void forget_what_is_reported() {
    for (const auto& worker_key : names_in(place_.run_folder)) {
      const auto folder = open_folder(place_.run_folder.number(), worker_key);
      if (is_there(folder, "reported") && is_of(folder, test_.command.front(), test_.fixtures)) {
        ::unlinkat(folder.number(), "reported", 0);
      }
    }
  }

  /// False if there will be no worker; whoever waits is told to run without.
  bool start_worker(const std::string& why_started) {
    const auto started = Clock::now();
    takes_cases_ = PresenceLock{place_.key_folder, "supervisors"};
    forget_what_is_reported();
    ::flock(place_.user_folder.number(), LOCK_SH | LOCK_NB); // no file of it is removed as an old one
    auto why = write_file(place_.key_folder, "fixtures", test_.fixtures) &&
                       write_file(place_.key_folder, "executable", test_.command.front())
                   ? worker_.start(why_started)
                   : place_.path + ": " + std::strerror(errno); // NOLINT: one thread
    why = why.empty() ? worker_.wait_until_ready() : "no worker could be started: " + why;
    started_in_ = since(started);
    if (!why.empty()) {
      if (!is_ready(place_.ctest) && jobs_.take_oldest(job_)) {
        ask_for_own_process(with_output(why)); // others are told by the file
      }
      write_file(place_.key_folder, "no-workers", why);
    }
    // CUDA starts in the first case. Without room for this mark a client may start one more.
    static_cast<void>(why.empty() && ::write(start_.number(), "1", 1) == 1);
    ::flock(start_.number(), LOCK_UN);
    while (!why.empty() && !is_ready(place_.ctest) && jobs_.take_oldest(job_)) {
      ask_for_own_process(why);
    }
    return why.empty();
  }

  [[nodiscard]] const std::string& filter() const { return job_.request.texts.front(); }

  /// False if this supervisor has to end.
  bool run_job() {
    const auto begun = Clock::now();
    const bool is_first = served_.empty();
    if (!hand_over_job()) {
      return give_back();
    }
    bool has_begun = false;
    std::optional<WorkerMessage> verdict;
    for (;;) {
      Events events;
      events.add(job_.client, POLLRDHUP).add(place_.ctest).add(worker_.end()).add(worker_.socket());
      events.wait(for_ever);
      if (events.is_ready(0) || events.is_ready(1)) {
        kill_worker(verdict && does_not_fail(verdict->code));
        return false;
      }
      WorkerMessage message;
      if (!events.is_ready(3) || receive_message(worker_.socket().number(), message, false) != Received::message) {
        if (!has_begun) {
          return give_back();
        }
        if (!events.is_ready(3)) {
          end_after_case(std::move(verdict));
          return false;
        }
        worker_.hang_up(); // it has ended, or the case has closed its socket
      } else if (message.kind == Kind::begun) {
        has_begun = true;
      } else if (message.kind == Kind::own_process) {
        answer(message);
        return true;
      } else if (message.kind == Kind::verdict) {
        note_balance(is_first ? -2 * (started_in_ + since(begun)) : since(begun));
        if (is_first) {
          static_cast<void>(::ftruncate(start_.number(), 0) == 0);
        }
        if (message.texts.empty()) {
          return go_on_after(std::move(message));
        }
        verdict = std::move(message);
        worker_.hang_up();
      }
    }
  }

  /// Gives the worker the job; the first one also gets what the worker wrote before.
  bool hand_over_job() {
    auto& request = job_.request;
    longest_end_ = std::max(longest_end_, milliseconds{request.code});
    auto said = worker_.take_output();
    if (served_.empty()) {
      said.insert(0, server_.message().empty() ? "" : "gputest: " + server_.message() + "\n");
      static_cast<void>(::write(request.descriptors[1].number(), said.data(), said.size()) < 0);
    } else {
      served_.show(said);
    }
    std::vector<int> streams;
    for (const auto& stream : request.descriptors) {
      streams.push_back(stream.number());
    }
    const bool is_sent = send_message(worker_.socket().number(), request, streams);
    request.descriptors.clear(); // ctest waits for all that have them open
    return is_sent;
  }

  /// False if the worker cannot go on after the case has passed.
  bool go_on_after(WorkerMessage verdict) {
    if (!served_.add(job_.request)) {
      ask_for_own_process("there is no room in " + place_.path + " to note that the end of its process is to be seen");
      end_worker("because there was no room to note its cases");
      return false;
    }
    verdict.texts = {worker_.left_behind()};
    verdict.runs_again = runs_again(verdict) ? 1 : 0;
    reply(std::move(verdict));
    ++cases_;
    return true;
  }

  /// For a case whose client or ctest has gone, or whose time is over.
  void kill_worker(bool has_passed) {
    worker_.kill_all();
    ++cases_;
    give_up_mps_server(place_, server_.owner());
    leave("with a case that was killed", with_others_again);
    // That is the result of this case, whatever ran before it, with two exceptions: under MPS a kernel of another
    // client may have kept the device busy; and if a process does not end after a case that passed, any of its cases
    // may be why.
    auto killed = death(SIGKILL, has_passed);
    killed.runs_again = shares_errors() || (has_passed && !served_.empty()) ? 1 : 0;
    reply(std::move(killed));
    run_earlier_cases_again();
  }

  /// The worker has ended in a case, or after its verdict.
  void end_after_case(std::optional<WorkerMessage> verdict) {
    const int status = worker_.wait_for_status();
    const auto page = os::TestStatusPage::open(job_.request.texts.back().substr(std::strlen("GPUTEST_ENTRY=")));
    const auto report = page && !verdict ? page->report() : policy::EntryReport{};
    const bool stopped = policy::runs_again(report, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    cases_ += stopped ? 0 : 1;
    const bool has_passed = verdict && does_not_fail(verdict->code);
    leave(stopped                   ? for_more_memory
          : !verdict || status != 0 ? by_a_death
          : has_passed              ? after_a_change
                                    : "after a case that failed",
          !verdict || (!has_passed && status != 0)      ? with_others_again
          : status == 0 && !worker_.has_ended_by_exit() ? without_exit
                                                        : "");
    if (verdict && status == 0) {
      reply_end(std::move(*verdict));
      confirm_end();
      return;
    }
    if (has_passed) {
      served_.tell_end("ended " + describe_end(status) + " at its end, after " + filter() + ". The output of " +
                           filter() + " has what it wrote, and how " + filter() + " ended alone",
                       shares_errors(), worker_.take_output());
    }
    if (!stopped) {
      give_up_mps_server(place_, server_.owner());
    }
    const bool claims_no_failure =
        WIFEXITED(status) &&
        does_not_fail(policy::judge(report, WEXITSTATUS(status), policy::CommandKind::gputest_executable).exit_code);
    if (stopped || claims_no_failure) {
      worker_.kill_all();
    }
    if (stopped) {
      answer({{Kind::stopped}, {}, {}});
    } else if (claims_no_failure) {
      ask_for_own_process(
          "its worker ended " + describe_end(status) +
          " before it reported the result: a listener of GoogleTest ended the process, or the case closed files "
          "that it had not opened");
    } else {
      if (!verdict) {
        worker_.copy_report(job_.request.texts[1]);
      }
      reply_end(death(status, has_passed));
    }
    if (!has_passed) {
      run_earlier_cases_again();
    }
  }

  /// The worker has ended with 0, and how it did shows how a process ends after each of its cases, or does not.
  void confirm_end() {
    if (worker_.has_ended_by_exit()) {
      served_.end_was_seen();
    } else {
      run_earlier_cases_again(true);
    }
  }

  /// A worker that has ended in a case, with an error after one that failed (it may leak then, or main() counts it), or
  /// before exit() had come to its end (`left_exit`), has not shown how a process ends after the cases before it. They
  /// run once more, during the entry that ends workers, which has the locks of all cases.
  void run_earlier_cases_again(bool left_exit = false) {
    while (!served_.empty() && !is_ready(place_.ctest)) {
      jobs_.forget_changes(); // before the look
      if (is_there(place_.key_folder, "end")) {
        served_.run_again(left_exit);
        return;
      }
      Events events;
      jobs_.wait(events.add(place_.ctest), for_ever);
    }
  }

  /// Adds to the balance of all workers, by which clients decide whether to start one more. Two that add at once may
  /// lose one: it is a matter of cost.
  void note_balance(milliseconds change) {
    balance_ += change;
    if (balance_ < milliseconds{0} || balance_ >= least_balance) {
      write_milliseconds(place_.key_folder, "earned", milliseconds_in(place_.key_folder, "earned") + balance_);
      balance_ = milliseconds{0};
    }
  }

  /// The worker has ended, or is about to, before it began the case. False.
  bool give_back() {
    takes_cases_ = {}; // the client looks for another one
    WorkerMessage message;
    message.kind = Kind::not_begun;
    if (served_.empty()) { // nor would another one begin it, unless this one had to leave
      if (const auto how = end_worker(for_others); !how.empty()) {
        const auto why = "its worker ended " + how + " before it began its first case";
        write_file(place_.key_folder, "no-workers", why);
        message.texts = {with_output(why)};
      }
    }
    answer(message);
    if (!served_.empty()) {
      end_worker(for_others);
    }
    return false;
  }

  void answer(const WorkerMessage& message, const std::vector<int>& attached = {}) {
    static_cast<void>(send_message(job_.client.number(), message, attached));
    job_.client = Descriptor{};
  }

  /// Why there is no worker, with what it wrote.
  std::string with_output(const std::string& why) {
    constexpr std::size_t most = 64 * 1024; // of what fits into a message
    const auto wrote = worker_.take_output();
    return why + (wrote.empty() ? "" : ". It wrote:\n" + wrote.substr(wrote.size() - std::min(wrote.size(), most)));
  }

  void ask_for_own_process(const std::string& why) { answer({{Kind::own_process}, {why}, {}}); }

  [[nodiscard]] bool shares_errors() const { return server_.owner() != Mps::none; }

  /// Whether a case that has ended like that by itself runs once more: others may be why it has failed, or was skipped.
  [[nodiscard]] bool runs_again(const WorkerMessage& end) const {
    if (end.kind == Kind::verdict && does_not_fail(end.code)) { // CUDA may be unable to begin with a server of MPS
      return shares_errors() && end.code == skipped_exit_code && end.device == WorkerMessage::Device::did_not_start;
    }
    return shares_errors() || !served_.empty();
  }

  /// `has_passed`: the case had, before its process ended.
  static WorkerMessage death(int status, bool has_passed) {
    return {{Kind::death, status}, {has_passed ? " at its end" : ""}, {}};
  }

  /// The worker has ended. Nothing of a first run is left beside the second one.
  void reply_end(WorkerMessage end) {
    end.runs_again = runs_again(end) ? 1 : 0;
    if (end.runs_again != 0) {
      worker_.kill_all();
    }
    if (end.kind == Kind::verdict) {
      end.texts.clear(); // why it ended
    }
    end.texts.push_back(worker_.left_behind());
    reply(std::move(end));
  }

  /// With what ran before it in this worker, if it runs again.
  void reply(WorkerMessage message) {
    if (message.device == WorkerMessage::Device::has_sticky_error) {
      give_up_mps_server(place_, server_.owner());
    }
    message.mps = server_.owner();
    std::vector<int> attached;
    if (message.runs_again != 0 && !served_.empty()) {
      attached.push_back(served_.file().number());
    }
    answer(message, attached);
  }

  /// Lets a worker without a case end as a program does, for as long as one of its cases may take. Returns how it ended
  /// if that is not as it should, and notes it.
  std::string end_worker(const char* why) {
    takes_cases_ = {};
    worker_.hang_up();
    Events{}
        .add(worker_.end())
        .add(place_.ctest)
        .wait(served_.empty() ? std::max(longest_end_, time_limit_of(test_)) : longest_end_);
    const bool ended =
        is_ready(worker_.end()) ||
        Events{}.add(worker_.end()).wait(is_ready(place_.ctest) ? longest_end_after_ctest : milliseconds{0});
    const int status = ended ? worker_.wait_for_status() : 0;
    if (!ended) {
      worker_.kill_all();
    }
    if (ended && status == 0) {
      served_.show(worker_.take_output());
      leave(why, worker_.has_ended_by_exit() ? "" : without_exit);
      confirm_end();
      return {};
    }
    leave(by_a_death);
    const auto how =
        ended ? describe_end(status) : "only by SIGKILL, when the time limit of its cases (TIMEOUT) was over,";
    // A program's own exit code is hardly another client's error.
    const bool may_be_anothers =
        server_.owner() == Mps::of_run && server_.is_outdated(place_) && (!ended || WIFSIGNALED(status));
    if (!served_.empty()) { // else whoever gets the case back is shown what it wrote
      served_.tell_end("ended " + how + " when it had none to run", may_be_anothers, worker_.take_output());
    }
    return how;
  }

  /// Takes no more cases, and adds this worker to those of its worker key that have ended, before clients see that one
  /// is missing. Where each case changes its process, a worker costs more than a process of the case's own.
  /// `of_others`: what is added to `why` if the worker has run other cases.
  void leave(const char* why, const char* of_others = "") {
    add_to_file(place_.key_folder, "workers",
                std::to_string(cases_) + " " + why + (served_.empty() ? "" : of_others) + "\n");
    constexpr std::size_t enough = 10;
    std::size_t changed = 0;
    std::size_t cases = 0;
    const auto workers = ended_workers(place_.key_folder);
    for (const auto& [count, end] : workers) {
      changed += policy::starts_with(end, after_a_change) ? 1 : 0;
      cases += count;
    }
    if (changed >= enough && cases < 2 * workers.size()) {
      write_file(place_.key_folder, "no-workers",
                 std::to_string(workers.size()) + " workers have run only " + std::to_string(cases) +
                     " cases, because cases change their process. Their output says what");
    }
    takes_cases_ = {};
  }

  MeetingPlace& place_;
  const TestCase& test_;
  Descriptor start_;
  PresenceLock takes_cases_;
  MpsServer server_;
  WorkerProcess worker_;
  JobQueue jobs_;
  Job job_;
  ServedCases served_;
  milliseconds longest_end_{0}; ///< of the worker, without a case: what the longest of its cases may take
  std::size_t cases_ = 0;       ///< that have ended, the last one included
  milliseconds started_in_{0};
  milliseconds balance_{0}; ///< that is not written down yet
};

} // namespace

bool start_supervisor(MeetingPlace& place, const TestCase& test, Descriptor start_lock, const std::string& why) {
  const auto made = become_an_orphan({place.ctest.number(), place.user_folder.number(), place.run_folder.number(),
                                      place.key_folder.number(), start_lock.number()});
  if (made != Orphaning::in_orphan) {
    return made == Orphaning::in_caller;
  }
  ::prctl(PR_SET_NAME, "gputest-supervi"); // the kernel keeps 15 bytes
  const PresenceLock lives{place.key_folder, "processes"};
  auto server = MpsServer::join(place); // before the supervisor becomes a subreaper
  Supervisor{place, test, std::move(start_lock), std::move(server)}.run(why);
  std::_Exit(EXIT_SUCCESS);
}

} // namespace gputest::workers
