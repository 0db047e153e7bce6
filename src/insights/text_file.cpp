// SPDX-License-Identifier: BSD-3-Clause
#include "insights/text_file.hpp"

#include "core/os/file.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

namespace gputest::insights {

std::string read_text(const std::string& path) {
  auto text = os::contents_of(path);
  if (!text) {
    throw Error{path + " cannot be read: " + os::reason(errno)};
  }
  return std::move(*text);
}

void write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text;
  file.close();
  if (!file) {
    throw Error{path + " cannot be written: " + os::reason(errno)};
  }
}

std::vector<std::string> files_in(const std::string& folder, const char* extension) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator file{folder, error}, end; !error && file != end; file.increment(error)) {
    if (file->path().extension() == extension) {
      files.push_back(file->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace gputest::insights
