// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"
#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tests {

/// What GoogleTest's report says of one test.
struct Report {
  bool skipped = false;
  std::string failures;      ///< empty if it did not fail
  std::string memory;        ///< the property gputest_memory
  std::string devices;       ///< the property gputest_devices
  std::string overuse;       ///< the property gputest_overuse
  std::string out_of_memory; ///< the property gputest_out_of_memory
  std::string peak;          ///< the property gputest_peak_bytes
  std::string evidence;      ///< the property gputest_peak_evidence
  std::string left;          ///< the property gputest_left_bytes
};

/// Runs the suites of tests/gtest/suites as processes of their own, with a ledger that only they share.
///
/// They see one simulated device of 4 GiB whose contexts take nothing, and no other setting of the machine. Run mode
/// serial, since the ctest that runs this test must not decide.
class SuiteTest : public ::testing::Test {
protected:
  SuiteTest();

  /// Sets a variable for the suites started from now on.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }

  /// Starts a suite of which the test that calls sees every stop (see suites/stop_at.hpp).
  [[nodiscard]] ChildProcess start(const std::string& suite, std::vector<std::string> arguments = {}) const;

  /// Starts another program with the suites' environment.
  [[nodiscard]] ChildProcess start_program(std::vector<std::string> command) const {
    return {std::move(command), environment_};
  }

  /// Where a suite's executable is. A path stays.
  [[nodiscard]] static std::string path_of(const std::string& suite);

  /// Starts the test `Medium.with_bytes` of the suite `annotated`, which holds 3 GiB when this returns.
  ///
  /// Holds until it is told to go on, or is finished.
  [[nodiscard]] ChildProcess start_holder() const;

  /// Runs a suite that stops nowhere, to its end. If GPUTEST_ENTRY is set, as CTest runs an entry.
  [[nodiscard]] Ended run(const std::string& suite, std::vector<std::string> arguments = {}) const;

  /// Runs a suite, and reads what GoogleTest reports of those of its tests that ran.
  [[nodiscard]] std::map<std::string, Report> reports_of(const std::string& suite, const std::string& filter) const;

  /// What a report of GoogleTest's in a file says of the tests that ran.
  [[nodiscard]] static std::map<std::string, Report> read_reports(const std::string& file);

  /// Who is on the ledger and alive.
  [[nodiscard]] std::vector<ledger::Record> entries() const;

  /// The claim of that process; outside if it is not on the ledger.
  [[nodiscard]] policy::Claim claim_of(const ChildProcess& process) const;

  /// Blocks until that process is seen at that stage; CTest's limit ends a test that waits in vain.
  void wait_for(const ChildProcess& process, policy::Stage stage) const;

  [[nodiscard]] std::string ledger() const { return folder_.path() + "/ledger"; }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

private:
  PrivateFolder folder_;
  ChildProcess::Environment environment_ = bare_environment();
};

/// Tests that GoogleTest said it ran, in order.
[[nodiscard]] std::vector<std::string> tests_run(const std::string& out);

/// How often `text` is in `whole`.
[[nodiscard]] std::size_t count(const std::string& whole, const std::string& text);

} // namespace gputest::tests
