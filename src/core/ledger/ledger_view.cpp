// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/ledger_view.hpp"

#include "core/devices/device_list.hpp"
#include "core/ledger/device_probe.hpp"
#include "core/ledger/storage/ledger_folder.hpp"
#include "core/ledger/stored_record.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gputest::ledger {

namespace {

/// Whether a process is alive, or has exited and the device still shows its memory. The ledger itself asks only when a
/// process needs the bytes. For a device that is not visible here (another GPUTEST_DEVICES, another container) this is
/// not known, and no process here needs them.
bool still_counts(const Record& record, const std::vector<Record>& records, const std::vector<std::string>& uuids,
                  const DeviceProbe& probe) {
  if (record.alive) {
    return true;
  }
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    const auto device = policy::DeviceMask{1} << i;
    if ((record.claim.devices & device) != 0 && probe.capacity(uuids[i], records, device).total_bytes != 0 &&
        !probe.is_back(uuids[i], record, records)) {
      return true;
    }
  }
  return false;
}

/// That of its process, which has ended as far as can be seen here if another one has its pid: it may be in another
/// container.
os::ProcessState state_of(const Record& record) {
  const auto pid = static_cast<pid_t>(record.pid);
  const bool is_another = record.start_time != 0 && os::start_time_of(pid) != record.start_time;
  return is_another ? os::ProcessState::ended : os::state_of(pid);
}

} // namespace

LedgerView look_at_ledger(const std::string& folder, const std::shared_ptr<const DeviceProbe>& probe) {
  LedgerView view;
  view.folder = folder;
  view.exists = os::has_store(folder, ledger_name);
  if (!view.exists) {
    return view;
  }
  view.shared = os::LedgerFolder{folder}.is_shared();
  Ledger ledger{folder, probe};
  static_cast<Ledger::Contents&>(view) = ledger.contents();
  auto all = std::exchange(view.records, {});
  std::vector<os::ProcessState> states;
  states.reserve(all.size());
  for (const auto& record : all) {
    states.push_back(state_of(record));
  }
  // A process closes its files before it becomes a zombie. If its claim is still held then, a child holds it, or the
  // process exited between the two reads.
  if (std::count(states.begin(), states.end(), os::ProcessState::ended) != 0) {
    const auto again = ledger.contents().records;
    for (auto& record : all) {
      record.alive = record.alive && std::any_of(again.begin(), again.end(), [&](const Record& later) {
                       return later.slot == record.slot && later.identity == record.identity && later.alive;
                     });
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (still_counts(all[i], all, view.uuids, *probe)) {
      view.records.push_back(all[i]);
      view.states.push_back(states[i]);
    }
  }
  return view;
}

LedgerView look_at_ledger(const Settings& settings) {
  const std::string folder = os::ledger_folder(settings.folder, settings.devices);
  if (!os::has_store(folder, ledger_name)) { // opening simulated devices would create the folder
    LedgerView view;
    view.folder = folder;
    return view;
  }
  // The devices show whether the memory of exited processes is free.
  std::string why_none;
  const std::shared_ptr<const devices::DeviceList> list = devices::open_devices(settings, why_none);
  return look_at_ledger(folder, make_probe(list));
}

std::vector<std::string> uuids_in(const LedgerView& view, policy::DeviceMask devices) {
  std::vector<std::string> uuids;
  for_each_device(devices, [&](std::size_t index) {
    if (index < view.uuids.size()) {
      uuids.push_back(view.uuids[index]);
    }
  });
  return uuids;
}

} // namespace gputest::ledger
