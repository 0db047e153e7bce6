// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.hpp"

#include "core/policy/queues.hpp"
#include "support/observed.hpp"

#include <set>
#include <variant>

namespace gputest::tests::storm {

namespace {

std::string device_name(std::size_t device) { return "device " + std::to_string(device); }

} // namespace

void Oracle::use(const Uses& uses) {
  Row& row = board_->row_of(number_);
  for (std::size_t device = 0; device < board_->devices; ++device) {
    const Use before = Use::unpacked(row.uses.at(device));
    Use after = uses.at(device);
    after.version = before.version;
    if (after.packed() != before.packed()) {
      ++after.version;
      row.uses.at(device) = after.packed();
    }
  }
  for (std::size_t device = 0; device < board_->devices; ++device) {
    if (uses.at(device).inside) {
      check(device);
    }
  }
}

/// Of any who break a rule together, the last one to say what it uses finds it out.
void Oracle::check(std::size_t device) const {
  struct Seen {
    std::atomic<std::uint64_t>* place;
    std::uint64_t word;
  };
  for (;;) {
    std::array<Seen, most_rows> seen{};
    std::size_t users = 0;
    std::size_t exclusive = 0;
    std::size_t medium_locks = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < board_->row_count; ++i) {
      Row& row = board_->rows[i];
      const std::uint64_t word = row.uses.at(device);
      const Use use = Use::unpacked(word);
      if (use.inside) {
        seen.at(users++) = {&row.uses.at(device), word};
        bytes += use.overhead_bytes + use.leased_bytes;
        exclusive += use.exclusive ? 1 : 0;
        medium_locks += use.medium_lock ? 1 : 0;
      }
    }
    if (bytes <= device_bytes && medium_locks <= 1 && (exclusive == 0 || users == 1)) {
      return;
    }
    // Somebody may have given back what was read first before somebody else took what was read last.
    bool unchanged = true;
    for (std::size_t user = 0; user < users; ++user) {
      unchanged = unchanged && *seen.at(user).place == seen.at(user).word;
    }
    if (unchanged) {
      board_->violate(Rule::budget, device_name(device) + " has " + std::to_string(bytes) + " of " +
                                        std::to_string(device_bytes) + " bytes in use by " + std::to_string(users) +
                                        " processes, " + std::to_string(exclusive) + " of them exclusive and " +
                                        std::to_string(medium_locks) + " of the medium lock");
      return;
    }
  }
}

void Oracle::asks(bool enters, policy::DeviceMask devices, std::uint64_t bytes, std::uint64_t overhead_bytes,
                  bool exclusive, bool medium_lock) {
  request_ = {};
  request_.number = number_;
  request_.enters = enters;
  request_.asked = devices;
  request_.bytes = bytes + overhead_bytes;
  request_.exclusive = exclusive;
  request_.medium_lock = medium_lock;
  Row& row = board_->row_of(number_);
  row.was_stopped = false;
  row.delayed_at = 0;
  row.waiting.devices = enters ? 0 : devices;
  row.waiting.bytes = bytes;
  row.waiting.overhead_changes = board_->overhead_changes.load();
  request_.asked_at = board_->now();
}

void Oracle::is_queued() {
  request_.queued_at = board_->now();
  if (!request_.enters) {
    board_->row_of(number_).waiting.queued_at = request_.queued_at;
  }
}

void Oracle::ends() {
  Row& row = board_->row_of(number_);
  row.waiting.queued_at = 0;
  row.holds_since = 0;
}

void Oracle::is_granted(policy::DeviceMask devices) {
  request_.devices = devices;
  request_.looked_at = looked_at_;
  Row& row = board_->row_of(number_);
  request_.was_stopped = row.was_stopped;
  row.waiting.queued_at = 0;
  if (!request_.enters) {
    row.holds_since = request_.asked_at;
    if (request_.queued_at != 0 && row.delayed_at == request_.queued_at && !request_.was_stopped) {
      board_->violate(Rule::delay, "process " + std::to_string(number_) + " waited for " +
                                       std::to_string(request_.bytes) +
                                       " bytes, which had room on a device but for leases of later requests");
    }
  }
  GrantClient& place = board_->grants.at(board_->granted++ % most_grants);
  place.grant = request_;
  place.sum = request_.sum();

  std::uint64_t passed = 0;
  for (GrantClient& other : board_->grants) {
    const Granted grant = other.grant;
    if (other.sum != grant.sum() || grant.number == number_ || grant.enters != request_.enters) {
      continue; // empty, or just being written, or in another queue
    }
    compare(request_, grant);
    compare(grant, request_);
    // Later requests for leases may pass as often as they like, if they delay nobody.
    const bool may_pass = !request_.enters && grant.asked_at > request_.queued_at;
    if (request_.queued_at != 0 && grant.looked_at > request_.queued_at && grant.looked_at < request_.looked_at &&
        (grant.devices & request_.asked) != 0 && !may_pass && !request_.was_stopped) {
      ++passed;
    }
  }
  raise_to(board_->most_passed, passed);
  if (passed > board_->processes) {
    board_->violate(Rule::bound, "process " + std::to_string(number_) + " saw " + std::to_string(passed) +
                                     " grants on its devices while it waited, among " +
                                     std::to_string(board_->processes) + " processes");
  }
}

