// SPDX-License-Identifier: BSD-3-Clause
// The second translation unit of `known` with the annotations of the header.

#include "known_in_header.hpp"
#include "stop_at.hpp"

#include <gputest/gputest.hpp>

TEST(InHeader, second) { stop_at("body"); }
