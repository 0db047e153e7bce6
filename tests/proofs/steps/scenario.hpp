// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace gputest::tests {

/// Something that one process, the subject, does with a ledger while others do something else with it.
///
/// Lines are `<number of a process> <command>` as actor_program.hpp has them; the subject is number 0. Some commands
/// are for who directs the scene: `<number> dies`, its memory shown as free at once, or `<number> dies leaving memory`,
/// and
/// `<number> vanishes` shows that memory as free; `<number> stops`, until the subject has done its part.
struct Scenario {
  std::string name;                        ///< what the subject does, as a claim's part
  std::vector<std::string> before = {};    ///< what comes before
  std::string operation = {};              ///< the subject's command that is looked at
  std::vector<std::string> meanwhile = {}; ///< what the others do as soon as the subject is about to sleep
  bool on_a_new_folder = false;            ///< there is no ledger before
  /// It does the same thing a thousand times, or unwinds an exception by the hundred thousand instructions: a sample of
  /// its system calls has to do, and its instructions are not stepped through.
  bool is_long = false;
  /// What comes of it, too, where a system call fails: what cannot be observed counts as if it were not so.
  std::string or_else = {};
};

/// For messages of GoogleTest.
inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

/// All of them.
[[nodiscard]] const std::vector<Scenario>& scenarios();

} // namespace gputest::tests
