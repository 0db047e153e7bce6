// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace gputest::os {

/// A file of lines to which processes append at the same time. No descriptor is kept between two lines, because a test
/// may close it.
///
/// The file belongs to this user (0600). A link, a file of another owner and a file with several names are not used.
class LineFile {
public:
  LineFile(std::string folder, std::string name) : folder_{std::move(folder)}, name_{std::move(name)} {}

  /// Makes the folder and the file. False if the file is there already. Throws Error.
  [[nodiscard]] bool create() const;

  /// Appends a line with one write(). A newline comes first, too, because a killed process may have left a part of a
  /// line at the end: so there are empty lines. Throws Error.
  void append(const std::string& line) const;

  /// Removes the oldest files of the folder that are named `<prefix>...<suffix>`, except for the newest `keep` ones.
  void remove_older(const std::string& prefix, const std::string& suffix, std::size_t keep) const noexcept;

  [[nodiscard]] std::string path() const { return folder_ + "/" + name_; }

private:
  std::string folder_;
  std::string name_;
};

} // namespace gputest::os
