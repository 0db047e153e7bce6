#include <gputest/gtest/listener.hpp>

#include "gtest/current_session.hpp"
#include "gtest/suites.hpp"

namespace gputest {

using detail::CurrentSession;

void Listener::OnTestProgramStart(const ::testing::UnitTest& unit_test) {
  // Before any environment: one that was registered earlier than ours may use CUDA.
  CurrentSession::instance().begin(unit_test);
}

void Listener::OnTestStart(const ::testing::TestInfo& test_info) {
  const auto fixture = detail::fixture_of(test_info);
  auto& current = CurrentSession::instance();
  if (fixture.scoped) {
    current.require_usable(test_info);
  } else {
    current.take(current.requirement_of(test_info, fixture.memory_class), test_info);
  }
}

void Listener::OnTestEnd(const ::testing::TestInfo& test_info) { CurrentSession::instance().finish(test_info); }

} // namespace gputest
