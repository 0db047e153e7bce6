// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <utility>

namespace gputest::tests {

Tool::Tool() {
  set("GPUTEST_DEVICES", "simulated:1x16GiB");
  set("GPUTEST_DIR", ledger());
  set("GPUTEST_RUN_MODE", "serial");
}

ChildProcess Tool::start(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return {std::move(command), environment_};
}

ChildProcess Tool::start_holder(const std::vector<std::string>& options) const {
  std::vector<std::string> arguments{"run"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const char* const word : {"--", "sh", "-c", "echo here; cat >/dev/null"}) {
    arguments.emplace_back(word);
  }
  auto holder = start(arguments);
  holder.wait_for_out("here");
  return holder;
}

nlohmann::json Tool::report_of(const std::string& command) const {
  const auto ended = run({command, "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  return nlohmann::json::parse(ended.out);
}

std::string Tool::path() {
  const char* const path = std::getenv("GPUTEST_CLI");
  return path != nullptr ? path : GPUTEST_CLI;
}

} // namespace gputest::tests
