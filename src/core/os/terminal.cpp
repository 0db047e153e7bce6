// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/terminal.hpp"

#include "core/os/environment.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace gputest::os {

std::optional<unsigned> width_of_error_terminal() {
  const auto kind = read_variable("TERM").value_or("");
  if (::isatty(STDERR_FILENO) != 1 || kind.empty() || kind == "dumb") {
    return std::nullopt;
  }
  constexpr unsigned usual = 80;
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

} // namespace gputest::os
