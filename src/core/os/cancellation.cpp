// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/cancellation.hpp"

#include <utility>

#include <pthread.h>

namespace gputest::os {

namespace {

/// Whether this thread holds back what its caller had allowed.
thread_local bool holds_back = false;

} // namespace

CancellationHeldBack::CancellationHeldBack() noexcept {
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
  holds_back_ = std::exchange(holds_back, state_ == PTHREAD_CANCEL_ENABLE);
}

CancellationHeldBack::~CancellationHeldBack() {
  holds_back = holds_back_;
  ::pthread_setcancelstate(state_, nullptr);
}

CancellationHeldBack::LetThrough::LetThrough() noexcept {
  if (holds_back) {
    ::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  }
}

CancellationHeldBack::LetThrough::~LetThrough() {
  if (holds_back) {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  }
}

} // namespace gputest::os
