// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>

namespace gputest::os {

/// A mutex of this process's threads. A signal handler can tell whether the call that it has interrupted has it: it
/// must not wait for it then, because that call goes on only when the handler has returned.
///
/// In a forked process it is free: a thread that only the parent has would never unlock it.
class Mutex {
public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() = default;

  void lock();
  [[nodiscard]] bool try_lock();
  void unlock() noexcept;

  /// With the mutex: whether it was locked when this process was forked, so that what it protects may be half-written.
  /// Says it once. For what changes often: what is written only when a session opens, or a test begins, goes without.
  [[nodiscard]] bool was_locked_at_fork() noexcept;

  /// Whether this thread has it, or waits for it.
  [[nodiscard]] bool is_of_this_thread() const noexcept;

  /// Whether that is so of any. False in a forked process, until it locks one itself.
  [[nodiscard]] static bool any_of_this_thread() noexcept;

private:
  void free_after_fork() noexcept;

  std::mutex mutex_;
  std::atomic<unsigned> forks_{0}; ///< before this process, when it was locked last
  bool was_locked_at_fork_ = false;
};

} // namespace gputest::os
