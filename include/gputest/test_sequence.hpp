// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/session.hpp>
#include <gputest/test_run.hpp>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace gputest::detail {

/// What a test needs of the devices.
struct TestNeeds {
  enum class Use {
    lease,  ///< a lease of `request` while it runs
    own,    ///< it takes its leases itself, of devices that meet `request`
    shared, ///< the lease of its suite, of devices that meet `request`
    none,   ///< it uses no GPU
  };
  Use use = Use::lease;
  Request request;
  std::string mistake; ///< why it cannot run, whatever the devices are; empty: it can
};

/// What happens around each test, in every framework: it asks, holds its lease, gives it back, and is examined. For the
/// adapters, which know what tests need, and report what came of them.
///
/// Errors of settings and of the ledger fail each test that uses a GPU. Not thread-safe.
class TestSequence {
public:
  /// Makes the session of this process, with the settings of the environment, and enters the ledger with `plan`, which
  /// is given the request of the entry. Blocks as Session::enter() does. If no test uses a GPU (`any`), tests are
  /// examined only, and `why_none` fails one that asks for a GPU all the same.
  void open(bool any, const std::string& why_none, const std::function<Plan(const Request&)>& plan);

  /// The tests that follow are another entry's. False: they need a call of open(). Throws Error if a setting of the
  /// entry cannot be used.
  [[nodiscard]] bool next_entry();

  /// Null before open(), and if settings cannot be used.
  [[nodiscard]] Session* session() { return session_ ? &*session_ : nullptr; }

  [[nodiscard]] Request entry_request() const { return session_ ? session_->entry().request : Request{}; }

  /// The test begins: leases what it needs. Blocks as Session::lease() does. `before` is code that has run since the
  /// last test, and may have taken memory, such as `Sort::SetUpTestSuite()`.
  [[nodiscard]] Outcome begin(const std::string& test, const TestNeeds& needs, const std::string& before = {});

  /// As begin(), in a test that has begun, and turns out to need something else.
  [[nodiscard]] Outcome ask(const std::string& test, const TestNeeds& needs);

  /// A lease that the running test takes itself. If that is a skip, the reason is empty where it is not to be printed.
  /// Blocks and throws as Session::lease() does; an error if settings cannot be used. From any thread.
  [[nodiscard]] Lease lease(const std::string& test, const Request& request);

  /// False if it is certain that begin() grants no lease, whatever others hold.
  [[nodiscard]] bool can_run(const std::string& test, const TestNeeds& needs) noexcept;

  /// A suite begins that holds one lease for all its tests.
  [[nodiscard]] Outcome begin_suite(const std::string& suite, const TestNeeds& needs);

  /// Counts memory that `where` may have taken without a lease.
  void count_unleased(const std::string& where) noexcept;

  /// What the test has done to its process by now, under its lease.
  [[nodiscard]] Findings examine(const std::string& test) { return session_ ? session_->examine(test) : Findings{}; }

  /// The test, or suite, has ended: gives its lease back, and then examines it. Tests leave their suite's lease alone.
  [[nodiscard]] Findings end(const std::string& test);
  [[nodiscard]] Findings end_suite(const std::string& suite);

  /// Writes to the run log what became of the test that has ended. If gputest has skipped it, its reason is gputest's.
  void ended(TestRun::TestEnd test);

  /// How the run of so many tests has ended, of which so many have neither failed nor were skipped. In an entry it is
  /// a skip if gputest has skipped one of them: CTest would show nothing else of that.
  [[nodiscard]] TestRun::End finish(std::uint64_t selected, std::uint64_t passed, bool failed) const;

  /// In this run: how many tests gputest has skipped, and whether it has failed one that could not run.
  [[nodiscard]] int skips() const { return skips_; }
  [[nodiscard]] bool has_failed_one() const { return has_failed_one_; }

private:
  [[nodiscard]] Outcome answer(const std::string& test, const TestNeeds& needs);

  std::optional<Session> session_;
  bool never_enters_ = false;       ///< no test uses a GPU
  std::string unusable_;            ///< why there is no session
  Lease lease_;                     ///< of the running test or suite
  Request leased_;                  ///< what lease_ is of
  std::optional<Outcome> of_suite_; ///< what came of the running suite's lease, if it asked for one
  std::mutex mutex_;                ///< of what any thread may change:
  Outcome outcome_;                 ///< of the running test
  int skips_ = 0;
  bool has_failed_one_ = false;
};

} // namespace gputest::detail
