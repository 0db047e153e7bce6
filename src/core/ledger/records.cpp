// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/records.hpp"

#include "core/ledger/storage/slot_fifos.hpp"
#include "core/policy/queues.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <variant>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;

namespace {

bool is_there(Stage stage) { return stage != Stage::outside; }
bool is_queued(Stage stage) { return stage == Stage::entering || stage == Stage::waiting; }

} // namespace

/// The records in the stages that are wanted, as `make` makes them of records.
std::vector<Record> Records::read_where(bool (*wanted)(Stage), Record (*make)(std::size_t, const StoredRecord&)) const {
  std::vector<Record> records;
  store_->for_each<StoredRecord>([&](std::size_t slot, const StoredRecord& stored) {
    if (stored.stage == 0 || reclaimed_.count({slot, stored.identity}) != 0) {
      return;
    }
    Record record = make(slot, stored);
    if (!wanted(record.claim.stage)) {
      return;
    }
    const std::size_t part = store_->part_index(slot);
    for (DeviceMask* const devices : {&record.claim.candidates, &record.claim.devices, &record.claim.wanted}) {
      *devices = devices_->from_part(part, *devices);
    }
    record.uid = store_->owner_of(slot); // whatever the record says
    records.push_back(std::move(record));
  });
  return records;
}

std::vector<Record> Records::read() const { return read_where(is_there, to_unnamed_record); }

std::vector<Record> Records::read_named() const { return read_where(is_there, to_record); }

std::string Records::name_of(std::size_t slot) const { return text(store_->read<StoredRecord>(slot).who); }

void Records::write(const Record& record) {
  StoredRecord stored = to_stored(record);
  stored.candidates = devices_->to_own_part(stored.candidates);
  stored.devices = devices_->to_own_part(stored.devices);
  stored.wanted = devices_->to_own_part(stored.wanted);
  store_->write(record.slot, stored);
}

std::optional<pid_t> Records::process_with(std::size_t slot) const {
  return os::process_with(store_->liveness_fifo(slot));
}

bool Records::lives(std::size_t slot) const { return os::owner_lives(store_->liveness_fifo(slot)); }

Observations Records::observe(DeviceMask devices) const {
  Observations seen;
  seen.began = os::KernelClock::now();
  for_each_device(devices, [&](std::size_t index) {
    if (const std::string uuid = devices_->uuid(index); !uuid.empty()) {
      seen.devices[index] = probe_->observe(uuid);
    }
  });
  return seen;
}

Observations Records::observe_free_memory_only(DeviceMask devices) const {
  class FreeMemoryOnly : public Observation {
  public:
    explicit FreeMemoryOnly(policy::Capacity capacity) : capacity_{capacity} {}
    [[nodiscard]] policy::Capacity capacity(const std::vector<Record>& /*records*/,
                                            DeviceMask /*device*/) const override {
      return capacity_;
    }
    [[nodiscard]] bool is_back(const Record& /*ended*/, const std::vector<Record>& /*records*/) const override {
      return false;
    }

  private:
    policy::Capacity capacity_;
  };
  Observations seen;
  seen.began = os::KernelClock::now();
  seen.complete = false;
  bool quicker = true;
  for_each_device(devices, [&](std::size_t index) {
    const auto capacity = quicker ? probe_->least_capacity(devices_->uuid(index)) : std::nullopt;
    quicker = capacity.has_value();
    if (quicker) {
      seen.devices[index] = std::make_shared<FreeMemoryOnly>(*capacity);
    }
  });
  return quicker ? seen : observe(devices);
}

