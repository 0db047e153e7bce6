// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gputest::tests {

/// The tool as built, with one simulated device of 16 GiB, contexts of 512 MiB, and a ledger of its own.
class Tool {
public:
  Tool();

  /// Sets a variable for the runs from now on.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }

  [[nodiscard]] ChildProcess start(const std::vector<std::string>& arguments) const;

  /// Starts another program with the same settings.
  [[nodiscard]] ChildProcess start_program(std::vector<std::string> command) const {
    return {std::move(command), environment_};
  }

  /// Starts `gputest run` with these options and a command that does nothing until it is finished.
  ///
  /// That one has its lease when this returns.
  [[nodiscard]] ChildProcess start_holder(const std::vector<std::string>& options) const;

  /// Runs it to its end.
  [[nodiscard]] Ended run(const std::vector<std::string>& arguments) const { return start(arguments).finish(); }

  /// What `gputest <command> --json` writes; it has to succeed and to have nothing to complain about.
  [[nodiscard]] nlohmann::json report_of(const std::string& command) const;

  /// A folder that is there, for files of the test.
  [[nodiscard]] const PrivateFolder& folder() const { return folder_; }

  /// The ledger's folder, which is not there before somebody makes it.
  [[nodiscard]] std::string ledger() const { return folder_.path() + "/ledger"; }

  /// Path of the tool.
  [[nodiscard]] static std::string path();

private:
  PrivateFolder folder_;
  ChildProcess::Environment environment_ = bare_environment();
};

} // namespace gputest::tests
