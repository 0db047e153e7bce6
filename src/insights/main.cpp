// SPDX-License-Identifier: BSD-3-Clause
#include "insights/commands.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  using namespace gputest::insights;
  gputest::tool::CommandLine line{""};
  add_plan(line);
  add_slurm(line);
  add_report(line);
  add_merge(line);
  return line.run({argv + (argc > 0 ? 1 : 0), argv + argc});
} catch (const std::exception& error) {
  std::fprintf(stderr, "gputest: %s\n", error.what());
  return to_int(gputest::tool::ExitCode::internal_error);
}
