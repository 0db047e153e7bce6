// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/test_run.hpp>

#include <string>

namespace gputest::policy {

using detail::Notation;

/// What messages advise to write, which each notation has its own words for.
enum class Advice {
  in_cmake,      ///< behind a keyword of the entry
  gpus,          ///< so many devices
  number_gpus,   ///< another number of devices
  announce,      ///< what the largest test needs
  needs,         ///< any memory
  says_no_gpu,   ///< what was written for a test that uses none
  lease,         ///< memory for code that has none; empty: it depends on where that is
  in_test,       ///< where a memory resource has a lease
  take_by_lease, ///< so much, for a test that was to use none; empty: it depends on the test
  keep,          ///< so much that may stay allocated
  keep_library,  ///< before what allows that
  large_beside,  ///< a large test beside others
  large_wait,    ///< a large test that waits
  wait_limit,    ///< a longer one
  own_process,   ///< for a test
};

/// The words, with `value` in place of each `{}`. Pure.
[[nodiscard]] std::string words(Advice advice, Notation notation, const std::string& value = {});

} // namespace gputest::policy
