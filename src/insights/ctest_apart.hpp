// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/scratch_folder.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// ctest with the tests of a folder, started in a scratch folder: in its own folder even a listing would empty
/// LastTest.log, in which people read what the tests of the last run wrote.
class CtestApart {
public:
  /// `folder` is where ctest would be started. Throws Error if there can be no scratch folder.
  CtestApart(const std::string& folder, std::vector<std::string> options);

  /// The command that starts ctest, looked for in PATH, with these options before the user's.
  [[nodiscard]] std::vector<std::string> command(std::vector<std::string> options) const;

  /// The command that does so in the tests' own folder, for a person to paste: these options after the user's.
  [[nodiscard]] std::vector<std::string> command_in_place(const std::vector<std::string>& options) const;

  /// What ctest prints of its tests (--show-only=json-v1). Throws Error, with the command that shows why, if it prints
  /// none.
  [[nodiscard]] std::string list() const;

  /// Where ctest writes its logs.
  [[nodiscard]] std::string logs() const { return scratch_.path() + "/Testing/Temporary"; }

  [[nodiscard]] const std::string& path() const { return scratch_.path(); }

private:
  os::ScratchFolder scratch_;
  std::string folder_; ///< absolute
  std::vector<std::string> options_;
};

} // namespace gputest::insights
