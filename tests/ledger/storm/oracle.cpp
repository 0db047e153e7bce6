#include "oracle.hpp"

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
    std::size_t seats = 0;
    std::uint64_t bytes = 0;
    for (Row& row : board_->rows) {
      const std::uint64_t word = row.uses.at(device);
      const Use use = Use::unpacked(word);
      if (use.inside) {
        seen.at(users++) = {&row.uses.at(device), word};
        bytes += use.overhead_bytes + use.leased_bytes;
        exclusive += use.exclusive ? 1 : 0;
        seats += use.seat ? 1 : 0;
      }
    }
    if (bytes <= device_bytes && seats <= 1 && (exclusive == 0 || users == 1)) {
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
                                        std::to_string(seats) + " seated");
      return;
    }
  }
}

void Oracle::asks(bool enters, policy::DeviceMask devices) {
  request_ = {};
  request_.number = number_;
  request_.enters = enters;
  request_.asked = devices;
  request_.asked_at = board_->now();
}

void Oracle::is_queued() { request_.queued_at = board_->now(); }

void Oracle::is_granted(policy::DeviceMask devices) {
  request_.devices = devices;
  request_.looked_at = looked_at_;
  GrantPlace& place = board_->grants.at(board_->granted++ % most_grants);
  place.grant = request_;
  place.sum = request_.sum();

  std::uint64_t passed = 0;
  for (GrantPlace& other : board_->grants) {
    const Granted grant = other.grant;
    if (other.sum != grant.sum() || grant.number == number_ || grant.enters != request_.enters) {
      continue; // empty, or just being written, or in another queue
    }
    compare(request_, grant);
    compare(grant, request_);
    if (request_.queued_at != 0 && grant.looked_at > request_.queued_at && grant.looked_at < request_.looked_at &&
        (grant.devices & request_.asked) != 0) {
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
/// ledger's mutex, so that the order of those that granted is the order of the grants.
void Oracle::compare(const Granted& waiter, const Granted& other) const {
  if (waiter.queued_at != 0 && waiter.queued_at < other.asked_at && other.looked_at < waiter.looked_at &&
      (waiter.asked & other.devices) != 0) {
    board_->violate(Rule::order, std::string{"process "} + std::to_string(other.number) + " was granted " +
                                     (other.enters ? "entry" : "a lease") + " before process " +
                                     std::to_string(waiter.number) + ", which had been waiting for one of its devices");
  }
}

policy::Capacity Oracle::capacity(const std::string& /*uuid*/, const std::vector<ledger::Entry>& /*entries*/,
                                  policy::DeviceMask /*device*/) const {
  looked_at_ = board_->now();
  if (on_look) {
    on_look();
  }
  return {device_bytes, 0};
}

bool Oracle::is_back(const std::string& uuid, const ledger::Entry& ended) const {
  if (on_look) {
    on_look();
  }
  return is_back(*board_, std::stoul(ended.who), static_cast<std::size_t>(uuid.back() - '0'));
}

bool Oracle::is_back(Board& board, std::uint64_t number, std::size_t device) {
  Row& row = board.row_of(number);
  // The row of a process whose memory is back may be another one's by now.
  return row.number != number || !Use::unpacked(row.uses.at(device)).inside;
}

} // namespace gputest::tests::storm
