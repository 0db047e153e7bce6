// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/terminal.hpp"

#include "core/os/environment.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace gputest::os {

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

} // namespace

std::optional<unsigned> width_of_error_terminal() {
  return is_terminal(STDERR_FILENO) ? std::optional<unsigned>{size_of(STDERR_FILENO).ws_col} : std::nullopt;
}

} // namespace gputest::os
