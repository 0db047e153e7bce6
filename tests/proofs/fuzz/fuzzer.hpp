// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

/// One fuzzer a file, and one function a fuzzer: libFuzzer calls it, or replay.cpp does where there is no libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gputest::tests {

/// Ends the process unless `holds`: that is how a fuzzer says that this input breaks a claim.
inline void require(bool holds, const char* claim, const std::string& seen = {}) {
  if (!holds) {
    std::fprintf(stderr, "broken: %s%s%s\n", claim, seen.empty() ? "" : ": ", seen.c_str());
    std::abort();
  }
}

/// The input as text. A NUL ends it, as it ends a variable or an argument.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  return text.substr(0, text.find('\0'));
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Whether a terminal shows the text as it is.
inline bool is_printable(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU) {
      return false;
    }
  }
  return true;
}

} // namespace gputest::tests
