// SPDX-License-Identifier: BSD-3-Clause
// Writes the manual page of the tool into a folder: write_documents <folder>.

#include "tool/command_line.hpp"
#include "tool/documents/documents.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

int main(int argc, char** argv) try {
  using namespace gputest::tool;
  if (argc != 2) {
    std::fputs("write_documents: say the folder to write into\n", stderr);
    return 1;
  }
  CommandLine unused;
  const auto description = describe(*describe_command_line(unused));
  const std::string folder = argv[1];
  std::ofstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(folder + "/gputest.1");
  file << man_page(description) << std::flush;
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "write_documents: %s\n", error.what());
  return 1;
}
