#include <gputest/lease.hpp>

#include "gtest/current_session.hpp"

#include <gputest/error.hpp>

#include <utility>

namespace gputest {

using detail::CurrentSession;

namespace {

const ::testing::TestInfo& running_test(const Requirement& requirement) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr || !CurrentSession::instance().begun()) {
    throw Error{"a lease for " + to_string(requirement) +
                " was asked for outside of a test that gputest runs; ask in the "
                "test's body, link gputest::main in place of gtest_main or end your main() with "
                "`return gputest::run_all_tests();`"};
  }
  return *test;
}

} // namespace

Lease::Lease(Lease&& other) noexcept { *this = std::move(other); }

Lease& Lease::operator=(Lease&& other) noexcept {
  std::swap(held_, other.held_);
  std::swap(must_fail_, other.must_fail_);
  std::swap(reason_, other.reason_);
  return *this;
}

Lease::~Lease() { release(); }

void Lease::release() noexcept {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  // One that outlives its test was given back when that ended.
  if (std::exchange(held_, false) && test != nullptr) {
    CurrentSession::instance().release(*test);
  }
}

Lease lease(const Requirement& requirement) {
  auto& current = CurrentSession::instance();
  const auto outcome = current.acquire(requirement, running_test(requirement));
  Lease lease;
  lease.held_ = outcome.kind == session::Outcome::Kind::granted;
  lease.must_fail_ = outcome.kind == session::Outcome::Kind::fail;
  lease.reason_ = outcome.reason;
  return lease;
}

} // namespace gputest
