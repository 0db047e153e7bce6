// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/request.hpp>

#include <gputest/error.hpp>

namespace gputest {

MemoryClass class_of(Bytes bytes) {
  using namespace literals;
  return bytes <= 256_MiB ? MemoryClass::small : MemoryClass::medium;
}

Request::Request(Bytes b) : memory_class{class_of(b)}, bytes{b} {}

Request parse_request(std::string_view text, std::string_view what) {
  if (text.empty() || text.find_first_of("0123456789") == std::string_view::npos) {
    try {
      return parse_memory_class(text, what);
    } catch (const InvalidSetting& error) {
      throw InvalidSetting{std::string{error.what()} + ", or a size such as 3GiB"};
    }
  }
  return parse_bytes(text, what);
}

std::string to_string(const Request& request) {
  std::string text;
  if (request.gpus != 1) {
    text = std::to_string(request.gpus) + " x ";
  }
  if (!request.bytes) {
    text += to_string(request.memory_class);
  } else {
    text += (request.memory_class == MemoryClass::large ? "large with " : "") + to_string(*request.bytes);
  }
  if (request.heap > Bytes{}) {
    text += " and a heap of " + to_string(request.heap);
  }
  if (!request.capabilities.empty()) {
    text += ", requiring " + to_string(request.capabilities);
  }
  return text;
}

} // namespace gputest
