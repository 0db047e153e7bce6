// SPDX-License-Identifier: BSD-3-Clause
#include "cli/status_command.hpp"

#include "cli/json_text.hpp"
#include "cli/status_report.hpp"
#include "ledger/ledger_view.hpp"
#include "platform/user_name.hpp"

#include <gputest/settings.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace gputest::cli {

ExitCode status_command(bool json) {
  const auto view = ledger::look_at_ledger(settings_from_environment());
  const auto report = make_status(view, std::chrono::system_clock::now(), platform::user_name);
  fmt::print("{}", json ? json_text(to_json(report)) : to_text(report));
  return ExitCode::done;
}

} // namespace gputest::cli
