// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/private_folder.hpp"

#include <gputest/session.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputest::tests {

/// How many of these events are in the run logs of a folder.
inline std::ptrdiff_t count_events(const std::string& folder, const std::string& event) {
  std::ptrdiff_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    std::ifstream log{entry.path()};
    for (std::string line; std::getline(log, line);) {
      count += line.find("\"event\":\"" + event + "\"") != std::string::npos ? 1 : 0;
    }
  }
  return count;
}

/// A program without a test framework: a process with two simulated devices of 4 GiB, a ledger that nobody else uses,
/// and its session. Each test is a process of its own.
class CoreTest : public ::testing::Test {
protected:
  explicit CoreTest(const std::string& context) {
    settings_.devices = "simulated:2x4GiB,context=" + context;
    settings_.folder = folder_.path() + "/ledger";
    settings_.run_mode = RunModeSetting::serial;
    for (const char* const name :
         {"CUDA_VISIBLE_DEVICES", "CTEST_INTERACTIVE_DEBUG_MODE", "DASHBOARD_TEST_FROM_CTEST"}) {
      unsetenv(name);
    }
  }

  Session& enter(std::vector<Request> requests) {
    Plan plan;
    plan.requests = std::move(requests);
    session_.emplace(settings_, entry_);
    EXPECT_EQ(session_->enter(plan).kind, Outcome::Kind::granted);
    return *session_;
  }

  PrivateFolder folder_;
  Settings settings_;
  Entry entry_;
  std::optional<Session> session_;
};

} // namespace gputest::tests
