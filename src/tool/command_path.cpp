// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_path.hpp"

#include "core/os/program_output.hpp"

#include <cerrno>
#include <sstream>

namespace gputest::tool {

FoundCommand find_command(const std::string& command, const std::optional<std::string>& path) {
  if (command.find('/') != std::string::npos) {
    const int error = os::why_not_executable(command);
    return {error, error == 0 ? command : ""};
  }
  int worst = ENOENT;
  // execvp() uses these two folders if PATH is not set. An empty one is the working directory, also after a last ':'.
  std::istringstream folders{path.value_or("/bin:/usr/bin") + ":"};
  for (std::string folder; !command.empty() && std::getline(folders, folder, ':');) {
    const auto file = (folder.empty() ? "." : folder) + "/" + command;
    const int error = os::why_not_executable(file);
    if (error == 0) {
      return {0, file};
    }
    worst = error == EACCES ? EACCES : worst;
  }
  return {worst, ""};
}

} // namespace gputest::tool
