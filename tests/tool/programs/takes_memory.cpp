// SPDX-License-Identifier: BSD-3-Clause
// takes_memory <MiB> [<command>...]: takes memory of a simulated device, and keeps it while the command runs.
#include <gputest/simulated_buffer.hpp>

#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  const gputest::SimulatedBuffer buffer{gputest::Bytes{std::strtoull(argv[1], nullptr, 10) << 20U}};
  if (argc == 2) {
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
