// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/capability.hpp>

#include <gputest/error.hpp>

#include "support/message_of.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputest {
namespace {

using namespace literals;
using capabilities::free_memory;
using capabilities::memory_pools;
using capabilities::mig;
using capabilities::sm;
using capabilities::total_memory;

TEST(Capabilities, are_read_and_written) {
  struct Case {
    std::string text;
    Capabilities expected;
    std::string written;
  };
  const std::vector<Case> cases{
      {"", {}, ""},
      {"memory_pools", {memory_pools}, "memory_pools"},
      {"sm_80 memory_pools", {memory_pools, sm(80)}, "memory_pools, sm_80"},
      {"sm_80,memory_pools;mig", {memory_pools, sm(80), mig}, "memory_pools, mig, sm_80"},
      {" sm_80  ", {sm(80)}, "sm_80"},
      {"total_memory=40GiB free_memory=1.5GiB",
       {total_memory(40_GiB), free_memory(1536_MiB)},
       "total_memory of 40 GiB, free_memory of 1.5 GiB"},
      {"sm_80 sm_75", {sm(80)}, "sm_80"},
      {"managed_memory concurrent_managed_access peer_access cooperative_launch tcc wddm",
       {capabilities::managed_memory, capabilities::concurrent_managed_access, capabilities::peer_access,
        capabilities::cooperative_launch, capabilities::tcc, capabilities::wddm},
       "managed_memory, concurrent_managed_access, peer_access, cooperative_launch, tcc, wddm"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(parse_capabilities(c.text), c.expected) << c.text;
    EXPECT_EQ(to_string(parse_capabilities(c.text)), c.written);
    EXPECT_EQ(parse_capabilities(c.text).empty(), c.written.empty());
  }
}

TEST(Capabilities, that_are_unknown_are_refused_with_all_that_there_are) {
  for (const std::string word :
       {"pools", "no_tcc", "sm", "sm_", "sm_9", "sm_1000", "sm_90a", "total_memory", "sm=80"}) {
    EXPECT_EQ(tests::message_of<InvalidSetting>([&] { (void)parse_capabilities("tcc " + word, "GPUTEST_REQUIRES"); }),
              "GPUTEST_REQUIRES='tcc " + word + "' cannot be used: '" + word +
                  "' is unknown; it is any of memory_pools, managed_memory, concurrent_managed_access, peer_access, "
                  "cooperative_launch, tcc, wddm, mig, sm_<n> such as sm_80, total_memory=<size>, free_memory=<size>");
  }
  EXPECT_EQ(tests::message_of<InvalidSetting>([] { (void)parse_capabilities("free_memory=3", "GPUTEST_REQUIRES"); }),
            "GPUTEST_REQUIRES: free_memory '3' has no unit; write a number and a unit, such as 256MiB, 3GiB or 1.5GiB "
            "(units: B, KiB, MiB, GiB, TiB)");
}

TEST(Capabilities, together_are_all_of_both_with_the_larger_amounts) {
  const Capabilities a{memory_pools, sm(70), total_memory(8_GiB)};
  const Capabilities b{mig, sm(80), total_memory(4_GiB)};
  EXPECT_EQ(a | b, (Capabilities{memory_pools, mig, sm(80), total_memory(8_GiB)}));
  EXPECT_EQ(a | Capabilities{}, a);
  EXPECT_NE(a, b);
}

} // namespace
} // namespace gputest
