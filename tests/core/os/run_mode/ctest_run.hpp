// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <map>
#include <string>
#include <vector>

namespace gputest::tests {

/// A project of two tests, of which the first says what it finds; see ctest_observer.cpp.
class CtestRun {
public:
  /// Makes a source folder with these files, and a build tree in `build` below it that knows its source folder.
  ///
  /// `@DIR@` in a file's text, in `arguments` and in `folder` of run() stands for the source folder.
  explicit CtestRun(const std::map<std::string, std::string>& files = {});

  /// What a run of ctest came to.
  struct Result {
    bool ran = false;      ///< whether the first test ran
    bool together = false; ///< whether the second one was started before the first had ended
    std::string found;     ///< the run mode that the first found
    std::string because;
    std::string output; ///< of ctest, for messages
  };

  /// Runs ctest in `folder`, with `variables` and PATH for its environment.
  Result run(const std::vector<std::string>& arguments, const ChildProcess::Environment& variables = {},
             const std::string& folder = "@DIR@/build");

private:
  [[nodiscard]] std::string filled(std::string text) const;

  PrivateFolder folder_;
};

} // namespace gputest::tests
