// SPDX-License-Identifier: BSD-3-Clause
// What `ctest --show-only=json-v1` prints. An input is such a document; what is read of it is split.

#include "insights/ctest_suite.hpp"
#include "insights/shards.hpp"
#include "proofs/fuzz/fuzzer.hpp"

#include <gputest/error.hpp>

#include <algorithm>

using namespace gputest;
using tests::require;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  insights::CtestSuite suite;
  try {
    suite = insights::parse_ctest_suite({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return 0; // InvalidSetting is one
  }
  const auto& all = suite.tests;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& after = all[i].after;
    require(std::all_of(after.begin(), after.end(), [&](auto before) { return before < all.size() && before != i; }),
            "a test comes after others", all[i].name);
  }
  if (all.size() > 50) {
    return 0; // what is asked below takes as long as the suite is large
  }
  const auto shards = insights::assign_shards(all, 3);
  require(shards.size() == 3, "there are as many shards as were asked for");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto in = [&](std::size_t test) {
      std::vector<std::size_t> has_it;
      for (std::size_t shard = 0; shard < shards.size(); ++shard) {
        if (std::count(shards[shard].begin(), shards[shard].end(), test) == 1) {
          has_it.push_back(shard);
        }
      }
      return has_it;
    };
    const auto own = in(i);
    const auto& with = all[i].runs_with;
    require(with.empty() ? own.size() == 1 : !own.empty(), "each test is in a shard", all[i].name);
    for (const auto before : all[i].after) {
      const auto others = in(before);
      require(std::count(with.begin(), with.end(), before) == 0
                  ? std::find_first_of(own.begin(), own.end(), others.begin(), others.end()) != own.end()
                  : std::includes(own.begin(), own.end(), others.begin(), others.end()),
              "what comes after a test is in its shard", all[i].name);
    }
  }
  return 0;
}
