#pragma once

#include "session/session.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gputest::detail {

/// The session of this test executable, begun by the environment or the listener, whichever comes first.
class CurrentSession {
public:
  static CurrentSession& instance();

  /// Chooses devices and enters the ledger for the tests that GoogleTest will run. Does nothing the second time, nor
  /// where no test will run. Blocks as Session::enter() does. Never throws: what went wrong fails each test.
  void begin(const ::testing::UnitTest& unit_test);

  [[nodiscard]] bool begun() const { return begun_; }

  /// Leases for the running test, in place of what is leased for it already. Skips or fails the test if that cannot be.
  void take(const Requirement& requirement, const ::testing::TestInfo& test);

  /// Skips or fails the running test if this process can lease nothing at all (no GPU, an unusable setting), or if its
  /// devices lack what the test requires.
  void require_usable(const ::testing::TestInfo& test);

  /// Leases on top of nothing. Throws NestedLease if a lease is held.
  [[nodiscard]] session::Outcome acquire(const Requirement& requirement, const ::testing::TestInfo& test);

  /// Settles and gives back; fails the test if it left CUDA unusable, or closed what gputest needs.
  void release(const ::testing::TestInfo& test);

  /// What release() does; and fails the test if this process has a context on a device that was not given to it.
  void finish(const ::testing::TestInfo& test);

  [[nodiscard]] const std::vector<Device>& devices() const;

  /// What is known to be asked of a test: by its annotation, by its suite's fixture, by its CTest entry.
  [[nodiscard]] Requirement requirement_of(const ::testing::TestInfo& test, std::optional<MemoryClass> fixture) const;

private:
  [[nodiscard]] Requirement with_capabilities(Requirement requirement, const ::testing::TestInfo& test) const;
  void give_back(const ::testing::TestInfo& test);
  [[nodiscard]] session::Plan plan_for(const ::testing::UnitTest& unit_test) const;

  bool begun_ = false;
  bool death_test_child_ = false;
  std::optional<session::Session> session_;
  std::string unusable_;            ///< why there is no session
  std::string broken_by_;           ///< the test that left CUDA unusable, and how
  std::optional<Requirement> held_; ///< what is leased for the running test
};

} // namespace gputest::detail
