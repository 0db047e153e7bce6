// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace gputest::ledger {
struct LedgerView;
}

namespace gputest::tool {

/// What `gputest status --json` prints of the ledger; its help documents the keys. `name_of_user` turns a uid into a
/// name.
[[nodiscard]] nlohmann::ordered_json make_status(const ledger::LedgerView& view,
                                                 std::chrono::system_clock::time_point now,
                                                 std::string (*name_of_user)(std::uint32_t uid));

/// The same for people: a table, or one line that says `nobody`; and a line that says where the ledger is.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& status);

} // namespace gputest::tool
