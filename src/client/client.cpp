// SPDX-License-Identifier: BSD-3-Clause
#include "client/client.hpp"

#include "client/alone.hpp"
#include "client/keeper.hpp"
#include "client/run_folder.hpp"
#include "platform/worker_message.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::client {

namespace {

using Kind = platform::WorkerMessage::Kind;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// For how long a case waits before a further worker is started for it: as long as a start takes.
constexpr milliseconds shortest_wait{20};
constexpr milliseconds longest_wait{300};
/// For how long if there is a keeper to spare.
constexpr milliseconds longest_trust{5'000};

/// A case that waits for a keeper, seen by keepers as a name in the folder as long as it listens.
class Job {
public:
  explicit Job(const RunFolder& run) : run_{run} {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "job-%012lld%09ld-%d", static_cast<long long>(now.tv_sec), now.tv_nsec,
                  ::getpid());
    name_ = text.data();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() { withdraw(); }

  [[nodiscard]] bool announce() {
    socket_ = Descriptor{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    const auto first = "new-" + name_; // a keeper takes a name without a listener for one that was left behind
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = "/proc/self/fd/" + std::to_string(run_.folder.number()) + "/" + first;
    std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
    return ::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && // NOLINT
           ::listen(socket_.number(), 1) == 0 &&
           ::renameat(run_.folder.number(), first.c_str(), run_.folder.number(), name_.c_str()) == 0;
  }

  void withdraw() {
    if (socket_) {
      ::unlinkat(run_.folder.number(), name_.c_str(), 0);
      socket_ = Descriptor{};
    }
  }

  /// The connection to a keeper; blocks until there is one, if there is not.
  [[nodiscard]] Descriptor accept() const {
    return Descriptor{::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC)};
  }

  [[nodiscard]] const Descriptor& socket() const { return socket_; }

private:
  const RunFolder& run_;
  std::string name_;
  Descriptor socket_;
};

enum class Event { ready, ctest_ended, time_is_over };

Event wait_for(const Descriptor& descriptor, const Descriptor& ctest, milliseconds limit) {
  std::array<pollfd, 2> events{{{descriptor.number(), POLLIN, 0}, {ctest.number(), POLLIN, 0}}};
  int ready = 0;
  do {
    ready = ::poll(events.data(), events.size(), static_cast<int>(limit.count()));
  } while (ready < 0 && errno == EINTR);
  return ready <= 0 ? Event::time_is_over : events[0].revents != 0 ? Event::ready : Event::ctest_ended;
}

/// Whether there is a keeper for each case, this one included: one is about to be free, if it is not stuck.
bool has_keeper_to_spare(const RunFolder& run) {
  return count_marked(run.folder, "keepers") >= count_marked(run.folder, "cases");
}

milliseconds patience(const RunFolder& run) {
  const auto took = std::strtol(contents_of(run.folder, "took").c_str(), nullptr, 10);
  return took <= 0 ? longest_wait : std::clamp(milliseconds{took}, shortest_wait, longest_wait);
}

/// Why the executable has no workers in this run, or why the next case is to see how it ends; empty: no reason.
std::string why_no_worker(const RunFolder& run) {
  if (auto why = contents_of(run.folder, "alone"); !why.empty()) {
    return why;
  }
  const auto crash = "crashed-" + run.identity;
  const auto claimed = crash + "-" + std::to_string(::getpid());
  if (::renameat(run.workers.number(), crash.c_str(), run.workers.number(), claimed.c_str()) != 0) {
    return {};
  }
  auto why = contents_of(run.workers, claimed);
  ::unlinkat(run.workers.number(), claimed.c_str(), 0);
  return why + ". It shows whether it ends like that by itself";
}

/// Takes the one start at a time of this run, and starts a keeper, unless somebody else does.
void start_one(RunFolder& run, const TestCase& test) {
  Descriptor lock{::openat(run.run.number(), "start", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (lock && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) {
    start_keeper(run, test, std::move(lock));
  }
}

struct Given {
  Descriptor keeper;
  std::optional<int> exit_code; ///< there is no keeper
};

/// Waits until a keeper has taken the job, and starts one where that is sooner.
Given find_keeper(RunFolder& run, const TestCase& test) {
  Job job{run};
  if (!job.announce()) {
    return {{}, become(test, "its folder cannot be used: " + run.path)};
  }
  const auto begun = Clock::now();
  auto limit = count_marked(run.folder, "keepers") > 0 ? patience(run) : milliseconds{0};
  for (;;) {
    switch (wait_for(job.socket(), run.ctest, limit)) {
    case Event::ready:
      return {job.accept(), std::nullopt};
    case Event::ctest_ended:
      return {{}, EXIT_FAILURE};
    case Event::time_is_over:
      break;
    }
    if (auto why = contents_of(run.folder, "alone"); !why.empty()) {
      job.withdraw();
      return {{}, become(test, why)};
    }
    if (!has_keeper_to_spare(run) || Clock::now() - begun > longest_trust) {
      start_one(run, test);
    }
    limit = patience(run);
  }
}

std::vector<std::string> lines_of(const Descriptor& file) {
  std::string text;
  std::array<char, 4096> block{};
  ssize_t count = 0;
  while ((count = ::pread(file.number(), block.data(), block.size(), static_cast<off_t>(text.size()))) > 0) {
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

/// What the end of a worker is called in a message.
std::string describe(const platform::WorkerMessage& death) {
  const auto where = death.texts.empty() || death.texts.front().empty() ? "" : " " + death.texts.front();
  if (WIFSIGNALED(death.code)) {
    return "by the signal " + std::string{::strsignal(WTERMSIG(death.code))} + where; // NOLINT(concurrency-mt-unsafe)
  }
  return "with the exit code " + std::to_string(WEXITSTATUS(death.code)) + where;
}

int end_of(const TestCase& test, const platform::WorkerMessage& answer, double seconds) {
  if (answer.kind == Kind::refusal) {
    return become(test, answer.texts.empty() ? "its worker did not take it" : answer.texts.front());
  }
  const bool died = answer.kind == Kind::death;
  if (!died && !answer.texts.empty() && !answer.texts.front().empty()) {
    say(test.name + " has left processes running, which nothing ends: " + answer.texts.front());
  }
  const bool failed = died || (answer.code != EXIT_SUCCESS && answer.code != 77);
  if (!failed) {
    return answer.code;
  }
  // A worker whose time is over is killed after its message: that is the result of this case, whatever ran before.
  const bool timed_out = died && WIFSIGNALED(answer.code) && WTERMSIG(answer.code) == SIGKILL && test.time_limit > 0 &&
                         seconds >= test.time_limit;
  if (answer.cases_before > 0 && !timed_out && !answer.descriptors.empty()) {
    if (died) {
      say(test.name + " ended its process " + describe(answer));
    }
    return run_again_alone(test, lines_of(answer.descriptors.front()));
  }
  if (!died) {
    return answer.code;
  }
  say("failed: " + test.name + " ended its process " + describe(answer));
  return answer.code == 0 ? EXIT_FAILURE : end_as(answer.code);
}

/// Has a worker run the case. nullopt if that ended without beginning it.
std::optional<int> run_by_worker(RunFolder& run, const TestCase& test) {
  if (const auto why = why_no_worker(run); !why.empty()) {
    return become(test, why);
  }
  auto given = find_keeper(run, test);
  if (given.exit_code) {
    return given.exit_code;
  }
  platform::WorkerMessage job;
  job.kind = Kind::job;
  job.texts = {test.filter, test.report};
  job.texts.insert(job.texts.end(), test.variables.begin(), test.variables.end());
  const auto begun = Clock::now();
  if (!platform::send_message(given.keeper.number(), job, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})) {
    return become(test, "it could not be handed over");
  }
  platform::WorkerMessage answer;
  const auto event = wait_for(given.keeper, run.ctest, milliseconds{-1});
  if (event == Event::ctest_ended) {
    return EXIT_FAILURE;
  }
  if (platform::receive_message(given.keeper.number(), answer) != platform::Received::message) {
    return is_ready(run.ctest) ? EXIT_FAILURE : become(test, "the keeper of its worker was killed");
  }
  given.keeper = Descriptor{};
  if (answer.kind == Kind::not_begun) {
    return std::nullopt;
  }
  return end_of(test, answer, std::chrono::duration<double>(Clock::now() - begun).count());
}

} // namespace

int run_case(const TestCase& test) {
  if (!test.why_alone.empty()) {
    return become(test, test.is_told ? test.why_alone : "");
  }
  const auto identity = identity_of(test);
  if (identity.empty()) {
    return become(test, "its executable cannot be read");
  }
  auto run = open_run_folder(identity);
  if (!run.problem.empty()) {
    return become(test, run.problem);
  }
  const Marked case_to_run{run.folder, "cases"};
  for (;;) {
    if (const auto exit_code = run_by_worker(run, test)) {
      return *exit_code;
    }
  }
}

} // namespace gputest::client
