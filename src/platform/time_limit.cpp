// SPDX-License-Identifier: BSD-3-Clause
#include "platform/time_limit.hpp"

#include "platform/descendants.hpp"
#include "platform/kept_descriptor.hpp"
#include "platform/reason.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>

#include <unistd.h>

namespace gputest::platform {

namespace {

using std::chrono::nanoseconds;

/// "CPU time limit exceeded": hardly anything else uses it, and it means nearly this.
constexpr int time_is_over = SIGXCPU;

/// After the limit, for a process in which that signal is not handled.
constexpr nanoseconds until_killed = std::chrono::seconds{2};
/// While it ends its descendants, which takes time on a busy machine. What it calls there cannot block for ever.
constexpr nanoseconds until_killed_with_descendants = std::chrono::seconds{30};

nanoseconds now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec};
}

enum class Phase { none, counting, paused, over };

/// What the signal handler reads. Two texts: one can be replaced while the other is written.
struct Text {
  std::array<char, 2048> before{};
  std::array<char, 1024> after{};
};
struct ForHandler {
  std::atomic<Phase> phase{Phase::none};
  std::atomic<std::int64_t> end{0}; ///< of the time, while it is counted
  std::atomic<std::int64_t> seconds_not_counted{0};
  std::array<Text, 2> texts{};
  std::atomic<std::size_t> current_text{0};
  std::int64_t delay = 0;
  timer_t message_timer{};
  timer_t kill_timer{};
  struct sigaction former {};
};
static_assert(std::atomic<Phase>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free &&
                  std::atomic<std::size_t>::is_always_lock_free,
              "a signal handler may not wait for a lock");
ForHandler for_handler; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a handler has no argument

struct Counter {
  std::atomic<pid_t> pid{0}; ///< of the process that has the limit
  std::mutex mutex;          ///< of what follows
  nanoseconds left{0};       ///< while it is not counted
  nanoseconds paused_at{0};
  nanoseconds not_counted{0};
  int pauses = 0;
};

Counter& counter() {
  static auto& counter = *new Counter; // NOLINT(cppcoreguidelines-owning-memory): used until the process ends
  return counter;
}

void set_timer(timer_t timer, nanoseconds when) {
  itimerspec time{};
  time.it_value.tv_sec = when.count() / 1'000'000'000;
  time.it_value.tv_nsec = when.count() % 1'000'000'000;
  ::timer_settime(timer, TIMER_ABSTIME, &time, nullptr); // 0 disarms it
}

void write_all(int stream, const char* text, std::size_t size) {
  while (size > 0) {
    const auto count = ::write(stream, text, size);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return;
    }
    text += count;
    size -= static_cast<std::size_t>(count);
  }
}

/// `text`, as one line with the number in it. A pipe takes it in one piece.
void write_text() {
  static std::array<char, sizeof(Text) + 32> line;
  std::size_t size = 0;
  const auto append = [&](const char* part) {
    const auto length = std::strlen(part);
    std::memcpy(line.data() + size, part, length);
    size += length;
  };
  const auto& text = for_handler.texts[for_handler.current_text.load()];
  append(text.before.data());
  std::array<char, 24> digits{};
  auto digit = digits.size() - 1;
  auto seconds = for_handler.seconds_not_counted.load();
  do {
    digits[--digit] = static_cast<char>('0' + seconds % 10);
    seconds /= 10;
  } while (seconds > 0);
  append(digits.data() + digit);
  append(text.after.data());
  // GoogleTest redirects one of them while a death test runs, and a test may have closed one.
  write_all(STDERR_FILENO, line.data(), size);
  if (!is_one_file(STDERR_FILENO, STDOUT_FILENO)) {
    write_all(STDOUT_FILENO, line.data(), size);
  }
}

/// What another signal of this number is for.
void do_as_before(int signal, siginfo_t* info, void* context) {
  const auto& former = for_handler.former;
  if ((former.sa_flags & SA_SIGINFO) != 0) {
    former.sa_sigaction(signal, info, context);
  } else if (former.sa_handler == SIG_DFL) {
    std::signal(signal, SIG_DFL); // NOLINT(cert-err33-c)
    ::raise(signal);              // when this handler has returned
  } else if (former.sa_handler != SIG_IGN) {
    former.sa_handler(signal);
  }
}

void handle(int signal, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &for_handler) {
    do_as_before(signal, info, context);
    return;
  }
  auto phase = Phase::counting;
  if (now().count() < for_handler.end.load() || !for_handler.phase.compare_exchange_strong(phase, Phase::over)) {
    return; // it was sent just before the time was no longer counted
  }
  // From here on no other thread changes the timer that kills.
  set_timer(for_handler.kill_timer, now() + until_killed_with_descendants);
  write_text();
  end_descendants();
  set_timer(for_handler.kill_timer, now() + std::max(nanoseconds{for_handler.delay}, until_killed));
  // Not safe in a handler, so it comes last: whatever it does, the timer ends this process.
  if (::ftrylockfile(stdout) == 0) {
    std::fflush(stdout); // NOLINT(cert-err33-c,bugprone-signal-handler)
    ::funlockfile(stdout);
  }
  const auto end = now() + nanoseconds{for_handler.delay};
  timespec until{};
  until.tv_sec = end.count() / 1'000'000'000;
  until.tv_nsec = end.count() % 1'000'000'000;
  while (for_handler.delay > 0 && ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
  ::kill(::getpid(), SIGKILL);
}

