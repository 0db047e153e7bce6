// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/request.hpp>

#include <optional>

namespace gputest {

/// A request with every member given, for what its constructors have no words for.
inline Request make_request(MemoryClass memory_class, std::optional<Bytes> bytes, int gpus = 1) {
  Request request{memory_class};
  request.bytes = bytes;
  request.gpus = gpus;
  return request;
}

} // namespace gputest
