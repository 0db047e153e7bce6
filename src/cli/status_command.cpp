#include "cli/status_command.hpp"

#include "backend/device_list.hpp"
#include "cli/json_text.hpp"
#include "cli/ledger_view.hpp"
#include "cli/status_report.hpp"
#include "ledger/backend_probe.hpp"
#include "platform/ledger_folder.hpp"
#include "platform/user_name.hpp"

#include <gputest/settings.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace gputest::cli {

ExitCode status_command(bool json) {
  const auto settings = settings_from_environment();
  const std::string folder = platform::ledger_folder(settings.folder, settings.devices);
  LedgerView view;
  if (ledger_exists(folder)) { // opening simulated devices would create the folder
    // The devices show whether the memory of exited processes is free.
    std::string why_none;
    const std::shared_ptr<const backend::DeviceList> list = backend::open_devices(settings, why_none);
    view = look_at_ledger(folder, backend::make_probe(list));
  }
  const auto report = make_status(folder, view, std::chrono::system_clock::now(), platform::user_name);
  fmt::print("{}", json ? json_text(to_json(report)) : to_text(report));
  return ExitCode::done;
}

} // namespace gputest::cli
