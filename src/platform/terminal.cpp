// SPDX-License-Identifier: BSD-3-Clause
#include "platform/terminal.hpp"

#include "platform/environment.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <string_view>

#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gputest::platform {

namespace {

bool is_terminal(int stream) {
  const auto kind = read_variable("TERM");
  return ::isatty(stream) == 1 && kind && !kind->empty() && *kind != "dumb";
}

/// Columns and lines; those of an old terminal if it does not say.
winsize size_of(int stream) {
  winsize size{};
  if (::ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    size.ws_col = 80;
    size.ws_row = 24;
  }
  return size;
}

void write_out(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count <= 0) {
      return; // wait() sees what happened
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

constexpr std::string_view begin_screen = "\x1b[?1049h\x1b[?25l"; // another screen, without a cursor
constexpr std::string_view end_screen = "\x1b[?25h\x1b[?1049l";

sigset_t signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    sigaddset(&set, signal);
  }
  return set;
}

} // namespace

std::optional<unsigned> width_of_error_terminal() {
  return is_terminal(STDERR_FILENO) ? std::optional<unsigned>{size_of(STDERR_FILENO).ws_col} : std::nullopt;
}

Screen::Screen() {
  if (!is_terminal(STDOUT_FILENO)) {
    throw Error{"standard output is no terminal that can be written anew"};
  }
  const auto set = signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  write_out(begin_screen);
}

Screen::~Screen() { write_out(end_screen); }

void Screen::show(const std::string& text) const {
  const auto size = size_of(STDOUT_FILENO);
  std::string screen = "\x1b[H";
  unsigned line = 0;
  for (std::size_t begin = 0; begin < text.size() && line < size.ws_row; ++line) {
    const auto end = std::min(text.find('\n', begin), text.size());
    // Not the last column, after which a terminal may begin a line.
    screen +=
        (line == 0 ? "" : "\r\n") + text.substr(begin, std::min<std::size_t>(end - begin, size.ws_col - 1U)) + "\x1b[K";
    begin = end + 1;
  }
  write_out(screen + "\x1b[J");
}

bool Screen::wait(std::chrono::milliseconds duration) const {
  const auto set = signals();
  const timespec time{duration.count() / 1000, duration.count() % 1000 * 1000000};
  const int signal = ::sigtimedwait(&set, nullptr, &time);
  if (signal == SIGTSTP) {
    write_out(end_screen);
    ::raise(SIGSTOP);
    write_out(begin_screen);
    return true;
  }
  return signal < 0;
}

} // namespace gputest::platform