void Records::reap(std::vector<Record>& all, const std::vector<Record>& ended, const Observations& seen) {
  for (const Record& known : ended) {
    const auto record = std::find_if(all.begin(), all.end(), [&](const Record& e) { return is_same(e, known); });
    if (record == all.end()) {
      continue;
    }
    record->who = name_of(record->slot); // for the device probe, and to stay in the record
    bool back = true;
    for_each_device(record->claim.devices, [&](std::size_t index) {
      const auto observation = seen.devices.find(index);
      const bool is_device = observation != seen.devices.end() || !devices_->uuid(index).empty();
      // Where there is no device there is nothing that could be out.
      back = back && (!is_device || (observation != seen.devices.end() && observation->second->is_back(*record, all)));
    });
    if (back) {
      if (store_->is_own(record->slot)) {
        store_->write(record->slot, StoredRecord{});
      } else {
        reclaimed_.insert({record->slot, record->identity});
      }
      all.erase(record);
      continue;
    }
    record->alive = false;
    if (record->claim.stage == Stage::waiting || record->claim.stage == Stage::idle) {
      record->claim.stage = Stage::inside;
      if (store_->is_own(record->slot)) {
        write(*record);
      }
    }
  }
}

policy::Snapshot Records::snapshot(const std::vector<Record>& all, DeviceMask of_interest,
                                   const Observations& seen) const {
  policy::Snapshot snapshot;
  for_each_device(of_interest, [&](std::size_t index) {
    snapshot.devices.resize(index + 1);
    if (const auto observation = seen.devices.find(index); observation != seen.devices.end()) {
      snapshot.devices[index] = observation->second->capacity(all, DeviceMask{1} << index);
    }
  });
  for (const auto& record : all) {
    snapshot.claims.push_back(record.claim);
  }
  return snapshot;
}

/// A process that cannot see who waits cannot wake them either.
std::vector<Record> Records::read_queued() const {
  try {
    return read_where(is_queued, to_unnamed_record);
  } catch (const LedgerError& error) {
    throw os::CannotNotify{error.what()};
  }
}

void Records::notify_concerned(std::uint64_t granted) const {
  const auto queued = read_queued();
  std::vector<policy::Claim> claims;
  claims.reserve(queued.size());
  for (const auto& record : queued) {
    claims.push_back(record.claim);
  }
  std::vector<Record> concerned;
  for (const std::size_t position : policy::concerned(claims, granted)) {
    concerned.push_back(queued[position]);
  }
  notify(concerned);
}

void Records::notify_all_queued() const { notify(read_queued()); }

void Records::notify(const std::vector<Record>& records) const {
  std::optional<std::string> problem;
  for (const auto& record : records) {
    try {
      os::notify(store_->wake_fifo(record.slot));
    } catch (const LedgerError& error) { // or the store's folder is closed
      problem = error.what();
    }
  }
  if (problem) {
    throw os::CannotNotify{*problem};
  }
}

std::vector<std::size_t> slots_of(const std::vector<Record>& records) {
  std::vector<std::size_t> slots(records.size());
  std::transform(records.begin(), records.end(), slots.begin(), [](const Record& record) { return record.slot; });
  return slots;
}

policy::DeviceMask devices_of(const std::vector<Record>& records) {
  policy::DeviceMask devices = 0;
  for (const Record& record : records) {
    devices |= record.claim.devices;
  }
  return devices;
}

bool has(const std::vector<Record>& records, const Record& one) {
  return std::any_of(records.begin(), records.end(), [&](const Record& record) { return is_same(record, one); });
}

std::vector<Record> in_slots(const std::vector<Record>& records, const std::vector<std::size_t>& slots) {
  std::vector<Record> found;
  std::copy_if(records.begin(), records.end(), std::back_inserter(found),
               [&](const Record& record) { return std::find(slots.begin(), slots.end(), record.slot) != slots.end(); });
  return found;
}

std::optional<Record> lease_above(const std::vector<os::Ancestor>& ancestors, const std::vector<Record>& holders,
                                  const std::function<bool(const Record&)>& is_inherited) {
  const auto find = [&](const auto& is_it) {
    const auto found = std::find_if(holders.begin(), holders.end(), is_it);
    return found == holders.end() ? std::nullopt : std::optional{*found};
  };
  for (const os::Ancestor& ancestor : ancestors) {
    const auto above = find([&](const Record& holder) {
      return holder.pid == ancestor.pid && holder.uid == ancestor.uid && holder.start_time != 0 &&
             holder.start_time == ancestor.start_time;
    });
    if (above) {
      return above;
    }
  }
  return find(is_inherited);
}

