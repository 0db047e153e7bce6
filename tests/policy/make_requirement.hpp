#pragma once

#include <gputest/requirement.hpp>

#include <optional>

namespace gputest {

/// A requirement with every member given, for what its constructors have no words for.
inline Requirement make_requirement(MemoryClass memory_class, std::optional<Bytes> bytes, int gpus = 1) {
  Requirement requirement{memory_class};
  requirement.bytes = bytes;
  requirement.gpus = gpus;
  return requirement;
}

} // namespace gputest
