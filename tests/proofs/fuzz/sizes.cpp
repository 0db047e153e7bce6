// SPDX-License-Identifier: BSD-3-Clause
// Sizes and memory requests. An input is a size as a user writes it.

#include "proofs/fuzz/fuzzer.hpp"

#include <gputest/error.hpp>
#include <gputest/request.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

using namespace gputest;
using tests::require;

namespace {

template <class Parse>
auto parse(Parse parse_text, const std::string& text) -> std::optional<decltype(parse_text(text, ""))> {
  try {
    return parse_text(text, "THE_NAME");
  } catch (const InvalidSetting& error) {
    require(tests::contains(error.what(), text), "a refusal names the text", error.what());
    require(tests::contains(error.what(), "THE_NAME"), "a refusal names what was read", error.what());
    return std::nullopt;
  }
}

void check_that_a_size_is_written_as_it_is_read(Bytes size) {
  require(parse_bytes(std::to_string(size.count()) + "B") == size, "bytes are read exactly");
  std::string written = to_string(size);
  written.erase(std::remove(written.begin(), written.end(), ' '), written.end());
  const auto read = static_cast<double>(parse_bytes(written).count());
  const auto exact = static_cast<double>(size.count());
  // Two decimals of at least 1.00.
  require(std::abs(read - exact) <= exact * 0.005 + 1, "a size is written and read as about itself", written);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr Bytes most{std::uint64_t{1} << 50U};
  const std::string text{tests::text_of(data, size)};
  const auto bytes = parse(&parse_bytes, text);
  const auto request = parse(&parse_request, text);
  if (bytes) {
    require(*bytes > Bytes{} && *bytes <= most, "a size is between one byte and 1024 TiB", text);
    require(request && request->bytes == bytes, "a size is a request", text);
    check_that_a_size_is_written_as_it_is_read(*bytes);
  } else if (request) {
    require(!request->bytes && to_string(*request) == text, "what is no size is a class", text);
  }
  if (size >= sizeof(std::uint64_t)) {
    std::uint64_t count = 0;
    std::memcpy(&count, data, sizeof count);
    require(!to_string(Bytes{count}).empty(), "every number of bytes can be written");
    check_that_a_size_is_written_as_it_is_read(Bytes{count % most.count() + 1});
  }
  return 0;
}
