// SPDX-License-Identifier: BSD-3-Clause
// Runs where the first libnvidia-ml.so.1 on the search path is not a library, whatever the machine has besides.
#include "core/devices/cuda/cuda_driver.hpp"

#include <gtest/gtest.h>

namespace gputest::devices {
namespace {

TEST(NvmlNoDriver, says_which_library_cannot_be_opened_and_why) {
  std::string why;
  EXPECT_FALSE(open_real(why));
  EXPECT_EQ(why.rfind("no NVIDIA driver: libnvidia-ml.so.1 cannot be opened (", 0), 0U) << why;
  EXPECT_NE(why.find("invalid ELF header"), std::string::npos) << why;
}

} // namespace
} // namespace gputest::devices
