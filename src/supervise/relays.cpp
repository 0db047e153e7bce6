// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/relays.hpp"

#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "supervise/supervised_command.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::supervise {

namespace {

/// With the usual 64 KiB the command waits more often. More than this would be too much of what a user may have in
/// pipes.
constexpr int size_of_pipe = 1 << 18;
using os::KernelClock;
using std::chrono::nanoseconds;

/// This process's stream if somebody reads it to its end: until nobody can write to it any more.
std::optional<struct stat> stream_read_to_its_end(int stream) {
  struct stat status {};
  const bool is_read = ::fstat(stream, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  return is_read ? std::optional{status} : std::nullopt;
}

bool is_line_unfinished = false; ///< of what was passed on to standard error

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

} // namespace

Relays::Relays(bool any, bool withholds) {
  std::vector<struct stat> taken;
  if (!any) {
    return;
  }
  block_in_this_process(SIGPIPE);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    const auto own = stream_read_to_its_end(stream);
    const auto same =
        std::find_if(taken.begin(), taken.end(), [&](const struct stat& other) { return own && is_same(other, *own); });
    std::array<int, 2> ends{-1, -1};
    if (own && same != taken.end()) {
      relays_[static_cast<std::size_t>(same - taken.begin())].also = stream;
    } else if (own) {
      if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw Error{
            "the output of its command cannot be passed on, so its time limit could not end what holds it (pipe): " +
            std::generic_category().message(errno)};
      }
      static_cast<void>(::fcntl(ends[1], F_SETPIPE_SZ, size_of_pipe));
      taken.push_back(*own);
      relays_.push_back({os::Descriptor{ends[0]}, os::Descriptor{ends[1]}, stream, stream, {}, withholds});
    }
  }
}

int Relays::output_for(int stream) const {
  const auto relay = std::find_if(relays_.begin(), relays_.end(),
                                  [&](const Relay& each) { return each.stream == stream || each.also == stream; });
  return relay == relays_.end() ? stream : relay->write_end.number();
}

void Relays::close_write_ends() {
  for (auto& relay : relays_) {
    relay.write_end = os::Descriptor{};
  }
}

bool Relays::any_open() const {
  return std::any_of(relays_.begin(), relays_.end(), [](const Relay& relay) { return bool{relay.read_end}; });
}

bool Relays::any_writer() const {
  return std::any_of(relays_.begin(), relays_.end(), [](const Relay& relay) {
    pollfd end{relay.read_end.number(), 0, 0};
    return relay.read_end && ::poll(&end, 1, 0) == 0; // else POLLHUP, whatever is left to read
  });
}

/// What it waits for: to read, or else to write what it has read.
pollfd Relays::Relay::next() const {
  return withholds || unwritten.empty() || !read_end ? pollfd{read_end.number(), POLLIN, 0}
                                                     : pollfd{stream, POLLOUT, 0};
}

/// When next() is ready. False at its end, and if nobody reads this process's stream: then whoever writes is to see
/// that as well.
bool Relays::Relay::pass_on() {
  if (withholds || unwritten.empty()) {
    std::array<char, 16 * PIPE_BUF> buffer{};
    const auto size = ::read(read_end.number(), buffer.data(), buffer.size());
    unwritten.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return size > 0 || (size < 0 && errno == EINTR);
  }
  std::size_t written = 0;
  ssize_t count = 0;
  pollfd ready{stream, POLLOUT, 0};
  do { // so much at least fits into a pipe that is ready
    const auto size = std::min<std::size_t>(unwritten.size() - written, PIPE_BUF);
    count = ::write(stream, unwritten.data() + written, size);
    written += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  } while (count > 0 && written < unwritten.size() && ::poll(&ready, 1, 0) > 0);
  const int error = errno;
  if (written > 0 && (stream == STDERR_FILENO || also == STDERR_FILENO)) {
    is_line_unfinished = unwritten[written - 1] != '\n';
  }
  unwritten.erase(0, written);
  return count >= 0 || error == EINTR || error == EAGAIN;
}

bool Relays::wait(std::vector<pollfd>& polled, std::optional<nanoseconds> limit) {
  const auto first = polled.size();
  for (const auto& relay : relays_) {
    polled.push_back(relay.next());
  }
  const auto time = std::max(limit.value_or(nanoseconds{0}), nanoseconds{0}).count();
  const timespec until{static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
  const int ready = ::ppoll(polled.data(), polled.size(), limit ? &until : nullptr, nullptr);
  if (ready < 0 && errno != EINTR) { // again and again, for who calls this in a loop
    throw Error{"what its processes do cannot be waited for (ppoll): " + std::generic_category().message(errno)};
  }
  bool passed_on = false;
  for (std::size_t i = 0; ready > 0 && i < relays_.size(); ++i) {
    if (polled[first + i].revents != 0) {
      passed_on = true;
      if (!relays_[i].pass_on()) {
        relays_[i].read_end = os::Descriptor{};
      }
    }
  }
  polled.resize(first);
  return passed_on;
}

void Relays::pass_on_what_is_there() {
  constexpr int most = 2 * (1 << 20) / PIPE_BUF; // of the most that a user's pipe has: a read and a write each
  std::vector<pollfd> nothing_else;
  for (int passes_left = relays_.empty() ? 0 : most; passes_left > 0 && wait(nothing_else, nanoseconds{0});
       --passes_left) {
  }
}

void Relays::release() {
  for (auto& relay : relays_) {
    if (!std::exchange(relay.withholds, false)) {
      continue;
    }
    while (!relay.unwritten.empty()) {
      pollfd ready{relay.stream, POLLOUT, 0};
      static_cast<void>(::poll(&ready, 1, -1));
      if (!relay.pass_on()) {
        break; // nobody reads it
      }
    }
  }
}

void Relays::drop_withheld() {
  for (auto& relay : relays_) {
    if (relay.withholds) {
      relay.unwritten.clear();
    }
  }
}

/// What a process has to have open to keep one of them from ending.
std::vector<os::FileNumbers> Relays::open_ones() const {
  std::vector<os::FileNumbers> open;
  for (const auto& relay : relays_) {
    struct stat status {};
    if (relay.read_end && ::fstat(relay.read_end.number(), &status) == 0) {
      open.emplace_back(status.st_dev, status.st_ino);
    }
  }
  return open;
}

std::string Relays::end_holders(std::vector<pid_t> (*candidates)(), bool all) {
  std::string names;
  std::set<pid_t> killed;
  constexpr std::chrono::seconds longest{1}; // one in a driver's call ends later
  const auto until = KernelClock::now() + longest;
  do {
    for (const pid_t pid : candidates()) {
      if (os::has_open(pid, open_ones()).value_or(all)) {
        if (killed.insert(pid).second) {
          names += (names.empty() ? "" : ", ") + os::name_of_process(pid);
        }
        ::kill(pid, SIGKILL);
      }
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    pass_on_what_is_there();
  } while (any_writer() && KernelClock::now() < until);
  return names;
}

void end_unfinished_line() {
  char last = std::exchange(is_line_unfinished, false) ? ' ' : '\n';
  struct stat file {};
  if (::fstat(STDERR_FILENO, &file) == 0 && S_ISREG(file.st_mode)) {
    static_cast<void>(::pread(STDERR_FILENO, &last, 1, file.st_size - 1) < 0); // if it cannot be read, it is not known
  }
  if (last != '\n') {
    static_cast<void>(::write(STDERR_FILENO, "\n", 1) < 0);
  }
}

} // namespace gputest::supervise
