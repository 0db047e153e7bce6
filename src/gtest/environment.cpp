#include <gputest/gtest/environment.hpp>

#include "gtest/current_session.hpp"

namespace gputest {

void Environment::SetUp() { detail::CurrentSession::instance().begin(*::testing::UnitTest::GetInstance()); }

} // namespace gputest
