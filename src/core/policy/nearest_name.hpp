// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace gputest::policy {

/// How many characters have to be inserted, removed, replaced, or exchanged with their neighbour, to make `b` of `a`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was probably meant by a mistyped one: that with the smallest edit distance, and of several the first.
/// Empty if there are no names. Pure.
[[nodiscard]] std::string nearest_name(std::string_view mistyped, const std::set<std::string>& names);

} // namespace gputest::policy
