// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/memory_request.hpp"

namespace gputest::policy {

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
