// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace gputest::ledger {
struct LedgerView;
}

namespace gputest::tool {

/// Where what the ledger does not have of users and processes is asked for.
struct People {
  std::string (*name_of_user)(std::uint32_t uid);
  /// Of the environment that a process was started with, as os::variable_of().
  std::optional<std::string> (*variable_of)(int pid, const std::string& name);
};

/// What `gputest status --json` prints of the ledger; its help documents the keys.
[[nodiscard]] nlohmann::ordered_json make_status(const ledger::LedgerView& view,
                                                 std::chrono::system_clock::time_point now, const People& people);

/// The same for people: a table, or a line that says that no process is on the ledger; and the ledger's folder.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& status);

} // namespace gputest::tool
