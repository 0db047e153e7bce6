// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace gputest::os {

/// A file descriptor that closes itself. Never one of the standard streams' numbers: if the program was started with
/// one of them closed, the next file that is opened gets its number, and would be written to by everybody who prints.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_{number} {
    if (number_ >= 0 && number_ <= STDERR_FILENO) {
      number_ = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      ::close(number);
    }
  }
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }

  [[nodiscard]] int number() const { return number_; }

  /// Gives the number up without closing it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

  explicit operator bool() const { return number_ >= 0; }

private:
  int number_ = -1;
};

} // namespace gputest::os
