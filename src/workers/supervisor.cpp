// SPDX-License-Identifier: BSD-3-Clause
#include "workers/supervisor.hpp"

#include "core/os/test_status_page.hpp"
#include "supervise/events.hpp"
#include "supervise/orphan.hpp"
#include "supervise/supervised_command.hpp"
#include "workers/alone.hpp"
#include "workers/mps_server.hpp"
#include "workers/worker_message.hpp"
#include "workers/worker_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using Kind = WorkerMessage::Kind;

constexpr milliseconds longest_idle{3'000}; ///< it holds a context, and has had nothing to do for a while
constexpr milliseconds least_balance{50};   ///< that is written down
constexpr milliseconds longest_end_after_ctest{10'000};
constexpr milliseconds without_watch{20};       ///< after which it looks for jobs again
constexpr milliseconds longest_handover{1'000}; ///< a client that is stopped keeps no worker from other cases

/// Why workers end.
constexpr const char* at_the_end = "when there were no more cases";
constexpr const char* for_others = "because others needed their devices";
constexpr const char* after_a_change = "after a case that changed its process";
constexpr const char* for_more_memory = "because a case needed more memory than there was, and ran again alone";
constexpr const char* for_more_memory_after_others = "because a case needed more memory than there was, and ran again "
                                                     "alone: the cases before it ran once more at the end";

milliseconds since(Clock::time_point start) { return std::chrono::duration_cast<milliseconds>(Clock::now() - start); }

class Supervisor {
public:
  Supervisor(RunFolder& run, const TestCase& test, Descriptor start_lock, PresenceLock lives, MpsServer server)
      : run_{run}, test_{test}, start_{std::move(start_lock)}, lives_{std::move(lives)}, server_{std::move(server)},
        worker_{run, test, server_} {}

  void run(const std::string& why_started) {
    if (start_worker(why_started)) {
      run_jobs();
    }
  }

private:
  void run_jobs() {
    auto idle_since = Clock::now();
    for (;;) {
      if (server_.is_outdated(run_)) {
        end_worker("after an error that it may share (MPS)");
        return;
      }
      forget_what_happened(); // before the look
      // Who looks for a supervisor does so after its job is there: one of both sees the other.
      const auto left = longest_idle - since(idle_since);
      takes_cases_.set(left.count() > 0);
      if (take_oldest_job()) {
        takes_cases_.set(true);
        if (!run_job()) {
          return;
        }
        idle_since = Clock::now();
        continue;
      }
      if (left.count() <= 0) {
        end_worker("after 3 s without a case");
        return;
      }
      if (is_there(run_.folder, "end")) {
        end_worker(at_the_end);
        return;
      }
      Events events;
      events.add(run_.ctest).add(worker_.end()).add(worker_.socket()).add(jobs_);
      events.wait(jobs_ ? left : std::min(left, without_watch));
      if (events.is_ready(0) || events.is_ready(1) || events.is_ready(2)) {
        // ctest has ended; or the worker has, or is about to: others need its devices.
        end_worker(events.is_ready(0) ? at_the_end : for_others);
        return;
      }
    }
  }

  /// False if there will be no worker; whoever waits is told to run without.
  bool start_worker(const std::string& why_started) {
    started_ = Clock::now();
    takes_cases_ = PresenceLock{run_.folder, "supervisors"};
    std::string why;
    if (!write_file(run_.folder, "fixtures", test_.fixtures) ||
        !write_file(run_.folder, "executable", test_.command.front())) {
      why = run_.path + ": " + std::strerror(errno); // NOLINT: one thread
    }
    ::unlinkat(run_.folder.number(), "told", 0);
    watch_folder();
    ::flock(run_.home.number(), LOCK_SH | LOCK_NB); // no file of it is removed as an old one
    if (why.empty()) {
      why = worker_.start(why_started);
    }
    static_cast<void>(::chdir("/") != 0);
    if (why.empty()) {
      why = worker_.wait_until_ready();
      started_in_ = since(started_);
    } else {
      why = "no worker could be started: " + why;
    }
    if (!why.empty()) {
      write_file(run_.folder, "alone", why);
    }
    mark_start(why.empty() ? 1 : 0); // CUDA starts in the first case
    ::flock(start_.number(), LOCK_UN);
    while (!why.empty() && !is_ready(run_.ctest) && take_oldest_job()) {
      refuse(why);
    }
    return why.empty();
  }

  /// A user may have so many watches only (fs.inotify.max_user_instances); without one `jobs_` is none.
  void watch_folder() {
    jobs_ = Descriptor{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    const auto folder = "/proc/self/fd/" + std::to_string(run_.folder.number());
    if (::inotify_add_watch(jobs_.number(), folder.c_str(), IN_MOVED_TO) < 0) {
      jobs_ = Descriptor{};
    }
  }

  /// Makes the watch of the folder tell of what happens from now on.
  void forget_what_happened() const {
    std::array<char, 4096> block{};
    while (::read(jobs_.number(), block.data(), block.size()) > 0) {
    }
  }

  /// Whether there is a job now: `client_` and `job_`.
  bool take_oldest_job() {
    auto names = names_in(run_.folder);
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
      if (is_job(name) && take_job(name)) {
        return true;
      }
    }
    return false;
  }

  bool take_job(const std::string& name) {
    client_ = Descriptor{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const auto address = address_in(run_.folder, name);
    if (::connect(client_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) { // NOLINT
      if (errno == ECONNREFUSED) { // its client is gone; one that is there listens before the name is
        ::unlinkat(run_.folder.number(), name.c_str(), 0);
      }
      return false; // or others are before us
    }
    // Either the client takes this connection and speaks, or it takes another one and closes this one.
    Events events;
    events.add(client_).add(run_.ctest);
    if (!events.wait(longest_handover)) {
      static_cast<void>(send_message(client_.number(), {{Kind::not_begun}, {}, {}}));
      client_ = Descriptor{};
      return false;
    }
    return !events.is_ready(1) && receive_message(client_.number(), job_) == Received::message &&
           job_.kind == Kind::job && job_.texts.size() >= 2 && job_.descriptors.size() == 3;
  }

  /// False if this supervisor has to end.
  bool run_job() {
    const auto begun = Clock::now();
    longest_end_ = std::max(longest_end_, milliseconds{job_.code});
    auto said = worker_.take_output();
    if (history_.empty()) {
      said.insert(0, server_.message().empty() ? "" : "gputest: " + server_.message() + "\n");
      static_cast<void>(::write(job_.descriptors[1].number(), said.data(), said.size()) < 0);
    }
    const auto filter = job_.texts.front();
    const auto page = page_of(job_);
    std::vector<int> streams;
    for (const auto& stream : job_.descriptors) {
      streams.push_back(stream.number());
    }
    const bool sent = send_message(worker_.socket().number(), job_, streams);
    job_.descriptors.clear(); // ctest waits for all that have them open
    if (!sent) {
      return give_back();
    }
    WorkerMessage verdict;
    bool has_begun = false;
    bool has_verdict = false;
    bool ends = false;
    for (;;) {
      Events events;
      const Descriptor none;
      events.add(client_, POLLRDHUP).add(run_.ctest).add(worker_.end()).add(ends ? none : worker_.socket());
      events.wait(for_ever);
      if (events.is_ready(0) || events.is_ready(1)) {
        worker_.kill_all();
        give_up_mps_server(run_, server_.owner());
        leave("with a case that was killed");
        // To a client that waits no longer because the time of its case is over. What comes of it alone decides then.
        const bool waits = reply_death(SIGKILL, has_verdict && does_not_fail(verdict.code));
        note_end_in(filter, "was killed in " + filter + ", whose time was over or whose entry was killed",
                    waits && server_.owner() != Mps::none);
        return false;
      }
      if (events.is_ready(3)) {
        WorkerMessage message;
        if (receive_message(worker_.socket().number(), message, false) != Received::message) {
          if (!has_begun) {
            return give_back();
          }
          ends = true; // it has ended, or the case has closed its socket
        } else if (message.kind == Kind::begun) {
          has_begun = true;
        } else if (message.kind == Kind::refusal) {
          static_cast<void>(send_message(client_.number(), message));
          return true;
        } else if (message.kind == Kind::verdict) {
          verdict = std::move(message);
          has_verdict = true;
          note_balance(history_.empty() ? -2 * (started_in_ + since(begun)) : since(begun));
          if (history_.empty()) {
            mark_start(0);
          }
          ends = !verdict.texts.empty();
          if (!ends && !note_case(filter)) {
            refuse("there is no room in " + run_.path + " to note that the end of its process is to be seen");
            end_worker("because there was no room to note its cases");
            return false;
          }
          if (!ends) {
            verdict.texts = {worker_.left_behind()};
            reply(std::move(verdict));
            history_.push_back(filter);
            ++cases_;
            return true;
          }
          worker_.hang_up();
        }
        continue;
      }
      if (events.is_ready(2)) {
        if (!has_begun) {
          return give_back();
        }
        if (!has_verdict && page != nullptr && page->report().stopped) {
          reply_stopped();
        } else {
          reply_after_end(filter, std::move(verdict), has_verdict);
        }
        return false;
      }
    }
  }

  /// The length of the start file says whether a worker starts; without room a client may start one more.
  void mark_start(off_t length) {
    const bool marked = ::ftruncate(start_.number(), length) == 0;
    static_cast<void>(marked);
  }

  /// Adds to the balance of all workers, by which clients decide whether to start one more. Two that add at once may
  /// lose one: it is a matter of cost.
  void note_balance(milliseconds change) {
    balance_ += change;
    if (balance_ < milliseconds{0} || balance_ >= least_balance) {
      write_file(run_.folder, "earned", std::to_string((milliseconds_in(run_.folder, "earned") + balance_).count()));
      balance_ = milliseconds{0};
    }
  }

  /// The page of the case's entry; null: it cannot be opened.
  static std::shared_ptr<os::TestStatusPage> page_of(const WorkerMessage& job) {
    const std::string start = "GPUTEST_ENTRY=";
    for (const auto& text : job.texts) {
      if (text.compare(0, start.size(), start) == 0) {
        return os::TestStatusPage::open(text.substr(start.size()));
      }
    }
    return nullptr;
  }

  /// gputest has ended the worker, so that its case runs again. How a process ends after the cases before it is seen
  /// after they have run again, too: during the entry that ends workers, which has the locks of all cases.
  void reply_stopped() {
    const int status = worker_.wait_for_status();
    leave(history_.empty() ? for_more_memory : for_more_memory_after_others);
    worker_.kill_all();
    reply_death(status, false);
    if (!history_.empty() && wait_for_entry_that_ends_workers()) {
      confirm_end_of_earlier_cases();
    }
  }

  /// False if ctest has ended without it.
  bool wait_for_entry_that_ends_workers() {
    for (;;) {
      forget_what_happened(); // before the look
      if (is_ready(run_.ctest) || is_there(run_.folder, "end")) {
        return !is_ready(run_.ctest);
      }
      Events{}.add(run_.ctest).add(jobs_).wait(jobs_ ? for_ever : without_watch);
    }
  }

  /// In a process of its own, which does not outlive this one, nor does what runs below it.
  void confirm_end_of_earlier_cases() {
    const Descriptor wrote{::memfd_create("gputest-end", MFD_CLOEXEC)};
    const pid_t supervisor = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::signal(SIGPIPE, SIG_DFL); // NOLINT(concurrency-mt-unsafe): one thread
      ::dup2(wrote.number(), STDOUT_FILENO);
      ::dup2(wrote.number(), STDERR_FILENO);
      const Descriptor one_at_a_time = open_lock_file(run_.folder, "rerun"); // cases may have locks of CTest's
      ::flock(one_at_a_time.number(), LOCK_EX);
      std::_Exit(::getppid() == supervisor && rerun_and_check_end(test_, history_) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    const Descriptor end{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (pid < 0 || !end) {
      static_cast<void>(pid > 0 ? ::kill(pid, SIGKILL) : 0);
      return; // nobody sees it, which the entry that ends workers tells
    }
    Events{}.add(end).add(run_.ctest).wait(for_ever);
    int status = 0;
    if (is_ready(end) && ::waitpid(pid, &status, 0) == pid && status == 0) {
      forget_cases();
    } else if (is_ready(end)) {
      note("was ended because another one needed more memory than there was. To show how a process ends after them, "
           "they ran again in another process, which did not end as it should",
           false, read_from(wrote, 0));
    } // else ctest has ended, which the process below does not outlive
  }

  void reply_after_end(const std::string& filter, WorkerMessage verdict, bool has_verdict) {
    const int status = worker_.wait_for_status();
    ++cases_;
    leave(!has_verdict || status != 0   ? "by a death"
          : does_not_fail(verdict.code) ? after_a_change
                                        : "after a case that failed");
    if (has_verdict && status == 0) {
      forget_cases();
      verdict.texts = {worker_.left_behind()};
      reply(std::move(verdict));
      return;
    }
    if (has_verdict) {
      note("ended " + describe_end(status) + " at its end, after " + filter + ". The output of " + filter +
               " has what it wrote, and how " + filter + " ended alone",
           server_.owner() != Mps::none);
    } else {
      note_end_in(filter, "ended " + describe_end(status) + " in " + filter, server_.owner() != Mps::none);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == exit_code_without_verdict) {
      refuse("its worker could not tell the result: it closes files that it has not opened, or it exits with " +
             std::to_string(exit_code_without_verdict));
    } else {
      worker_.kill_all(); // ctest waits for all that have the case's output open
      give_up_mps_server(run_, server_.owner());
      reply_death(status, has_verdict && does_not_fail(verdict.code));
    }
  }

  /// `has_passed`: the case had, before its process ended.
  bool reply_death(int status, bool has_passed) {
    return reply({{Kind::death, status}, {has_passed ? " at its end" : ""}, {}});
  }

  /// Before a case passes here whose process goes on. False if the end of that could be missed.
  bool note_case(const std::string& filter) {
    if (!unconfirmed_) {
      const WithoutUmask modes;
      unconfirmed_ = Descriptor{::openat(run_.folder.number(), name_of_unconfirmed().c_str(),
                                         O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600)};
    }
    const auto line = filter + "\n";
    static_cast<void>(::write(unconfirmed_.number(), line.data(), line.size()) < 0); // the file is enough
    return static_cast<bool>(unconfirmed_);
  }

  void forget_cases() const { ::unlinkat(run_.folder.number(), name_of_unconfirmed().c_str(), 0); }

  [[nodiscard]] static std::string name_of_unconfirmed() { return unconfirmed + std::to_string(::getpid()); }

  /// Has the entry that ends workers tell how this one has ended, if it had run cases: no process of a case would have
  /// ended like one that has run none.
  void note(const std::string& how, bool may_be_anothers) {
    if (!history_.empty()) {
      note(how, may_be_anothers, worker_.take_output());
    }
  }

  void note(const std::string& how, bool may_be_anothers, const std::string& wrote) {
    const auto cases = std::to_string(history_.size()) + (history_.size() == 1 ? " case" : " cases") + ", " +
                       history_.back() + " last, ";
    if (note_end(run_.folder, may_be_anothers, wrote, "that had run " + cases + how)) {
      forget_cases();
    }
    if (!may_be_anothers) {
      blame_for_shared_errors(run_, server_.owner());
    }
  }

  void note_end_in(const std::string& filter, const std::string& how, bool may_be_anothers) {
    note(how + ". So nobody has seen how a process ends after the cases before it. Run them again when " + filter +
             " does not end its process any more, or with GPUTEST_ISOLATION=process",
         may_be_anothers);
  }

  /// The worker has ended, or is about to, before it began the case. False.
  bool give_back() {
    takes_cases_ = {}; // the client looks for another one
    WorkerMessage message;
    message.kind = Kind::not_begun;
    if (history_.empty()) { // nor would another one begin it, unless this one had to leave
      if (const auto how = end_worker(for_others); !how.empty()) {
        const auto why = "its worker ended " + how + " before it began its first case";
        write_file(run_.folder, "alone", why);
        constexpr std::size_t most = 64 * 1024; // of what fits into a message
        const auto wrote = worker_.take_output();
        message.texts = {
            why + (wrote.empty() ? "" : ". It wrote:\n" + wrote.substr(wrote.size() - std::min(wrote.size(), most)))};
      }
    }
    static_cast<void>(send_message(client_.number(), message));
    client_ = Descriptor{};
    if (!history_.empty()) {
      end_worker(for_others);
    }
    return false;
  }

  void refuse(const std::string& why) {
    static_cast<void>(send_message(client_.number(), {{Kind::refusal}, {why}, {}}));
    client_ = Descriptor{};
  }

  /// With what ran before it in this worker, if it has failed. False if the client is gone.
  bool reply(WorkerMessage message) {
    if (message.device == WorkerMessage::Device::has_sticky_error) {
      give_up_mps_server(run_, server_.owner());
    }
    message.mps = server_.owner();
    message.cases_before = static_cast<std::uint32_t>(history_.size());
    std::vector<int> attached;
    Descriptor before;
    if ((message.kind == Kind::death || message.code != 0) && !history_.empty()) {
      before = Descriptor{::memfd_create("gputest-cases-before", MFD_CLOEXEC)};
      for (const auto& filter : history_) {
        const auto line = filter + "\n";
        static_cast<void>(::write(before.number(), line.data(), line.size()) < 0);
      }
      attached.push_back(before.number());
    }
    const bool sent = send_message(client_.number(), message, attached);
    client_ = Descriptor{};
    return sent;
  }

  /// Lets a worker without a case end as a program does, for as long as one of its cases may take. Returns how it ended
  /// if that is not as it should, and notes it.
  std::string end_worker(const char* why) {
    takes_cases_ = {};
    worker_.hang_up();
    Events{}
        .add(worker_.end())
        .add(run_.ctest)
        .wait(history_.empty() ? std::max(longest_end_, time_limit_of(test_)) : longest_end_);
    const bool ended =
        is_ready(worker_.end()) ||
        Events{}.add(worker_.end()).wait(is_ready(run_.ctest) ? longest_end_after_ctest : milliseconds{0});
    const int status = ended ? worker_.wait_for_status() : 0;
    if (!ended) {
      worker_.kill_all();
    }
    if (ended && status == 0) {
      forget_cases();
      leave(why);
      return {};
    }
    leave("by a death");
    const auto how =
        ended ? describe_end(status) : "only by SIGKILL, when the time limit of its cases (TIMEOUT) was over,";
    // A program's own exit code is hardly another client's error.
    const bool may_be_anothers =
        server_.owner() == Mps::of_run && server_.is_outdated(run_) && (!ended || WIFSIGNALED(status));
    note("ended " + how + " when it had none to run", may_be_anothers);
    return how;
  }

  /// Takes no more cases, and adds this worker to those of its worker key that have ended, before clients see that one
  /// is missing. Where each case changes its process, a worker costs more than a process of the case's own.
  void leave(const char* why) {
    add_to_file(run_.folder, "workers", std::to_string(cases_) + " " + why + "\n");
    constexpr std::size_t enough = 10;
    std::size_t workers = 0;
    std::size_t changed = 0;
    std::size_t cases = 0;
    for (const auto& [count, end] : workers_of(run_.folder)) {
      ++workers;
      changed += end == after_a_change ? 1 : 0;
      cases += count;
    }
    if (changed >= enough && cases < 2 * workers) {
      write_file(run_.folder, "alone",
                 std::to_string(workers) + " workers have run only " + std::to_string(cases) +
                     " cases, because cases change their process. Their output says what");
    }
    takes_cases_ = {};
  }

  RunFolder& run_;
  const TestCase& test_;
  Descriptor start_;
  PresenceLock lives_;
  PresenceLock takes_cases_;
  MpsServer server_;
  WorkerProcess worker_;
  Descriptor jobs_; ///< inotify
  Descriptor client_;
  WorkerMessage job_;
  std::vector<std::string> history_; ///< the filters of the cases that have run
  Descriptor unconfirmed_;           ///< the file that has them
  milliseconds longest_end_{0};      ///< of the worker, without a case: what the longest of its cases may take
  std::size_t cases_ = 0;            ///< that have ended, the last one included
  Clock::time_point started_;
  milliseconds started_in_{0};
  milliseconds balance_{0}; ///< that is not written down yet
};

} // namespace

bool start_supervisor(RunFolder& run, const TestCase& test, Descriptor start_lock, const std::string& why) {
  const auto made = become_an_orphan(
      {run.ctest.number(), run.home.number(), run.run.number(), run.folder.number(), start_lock.number()});
  if (made != Orphaning::in_orphan) {
    return made == Orphaning::in_caller;
  }
  ::prctl(PR_SET_NAME, "gputest-supervi"); // the kernel keeps 15 bytes
  PresenceLock lives{run.folder, "processes"};
  auto server = MpsServer::join(run); // before the supervisor becomes a subreaper
  Supervisor{run, test, std::move(start_lock), std::move(lives), std::move(server)}.run(why);
  std::_Exit(EXIT_SUCCESS);
}

} // namespace gputest::workers
