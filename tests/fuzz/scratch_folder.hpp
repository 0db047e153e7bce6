// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fuzz/fuzzer.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace gputest::tests {

/// A folder in $TMPDIR for a fuzzer's life. A fuzzer that is killed leaves it there: `run` and CTest give each a
/// $TMPDIR that is theirs.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "gputest-fuzz-XXXXXX";
    require(::mkdtemp(pattern.data()) != nullptr, "a folder can be made", pattern);
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace gputest::tests
