// SPDX-License-Identifier: BSD-3-Clause
#include "client/keeper.hpp"

#include "client/orphan.hpp"
#include "platform/descendants.hpp"
#include "platform/worker_message.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::client {

namespace {

using Kind = platform::WorkerMessage::Kind;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds longest_start{60'000};
constexpr milliseconds longest_idle{10'000}; ///< it holds a context, and has had nothing to do for a while
constexpr milliseconds longest_end{10'000};

/// What poll() waits for. A descriptor that is none is never ready.
class Events {
public:
  Events& add(const Descriptor& descriptor, short events = POLLIN) {
    polled_.push_back({descriptor.number(), events, 0});
    return *this;
  }
  /// False after the time. Negative: blocks until something is ready.
  bool wait(milliseconds limit) {
    int ready = 0;
    do {
      ready = ::poll(polled_.data(), polled_.size(), static_cast<int>(limit.count()));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }
  [[nodiscard]] bool is_ready(std::size_t index) const { return polled_.at(index).revents != 0; }

private:
  std::vector<pollfd> polled_;
};

constexpr milliseconds for_ever{-1};

milliseconds since(Clock::time_point start) { return std::chrono::duration_cast<milliseconds>(Clock::now() - start); }

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(" \n", at), text.size());
    if (end > at) {
      words.push_back(text.substr(at, end - at));
    }
    at = end + 1;
  }
  return words;
}

std::string describe_end(int status) {
  return WIFSIGNALED(status) ? std::string{"by the signal "} + ::strsignal(WTERMSIG(status)) // NOLINT
                             : "with the exit code " + std::to_string(WEXITSTATUS(status));
}

/// The signals that this process changes, as they were.
struct Signals {
  struct sigaction pipe {};
  struct sigaction child {};
};

class Keeper {
public:
  Keeper(RunFolder& run, const TestCase& test, Descriptor start_lock)
      : run_{run}, test_{test}, start_lock_{std::move(start_lock)} {}

  void run() {
    if (!start_worker() || !wait_until_ready()) {
      return;
    }
    auto idle_since = Clock::now();
    for (;;) {
      forget_what_happened(); // before the look
      if (take_oldest_job()) {
        if (!run_job()) {
          return;
        }
        idle_since = Clock::now();
        continue;
      }
      Events events;
      events.add(run_.ctest).add(worker_end_).add(worker_).add(jobs_);
      const auto left = std::max(longest_idle - since(idle_since), milliseconds{0});
      if (!events.wait(left)) {
        // Who looks for a keeper does so after its job is there: one of both sees the other.
        takes_cases_.set(false);
        if (!take_oldest_job()) {
          end_worker();
          return;
        }
        takes_cases_.set(true);
        if (!run_job()) {
          return;
        }
        idle_since = Clock::now();
      } else if (events.is_ready(0) || events.is_ready(1) || events.is_ready(2)) {
        end_worker(); // ctest has ended; or the worker has, or is about to: others need its devices
        return;
      }
    }
  }

private:
  bool start_worker() {
    started_ = Clock::now();
    takes_cases_ = Marked{run_.folder, "keepers"};
    watch_folder();
    ::flock(run_.home.number(), LOCK_SH); // no file of it is removed as an old one
    said_ = Descriptor{::memfd_create("gputest-worker-start", MFD_CLOEXEC)};
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return false;
    }
    worker_ = Descriptor{ends[0]};
    Descriptor other{ends[1]};
    const pid_t keeper = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      become_worker(std::move(other), keeper);
    }
    static_cast<void>(::chdir("/") != 0);
    worker_end_ = Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
    return pid_ > 0 && worker_end_;
  }

