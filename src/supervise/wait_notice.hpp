// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "core/os/test_status_page.hpp"

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace gputest::supervise {

/// Tells people who do not see the output of tests why ctest seems to stand still: one line on ctest's own standard
/// error (where a test runs ctest, that of the outermost one) when no test has ended for some seconds in which this one
/// has waited, and at most one in a minute of all processes that watch entries of a ctest. The one that has waited
/// longest writes it. Says nothing where that cannot be done: ctest is another user's, or its folder cannot be written
/// to.
class WaitNotice {
public:
  /// Call it about once a second.
  void print_if_due(os::TestStatusPage& page);

private:
  os::Descriptor file_; ///< of all of this ctest, while this one waits; locked at the byte of the time since it waits
  pid_t ctest_ = 0;
  std::string log_;        ///< of ctest's, to which it writes when a test ends
  std::int64_t first_ = 0; ///< the first byte of this ctest's
  std::int64_t since_ = 0; ///< that byte
};

} // namespace gputest::supervise
