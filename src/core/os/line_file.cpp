// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/line_file.hpp"

#include "core/os/descriptor.hpp"
#include "core/os/reason.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::os {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error{"cannot be written to " + path + ": " + why};
}

} // namespace

bool LineFile::create() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    fail(folder_, error.message());
  }
  constexpr mode_t only_own = S_IRUSR | S_IWUSR;
  const Descriptor file{
      ::open(path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, only_own)};
  if (!file && errno != EEXIST) {
    fail(path(), reason(errno));
  }
  return static_cast<bool>(file);
}

void LineFile::append(const std::string& line) const {
  const Descriptor file{::open(path().c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file) {
    fail(path(), reason(errno));
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    fail(path(), reason(errno));
  }
  if ((status.st_mode & S_IFMT) != S_IFREG || status.st_uid != ::geteuid() || status.st_nlink > 1) {
    fail(path(), "it is no regular file of this user's with one name");
  }
  // A kill can cut another process's line where a page of the file ends, at any moment before this write.
  const auto text = "\n" + line + "\n";
  const auto written = ::write(file.number(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) {
    fail(path(), written < 0 ? reason(errno) : "there is no room for a whole line");
  }
}

void LineFile::remove_older(const std::string& prefix, const std::string& suffix, std::size_t keep) const noexcept {
  try {
    using Seen = std::pair<fs::file_time_type, fs::path>;
    std::vector<Seen> files;
    for (const auto& entry : fs::directory_iterator{folder_}) {
      const auto name = entry.path().filename().string();
      const bool fits = name.size() > prefix.size() + suffix.size() && name.compare(0, prefix.size(), prefix) == 0 &&
                        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
      if (fits && name != name_ && entry.symlink_status().type() == fs::file_type::regular) {
        files.emplace_back(entry.last_write_time(), entry.path());
      }
    }
    std::sort(files.begin(), files.end(), [](const Seen& a, const Seen& b) { return a > b; });
    for (std::size_t i = keep == 0 ? 0 : keep - 1; i < files.size(); ++i) { // this file is one of those to keep
      std::error_code another_process_has_done_it;
      fs::remove(files[i].second, another_process_has_done_it);
    }
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): old files stay
  }
}

} // namespace gputest::os
