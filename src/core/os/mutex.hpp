// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

namespace gputest::os {

/// A mutex of this process's threads. A signal handler can tell whether the call that it has interrupted has it: it
/// must not wait for it then, because that call goes on only when the handler has returned.
class Mutex {
public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() = default;

  void lock();
  [[nodiscard]] bool try_lock();
  void unlock() noexcept;

  /// Whether this thread has it, or waits for it.
  [[nodiscard]] bool is_of_this_thread() const noexcept;

  /// Whether that is so of any. False in a forked process, until it locks one itself.
  [[nodiscard]] static bool any_of_this_thread() noexcept;

private:
  std::mutex mutex_;
};

} // namespace gputest::os
