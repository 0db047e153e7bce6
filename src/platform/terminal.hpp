// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace gputest::platform {

/// How many characters a line of the terminal has on which people read standard error; nullopt if it is no terminal, or
/// one that cannot rewrite a line.
[[nodiscard]] std::optional<unsigned> width_of_error_terminal();

/// Standard output as a screen that is written anew again and again. The terminal is as before when this ends, whatever
/// ends it but SIGKILL; Ctrl-Z gives it back meanwhile.
///
/// Takes the signals that end a process from their usual way. One object in a process, which has one thread.
class Screen {
public:
  /// Throws Error if standard output is no terminal.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Shows a text in place of the one before, as far as there are lines for it.
  void show(const std::string& text) const;

  /// Blocks for so long. False if the process is to end: Ctrl-C, SIGTERM, or the terminal is gone.
  [[nodiscard]] bool wait(std::chrono::milliseconds duration) const;
};

} // namespace gputest::platform
