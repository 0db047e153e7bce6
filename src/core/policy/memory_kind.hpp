// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/memory_kind.hpp>

#include <optional>
#include <string>

namespace gputest::policy {

/// The kind of memory that a memory resource uses, and why.
struct MemoryKindChoice {
  MemoryKind kind = MemoryKind::pool;
  std::string because; ///< for people: `device 0 has memory pools`
};

/// Chooses between pool and malloc. Pure. What the test demands takes precedence over the setting, and that over what
/// the device can. Throws InvalidSetting if pools are demanded of a device without any.
[[nodiscard]] MemoryKindChoice choose_memory_kind(std::optional<MemoryKind> of_test,
                                                  std::optional<MemoryKind> of_setting, bool has_pools, int device);

} // namespace gputest::policy
