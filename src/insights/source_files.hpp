// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/source_patch.hpp"

#include <map>
#include <optional>
#include <string>

namespace gputest::insights {

/// The source folder for which CMake has configured `build`; empty if it has not.
[[nodiscard]] std::string source_of(const std::string& build);

/// The sources that logs name, as they are now.
class SourceFiles {
public:
  /// `source` is empty if nobody knows it.
  SourceFiles(std::string source, std::string build) : source_{std::move(source)}, build_{std::move(build)} {}

  /// The file that a compiler, or CMake, got by this name: there, or from `build`, where ninja compiles. A name from
  /// another machine is the file in `source` with the most of its last parts. Null if there is none.
  [[nodiscard]] const SourceFile* find(const std::string& name);

private:
  [[nodiscard]] std::string path_of(const std::string& name) const;

  std::string source_;
  std::string build_;
  std::map<std::string, std::optional<SourceFile>> files_; ///< by path
};

} // namespace gputest::insights
