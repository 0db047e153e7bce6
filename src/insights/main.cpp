// SPDX-License-Identifier: BSD-3-Clause
#include "cli/application.hpp"
#include "cli/classify_command.hpp"
#include "cli/isolate_command.hpp"
#include "cli/plan_command.hpp"
#include "cli/report_command.hpp"

int main(int argc, char** argv) {
  using namespace gputest::cli;
  const Insights insights{plan_command, report_command, classify_command, isolate_command};
  return run_application({argv + (argc > 0 ? 1 : 0), argv + argc}, &insights);
}
