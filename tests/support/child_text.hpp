// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/in_child.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include <unistd.h>

namespace gputest::tests {

/// A pipe by which another process tells a text.
class TextPipe {
public:
  TextPipe() {
    if (::pipe(ends_.data()) != 0) {
      throw std::runtime_error{"no pipe"};
    }
  }
  TextPipe(const TextPipe&) = delete;
  TextPipe& operator=(const TextPipe&) = delete;
  ~TextPipe() {
    ::close(ends_[0]);
    close_writing_end();
  }

  [[nodiscard]] int writing_end() const { return ends_[1]; }

  /// In the other process.
  void write(const std::string& text) const {
    if (::write(ends_[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      ::_exit(EXIT_FAILURE);
    }
  }

  /// What was written; blocks until nobody else can write.
  [[nodiscard]] std::string read() {
    close_writing_end();
    std::string text;
    std::array<char, 4096> block{};
    for (ssize_t count = 0; (count = ::read(ends_[0], block.data(), block.size())) > 0;) {
      text.append(block.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

private:
  void close_writing_end() {
    if (const int end = std::exchange(ends_[1], -1); end >= 0) {
      ::close(end);
    }
  }

  std::array<int, 2> ends_{};
};

/// What `function` returns in a process of its own.
template <class Function>
std::string text_of_child(Function function) {
  TextPipe pipe;
  const pid_t child = start_child([&] {
    pipe.write(function());
    return 0;
  });
  auto text = pipe.read();
  return end_of(child) == 0 ? text : "the child has failed";
}

} // namespace gputest::tests
