// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/error.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputest::insights {

/// What runs arrays of tasks: a program for Slurm or another batch system. docs/guides/cluster.md describes it.
class ArrayEngine {
public:
  /// A script, or a link to a program. It also answers if this file has gone in the meantime. Throws Error.
  explicit ArrayEngine(const std::string& program);

  /// It was killed, or did not say, so that it is not known what it has done.
  struct Interrupted : Error {
    using Error::Error;
  };

  /// Submits tasks 1 to `count`, each of which runs `script`. Returns the array's id. Throws Error with the reason.
  [[nodiscard]] std::string submit(const std::string& script, std::size_t count) const;

  struct Task {
    bool running = false; ///< else it waits
    std::string note;     ///< its node, or why it waits; may be empty
  };
  /// The tasks that have not ended, by number. nullopt: that is not known now, and `why` says so.
  [[nodiscard]] std::optional<std::map<std::size_t, Task>> state(const std::string& id, std::string& why) const;

  /// Ends all tasks. Throws Error with the reason.
  void cancel(const std::string& id) const;

private:
  struct Answer {
    int status = 0;
    std::string text; ///< of both of its streams
  };
  [[nodiscard]] Answer ask(const std::vector<std::string>& arguments, bool in_a_minute) const;

  std::string name_;
  std::vector<std::string> command_;
};

} // namespace gputest::insights
