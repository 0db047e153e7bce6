// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/mutex.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

#include <pthread.h>

namespace gputest::os {

namespace {

/// Those that a thread has or waits for. A handler may see each step of a change, and makes complete ones of its own in
/// between: so a place is counted before it is filled, and emptied before it is not counted any more.
struct OfThread {
  std::array<std::atomic<const Mutex*>, 16> places; ///< more than are ever locked at once
  std::atomic<std::size_t> count;

  void add(const Mutex* mutex) noexcept {
    const std::size_t place = count.load(std::memory_order_relaxed);
    if (place < places.size()) {
      count.store(place + 1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      places[place].store(mutex, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }

  void remove(const Mutex* mutex) noexcept {
    std::size_t place = count.load(std::memory_order_relaxed);
    while (place > 0 && places[place - 1].load(std::memory_order_relaxed) != mutex) {
      --place;
    }
    if (place == 0) {
      return;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    places[place - 1].store(nullptr, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (place = count.load(std::memory_order_relaxed);
         place > 0 && places[place - 1].load(std::memory_order_relaxed) == nullptr; --place) {
      count.store(place - 1, std::memory_order_relaxed);
    }
  }
};

thread_local OfThread of_thread{};

/// By which this process descends from the one that began all this.
std::atomic<unsigned> forks{0};
std::mutex freeing;

const int watches_forks = ::pthread_atfork(nullptr, nullptr, [] {
  of_thread.count = 0;
  new (&freeing) std::mutex;
  ++forks;
});

} // namespace

void Mutex::free_after_fork() noexcept {
  if (forks_ == forks) {
    return;
  }
  const std::lock_guard guard{freeing};
  if (forks_ != forks) {
    if (mutex_.try_lock()) {
      mutex_.unlock();
    } else {
      new (&mutex_) std::mutex;
      was_locked_at_fork_ = true;
    }
    forks_ = forks.load();
  }
}

bool Mutex::was_locked_at_fork() noexcept { return std::exchange(was_locked_at_fork_, false); }

void Mutex::lock() {
  free_after_fork();
  of_thread.add(this);
  mutex_.lock();
}

bool Mutex::try_lock() {
  if (is_of_this_thread()) {
    return false;
  }
  free_after_fork();
  of_thread.add(this);
  const bool locked = mutex_.try_lock();
  if (!locked) {
    of_thread.remove(this);
  }
  return locked;
}

void Mutex::unlock() noexcept {
  if (is_of_this_thread()) { // else it was locked before a fork, and is free
    mutex_.unlock();
    of_thread.remove(this);
  }
}

bool Mutex::is_of_this_thread() const noexcept {
  const std::size_t count = of_thread.count.load(std::memory_order_relaxed);
  for (std::size_t place = 0; place < count; ++place) {
    if (of_thread.places[place].load(std::memory_order_relaxed) == this) {
      return true;
    }
  }
  return false;
}

bool Mutex::any_of_this_thread() noexcept {
  static_cast<void>(watches_forks);
  return of_thread.count.load(std::memory_order_relaxed) > 0;
}

} // namespace gputest::os
