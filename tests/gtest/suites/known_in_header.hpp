// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/gtest/annotate.hpp>

// Each translation unit that includes this says it.
GPUTEST_SUITE_NEEDS(InHeader, 1_GiB);
GPUTEST_NEEDS(InHeader, first, 2_GiB);
