// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/client.hpp"

#include "core/ledger/records.hpp"
#include "core/ledger/storage/slot_store.hpp"
#include "core/os/process.hpp"
#include "core/policy/queues.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <utility>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;

bool Client::forked() const { return liveness_ && own_.pid != os::own_pid(); }

Observations Client::take(std::unique_lock<os::FileLock>& guard, DeviceMask devices) {
  const bool has_place = liveness_ || !why_given_up_.empty();
  if (has_place) {
    require_kept();
  }
  const auto known = has_place ? std::vector<Record>{} : records_->read();
  guard.unlock();
  const auto ended = in_slots(known, os::LivenessWatches{*store_}.ended_among(slots_of(known)));
  auto seen = records_->observe(devices | devices_of(ended));
  const auto start_time = os::start_time_of(os::own_pid());
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
  own_.slot = taken.slot;
  own_.pid = os::own_pid();
  own_.start_time = start_time.value_or(0);
  own_.uid = store_->owner_of(own_.slot);
  own_.identity = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  // A process that still watches this liveness FIFO for the exit of its last owner cannot detect that exit any more.
  records_->notify_all_queued();
  return seen;
}

void Client::require_kept() const {
  if (!why_given_up_.empty()) {
    throw LedgerError{"this process has lost its place on the ledger: " + why_given_up_};
  }
  liveness_.require_kept();
  fifo_.require_kept();
}

void Client::require_in_place() const {
  store_->require_in_place();
  if (liveness_) { // else there is more to say than that it is gone: require_kept()
    liveness_.require_in_place(store_->liveness_fifo(own_.slot));
  }
}

void Client::give_up_slot(const std::string& why) {
  liveness_ = os::LivenessFifo{};
  fifo_ = os::WakeFifo{};
  why_given_up_ = why;
}

void Client::write() {
  own_.since = std::chrono::system_clock::now();
  correct();
}

void Client::correct() {
  require_kept();
  records_->write(own_);
}

void Client::stop_wanting() {
  const bool has_entered = own_.claim.stage != Stage::entering;
  own_.claim.stage = has_entered ? Stage::inside : Stage::outside;
  own_.claim.behind = 0;
  own_.claim.wanted = 0;
  own_.claim.lease_bytes = 0;
  own_.claim.exclusive = false;
  own_.claim.medium_lock = false;
}

void Client::become_idle() {
  // Under the mutex, before the record says so: whoever reads the record notifies after this.
  fifo_.drain();
  change_stage(Stage::idle);
}

void Client::resume() { change_stage(Stage::inside); }

void Client::change_stage(Stage stage) {
  const Stage before = std::exchange(own_.claim.stage, stage);
  try {
    write();
  } catch (...) {
    own_.claim.stage = before;
    throw;
  }
}

DeviceMask Client::asked_of_own_devices() const {
  DeviceMask asked = 0;
  for (const Record& record : records_->read()) {
    const DeviceMask devices = policy::asked_devices(record.claim);
    asked |= (devices & own_.claim.devices) != 0 && record.claim.behind == 0 ? devices : 0;
  }
  return asked;
}

bool Client::is_in_the_way(const Observations& seen) const {
  auto all = records_->read();
  const std::size_t position = with_own(all);
  return policy::is_in_the_way(records_->snapshot(all, asked_of_own_devices(), seen), position);
}

std::size_t Client::with_own(std::vector<Record>& all) const {
  auto own = std::find_if(all.begin(), all.end(), [&](const Record& record) { return record.slot == own_.slot; });
  if (own == all.end()) {
    own = all.insert(all.end(), own_);
  }
  *own = own_;
  return static_cast<std::size_t>(own - all.begin());
}

} // namespace gputest::ledger
