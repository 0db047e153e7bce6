// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/own_slot.hpp"

#include "core/ledger/records.hpp"
#include "core/ledger/storage/slot_store.hpp"
#include "core/os/process.hpp"
#include "core/policy/queues.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;

bool OwnSlot::forked() const { return liveness_ && record_.pid != os::own_pid(); }

Observations OwnSlot::take(std::unique_lock<os::FileLock>& guard, DeviceMask devices) {
  const bool has_place = liveness_ || !why_given_up_.empty();
  if (has_place) {
    require_kept();
  }
  const auto known = has_place ? std::vector<Record>{} : records_->read();
  guard.unlock();
  const auto ended = in_slots(known, os::LivenessWatches{*store_}.ended_among(slots_of(known)));
  auto seen = records_->observe(devices | devices_of(ended));
  const auto start_time = os::start_time_of(os::own_pid());
  const auto pids = os::pids_identity();
  guard.lock();
  if (liveness_ || !why_given_up_.empty()) {
    require_kept(); // another thread may have taken it meanwhile
    return seen;
  }
  auto all = records_->read();
  records_->reap(all, ended, seen);
  auto taken = store_->take([&](std::size_t slot) {
    return std::none_of(all.begin(), all.end(), [&](const Record& record) { return record.slot == slot; });
  });
  fifo_ = os::WakeFifo{store_->wake_fifo(taken.slot)};
  liveness_ = std::move(taken.liveness);
  record_.slot = taken.slot;
  record_.pid = os::own_pid();
  record_.start_time = start_time.value_or(0);
  record_.pids = pids;
  record_.uid = store_->owner_of(record_.slot);
  record_.identity = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  // A process that still watches this liveness FIFO for the exit of its last owner cannot detect that exit any more.
  records_->notify_all_queued();
  return seen;
}

void OwnSlot::require_kept() const {
  if (!why_given_up_.empty()) {
    throw LedgerError{"this process has lost its place on the ledger: " + why_given_up_};
  }
  liveness_.require_kept();
  fifo_.require_kept();
}

void OwnSlot::require_in_place() const {
  store_->require_in_place();
  if (liveness_) { // else there is more to say than that it is gone: require_kept()
    liveness_.require_in_place(store_->liveness_fifo(record_.slot));
  }
}

void OwnSlot::give_up(const std::string& why) {
  liveness_ = os::LivenessFifo{};
  fifo_ = os::WakeFifo{};
  why_given_up_ = why;
}

void OwnSlot::write() {
  record_.since = std::chrono::system_clock::now();
  correct();
}

void OwnSlot::correct() {
  require_kept();
  records_->write(record_);
}

void OwnSlot::withdraw_request() {
  const bool has_entered = record_.claim.stage != Stage::entering;
  record_.claim.stage = has_entered ? Stage::inside : Stage::outside;
  record_.claim.behind = 0;
  record_.claim.wanted = 0;
  record_.claim.lease_bytes = 0;
  record_.claim.exclusive = false;
  record_.claim.medium_lock = false;
}

void OwnSlot::become_idle() {
  // Under the mutex, before the record says so: whoever reads the record notifies after this.
  fifo_.drain();
  change_stage(Stage::idle);
}

void OwnSlot::resume() { change_stage(Stage::inside); }

void OwnSlot::change_stage(Stage stage) {
  const Stage before = std::exchange(record_.claim.stage, stage);
  try {
    write();
  } catch (...) {
    record_.claim.stage = before;
    throw;
  }
}

DeviceMask OwnSlot::asked_of_own_devices() const {
  DeviceMask asked = 0;
  for (const Record& record : records_->read()) {
    const DeviceMask devices = policy::asked_devices(record.claim);
    asked |= (devices & record_.claim.devices) != 0 && record.claim.behind == 0 ? devices : 0;
  }
  return asked;
}

bool OwnSlot::is_in_the_way(const Observations& seen) const {
  auto all = records_->read();
  const std::size_t position = with_own(all);
  return policy::is_in_the_way(records_->snapshot(all, asked_of_own_devices(), seen), position);
}

std::size_t OwnSlot::with_own(std::vector<Record>& all) const {
  auto own = std::find_if(all.begin(), all.end(), [&](const Record& record) { return record.slot == record_.slot; });
  if (own == all.end()) {
    own = all.insert(all.end(), record_);
  }
  *own = record_;
  return static_cast<std::size_t>(own - all.begin());
}

} // namespace gputest::ledger
