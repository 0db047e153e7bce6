// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/loaded_libraries.hpp"

#include "core/os/process.hpp"

#include <cstddef>

#include <link.h>
#include <sys/stat.h>

namespace gputest::os {

namespace {

std::string state_of(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) {
    return "none";
  }
  std::string state;
  for (const auto part :
       {static_cast<long long>(file.st_dev), static_cast<long long>(file.st_ino), static_cast<long long>(file.st_size),
        static_cast<long long>(file.st_mtim.tv_sec), static_cast<long long>(file.st_mtim.tv_nsec)}) {
    state += std::to_string(part) + " ";
  }
  return state;
}

} // namespace

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> files;
  const auto add = [](dl_phdr_info* info, std::size_t /*size*/, void* all) {
    const std::string file{info->dlpi_name};
    if (!file.empty() && file.front() == '/') { // neither the executable nor what the kernel provides
      static_cast<std::vector<std::string>*>(all)->push_back(file);
    }
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

FileStates states_of_program() {
  FileStates files;
  for (const auto& library : loaded_libraries()) {
    files.emplace(library, state_of(library));
  }
  const auto executable = executable_of(own_pid()).value_or("");
  files.emplace(executable, state_of(executable));
  return files;
}

std::string change_of(const FileStates& files) {
  for (const auto& [path, state] : files) {
    if (state_of(path) != state) {
      return path;
    }
  }
  return {};
}

} // namespace gputest::os
