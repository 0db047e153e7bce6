// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/ctest_measurement.hpp"

#include <array>
#include <cstdio>

namespace gputest::core {

void tell_peak(Bytes peak) {
  std::array<char, 160> text{};
  constexpr double mebibyte = 1 << 20U;
  std::snprintf(text.data(), text.size(),
                "<CTestMeasurement type=\"numeric/double\" name=\"gputest_peak_mib\">%.3f</CTestMeasurement>\n",
                static_cast<double>(peak.count()) / mebibyte);
  std::fflush(stdout);
  std::fputs(text.data(), stdout);
  std::fflush(stdout);
}

} // namespace gputest::core
