#include "cli/command_path.hpp"

#include <cerrno>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace gputest::cli {

namespace {

/// 0, or the errno value with which exec() of this file would fail.
int error_of(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) {
    return errno;
  }
  if (!S_ISREG(status.st_mode) || access(file.c_str(), X_OK) != 0) {
    return EACCES;
  }
  return 0;
}

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

CommandProblem problem_of_exec(const std::string& command, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    const bool is_path = command.find('/') != std::string::npos;
    return {ExitCode::not_found, "cannot find the command '" + command + "'" +
                                     (is_path ? ": there is no such file, or the interpreter it names is missing"
                                              : " in any folder of PATH; give its path if it is elsewhere")};
  }
  return {ExitCode::cannot_execute, "cannot execute '" + command + "': " + std::generic_category().message(error) +
                                        (error == EACCES ? "; it has to be a file with execute permission" : "")};
}

std::optional<CommandProblem> problem_with_command(const std::string& command, const std::optional<std::string>& path) {
  if (command.find('/') != std::string::npos) {
    const int error = error_of(command);
    return error == 0 ? std::nullopt : std::optional{problem_of_exec(command, error)};
  }
  int worst = ENOENT;
  // execvp() takes these two folders where PATH is not set.
  for (const auto& folder : folders_of(path.value_or("/bin:/usr/bin"))) {
    std::string file = folder;
    file.append("/").append(command);
    const int error = command.empty() ? ENOENT : error_of(file);
    if (error == 0) {
      return std::nullopt;
    }
    worst = error == EACCES ? EACCES : worst;
  }
  return problem_of_exec(command, worst);
}

} // namespace gputest::cli
