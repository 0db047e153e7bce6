// SPDX-License-Identifier: BSD-3-Clause
// Fixtures of gputest in an executable whose main() does not run gputest.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

using namespace gputest::literals;

class Small : public gputest::SmallTest {};
TEST_F(Small, test) {}
class Medium : public gputest::MediumTest {};
TEST_F(Medium, test) {}
class Large : public gputest::LargeTest {};
TEST_F(Large, test) {}
class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, test) {}
TEST(NoFixture, leases) { static_cast<void>(gputest::lease(1_GiB)); }

} // namespace