/// `other` asked after `waiter` was known to be in the queue, so it is behind it there. Looks are made under the
/// ledger's mutex, so that the order of those that granted is the order of the grants. To be passed while it is stopped
/// is no wrong.
void Oracle::compare(const Granted& waiter, const Granted& other) const {
  const bool excluded = waiter.enters || waiter.exclusive || (waiter.medium_lock && other.medium_lock) ||
                        waiter.bytes + other.bytes > device_bytes;
  if (waiter.queued_at != 0 && waiter.queued_at < other.asked_at && other.looked_at < waiter.looked_at &&
      (waiter.asked & other.devices) != 0 && excluded && !waiter.was_stopped) {
    board_->violate(Rule::order, std::string{"process "} + std::to_string(other.number) + " was granted " +
                                     (other.enters ? "entry" : "a lease") + " before process " +
                                     std::to_string(waiter.number) + ", which had been waiting for one of its devices");
  }
}

/// Tells the one that is delayed, which is the judge: it may have been killed or stopped, and gives up its turn then.
void Oracle::look_who_is_delayed() { look_who_is_delayed_since(request_.asked_at, 0); }

void Oracle::grows(std::uint64_t held_bytes) {
  held_bytes_ = held_bytes;
  entries_before_ = board_->entries;
  growth_asked_at_ = board_->now();
}

/// A context that came after the growth may leave less room.
void Oracle::look_who_is_delayed_by_growth() {
  if (!request_.medium_lock) { // who waits for the lock waits for its release
    look_who_is_delayed_since(growth_asked_at_, held_bytes_);
  }
}

void Oracle::look_who_is_delayed_since(std::uint64_t asked_at, std::uint64_t held_bytes) {
  for (Row& row : board_->rows) {
    const std::uint64_t queued_at = row.waiting.queued_at;
    const std::uint64_t number = row.number;
    if (number == number_ || queued_at == 0 || queued_at >= asked_at) {
      continue;
    }
    for (std::size_t device = 0; device < board_->devices; ++device) {
      const Use use = Use::unpacked(row.uses.at(device));
      const std::uint64_t shared = row.waiting.devices & request_.devices;
      if ((shared >> device & 1U) != 0 && use.inside && delays(row.waiting, queued_at, device, held_bytes) &&
          row.number == number && row.waiting.queued_at == queued_at) {
        row.delayed_at = queued_at;
      }
    }
  }
}

/// Whether what waits has room on the device beside what earlier arrivals lease, and not beside all that is leased. Of
/// this process's own lease, if it came earlier and has grown, that is `held_bytes`; 0: it has not grown.
/// Sure only while no context grows or shrinks, since those are not asked for. Where a record may count more than the
/// board shows, the ledger has made sure of one of both figures: it is wrong only if both say so.
bool Oracle::delays(const Waiting& waiting, std::uint64_t queued_at, std::size_t device,
                    std::uint64_t held_bytes) const {
  std::array<std::uint64_t, most_rows> words{};
  std::uint64_t bytes = waiting.bytes;
  std::uint64_t unsettled_bytes = 0;
  std::uint64_t later_bytes = 0;
  for (std::size_t i = 0; i < most_rows; ++i) {
    const Row& row = board_->rows.at(i);
    words.at(i) = row.uses.at(device);
    const Use use = Use::unpacked(words.at(i));
    if (use.inside) {
      // Whoever asked when this one was in the queue already came later; of others that is not known.
      const bool has_grown = held_bytes > 0 && row.number == number_ && row.holds_since <= queued_at;
      const std::uint64_t growth = has_grown ? use.leased_bytes - held_bytes : 0;
      later_bytes += growth;
      (row.holds_since > queued_at ? later_bytes : bytes) += use.leased_bytes - growth;
      bytes += use.overhead_bytes;
      unsettled_bytes += use.unsettled_bytes;
    }
  }
  if (bytes + unsettled_bytes > device_bytes || bytes + later_bytes <= device_bytes) {
    return false;
  }
  for (std::size_t i = 0; i < most_rows; ++i) {
    if (board_->rows.at(i).uses.at(device) != words.at(i)) {
      return false; // it may never have been so all at once
    }
  }
  return waiting.overhead_changes == board_->overhead_changes &&
         (held_bytes == 0 || entries_before_ == board_->entries);
}

std::shared_ptr<const ledger::Observation> Oracle::observe(const std::string& uuid) const {
  if (on_look) {
    on_look();
  }
  const auto device = static_cast<std::size_t>(uuid.back() - '0');
  std::set<std::uint64_t> users; // of its memory, at this moment
  for (std::size_t i = 0; i < board_->row_count; ++i) {
    const Row& row = board_->rows[i];
    const std::uint64_t number = row.number;
    if (Use::unpacked(row.uses[device]).inside) {
      users.insert(number);
    }
  }
  return std::make_shared<Observed>(
      [this] {
        looked_at_ = board_->now();
        if (on_look) {
          on_look();
        }
        return policy::Capacity{device_bytes, 0};
      },
      [this, users](const ledger::Record& ended) {
        if (on_look) {
          on_look();
        }
        return users.count(std::stoul(ended.who)) == 0;
      });
}

std::vector<std::size_t> who_could_go_on(const policy::Snapshot& snapshot) {
  std::vector<std::size_t> positions;
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const policy::Claim& claim = snapshot.claims[position];
    if (claim.stopped || policy::asked_devices(claim) == 0) {
      continue;
    }
    const auto decision = policy::decide(snapshot, position);
    const auto* wait = std::get_if<policy::Wait>(&decision);
    if (std::holds_alternative<policy::Grant>(decision) ||
        (wait != nullptr && policy::idle_to_evict(snapshot, position, *wait).enough)) {
      positions.push_back(position);
    }
  }
  return positions;
}

} // namespace gputest::tests::storm
