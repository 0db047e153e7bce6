#include <gputest/requirement.hpp>

#include <gputest/error.hpp>

namespace gputest {

MemoryClass class_of(Bytes bytes) {
  using namespace literals;
  return bytes <= 256_MiB ? MemoryClass::small : MemoryClass::medium;
}

Requirement::Requirement(Bytes b) : memory_class{class_of(b)}, bytes{b} {}

Requirement parse_requirement(std::string_view text, std::string_view what) {
  if (text.empty() || text.find_first_of("0123456789") == std::string_view::npos) {
    try {
      return parse_memory_class(text, what);
    } catch (const InvalidSetting& error) {
      throw InvalidSetting{std::string{error.what()} + ", or a size such as 3GiB"};
    }
  }
  return parse_bytes(text, what);
}

std::string to_string(const Requirement& requirement) {
  std::string text;
  if (requirement.gpus != 1) {
    text = std::to_string(requirement.gpus) + " x ";
  }
  if (!requirement.bytes) {
    text += to_string(requirement.memory_class);
  } else {
    text += (requirement.memory_class == MemoryClass::large ? "large with " : "") + to_string(*requirement.bytes);
  }
  if (requirement.heap > Bytes{}) {
    text += " and a heap of " + to_string(requirement.heap);
  }
  if (!requirement.capabilities.empty()) {
    text += ", requiring " + to_string(requirement.capabilities);
  }
  return text;
}

} // namespace gputest
