// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "report/source_edits.hpp"

#include <set>
#include <string>
#include <vector>

namespace gputest::cli {

/// The source folder for which CMake has configured `build`; empty if it has not.
[[nodiscard]] std::string source_of(const std::string& build);

/// The sources in which tests can say what they need, by path. Build trees and hidden folders are left out; of what
/// cannot be read it says so on stderr. None of an empty `folder`.
[[nodiscard]] std::vector<report::SourceFile> sources_in(const std::string& folder);

/// Notes with each of the files of `folder` by which of these paths compilers have got it.
///
/// A path below `folder` is that file, and so is a relative one that names a file there from `build`, where ninja
/// compiles. Any other is from another machine: it is the file whose place in `folder` it ends with.
void note_compiled_paths(std::vector<report::SourceFile>& files, const std::string& folder, const std::string& build,
                         const std::set<std::string>& paths);

/// Makes those of the edits that are safe.
///
/// All files are checked before the first is written. Each is written in place, so links, owner, mode and access list
/// stay, which a new file under the old name would not have; until it is written, its old text is in a copy beside it
/// (`.before-gputest`), also after a kill. Throws Error, with the files that have been changed already.
void change_sources(const std::vector<report::SourceFile>& files, const std::vector<report::SourceEdit>& edits);

} // namespace gputest::cli
