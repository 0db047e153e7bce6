// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace gputest::os {

/// Keeps SIGINT and SIGTERM from ending this process, so that it can clean up first. Not while there are other threads.
/// Processes that it starts do not get them either: a terminal sends Ctrl-C to them, too.
class Interruption {
public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Blocks for so long, or until such a signal has come: its number, or 0.
  [[nodiscard]] int wait_for(std::chrono::milliseconds time) const;

  /// Ends this process by the signal, as if it had been kept from nothing.
  [[noreturn]] static void end_by(int signal);
};

/// Columns of the terminal that standard error is; 0: it is none.
[[nodiscard]] std::size_t columns_of_errors();

} // namespace gputest::os
