// SPDX-License-Identifier: BSD-3-Clause
// Also what <gputest/memory_class.hpp>, <gputest/request.hpp> and <gputest/needs.hpp> declare.
#include "core/policy/request.hpp"

#include <gputest/error.hpp>
#include <gputest/needs.hpp>

#include <array>

namespace gputest {

namespace {

// In the order of their enumerators.
constexpr std::array memory_classes{"small", "medium", "large"};
constexpr std::array large_policies{"exclude", "serial", "wait"};

template <class Enum, std::size_t N>
Enum parse(const std::array<const char*, N>& words, std::string_view text, std::string_view what) {
  std::string allowed;
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == text) {
      return static_cast<Enum>(i);
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string{words[i]};
  }
  throw InvalidSetting{std::string{what} + " '" + std::string{text} + "' is unknown; it is one of " + allowed};
}

} // namespace

std::string_view to_string(MemoryClass memory_class) {
  return memory_classes.at(static_cast<std::size_t>(memory_class));
}

MemoryClass parse_memory_class(std::string_view text, std::string_view what) {
  return parse<MemoryClass>(memory_classes, text, what);
}

std::string_view to_string(LargePolicy policy) { return large_policies.at(static_cast<std::size_t>(policy)); }

LargePolicy parse_large_policy(std::string_view text, std::string_view what) {
  return parse<LargePolicy>(large_policies, text, what);
}

std::string_view to_string(MemoryKind kind) {
  return kind == MemoryKind::pool ? "pool" : kind == MemoryKind::malloc ? "malloc" : "managed";
}

MemoryClass class_of(Bytes bytes) {
  using namespace literals;
  return bytes <= 256_MiB ? MemoryClass::small : MemoryClass::medium;
}

Request::Request(Bytes b) : memory_class{class_of(b)}, bytes{b} {}

Request parse_request(std::string_view text, std::string_view what) {
  constexpr std::string_view alone = " alone";
  if (text.size() > alone.size() && text.substr(text.size() - alone.size()) == alone) {
    Request request = parse_request(text.substr(0, text.size() - alone.size()), what);
    request.alone = true;
    return request;
  }
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
  if (request.alone) {
    text += " alone";
  }
  if (request.heap > Bytes{}) {
    text += " and a heap of " + to_string(request.heap);
  }
  if (!request.capabilities.empty()) {
    text += ", requiring " + to_string(request.capabilities);
  }
  return text;
}

std::string memory_text(Request request) {
  request.capabilities = {};
  return to_string(request);
}

Request resolve(const Needs& test, const Needs& suite, std::optional<MemoryClass> fixture, const Request& entry) {
  Request request = entry;
  if (test.says_memory() || suite.says_memory()) {
    const Needs& memory = test.says_memory() ? test : suite;
    request.memory_by = test.says_memory() ? SaidBy::test : SaidBy::suite;
    request.bytes = memory.bytes;
    if (memory.memory_class) {
      request.memory_class = *memory.memory_class;
    } else {
      request.memory_class = suite.memory_class.value_or(fixture.value_or(class_of(*memory.bytes)));
    }
  } else if (fixture) {
    request.memory_class = *fixture;
    request.bytes = *fixture == MemoryClass::small || entry.is_estimated() ? std::nullopt : entry.bytes;
    request.memory_by = request.bytes ? entry.memory_by : SaidBy::fixture;
  }
  request.gpus = test.gpus.value_or(suite.gpus.value_or(entry.gpus));
  request.heap = test.heap.value_or(suite.heap.value_or(entry.heap));
  request.keeps = test.keeps.value_or(suite.keeps.value_or(entry.keeps));
  request.keeps_by = test.keeps ? SaidBy::test : suite.keeps ? SaidBy::suite : SaidBy::entry;
  request.alone = test.alone || suite.alone || entry.alone;
  request.capabilities = test.capabilities | suite.capabilities | entry.capabilities;
  return request;
}

bool uses_gpu(const Needs& test, const Needs& suite, bool host_otherwise) {
  if (test.no_gpu || test.says_gpu()) {
    return !test.no_gpu;
  }
  return suite.no_gpu || suite.says_gpu() ? !suite.no_gpu : !host_otherwise;
}

std::string contradiction_in(const Needs& needs) {
  if (needs.no_gpu && needs.says_gpu()) {
    return "no_gpu and what it needs of a GPU; a test that uses no GPU says no_gpu alone";
  }
  if (needs.bytes == Bytes{}) {
    return "a size of 0 bytes; a test without GPU memory needs no size, and small is up to 256 MiB";
  }
  if (needs.bytes && needs.memory_class == MemoryClass::small && class_of(*needs.bytes) != MemoryClass::small) {
    return "small and " + to_string(*needs.bytes) + "; small is up to 256 MiB: leave small out, or say medium or large";
  }
  if (needs.gpus && (*needs.gpus < 1 || *needs.gpus > max_gpus)) {
    return "gpus(" + std::to_string(*needs.gpus) + "); a test has 1 to " + std::to_string(max_gpus) + " GPUs";
  }
  if (needs.gpus == 1 && needs.capabilities.has(Capability::Kind::peer_access)) {
    return "gpus(1) and peer_access, which is between devices; say gpus(2) or more";
  }
  if (auto mistake = mistake_in(needs.capabilities); !mistake.empty()) {
    return mistake;
  }
  if (needs.heap == Bytes{}) {
    return "a heap of 0 bytes; leave heap() out to keep the one that is there";
  }
  return "";
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

Bytes estimate_for(Bytes needed) {
  constexpr std::uint64_t granularity = std::uint64_t{2} << 20U;
  constexpr std::uint64_t sizes_of_an_octave = 16;
  std::uint64_t step = granularity;
  while (needed.count() / step >= 2 * sizes_of_an_octave) {
    step *= 2;
  }
  return Bytes{(needed.count() + step - 1) / step * step};
}

Request fitted(Request request, Bytes largest) {
  if (request.is_estimated() && request.bytes && *request.bytes > largest) {
    request.memory_class = MemoryClass::large;
    request.bytes.reset();
  }
  return request;
}

MemoryRequest to_memory_request(const Request& request, Bytes device_bytes) {
  using namespace literals;
  if (request.bytes) {
    return {*request.bytes, false, request.alone};
  }
  switch (request.memory_class) {
  case MemoryClass::small:
    return {256_MiB, false, request.alone};
  case MemoryClass::medium:
    return {Bytes{device_bytes.count() / 2}, !request.alone, request.alone};
  case MemoryClass::large:
    break;
  }
  return {0_B, false, true};
}

} // namespace gputest::policy
