// SPDX-License-Identifier: BSD-3-Clause
#include "tags.hpp"

#include <gputest/error.hpp>

#include <charconv>

namespace gputest::catch2 {

namespace {

/// What follows `prefix` in a tag; nullopt for another tag.
std::optional<std::string> behind(const std::string& prefix, const std::string& tag) {
  return tag.compare(0, prefix.size(), prefix) == 0 ? std::optional{tag.substr(prefix.size())} : std::nullopt;
}

int parse_count(const std::string& text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw InvalidSetting{"the tag [gpus:" + text + "] has no number of GPUs; write 1 to 16, as in [gpus:2]"};
  }
  return count;
}

template <class Value>
void say_once(std::optional<Value>& said, const Value& value, const std::string& tag) {
  if (said) {
    throw InvalidSetting{"the tag [" + tag + "] says again what another tag says; say it once"};
  }
  said = value;
}

} // namespace

Needs needs_of(const std::vector<std::string>& tags) {
  Needs needs;
  for (const auto& tag : tags) {
    if (const auto size = behind("gpu:", tag)) {
      say_once(needs.bytes, parse_bytes(*size, "the size in the tag [" + tag + "]"), tag);
    } else if (const auto count = behind("gpus:", tag)) {
      say_once(needs.gpus, parse_count(*count), tag);
    } else if (tag == "no_gpu") {
      needs.no_gpu = true;
    } else if (tag == "gpu_alone") {
      needs.alone = true;
    } else if (tag == "gpu_small" || tag == "gpu_medium" || tag == "gpu_large") {
      say_once(needs.memory_class, parse_memory_class(*behind("gpu_", tag)), tag);
    } else if (behind("gpu_", tag) || behind("gpu-", tag) || behind("gpus", tag)) {
      throw InvalidSetting{"the tag [" + tag +
                           "] is none of gputest's; allowed are [gpu_small], [gpu_medium], "
                           "[gpu_large], [gpu_alone], [gpu:<size>] as in [gpu:3GiB] and [gpus:<n>] as in [gpus:2]"};
    }
  }
  if (const auto why = contradiction_in(needs); !why.empty()) {
    throw InvalidSetting{"the tags say " + why};
  }
  return needs;
}

} // namespace gputest::catch2
