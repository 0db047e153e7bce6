// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace gputest {

/// What a test needs of one GPU's memory. A class is a label and a policy; if bytes are known, bytes decide.
enum class MemoryClass {
  small,  ///< up to 256 MiB a device; runs in parallel
  medium, ///< up to half of the device, one at a time; or the bytes it declares, as many at once as fit
  large,  ///< the whole device, or the bytes it declares; excluded while ctest runs tests in parallel
};

/// `small`, `medium` or `large`.
[[nodiscard]] std::string_view to_string(MemoryClass memory_class);

/// Reads a class name. Throws InvalidSetting for any other text, which the message calls `what`.
[[nodiscard]] MemoryClass parse_memory_class(std::string_view text, std::string_view what = "memory class");

/// What happens to a large test while other tests may run.
enum class LargePolicy {
  exclude, ///< skipped, with the reason and the command that runs it
  serial,  ///< CTest runs it alone (RUN_SERIAL); it still waits for processes that CTest does not know
  wait,    ///< waits until its memory is free
};

/// `exclude`, `serial` or `wait`.
[[nodiscard]] std::string_view to_string(LargePolicy policy);

/// Reads a policy name. Throws InvalidSetting for any other text, which the message calls `what`.
[[nodiscard]] LargePolicy parse_large_policy(std::string_view text, std::string_view what = "large policy");

} // namespace gputest
