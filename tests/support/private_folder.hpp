// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace gputest::tests {

/// A folder for one test, removed with all that is in it.
class PrivateFolder {
public:
  PrivateFolder() {
    // In memory if possible: a ledger has a thousand files.
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = ::access(memory.c_str(), W_OK) == 0;
    std::string pattern = (usable ? memory : std::filesystem::temp_directory_path()) / "gputest-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), "cannot make the folder " + pattern};
    }
    path_ = pattern;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Makes a file with these contents and permissions, whatever the umask.
  void write(const std::string& name, const std::string& contents, mode_t permissions) const {
    const std::string file = path_ + "/" + name;
    std::ofstream{file} << contents;
    if (::chmod(file.c_str(), permissions) != 0) {
      throw std::system_error{errno, std::generic_category(), "cannot write " + file};
    }
  }

  void make_folder(const std::string& name) const { std::filesystem::create_directory(path_ + "/" + name); }

private:
  std::string path_;
};

} // namespace gputest::tests
