// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/mig_slices.hpp"

#include <gtest/gtest.h>

namespace gputest::policy {
namespace {

using Indices = std::vector<std::size_t>;

const DeviceKinds none{};
const DeviceKinds whole{{0, 1}, {}};
const DeviceKinds slices{{}, {0, 1, 2}};
const DeviceKinds mixed{{2, 3}, {0, 1}};

TEST(MigSlices, are_given_one_by_one) {
  EXPECT_EQ(max_for_a_process(none), 0U);
  EXPECT_EQ(max_for_a_process(whole), 2U);
  EXPECT_EQ(max_for_a_process(slices), 1U);
  EXPECT_EQ(max_for_a_process(mixed), 2U);
  EXPECT_EQ(max_for_a_process({{2}, {0, 1}}), 1U);
}

TEST(MigSlices, are_candidates_for_one_device_only) {
  EXPECT_EQ(candidates_for(mixed, {0, 1, 2, 3}, 1), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(candidates_for(mixed, {0, 1, 2, 3}, 2), (Indices{2, 3}));
  EXPECT_EQ(candidates_for(slices, {2, 0, 1}, 1), (Indices{2, 0, 1}));
}

TEST(MigSlices, are_shown_alone) {
  EXPECT_EQ(shown_by_cuda(slices, {1, 0}), Indices{1});
  EXPECT_EQ(shown_by_cuda(mixed, {0, 2}), Indices{0});
  EXPECT_EQ(shown_by_cuda(mixed, {2, 0, 3}), (Indices{2, 3}));
  EXPECT_EQ(shown_by_cuda(whole, {1, 0}), (Indices{1, 0}));
  EXPECT_EQ(shown_by_cuda(none, {}), Indices{});
}

} // namespace
} // namespace gputest::policy
