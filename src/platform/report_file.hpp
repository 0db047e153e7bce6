// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "platform/descriptor.hpp"

#include <string>

namespace gputest::platform {

/// A file without a name, in memory, that this process reads and its descendants write to.
///
/// They reach it through this process's /proc, so it costs them no open descriptor, and reaches those too whose parents
/// close what they inherit. It ends with this process.
class ReportFile {
public:
  /// Throws Error if there can be none.
  ReportFile();

  /// Under which the processes of this user can write to it, as long as this process is alive.
  [[nodiscard]] std::string path() const;

  /// All that was written.
  [[nodiscard]] std::string contents() const;

private:
  Descriptor file_;
};

/// Appends a line in one piece. Does nothing if the file is gone.
void append_line(const std::string& path, const std::string& line) noexcept;

} // namespace gputest::platform
