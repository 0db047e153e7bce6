#include "cli/ledger_view.hpp"

#include "ledger/record.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace gputest::cli {

namespace {

/// Whether a process lives, or has ended and still has memory of a device. The ledger itself asks only when somebody
/// needs the bytes. Of a device that is not there (another GPUTEST_DEVICES, another container) nobody can tell, or
/// needs them.
bool still_counts(const ledger::Entry& entry, const std::vector<ledger::Entry>& entries,
                  const std::vector<std::string>& uuids, const ledger::DeviceWitness& witness) {
  if (entry.alive) {
    return true;
  }
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    const auto device = policy::DeviceMask{1} << i;
    if ((entry.claim.devices & device) != 0 && witness.capacity(uuids[i], entries, device).total_bytes != 0 &&
        !witness.is_back(uuids[i], entry)) {
      return true;
    }
  }
  return false;
}

} // namespace

bool ledger_exists(const std::string& folder) {
  std::error_code error;
  const auto store = std::filesystem::path{folder} / ("ledger-" + std::to_string(ledger::ledger_layout.version));
  const bool found = std::filesystem::exists(store, error);
  if (error) {
    throw LedgerError{"cannot look into the ledger's folder '" + folder + "': " + error.message() +
                      "; it has to be readable and writable for everybody who shares the GPUs, or give another in "
                      "GPUTEST_DIR"};
  }
  return found;
}

LedgerView look_at_ledger(const std::string& folder, const std::shared_ptr<const ledger::DeviceWitness>& witness) {
  LedgerView view;
  view.exists = ledger_exists(folder);
  if (!view.exists) {
    return view;
  }
  ledger::Ledger ledger{folder, witness};
  const ledger::DeviceTable& table = ledger.devices();
  for (std::size_t i = 0; i < ledger::most_devices && !table.uuid(i).empty(); ++i) {
    view.uuids.push_back(table.uuid(i));
    view.overhead_bytes.push_back(table.overhead_bytes(policy::DeviceMask{1} << i));
  }
  const auto all = ledger.entries();
  std::copy_if(all.begin(), all.end(), std::back_inserter(view.entries),
               [&](const ledger::Entry& entry) { return still_counts(entry, all, view.uuids, *witness); });
  return view;
}

std::vector<std::string> uuids_in(const LedgerView& view, policy::DeviceMask devices) {
  std::vector<std::string> uuids;
  for (std::size_t i = 0; i < view.uuids.size(); ++i) {
    if ((devices & (policy::DeviceMask{1} << i)) != 0) {
      uuids.push_back(view.uuids[i]);
    }
  }
  return uuids;
}

} // namespace gputest::cli
