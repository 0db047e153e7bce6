// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace gputest::os {

/// While one exists, pthread_cancel() ends this thread only where it lets it (LetThrough), and not in the middle of a
/// destructor or another function that must not be unwound.
class CancellationHeldBack {
public:
  CancellationHeldBack() noexcept;
  ~CancellationHeldBack();
  CancellationHeldBack(const CancellationHeldBack&) = delete;
  CancellationHeldBack& operator=(const CancellationHeldBack&) = delete;

  /// While one exists, the thread can be ended as before. Unwinding passes whoever has it.
  class LetThrough {
  public:
    LetThrough() noexcept;
    ~LetThrough();
    LetThrough(const LetThrough&) = delete;
    LetThrough& operator=(const LetThrough&) = delete;
  };

private:
  int state_ = 0; ///< of the thread, before
  bool holds_back_ = false;
};

} // namespace gputest::os
