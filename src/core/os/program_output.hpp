// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gputest::os {

/// Runs a program, given by its path and its arguments, and returns what it wrote to its standard output.
///
/// Nothing to read and nowhere for errors. Blocks until the program has ended. nullopt if it cannot be started or does
/// not end with exit code 0. Does not throw.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<std::string>& command);

/// As exec() takes them, with a null pointer at the end. They point into `texts`.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

/// Becomes another program (exec), whose name is looked for in PATH. Returns only if that fails: errno's value.
int become(std::vector<std::string> command);

/// The errno value with which the program at `path` could not be executed, 0 if it can.
[[nodiscard]] int why_not_executable(const std::string& path);

/// What came of a child that was asked something.
struct ChildAnswer {
  enum class Kind { answered, no_child, late, crashed };
  Kind kind = Kind::answered;
  std::string text; ///< answered: what `answer` returned or an exception said; no_child: why
};

/// Calls `answer` in a forked child, of which nothing else is wanted; blocks until it has returned, `longest` at most.
/// No destructor or exit handler of this process runs in the child, and it does not outlive this process.
[[nodiscard]] ChildAnswer ask_in_child(const std::function<std::string()>& answer, std::chrono::milliseconds longest);

} // namespace gputest::os