  [[noreturn]] void become_worker(Descriptor socket, pid_t keeper) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) {
      std::_Exit(EXIT_FAILURE);
    }
    ::sigaction(SIGPIPE, &signals_.pipe, nullptr);
    ::sigaction(SIGCHLD, &signals_.child, nullptr);
    ::dup2(said_.number(), STDOUT_FILENO);
    ::dup2(said_.number(), STDERR_FILENO);
    std::vector<std::string> texts{test_.command.front(), "--gtest_filter=-*"}; // another main() runs no test
    if (!test_.report.empty()) {
      texts.push_back("--gtest_output=" + test_.report_format + ":" + run_.path + "/report-" + std::to_string(keeper));
    }
    texts.insert(texts.end(), test_.arguments.begin(), test_.arguments.end());
    const auto words = texts.size();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string assignment{*entry};
      if (assignment.compare(0, 8, "GPUTEST_") != 0 ||
          std::find(test_.variables.begin(), test_.variables.end(), assignment) == test_.variables.end()) {
        texts.push_back(assignment);
      }
    }
    texts.push_back("GPUTEST_WORKER=" + std::to_string(platform::worker_protocol) + ":" +
                    std::to_string(socket.number()) + ":" + run_.run_name.substr(0, run_.run_name.find('-')));
    ::fcntl(socket.number(), F_SETFD, 0);
    std::vector<char*> arguments;
    std::vector<char*> variables;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      (i < words ? arguments : variables).push_back(texts[i].data());
    }
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    ::execve(arguments.front(), arguments.data(), variables.data());
    std::_Exit(127);
  }

  /// False if there will be no worker; whoever waits is told to run without.
  bool wait_until_ready() {
    Events events;
    events.add(worker_).add(worker_end_).add(run_.ctest);
    platform::WorkerMessage message;
    const bool any = events.wait(longest_start);
    if (events.is_ready(0) && platform::receive_message(worker_.number(), message) == platform::Received::message &&
        message.kind == Kind::ready) {
      start_lock_ = Descriptor{};
      started_in_ = since(started_);
      return true;
    }
    std::string why = "its executable did not come to its tests within a minute";
    if (any && !events.is_ready(2)) {
      int status = 0;
      ::waitpid(pid_, &status, 0);
      pid_ = 0;
      why = "its executable ended " + describe_end(status) + " before it came to gputest::run_all_tests()";
    }
    kill_all();
    write_file(run_.folder, "alone", why);
    start_lock_ = Descriptor{};
    while (!is_ready(run_.ctest) && take_oldest_job()) {
      refuse(why);
    }
    return false;
  }

  void watch_folder() {
    jobs_ = Descriptor{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    ::inotify_add_watch(jobs_.number(), ("/proc/self/fd/" + std::to_string(run_.folder.number())).c_str(), IN_MOVED_TO);
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
      if (name.compare(0, 4, "job-") == 0 && take_job(name)) {
        return true;
      }
    }
    return false;
  }

  bool take_job(const std::string& name) {
    client_ = Descriptor{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = "/proc/self/fd/" + std::to_string(run_.folder.number()) + "/" + name;
    std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
    if (::connect(client_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) { // NOLINT
      if (errno == ECONNREFUSED) { // its client is gone; one that is there listens before the name is
        ::unlinkat(run_.folder.number(), name.c_str(), 0);
      }
      return false; // or others are before us
    }
    // Either the client takes this connection and speaks, or it takes another one and closes this one.
    Events events;
    events.add(client_).add(run_.ctest);
    events.wait(for_ever);
    return !events.is_ready(1) && platform::receive_message(client_.number(), job_) == platform::Received::message &&
           job_.kind == Kind::job && job_.texts.size() >= 2 && job_.descriptors.size() == 3;
  }

  /// What the executable wrote before its first test goes to its first case.
  void pass_on_what_was_said() {
    if (!said_) {
      return;
    }
    std::array<char, 4096> block{};
    ssize_t count = 0;
    for (off_t at = 0; (count = ::pread(said_.number(), block.data(), block.size(), at)) > 0; at += count) {
      static_cast<void>(::write(job_.descriptors[1].number(), block.data(), static_cast<std::size_t>(count)) < 0);
    }
    said_ = Descriptor{};
  }

  /// False if this keeper has to end.
  bool run_job() {
    const auto begun = Clock::now();
    pass_on_what_was_said();
    const auto filter = job_.texts.front();
    std::vector<int> streams;
    for (const auto& stream : job_.descriptors) {
      streams.push_back(stream.number());
    }
    const bool sent = platform::send_message(worker_.number(), job_, streams);
    job_.descriptors.clear(); // ctest waits for all that have them open
    if (!sent) {
      return give_back();
    }
    platform::WorkerMessage verdict;
    bool has_begun = false;
    bool has_verdict = false;
    bool ends = false;
    for (;;) {
      Events events;
      const Descriptor none;
      events.add(client_, POLLRDHUP).add(run_.ctest).add(worker_end_).add(ends ? none : worker_);
      events.wait(for_ever);
      if (events.is_ready(0) || events.is_ready(1)) {
        kill_all();
        return false;
      }
      if (events.is_ready(3)) {
        platform::WorkerMessage message;
        if (platform::receive_message(worker_.number(), message, false) != platform::Received::message) {
          if (!has_begun) {
            return give_back();
          }
          ends = true; // it has ended, or the case has closed its socket
        } else if (message.kind == Kind::begun) {
          has_begun = true;
        } else if (message.kind == Kind::refusal) {
          static_cast<void>(platform::send_message(client_.number(), message));
          return true;
        } else if (message.kind == Kind::verdict) {
          verdict = std::move(message);
          has_verdict = true;
          note_first_case(begun);
          ends = !verdict.texts.empty();
          if (!ends) {
            verdict.texts = {left_behind()};
            reply(verdict);
            history_.push_back(filter);
            return true;
          }
          worker_ = Descriptor{};
        }
        continue;
      }
      if (events.is_ready(2)) {
        if (!has_begun) {
          return give_back();
        }
        reply_after_end(std::move(verdict), has_verdict);
        return false;
      }
    }
  }

  /// What a start costs: nobody needs to start another worker if waiting for this one takes less.
  void note_first_case(Clock::time_point begun) {
    if (history_.empty()) {
      write_file(run_.folder, "took", std::to_string((started_in_ + since(begun)).count()));
    }
  }

  void reply_after_end(platform::WorkerMessage verdict, bool has_verdict) {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    takes_cases_ = {}; // the next client need not wait for this one
    if (has_verdict && status == 0) {
      verdict.texts = {left_behind()};
      reply(verdict);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == platform::exit_code_without_verdict) {
      refuse("it closes files that it has not opened");
    } else {
      kill_all(); // ctest waits for all that have the case's output open
      platform::WorkerMessage death;
      death.kind = Kind::death;
      death.code = status;
      death.texts.push_back(has_verdict ? "at its end" : "");
      reply(death);
    }
  }

  /// The worker has ended, or is about to, before it began the case. False.
  bool give_back() {
    takes_cases_ = {}; // the client looks for another one
    platform::WorkerMessage message;
    message.kind = Kind::not_begun;
    static_cast<void>(platform::send_message(client_.number(), message));
    client_ = Descriptor{};
    end_worker();
    return false;
  }

  void refuse(const std::string& why) {
    platform::WorkerMessage message;
    message.kind = Kind::refusal;
    message.texts.push_back(why);
    static_cast<void>(platform::send_message(client_.number(), message));
    client_ = Descriptor{};
  }

  /// The processes, with their names, whose parents the case has left and which still run: they are this process's
  /// now. Each is named once.
  [[nodiscard]] std::string left_behind() {
    const auto own = std::to_string(::getpid());
    std::string found;
    for (const auto& word : words_of(contents_of(proc_, own + "/task/" + own + "/children"))) {
      const auto pid = static_cast<pid_t>(std::strtol(word.c_str(), nullptr, 10));
      if (pid != pid_ && ::waitpid(pid, nullptr, WNOHANG) == 0 && left_.insert(pid).second) {
        auto name = contents_of(proc_, word + "/comm");
        name.resize(std::min(name.find('\n'), name.size()));
        found += (found.empty() ? "" : ", ") + word + " (" + name + ")";
      }
    }
    return found;
  }

  /// With what ran before it in this worker, if it has failed.
  void reply(platform::WorkerMessage& message) {
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
    static_cast<void>(platform::send_message(client_.number(), message, attached));
    client_ = Descriptor{};
  }

  /// Lets a worker without a case end as a program does, so that what it writes at its end is written.
  void end_worker() {
    takes_cases_ = {};
    worker_ = Descriptor{};
    Events events;
    events.add(worker_end_);
    const bool ended = events.wait(longest_end);
    int status = 0;
    if (ended) {
      ::waitpid(pid_, &status, 0);
      pid_ = 0;
    }
    if (!ended) {
      kill_all();
    }
    if (!ended || status != 0) {
      write_file(run_.workers, "crashed-" + run_.identity,
                 "a process of " + test_.command.front() + " that had run " + std::to_string(history_.size()) +
                     (history_.size() == 1 ? " case" : " cases") + " ended " +
                     (ended ? describe_end(status) : "only by SIGKILL, 10 s after it was told to,") +
                     " when it had none to run");
    }
  }

  /// The worker and all that it has started, also those whose parents have ended: they are this process's.
  void kill_all() {
    platform::end_descendants();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    pid_ = 0;
  }

public:
  Signals signals_;

private:
  RunFolder& run_;
  const TestCase& test_;
  Descriptor start_lock_;
  Marked takes_cases_;
  Descriptor said_;       ///< what the worker has written before its first case
  Descriptor worker_;     ///< the socket to it
  Descriptor worker_end_; ///< its pidfd
  Descriptor jobs_;       ///< inotify
  Descriptor client_;
  platform::WorkerMessage job_;
  Descriptor proc_{::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  std::set<pid_t> left_;             ///< what left_behind() has named
  std::vector<std::string> history_; ///< the filters of the cases that have run
  pid_t pid_ = 0;
  Clock::time_point started_;
  milliseconds started_in_{0};
};

} // namespace

void start_keeper(RunFolder& run, const TestCase& test, Descriptor start_lock) {
  if (!become_an_orphan({run.ctest.number(), run.home.number(), run.workers.number(), run.run.number(),
                         run.folder.number(), start_lock.number()})) {
    return;
  }
  ::prctl(PR_SET_NAME, "gputest-keeper");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Keeper keeper{run, test, std::move(start_lock)};
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &keeper.signals_.pipe);
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &normal, &keeper.signals_.child);
  keeper.run();
  std::_Exit(EXIT_SUCCESS);
}

} // namespace gputest::client
