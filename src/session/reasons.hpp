#pragma once

#include "ledger/ledger.hpp"

#include <gputest/requirement.hpp>

#include <chrono>
#include <string>

namespace gputest::session {

// Why a test is skipped or fails: what was asked, what was seen, what to do next.

/// A large test while ctest runs tests in parallel; `because` is what shows that it does.
[[nodiscard]] std::string excluded_in_parallel(const std::string& who, const std::string& because,
                                               const std::string& command);

/// A large test that found others on its device.
[[nodiscard]] std::string excluded_by_others(const std::string& who, const ledger::Blocked& others,
                                             const std::string& command);

/// A request that no device can ever hold.
[[nodiscard]] std::string never_fits(const std::string& who, const policy::Refusal& refusal);

/// Devices that lack what a test requires; `why` is what was asked and what they have.
[[nodiscard]] std::string not_capable(const std::string& who, const std::string& why);

/// The wait limit ran out.
[[nodiscard]] std::string waited_too_long(const std::string& who, const std::string& what, std::chrono::seconds limit,
                                          const ledger::Blocked& blocked);

/// Contexts have grown until nobody on the device can go on.
[[nodiscard]] std::string contexts_leave_no_room(const std::string& who, const std::string& what,
                                                 const ledger::Blocked& blocked);

/// More than the process announced when it entered.
[[nodiscard]] std::string not_announced(const std::string& who, const std::string& what, const ledger::Blocked& others);

/// More than the lease under which the process runs.
[[nodiscard]] std::string beyond_cover(const std::string& what, const ledger::Entry& cover);

} // namespace gputest::session
