// SPDX-License-Identifier: BSD-3-Clause
// What ctest leaves in LastTest.log, in which tests print what they like. An input is such a log.

#include "report/test_log.hpp"
#include "fuzz/fuzzer.hpp"

#include <cmath>

using namespace gputest;
using tests::require;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  for (const auto& [name, test] : report::parse_test_log(text)) {
    require(tests::contains(text, " Testing: " + name), "a test has a heading", name);
    require(!test.time || (std::isfinite(test.time->count()) && test.time->count() >= 0), "a time is a time", name);
    if (const auto& admitted = test.admitted) {
      require(admitted->gpus >= 0 && admitted->gpus < 100, "a number of GPUs has two digits", name);
      require(!report::asks_for_less(*admitted, *admitted), "a request is not less than itself", name);
      require(tests::contains(text, "gputest: admitted "), "a request was admitted", name);
    }
  }
  return 0;
}
