#pragma once

#include <gtest/gtest.h>

namespace gputest {

/// Chooses this process's devices, pins them, and enters the machine-wide ledger, before the first test.
///
/// The constructor does nothing. SetUp() may block until there is room for one more process on a device. It is enough
/// to call run_all_tests(), which registers one.
class Environment : public ::testing::Environment {
public:
  void SetUp() override;
};

} // namespace gputest
