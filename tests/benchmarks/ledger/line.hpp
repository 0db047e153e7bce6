// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "shared.hpp"

#include <pthread.h>

#include <cstddef>

namespace gputest::benchmarks {

/// Where processes line up, so that all start at once.
class Line {
public:
  explicit Line(std::size_t members) {
    pthread_barrierattr_t attributes;
    ::pthread_barrierattr_init(&attributes);
    ::pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_barrier_init(barrier_.begin(), &attributes, static_cast<unsigned>(members));
    ::pthread_barrierattr_destroy(&attributes);
  }

  /// Blocks until all members have called it.
  void start() const { ::pthread_barrier_wait(barrier_.begin()); }

private:
  Shared<pthread_barrier_t> barrier_;
};

} // namespace gputest::benchmarks
