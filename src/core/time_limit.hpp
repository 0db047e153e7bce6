// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "settings/settings.hpp"

#include <optional>
#include <string>

namespace gputest::core {

/// The time limit of this process's entry, from GPUTEST_TIMEOUT.
///
/// The process that counts the time removes the variable: those that it starts are ended with it.
class TimeLimit {
public:
  /// Reads and removes GPUTEST_TIMEOUT. nullopt if there is none, or if it cannot be used: then it stays, and
  /// entry_from_environment() throws. Not while other threads read the environment. Does not throw.
  [[nodiscard]] static std::optional<TimeLimit> take() noexcept;

  /// The time counts from now on. When it is over, the process writes what runs, and ends by SIGKILL with all that it
  /// has started (platform/time_limit). `in_entry`: whether CTest started it for an entry; then it leaves CTest the
  /// time to see the text and end it. Does nothing the second time. Does not throw.
  void start(const std::string& who, bool in_entry) noexcept;

  /// What the text names from now on. Does not throw.
  void running(const std::string& who) noexcept;

  /// CTest is not to see the text any more: the process's end decides nothing. Does not throw.
  void hide_from_ctest(const std::string& who) noexcept;

private:
  explicit TimeLimit(settings::TimeLimit limit) : limit_{std::move(limit)} {}

  settings::TimeLimit limit_;
  bool started_ = false;
  bool in_entry_ = false;
};

} // namespace gputest::core
