// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

namespace gputest::benchmarks {

/// A forked process that does `work` and ends; killed with this object, and with the process that started it.
class Child {
public:
  explicit Child(const std::function<void()>& work);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  void kill() const;

  /// Blocks until it sleeps in the kernel. Throws if it ends instead.
  void wait_until_asleep() const;

  /// Blocks until it has ended, at most until `limit`: false if it has not. Throws if its work failed.
  [[nodiscard]] bool ended_within(std::chrono::milliseconds limit);

private:
  pid_t pid_;
};

} // namespace gputest::benchmarks
