// SPDX-License-Identifier: BSD-3-Clause
#include "seed.hpp"

#include <gputest/gtest/run_all_tests.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <iostream>
#include <string_view>

namespace {

unsigned chosen_seed = 1;

/// Reads `--seed=<n>`; false if the argument is anything else.
bool read_seed(std::string_view argument) {
  constexpr std::string_view flag = "--seed=";
  if (argument.substr(0, flag.size()) != flag) {
    return false;
  }
  const auto* end = argument.data() + argument.size();
  const auto [rest, error] = std::from_chars(argument.data() + flag.size(), end, chosen_seed);
  return error == std::errc{} && rest == end;
}

} // namespace

unsigned seed() { return chosen_seed; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv); // takes GoogleTest's own flags out of argv
  for (int i = 1; i < argc; ++i) {
    if (!read_seed(argv[i])) {
      std::cerr << argv[0] << ": unknown argument '" << argv[i] << "'; allowed: --seed=<n> and GoogleTest's flags\n";
      return 64;
    }
  }
  // Touch no GPU before this line: gputest chooses the devices here, before the first CUDA call.
  return gputest::run_all_tests();
}
