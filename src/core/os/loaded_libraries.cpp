// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/loaded_libraries.hpp"

#include "core/os/process.hpp"

#include <cstddef>

#include <link.h>

namespace gputest::os {

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
    files.emplace(library, stamp_of(library));
  }
  const auto executable = executable_of(own_pid()).value_or("");
  files.emplace(executable, stamp_of(executable));
  return files;
}

std::string change_of(const FileStates& files) {
  for (const auto& [path, state] : files) {
    const auto now = stamp_of(path);
    if (!(now == state) || (now && now->id != state->id)) {
      return path;
    }
  }
  return {};
}

} // namespace gputest::os
