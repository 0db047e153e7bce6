// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "workers/mps_server.hpp"
#include "workers/run_folder.hpp"
#include "workers/test_case.hpp"

#include <string>
#include <vector>

namespace gputest::workers {

/// The cases that have run in a supervisor's worker. The end of their process is to be seen: until then there is a file
/// with them, and the entry that ends workers fails for one that is left.
class ServedCases {
public:
  ServedCases(const RunFolder& run, const TestCase& test, Mps owner) : run_{run}, test_{test}, owner_{owner} {}

  [[nodiscard]] const std::vector<std::string>& filters() const { return filters_; }
  /// Has a line for each; none if there is none.
  [[nodiscard]] const Descriptor& file() const { return file_; }

  /// Before a case passes whose process goes on. False if the end of that could be missed.
  [[nodiscard]] bool note(const std::string& filter);
  /// After it has.
  void add(std::string filter) { filters_.push_back(std::move(filter)); }

  /// Their process has ended as it should.
  void end_was_seen() const;

  /// Has the entry that ends workers tell how their process has ended, and what it wrote. Not if there are none: no
  /// process of a case would have ended like one that has run none.
  void tell_end(const std::string& how, bool may_be_anothers_error, const std::string& wrote) const;

  /// Shows how a process ends after them if theirs has not come to its end: they run once more in another one. Blocks
  /// until that has ended; ends this process if ctest ends. Changes the environment and the standard streams.
  void run_again() const;

private:
  const RunFolder& run_;
  const TestCase& test_;
  Mps owner_; ///< what their process shares errors with
  std::vector<std::string> filters_;
  Descriptor file_;
};

} // namespace gputest::workers
