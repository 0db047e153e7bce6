#include "policy/resolve_requirement.hpp"

#include <algorithm>

namespace gputest::policy {

Requirement resolve_requirement(const std::optional<Requirement>& annotation, const std::optional<MemoryClass>& fixture,
                                const Requirement& entry) {
  Requirement requirement = entry;
  if (annotation) {
    requirement = *annotation;
    if (annotation->bytes && fixture) {
      requirement.memory_class = *fixture;
    }
  } else if (fixture) {
    requirement = *fixture;
    if (*fixture != MemoryClass::small) {
      requirement.bytes = entry.bytes;
    }
  }
  requirement.gpus = std::max(requirement.gpus, entry.gpus);
  requirement.heap = requirement.heap > Bytes{} ? requirement.heap : entry.heap;
  requirement.capabilities = requirement.capabilities | entry.capabilities;
  return requirement;
}

} // namespace gputest::policy