void explain_unleased_memory(Blocked& blocked, const std::vector<Record>& all, std::size_t own,
                             policy::DeviceMask devices, const Observations& seen) {
  for_each_device(devices, [&](std::size_t index) {
    const auto observation = seen.devices.find(index);
    if (observation == seen.devices.end()) {
      return;
    }
    const auto device = policy::DeviceMask{1} << index;
    std::uint64_t external = observation->second->capacity(all, device).external_bytes;
    const auto beyond = observation->second->over_lease_bytes(all, device);
    bool known = false;
    for (std::size_t i = 0; i < beyond.size(); ++i) {
      external -= std::min(external, beyond[i]);
      known = known || beyond[i] > 0;
      if (i == own) {
        blocked.own_excess_bytes = std::max(blocked.own_excess_bytes, beyond[i]);
      } else if (beyond[i] > 0) {
        blocked.excesses.push_back({all[i], beyond[i]});
      }
    }
    if (external > (known ? bytes_of_an_unused_device : 0)) {
      blocked.external_bytes = std::max(blocked.external_bytes, external);
    }
  });
}

Evaluation evaluate(const std::vector<Record>& all, std::size_t own, const policy::Snapshot& snapshot,
                    const Observations& seen, bool queued) {
  const policy::Claim& claim = all[own].claim;
  Evaluation evaluation;
  evaluation.decision = policy::decide(snapshot, own);
  // A process that passes others must not delay them: how much external processes have of the device has to be known.
  const bool nobody_else_waits = std::none_of(all.begin(), all.end(), [&](const Record& record) {
    return record.slot != all[own].slot && record.claim.stage == policy::Stage::waiting &&
           (record.claim.wanted & claim.wanted) != 0;
  });
  evaluation.decided =
      seen.complete || (std::holds_alternative<policy::Grant>(evaluation.decision) && nobody_else_waits);
  if (const auto* wait = std::get_if<policy::Wait>(&evaluation.decision)) {
    evaluation.external = wait->external;
    if (claim.stage == policy::Stage::entering) {
      for_each_device(claim.candidates, [&](std::size_t index) {
        if (index < snapshot.devices.size() && policy::is_kept_out_by_external(claim, snapshot.devices[index])) {
          evaluation.kept_out |= policy::DeviceMask{1} << index;
        }
      });
    }
    if (claim.stage == policy::Stage::entering && !snapshot.external_is_certain) {
      policy::Snapshot certain = snapshot;
      certain.external_is_certain = true;
      const auto then = policy::decide(certain, own);
      const auto* waits = std::get_if<policy::Wait>(&then);
      evaluation.may_pass = waits == nullptr || waits->blockers != wait->blockers;
    }
    evaluation.blocked.own_overhead_bytes = claim.overhead_bytes;
    if (wait->external || !queued) {
      explain_unleased_memory(evaluation.blocked, all, own, policy::asked_devices(claim), seen);
    }
    if (!wait->external) {
      evaluation.blocked.excesses.clear();
      evaluation.blocked.external_bytes = 0;
    }
    for (const std::size_t blocker : wait->blockers) {
      evaluation.blocked.blockers.push_back(all[blocker]);
      (all[blocker].alive ? evaluation.living : evaluation.dead).push_back(all[blocker]);
    }
    const auto leaving = policy::idle_to_evict(snapshot, own, *wait);
    for (const std::size_t idle : leaving.positions) {
      evaluation.to_leave.push_back(all[idle]);
    }
    evaluation.they_leave =
        !evaluation.to_leave.empty() &&
        (leaving.enough || (evaluation.to_leave.size() == evaluation.living.size() && !evaluation.external));
    if (wait->behind == 0) {
      evaluation.stuck = policy::is_stuck(snapshot, own);
    }
    for_each_device(claim.wanted, [&](std::size_t index) {
      evaluation.nobody_moves =
          evaluation.nobody_moves || policy::everybody_waits(snapshot, policy::DeviceMask{1} << index);
    });
  }
  return evaluation;
}

} // namespace gputest::ledger
