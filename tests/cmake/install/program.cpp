// SPDX-License-Identifier: BSD-3-Clause
// A program that knows nothing of gputest: prints its arguments, reads and writes the files that they name, and fails
// if that cannot be done or if it is told to.

#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  int failures = 0;
  for (int index = 1; index < argc; ++index) {
    const std::string argument{argv[index]};
    std::cout << '<' << argument << ">\n";
    if (argument == "--fail") {
      ++failures;
    } else if (argument.compare(0, 7, "--read=") == 0) {
      std::ifstream file{argument.substr(7)};
      std::string line;
      failures += std::getline(file, line) ? 0 : 1;
    } else if (argument.compare(0, 8, "--write=") == 0) {
      std::ofstream file{argument.substr(8)};
      failures += file << "written\n" ? 0 : 1;
    }
  }
  return failures;
}
