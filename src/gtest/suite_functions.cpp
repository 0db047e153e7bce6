// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gtest/fixtures.hpp>

namespace gputest {

// Their addresses identify the fixtures (known_needs.cpp); they have no other purpose. Each does something that no
// other function does, because a linker that folds equal functions would give them one address.
namespace {
volatile int suite_function = 0;
} // namespace

void SmallTest::SetUpTestSuite() { suite_function = 1; }
void SmallTest::TearDownTestSuite() { suite_function = 2; }
void MediumTest::SetUpTestSuite() { suite_function = 3; }
void MediumTest::TearDownTestSuite() { suite_function = 4; }
void LargeTest::SetUpTestSuite() { suite_function = 5; }
void LargeTest::TearDownTestSuite() { suite_function = 6; }
void ScopedTest::SetUpTestSuite() { suite_function = 7; }
void ScopedTest::TearDownTestSuite() { suite_function = 8; }
void HostTest::SetUpTestSuite() { suite_function = 9; }
void HostTest::TearDownTestSuite() { suite_function = 10; }

} // namespace gputest
