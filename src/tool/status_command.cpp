// SPDX-License-Identifier: BSD-3-Clause
#include "tool/status_command.hpp"

#include "core/ledger/ledger_view.hpp"
#include "core/os/user_name.hpp"
#include "tool/json_text.hpp"
#include "tool/status_report.hpp"

#include <gputest/settings.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace gputest::tool {

ExitCode status_command(bool json) {
  const auto view = ledger::look_at_ledger(settings_from_environment());
  const auto report = make_status(view, std::chrono::system_clock::now(), os::user_name);
  fmt::print("{}", json ? json_text(to_json(report)) : to_text(report));
  return ExitCode::done;
}

} // namespace gputest::tool
