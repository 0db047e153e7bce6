// SPDX-License-Identifier: BSD-3-Clause
#include "cli/source_files.hpp"

#include "report/text_file.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace gputest::cli {

namespace {

namespace fs = std::filesystem;

std::string copy_of(const std::string& path) { return path + ".before-gputest"; }

/// Empty if the file can be changed.
std::string why_not(const report::SourceFile& file) {
  const auto may_write = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  if ((fs::status(file.path).permissions() & may_write) == fs::perms::none) {
    return "it must not be written to (chmod u+w)";
  }
  if (fs::exists(copy_of(file.path))) {
    return "an earlier change of it was interrupted. Compare it with " + copy_of(file.path) +
           ", which has the text before that, keep the right one, and remove the copy";
  }
  return report::read_text(file.path) == file.text ? "" : "it has changed meanwhile";
}

/// Throws Error, with what became of the file.
void change(const std::string& path, const std::string& old_text, const std::string& text) {
  const auto copy = copy_of(path);
  std::error_code error;
  if (!fs::copy_file(path, copy, error)) {
    throw Error{copy + ", a copy of the old text, cannot be written: " + error.message() +
                ". The file was not changed"};
  }
  try {
    report::write_text(path, text);
  } catch (const Error& failed) {
    try {
      report::write_text(path, old_text);
    } catch (const Error&) {
      throw Error{failed.what() + (". Its old text is in " + copy)};
    }
    fs::remove(copy, error);
    throw Error{std::string{failed.what()} + ". It has its old text"};
  }
  fs::remove(copy, error);
}

/// Where it is in the folder; nullopt: it is elsewhere.
std::optional<fs::path> place_in(const fs::path& folder, const fs::path& path) {
  auto place = path.lexically_normal().lexically_relative(folder.lexically_normal());
  return place.empty() || *place.begin() == ".." ? std::nullopt : std::optional{std::move(place)};
}

/// Whether the last parts of a path are all parts of the other one.
bool ends_with(const fs::path& path, const fs::path& end) {
  const auto length = [](const fs::path& of) { return std::distance(of.begin(), of.end()); };
  return length(path) >= length(end) &&
         std::equal(end.begin(), end.end(), std::next(path.begin(), length(path) - length(end)));
}

/// Without what leads out of the folder where the compiler was.
fs::path without_parents(const fs::path& path) {
  fs::path rest;
  for (const auto& part : path.lexically_normal()) {
    if (part != "..") {
      rest /= part;
    }
  }
  return rest;
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

std::vector<report::SourceFile> sources_in(const std::string& folder) {
  static const std::set<std::string> endings{".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh",
                                             ".h", ".hh", ".hpp", ".hxx", ".inl"};
  constexpr std::uintmax_t largest = 4U << 20U;
  std::vector<report::SourceFile> files;
  if (folder.empty()) {
    return files;
  }
  std::error_code error;
  for (fs::recursive_directory_iterator entry{folder, fs::directory_options::skip_permission_denied, error}, end;
       !error && entry != end; entry.increment(error)) {
    const auto& path = entry->path();
    if (entry->is_directory(error)) {
      if (path.filename().string().front() == '.' || fs::exists(path / "CMakeCache.txt", error)) {
        entry.disable_recursion_pending();
      }
      continue;
    }
    const bool is_source = endings.count(path.extension().string()) != 0 || path.filename() == "CMakeLists.txt";
    if (is_source && entry->is_regular_file(error) && entry->file_size(error) <= largest) {
      try {
        auto text = report::read_text(path.string());
        if (text.find("GPUTEST_") != std::string::npos || text.find("gpu_add_test") != std::string::npos) {
          files.push_back({path.string(), std::move(text), {}});
        }
      } catch (const Error& unreadable) {
        fmt::print(stderr, "gputest: left out: {}\n", unreadable.what());
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

void note_compiled_paths(std::vector<report::SourceFile>& files, const std::string& folder, const std::string& build,
                         const std::set<std::string>& paths) {
  std::error_code ignored;
  const auto root = fs::absolute(folder, ignored);
  const auto real_root = fs::weakly_canonical(root, ignored);
  for (const auto& name : paths) {
    fs::path path{name};
    if (const auto here = fs::absolute(build, ignored) / path; path.is_relative() && fs::exists(here, ignored)) {
      path = here;
    }
    std::optional<fs::path> place;
    if (path.is_absolute()) {
      place = place_in(root, path);
      place = place ? place : place_in(real_root, fs::weakly_canonical(path, ignored));
    }
    const auto rest = path.is_absolute() ? path : without_parents(path);
    for (auto& file : files) {
      const auto own = place_in(root, fs::absolute(file.path, ignored));
      if (own && (place ? *own == *place : ends_with(rest, *own) || ends_with(*own, rest))) {
        file.compiled_as.insert(name);
      }
    }
  }
}

void change_sources(const std::vector<report::SourceFile>& files, const std::vector<report::SourceEdit>& edits) {
  std::vector<std::pair<const report::SourceFile*, std::string>> changes;
  for (const auto& file : files) {
    if (auto text = report::apply_edits(file, edits); text != file.text) {
      if (const auto why = why_not(file); !why.empty()) {
        throw Error{file.path + " cannot be changed: " + why + ". No file was changed"};
      }
      changes.emplace_back(&file, std::move(text));
    }
  }
  std::string changed;
  for (const auto& [file, text] : changes) {
    try {
      change(file->path, file->text, text);
    } catch (const Error& error) {
      throw Error{error.what() + (changed.empty() ? ". No file was changed" : ". Changed before it: " + changed)};
    }
    changed += (changed.empty() ? "" : ", ") + file->path;
  }
}

} // namespace gputest::cli
