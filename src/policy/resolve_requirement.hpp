#pragma once

#include <gputest/requirement.hpp>

#include <optional>

namespace gputest::policy {

/// What a test asks for, from all that is said of it. Pure.
///
/// The annotation goes before the fixture, and the fixture before the CTest entry. A fixture's class stays where the
/// bytes come from an annotation; bytes of the entry hold for the medium and large fixtures in it that say no bytes.
/// The number of GPUs is the larger of the annotation's and the entry's; the heap is the annotation's, else the
/// entry's.
[[nodiscard]] Requirement resolve_requirement(const std::optional<Requirement>& annotation,
                                              const std::optional<MemoryClass>& fixture, const Requirement& entry);

} // namespace gputest::policy