timer_t make_timer(int signal) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = &for_handler;
  timer_t timer{};
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
    throw Error{"no timer can be made for the time limit: " + reason(errno)};
  }
  return timer;
}

void let_signal_in() {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, time_is_over);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

/// Not in a forked process: it has no timers, and the mutex may be locked for ever there.
bool is_limited() { return counter().pid == ::getpid(); }

template <std::size_t size>
void copy(std::array<char, size>& to, const std::string& from) {
  const auto count = std::min(from.size(), size - 1);
  std::memcpy(to.data(), from.data(), count);
  to[count] = '\0';
}

/// Under the mutex. The handler reads the current text once the phase is `over`: a call that began before does not
/// change that text, and later ones change none.
void set_text(const TimeLimitText& text) {
  if (for_handler.phase == Phase::over) {
    return;
  }
  const auto other = 1 - for_handler.current_text.load();
  copy(for_handler.texts[other].before, text.before);
  copy(for_handler.texts[other].after, text.after);
  for_handler.current_text = other;
}

/// Counts from now on. Under the mutex.
void count() {
  const auto end = now() + counter().left;
  for_handler.end = end.count();
  // Before the phase, from which on the handler, in another thread, may set it to a later time.
  set_timer(for_handler.kill_timer, end + until_killed);
  for_handler.phase = Phase::counting;
  set_timer(for_handler.message_timer, end);
}

} // namespace

void start_time_limit(nanoseconds limit, const TimeLimitText& text, std::chrono::milliseconds delay) {
  const std::lock_guard guard{counter().mutex};
  if (counter().pid != 0) {
    return;
  }
  set_text(text);
  for_handler.delay = nanoseconds{delay}.count();
  for_handler.message_timer = make_timer(time_is_over);
  for_handler.kill_timer = make_timer(SIGKILL);
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  struct sigaction former {};
  ::sigaction(time_is_over, &action, &former);
  if ((former.sa_flags & SA_SIGINFO) == 0 || former.sa_sigaction != handle) { // else it is there since an earlier call
    for_handler.former = former;
  }
  let_signal_in();
  counter().pid = ::getpid();
  counter().left = limit;
  count();
}

void end_time_limit() {
  if (!is_limited()) {
    return;
  }
  const std::lock_guard guard{counter().mutex};
  auto phase = for_handler.phase.load();
  if (phase == Phase::over || !for_handler.phase.compare_exchange_strong(phase, Phase::none)) {
    return;
  }
  ::timer_delete(for_handler.message_timer);
  ::timer_delete(for_handler.kill_timer);
  counter().pid = 0;
  counter().pauses = 0;
  counter().not_counted = nanoseconds{0};
  for_handler.seconds_not_counted = 0;
}

void set_time_limit_text(const TimeLimitText& text) {
  if (is_limited()) {
    const std::lock_guard guard{counter().mutex};
    set_text(text);
    let_signal_in(); // a test before may have left it blocked
  }
}

std::optional<nanoseconds> time_left() {
  if (!is_limited()) {
    return std::nullopt;
  }
  const std::lock_guard guard{counter().mutex};
  return counter().pauses > 0 ? counter().left : nanoseconds{for_handler.end.load()} - now();
}

NotCounted::NotCounted() : pauses_{is_limited()} {
  if (!pauses_) {
    return;
  }
  const std::lock_guard guard{counter().mutex};
  if (counter().pauses++ > 0) {
    return;
  }
  counter().paused_at = now();
  counter().left = nanoseconds{for_handler.end.load()} - counter().paused_at;
  auto phase = Phase::counting;
  if (counter().left > nanoseconds{0} && for_handler.phase.compare_exchange_strong(phase, Phase::paused)) {
    set_timer(for_handler.message_timer, nanoseconds{0});
    set_timer(for_handler.kill_timer, nanoseconds{0});
  }
}

NotCounted::~NotCounted() {
  if (!pauses_ || !is_limited()) {
    return; // or it is in a forked process
  }
  const std::lock_guard guard{counter().mutex};
  if (--counter().pauses > 0) {
    return;
  }
  counter().not_counted += now() - counter().paused_at;
  for_handler.seconds_not_counted = std::chrono::duration_cast<std::chrono::seconds>(counter().not_counted).count();
  if (for_handler.phase == Phase::paused) {
    count();
  }
}

} // namespace gputest::platform
