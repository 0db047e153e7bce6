// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/notation.hpp"

#include <gputest/bytes.hpp>
#include <gputest/request.hpp>

#include <string>

namespace gputest::policy {

/// A request that exceeds the running test's lease.
struct BeyondLease {
  std::string test;
  int device = 0;
  Bytes asked;
  Bytes held;      ///< by this test already
  Bytes leased;    ///< on that device
  int devices = 1; ///< how many the test has leased
  Bytes largest{}; ///< that a test can have of any device here; 0: not known
};

/// What was asked, held and leased, and what to write so that it fits. Pure.
[[nodiscard]] std::string beyond_lease(const BeyondLease& request, Notation notation = Notation::annotations);

/// A size as whole MiB or GiB, rounded up, so that what is advised is enough: `3GiB`; with `_` between, `3_GiB`.
[[nodiscard]] std::string as_written(Bytes bytes, const char* between = "");

/// For a test that needs more than any device here has for a test: what to do, as declaring it would not help. Pure.
[[nodiscard]] std::string beyond_all_devices(Bytes largest);

/// What holds a lease: a test, or a suite with one lease for all its tests.
enum class Named { test, suite };

/// What to write so that a test which has asked for `request` leases `needed`: `GPUTEST_NEEDS(Sort, keys,
/// 3_GiB, gpus(2))`, with all else that it needs, or the tag `[gpu:3GiB]`; or `MEMORY 3GiB` where that has an effect.
/// Pure. `test` is empty for a command that is no test of a framework.
[[nodiscard]] std::string declare(const std::string& test, Bytes needed, const Request& request,
                                  Named named = Named::test, Notation notation = Notation::annotations);

/// What to write so that a test which takes `needed` without a lease has one. Pure.
[[nodiscard]] std::string advise_lease(const std::string& test, Bytes needed,
                                       Notation notation = Notation::annotations);

/// What to write so that it may leave `bytes` allocated: `GPUTEST_NEEDS(Sort, keys, keeps(64_MiB)) or …`. No tag says
/// that. Pure.
[[nodiscard]] std::string allow_to_keep(const std::string& test, Bytes bytes, const Request& request, Named named,
                                        Notation notation = Notation::annotations);

/// Why memory that a memory resource was asked for while nothing is leased is refused. Pure.
[[nodiscard]] std::string without_lease(int device, Bytes asked, Notation notation = Notation::annotations);

} // namespace gputest::policy
