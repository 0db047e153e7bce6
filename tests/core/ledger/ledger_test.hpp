// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/ledger/stored_record.hpp"
#include "support/child_process.hpp"
#include "support/private_folder.hpp"
#include "support/shared_probe.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <mutex>
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

  policy::Claim claim_of(const std::string& who) {
    const auto all = look().records();
    const auto record = std::find_if(all.begin(), all.end(), [&](const auto& r) { return r.who == who; });
    EXPECT_NE(record, all.end()) << who;
    return record == all.end() ? policy::Claim{} : record->claim;
  }

  /// Stops a process at a point where it does not hold the ledger's mutex.
  void stop(const LedgerProcess& process) {
    os::SlotStore& store = this->store();
    const std::lock_guard guard{store.mutex()};
    stop_anywhere(process);
  }

  static void stop_anywhere(const LedgerProcess& process) {
    ASSERT_EQ(::kill(process.pid(), SIGSTOP), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(process.pid(), &status, WUNTRACED), process.pid());
    ASSERT_TRUE(WIFSTOPPED(status));
  }

  static void go_on(const LedgerProcess& process) { ASSERT_EQ(::kill(process.pid(), SIGCONT), 0); }

  [[nodiscard]] std::string folder() const { return folder_.path() + "/ledgers"; }
  [[nodiscard]] std::string probe_file() const { return folder_.path() + "/devices"; }

  os::SlotStore& store() {
    if (!store_) {
      store_ = std::make_unique<os::SlotStore>(folder(), ledger::ledger_name, ledger::ledger_layout);
    }
    return *store_;
  }

  PrivateFolder folder_;
  SharedProbe devices_{probe_file()};

private:
  std::unique_ptr<ledger::Ledger> ledger_;
  std::unique_ptr<os::SlotStore> store_;
};

} // namespace gputest::tests
