// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_path.hpp"

#include "core/os/program_output.hpp"

#include <cerrno>
#include <vector>

namespace gputest::tool {

namespace {

/// The folders of a PATH. An empty one is the working directory, as for the shell.
std::vector<std::string> folders_of(const std::string& path) {
  std::vector<std::string> folders;
  std::size_t begin = 0;
  while (true) {
    const auto end = path.find(':', begin);
    const std::string folder = path.substr(begin, end == std::string::npos ? end : end - begin);
    folders.push_back(folder.empty() ? "." : folder);
    if (end == std::string::npos) {
      return folders;
    }
    begin = end + 1;
  }
}

} // namespace

FoundCommand find_command(const std::string& command, const std::optional<std::string>& path) {
  if (command.find('/') != std::string::npos) {
    const int error = os::why_not_executable(command);
    return {error, error == 0 ? command : ""};
  }
  int worst = ENOENT;
  // execvp() uses these two folders if PATH is not set.
  for (const auto& folder : folders_of(path.value_or("/bin:/usr/bin"))) {
    std::string file = folder;
    file.append("/").append(command);
    const int error = command.empty() ? ENOENT : os::why_not_executable(file);
    if (error == 0) {
      return {0, file};
    }
    worst = error == EACCES ? EACCES : worst;
  }
  return {worst, ""};
}

} // namespace gputest::tool
