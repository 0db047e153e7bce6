// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/needs.hpp>

#include <string>
#include <vector>

namespace gputest::catch2 {

/// What the tags of a test case say, without their brackets. `no_gpu`, and tags that begin with `gpu_`, `gpu-`, `gpu:`
/// or `gpus`, are gputest's; others say nothing.
///
/// Throws InvalidSetting, naming the tag and what is allowed, for one that cannot be used or contradicts another.
[[nodiscard]] Needs needs_of(const std::vector<std::string>& tags);

} // namespace gputest::catch2
