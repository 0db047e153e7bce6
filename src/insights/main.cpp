// SPDX-License-Identifier: BSD-3-Clause
#include "insights/classify_command.hpp"
#include "insights/isolate_command.hpp"
#include "insights/plan_command.hpp"
#include "insights/report_command.hpp"
#include "tool/application.hpp"

int main(int argc, char** argv) {
  using namespace gputest;
  using namespace gputest::insights;
  const tool::Insights insights{insights::plan_command, report_command, classify_command, isolate_command};
  return tool::run_application({argv + (argc > 0 ? 1 : 0), argv + argc}, &insights);
}
