// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::os {

/// A folder of this process's own, in the folder for temporary files (TMPDIR, or /tmp), removed with all that is in it
/// when the object is destroyed.
class ScratchFolder {
public:
  /// Throws Error if there can be none.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace gputest::os
