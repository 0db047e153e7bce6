// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of gputest: foreign <exit code> [<line to print>].

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc > 2) {
    std::puts(argv[2]);
  }
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
