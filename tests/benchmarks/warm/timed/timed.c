// SPDX-License-Identifier: BSD-3-Clause
// timed <file> <program> [<argument>...]
//
// Runs the program, and adds a line to the file: the milliseconds from before its start to after its end. Exits as it does.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: timed <file> <program> [<argument>...]\n");
    return 2;
  }
  pid_t child = 0;
  int status = 0;
  const double begin = milliseconds();
  if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) != 0 || waitpid(child, &status, 0) != child) {
    perror(argv[2]);
    return 1;
  }
  char line[32];
  const int size = snprintf(line, sizeof line, "%.3f\n", milliseconds() - begin);
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (write(file, line, (size_t)size) != size) { // one write: those of other processes come before it or after it
    perror(argv[1]);
    return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
