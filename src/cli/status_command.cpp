#include "cli/status_command.hpp"

#include "cli/json_text.hpp"
#include "cli/ledger_view.hpp"
#include "cli/status_report.hpp"
#include "cli/user_name.hpp"
#include "devices/device_list.hpp"
#include "devices/witness.hpp"
#include "policy/settings.hpp"
#include "system/environment.hpp"
#include "system/process.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace gputest::cli {

ExitCode status_command(bool json) {
  const auto settings = policy::parse_settings(system::read_variable);
  LedgerView view;
  if (ledger_exists(settings.folder)) { // to open simulated devices would make the folder
    // The devices are asked whether the memory of processes that have ended is back.
    std::string why_none;
    const std::shared_ptr<const devices::DeviceList> list = devices::open_devices(settings, why_none);
    view = look_at_ledger(settings.folder, devices::make_witness(list));
  }
  const auto report = make_status(settings.folder, view, std::chrono::system_clock::now(), user_name, system::state_of);
  fmt::print("{}", json ? json_text(to_json(report)) : to_text(report));
  return ExitCode::done;
}

} // namespace gputest::cli
