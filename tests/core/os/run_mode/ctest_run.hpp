// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <map>
#include <string>
#include <vector>

namespace gputest::tests {

/// A project of two tests, `a` and `b`, that find out whether ctest runs them together; see rendezvous.cpp.
class CtestRun {
public:
  /// Makes a source folder with these files, and a build tree in `build` below it that knows its source folder.
  ///
  /// `@DIR@` in a file's text, in `arguments` and in `folder` of run() stands for the source folder.
  explicit CtestRun(const std::map<std::string, std::string>& files = {});

  /// What a run of ctest came to.
  struct Result {
    bool ran = false;      ///< whether both tests ran to their ends
    bool together = false; ///< whether they did so at the same time
    std::string found;     ///< the run mode that test `a` found
    std::string because;
    std::string output; ///< of ctest, for messages
  };

  /// Runs ctest in `folder`, as a shell does that has moved there, with `variables` and PATH for its environment.
  Result run(const std::vector<std::string>& arguments, const ChildProcess::Environment& variables = {},
             const std::string& folder = "@DIR@/build");

private:
  [[nodiscard]] std::string filled(std::string text) const;

  PrivateFolder folder_;
};

} // namespace gputest::tests
