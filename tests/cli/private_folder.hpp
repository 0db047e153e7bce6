#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <sys/stat.h>

namespace gputest::cli {

/// A folder for one test, removed with all that is in it.
class PrivateFolder {
public:
  PrivateFolder() {
    // A ledger has thousands of small files, which a file system in memory makes in milliseconds.
    const std::filesystem::path memory = "/dev/shm";
    const auto parent = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    std::string pattern = parent / "gputest-cli-XXXXXX";
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

} // namespace gputest::cli
