// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/progress.hpp"

#include "core/os/terminal.hpp"

#include <atomic>
#include <cstdio>

namespace gputest::session {

namespace {

std::atomic<bool>& is_shown() {
  static std::atomic<bool> shown{false};
  return shown;
}

/// As many bytes as fit into a line, without the beginning of a character that does not.
std::string cut(const std::string& text, std::size_t width) {
  if (text.size() <= width) {
    return text;
  }
  auto end = width;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end);
}

} // namespace

bool shows_progress() { return os::width_of_error_terminal().has_value(); }

void show_progress(const std::string& text) {
  if (const auto width = os::width_of_error_terminal()) {
    is_shown() = true;
    const auto line = "\r\x1b[K" + cut("gputest: " + text, *width - 1U);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
  }
}

void end_progress() {
  if (is_shown().exchange(false)) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
  }
}

} // namespace gputest::session
