// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/ledger.hpp"
#include "support/child_process.hpp"
#include "support/private_folder.hpp"
#include "support/shared_probe.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>

namespace gputest::tests {

/// A process on the ledger of a test; support/ledger_process.cpp says what it understands.
class LedgerProcess {
public:
  LedgerProcess(const std::string& folder, const std::string& probe)
      : process_{{GPUTEST_LEDGER_PROCESS, folder, probe}, {}} {
    EXPECT_EQ(process_.read_line(), "ready");
  }

  /// Tells it to do something, and returns what it answers next: what came of it, or `waits for ...`.
  std::string ask(const std::string& command) {
    process_.say(command);
    return process_.read_line();
  }

  /// Blocks until it says something more.
  std::string answer() { return process_.read_line(); }

  void say(const std::string& line) { process_.say(line); }

  /// Kills it, and blocks until it is gone; its forked children go on.
  void kill() {
    process_.kill(SIGKILL);
    EXPECT_EQ(process_.finish().signal, SIGKILL);
  }

  /// Lets it end by itself.
  void end() { EXPECT_EQ(process_.finish().exit_code, 0); }

  [[nodiscard]] pid_t pid() const { return process_.pid(); }

private:
  ChildProcess process_;
};

/// A ledger in a folder of its own, and devices of 100 bytes each that nobody else uses.
class LedgerTest : public ::testing::Test {
protected:
  LedgerTest() {
    for (std::size_t device = 0; device < SharedProbe::count; ++device) {
      devices_.device(device).total_bytes = 100;
    }
  }

  LedgerProcess start() { return LedgerProcess{folder(), probe_file()}; }

  /// A process that has entered on these devices, with 10 bytes of overhead and leases of up to 60 bytes to wait for.
  LedgerProcess start_inside(const std::string& who, const std::string& devices = "1", const std::string& gpus = "1") {
    LedgerProcess process = start();
    EXPECT_EQ(process.ask("enter " + who + " " + devices + " " + gpus + " 10 60"), "granted " + devices);
    return process;
  }

  template <class... Names>
  std::array<LedgerProcess, sizeof...(Names)> start_all_inside(const Names&... names) {
    return {start_inside(names)...};
  }

  /// Where the process stands in the ledger, by what it was last said to do; `outside` if it is not there.
  std::string stage_of(const std::string& who) {
    for (const auto& entry : look().records()) {
      if (entry.who == who) {
        constexpr std::array<const char*, 6> names{"outside", "entering", "inside", "waiting", "holding", "idle"};
        return std::string{entry.alive ? "" : "ended "} + names.at(static_cast<std::size_t>(entry.claim.stage));
      }
    }
    return "outside";
  }

  /// The ledger as this test's own process sees it; there is one object a process.
  ledger::Ledger& look() {
    if (!ledger_) {
      ledger_ = std::make_unique<ledger::Ledger>(folder(), std::make_shared<SharedProbe>(probe_file()));
    }
    return *ledger_;
  }

  [[nodiscard]] std::string folder() const { return folder_.path() + "/ledgers"; }
  [[nodiscard]] std::string probe_file() const { return folder_.path() + "/devices"; }

  PrivateFolder folder_;
  SharedProbe devices_{probe_file()};

private:
  std::unique_ptr<ledger::Ledger> ledger_;
};

} // namespace gputest::tests
