// SPDX-License-Identifier: BSD-3-Clause
// A library of test helpers that uses gputest.

#include <gputest/gputest.hpp>

using namespace gputest::literals;

GPUTEST_NEEDS(Passes, one, 64_GiB);

std::size_t devices_seen() { return gputest::current_devices().size(); }
