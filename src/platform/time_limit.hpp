// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace gputest::platform {

/// What is written when the time is over: `before`, the whole seconds that did not count, `after`.
struct TimeLimitText {
  std::string before;
  std::string after;
};

/// Ends this process by SIGKILL, and all that it has started, when it has run for `limit` from now on.
///
/// First the text is written to standard error, and to standard output if that is another file; then what was printed
/// to standard output, as far as no thread is printing. The process is killed `delay` after the text. If it cannot be
/// written, because every thread blocks SIGXCPU or something else handles it, the process is killed 2 s after the
/// limit. Forked processes and programs after exec() have no limit, and are ended with their parent. Only the first
/// call counts, until end_time_limit(). Throws Error if there are no timers.
void start_time_limit(std::chrono::nanoseconds limit, const TimeLimitText& text, std::chrono::milliseconds delay);

/// Takes the limit back, in the process that has it: the next call of start_time_limit() counts. Does nothing if the
/// time is over.
void end_time_limit();

/// Replaces the text. Does nothing before start_time_limit(). Thread-safe.
void set_time_limit_text(const TimeLimitText& text);

/// What is left of this process's limit; nullopt if it has none.
[[nodiscard]] std::optional<std::chrono::nanoseconds> time_left();

/// The time for which one of these exists does not count towards the limit. Thread-safe.
class NotCounted {
public:
  NotCounted();
  ~NotCounted();
  NotCounted(const NotCounted&) = delete;
  NotCounted& operator=(const NotCounted&) = delete;

private:
  bool pauses_;
};

} // namespace gputest::platform
