// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/memory_request.hpp"

#include <gputest/error.hpp>

namespace gputest {

std::string_view to_string(MemoryKind kind) {
  return kind == MemoryKind::pool ? "pool" : kind == MemoryKind::malloc ? "malloc" : "managed";
}

} // namespace gputest

namespace gputest::policy {

MemoryKindChoice choose_memory_kind(std::optional<MemoryKind> of_test, std::optional<MemoryKind> of_setting,
                                    bool has_pools, int device) {
  const std::string name = "device " + std::to_string(device);
  const auto wish = of_test ? of_test : of_setting;
  if (!wish) {
    return has_pools ? MemoryKindChoice{MemoryKind::pool, name + " has memory pools"}
                     : MemoryKindChoice{MemoryKind::malloc, name + " has no memory pools"};
  }
  const std::string kind{to_string(*wish)};
  const std::string demand = of_test ? "the test demands it" : "GPUTEST_MEMORY_RESOURCE=" + kind + " demands it";
  if (*wish == MemoryKind::managed) {
    throw InvalidSetting{"a memory_resource of kind managed was asked for; write gputest::managed_memory_resource"};
  }
  if (*wish == MemoryKind::pool && !has_pools) {
    throw InvalidSetting{"a memory_resource of kind pool was asked for (" + demand + "), and " + name +
                         " has no memory pools (CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED is 0); ask for malloc, or "
                         "leave the choice to gputest with auto"};
  }
  return {*wish, demand};
}

MemoryRequest to_memory_request(const Request& request, Bytes device_bytes) {
  using namespace literals;
  if (request.bytes) {
    return {*request.bytes};
  }
  switch (request.memory_class) {
  case MemoryClass::small:
    return {256_MiB};
  case MemoryClass::medium:
    return {Bytes{device_bytes.count() / 2}, true};
  case MemoryClass::large:
    break;
  }
  return {0_B, false, true};
}

} // namespace gputest::policy
