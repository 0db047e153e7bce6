// SPDX-License-Identifier: BSD-3-Clause
#include "insights/source_files.hpp"

#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace gputest::insights {

namespace fs = std::filesystem;

namespace {

/// As people and patches name it: from the current folder if it is below that.
std::string shown(const std::string& path) {
  std::error_code none;
  const auto relative = fs::path{path}.lexically_relative(fs::weakly_canonical(fs::current_path(none), none));
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

} // namespace

std::string source_of(const std::string& build) {
  std::ifstream cache{build + "/CMakeCache.txt"};
  const std::string key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::string line; std::getline(cache, line);) {
    if (line.compare(0, key.size(), key) == 0) {
      return line.substr(key.size());
    }
  }
  return "";
}

/// Without links; empty if there is no such file.
std::string SourceFiles::path_of(const std::string& name) const {
  std::error_code none;
  const auto real = [&](const fs::path& path) {
    return fs::is_regular_file(path, none) ? fs::canonical(path, none).string() : std::string{};
  };
  if (auto path = real(fs::path{build_} / name); !path.empty()) { // an absolute name stays as it is
    return path;
  }
  auto parts = fs::path{name}.lexically_normal().relative_path();
  while (!source_.empty() && !parts.empty()) {
    if (auto path = real(fs::path{source_} / parts); *parts.begin() != ".." && !path.empty()) {
      return path;
    }
    parts = parts.lexically_relative(*parts.begin());
    if (parts == ".") {
      break;
    }
  }
  return "";
}

const SourceFile* SourceFiles::find(const std::string& name) {
  const auto path = path_of(name);
  if (path.empty()) {
    return nullptr;
  }
  auto& file = files_[path];
  if (!file) {
    try {
      const auto text = read_text(path);
      file = SourceFile{shown(path), {}, text.empty() || text.back() == '\n'};
      std::istringstream lines{text};
      for (std::string line; std::getline(lines, line);) {
        file->lines.push_back(line);
      }
    } catch (const Error&) { // it must not be read
      return nullptr;
    }
  }
  return &*file;
}

} // namespace gputest::insights
