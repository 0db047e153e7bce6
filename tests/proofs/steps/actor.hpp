// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/storm/board.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <sys/types.h>

namespace gputest::tests {

/// A process of a scenario, forked from this one; actor_program.hpp says what it understands.
class Actor {
public:
  enum class Tracing { none, by_this_process };

  /// What the devices and the ledger are, and which row of the board is the actor's.
  struct Client {
    std::string folder;
    storm::Board* board = nullptr;
    std::size_t number = 0;
  };

  explicit Actor(Client place, Tracing tracing = Tracing::none);
  /// Kills it if it still runs.
  ~Actor();
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::size_t number() const { return client_.number; }

  void say(const std::string& line) const;

  /// Its next line. Empty if there will be none: it sleeps, and only somebody else can wake it; or it has ended.
  [[nodiscard]] std::optional<std::string> hear();

  /// Whether hear() or settle() found that it has ended.
  [[nodiscard]] bool has_ended() const { return silent_; }

  /// Tells it to do something; what it answers.
  std::string ask(const std::string& line);

  /// Blocks until it has answered or sleeps, having looked at everything that happened before.
  void settle();

  /// Blocks until it waits for its next command, is stopped, has ended, or sleeps for ever; or only sleeps, where it
  /// looks again and again for memory of the dead; or tries a mutex again and again that is taken.
  void rest(bool looks_for_memory, bool mutex_is_taken) const;

  /// Stops it where it sleeps, and blocks until it is stopped.
  void stop() const;
  void go_on() const;

  /// Kills it, and blocks until the kernel has let go of all it had.
  void kill();

private:
  [[nodiscard]] bool read_available();
  void await(bool (*sleeps)(pid_t));

  Client client_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string heard_;
  bool silent_ = false; ///< its end of the pipe is closed
};

} // namespace gputest::tests
