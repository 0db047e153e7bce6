// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "failure.hpp"

#include <semaphore.h>
#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <new>

namespace gputest::benchmarks {

/// `count` objects, zeroed and then default-constructed, in memory that forked children share.
template <class T>
class Shared {
public:
  explicit Shared(std::size_t count = 1) : count_{count} {
    void* const memory = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw failure("share memory");
    }
    objects_ = static_cast<T*>(memory);
    for (std::size_t i = 0; i < count; ++i) {
      new (objects_ + i) T;
    }
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(objects_, count_ * sizeof(T)); }

  [[nodiscard]] T& operator[](std::size_t index) const { return objects_[index]; }
  [[nodiscard]] T* operator->() const { return objects_; }
  [[nodiscard]] T* begin() const { return objects_; }
  [[nodiscard]] T* end() const { return objects_ + count_; }

private:
  std::size_t count_;
  T* objects_;
};

/// Lets processes through, as many as it was opened for. Lies in Shared memory.
class Gate {
public:
  Gate() { ::sem_init(&semaphore_, 1, 0); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() { ::sem_post(&semaphore_); }

  void pass() {
    while (::sem_wait(&semaphore_) != 0) {
    }
  }

  /// Whether it was let through in time.
  [[nodiscard]] bool pass_within(std::chrono::milliseconds limit) {
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    const auto nanoseconds = until.tv_nsec + limit.count() % 1000 * 1'000'000;
    until.tv_sec += limit.count() / 1000 + nanoseconds / 1'000'000'000;
    until.tv_nsec = nanoseconds % 1'000'000'000;
    int result = 0;
    do {
      result = ::sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until);
    } while (result != 0 && errno == EINTR);
    return result == 0;
  }

private:
  sem_t semaphore_{};
};

} // namespace gputest::benchmarks
