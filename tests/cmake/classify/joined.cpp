// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include <gputest/gputest.hpp>

TEST(Joined, has_the_memory_of_its_entry) { const auto memory = take(700); }

GPUTEST_NEEDS(Joined, is_too_small, 300_MiB, keeps(300_MiB));
TEST(Joined, is_too_small) { const auto memory = take(301 + 2 + 1); }

GPUTEST_NEEDS(Joined, is_far_too_large, 8_GiB);
TEST(Joined, is_far_too_large) { const auto memory = take(1024); }
