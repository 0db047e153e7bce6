#include "ledger/ledger.hpp"

#include "ledger/record.hpp"

#include <gputest/error.hpp>

#include <charconv>
#include <mutex>
#include <utility>

namespace gputest::ledger {

using policy::Stage;

Ledger::Ledger(const std::string& folder, std::shared_ptr<const DeviceWitness> witness)
    : store_{folder, "ledger-" + std::to_string(ledger_layout.version), ledger_layout}, devices_{store_},
      roll_{store_, devices_, std::move(witness)}, place_{store_, roll_} {}

/// Calls what changes the ledger. If that cannot wake whom it has to, this process must look dead to them; and if the
/// ledger's folder has been removed, that is what has to be said.
template <class Function>
auto Ledger::or_lose_place(Function function) {
  try {
    return function();
  } catch (const system::CannotRing& error) {
    place_.fall_silent(error.what());
    store_.require_in_place();
    throw;
  } catch (const LedgerError&) {
    store_.require_in_place();
    throw;
  }
}

Result Ledger::enter(const EnterRequest& request, const Patience& patience) {
  std::unique_lock guard{store_.mutex()};
  if (place_.forked()) {
    throw LedgerError{request.who +
                      " cannot enter the ledger: it was forked by a process that has, and runs under that "
                      "one's claim; start it as a program of its own"};
  }
  return or_lose_place([&] {
    place_.take();
    place_.own().who = request.who;
    auto& claim = place_.own().claim = {};
    claim.stage = Stage::entering;
    claim.candidates = request.candidates;
    claim.gpus = request.gpus;
    claim.overhead_bytes = request.overhead_bytes;
    claim.largest_bytes = request.largest_bytes;
    claim.whole_devices = request.whole_devices;
    if (!request.present) {
      return place_.settle(guard, patience);
    }
    auto at_once = patience;
    at_once.may_wait = false;
    const auto result = place_.settle(guard, at_once);
    return result.kind == Result::Kind::granted ? result : enter_without_room(request);
  });
}

/// What the process uses is in use, whether it may or not; what it has not taken yet it must not count on.
Result Ledger::enter_without_room(const EnterRequest& request) {
  auto& claim = place_.own().claim;
  claim.stage = Stage::inside;
  claim.devices = request.candidates;
  claim.largest_bytes = 0;
  claim.whole_devices = false;
  place_.write();
  roll_.ring_heads();
  return {Result::Kind::granted, request.candidates, {}, {}};
}

Result Ledger::lease(const LeaseRequest& request, const Patience& patience) {
  std::unique_lock guard{store_.mutex()};
  Entry& own = place_.own();
  if (own.claim.stage == Stage::waiting || own.claim.stage == Stage::holding) {
    throw NestedLease{"this process asked for a lease for " + request.who + " while it has one for " + own.who +
                      "; waiting for a second one could deadlock. Give the first back before, or, to lease only around "
                      "the GPU sections of a test, derive its fixture from gputest::ScopedTest"};
  }
  if (own.claim.stage != Stage::inside || place_.forked()) {
    throw LedgerError{"a lease for " + request.who + " was asked for by a process that has not entered the ledger"};
  }
  if (patience.may_wait && !announce(request)) {
    return Result{Result::Kind::unannounced, 0, {}, place_.others_on(request.devices)};
  }
  own.who = request.who;
  own.claim.stage = Stage::waiting;
  own.claim.wanted = request.devices;
  own.claim.lease_bytes = request.bytes;
  own.claim.exclusive = request.exclusive;
  own.claim.seat = request.seat;
  return or_lose_place([&] { return place_.settle(guard, patience); });
}

void Ledger::release() noexcept {
  if (place_.forked()) {
    return;
  }
  try {
    const std::lock_guard guard{store_.mutex()};
    if (place_.own().claim.stage == Stage::holding) {
      place_.stop_wanting();
      or_lose_place([&] {
        place_.write();
        roll_.ring_heads();
      });
    }
  } catch (const LedgerError&) { // NOLINT(bugprone-empty-catch)
    // Either the claim stays until the process ends, which harms nobody but those who wait for it, or the place is
    // lost; require_intact() and the next lease tell of it.
  }
}

void Ledger::set_overhead(std::uint64_t bytes) {
  const std::lock_guard guard{store_.mutex()};
  Entry& own = place_.own();
  if (place_.forked() || own.claim.stage == Stage::outside || bytes == own.claim.overhead_bytes) {
    return;
  }
  own.claim.overhead_bytes = bytes;
  or_lose_place([&] {
    place_.correct();
    roll_.ring_heads();
  });
}

void Ledger::require_intact() const {
  if (place_.own().claim.stage != Stage::outside && !place_.forked()) {
    place_.require_kept();
    store_.require_intact();
  }
}

std::vector<Entry> Ledger::entries() {
  const std::lock_guard guard{store_.mutex()};
  auto all = roll_.read_named();
  for (auto& entry : all) {
    entry.alive = roll_.lives(entry.slot);
  }
  return all;
}

std::string Ledger::credential() const { return place_.taken() ? credential_of(place_.own()) : std::string{}; }

std::optional<Entry> Ledger::holder_of(const std::string& credential) {
  std::size_t slot = 0;
  std::uint64_t identity = 0;
  const char* const end = credential.data() + credential.size();
  const auto colon = std::from_chars(credential.data(), end, slot);
  if (colon.ec != std::errc{} || colon.ptr == end || *colon.ptr != ':') {
    return std::nullopt;
  }
  const auto number = std::from_chars(colon.ptr + 1, end, identity);
  if (number.ec != std::errc{} || number.ptr != end) {
    return std::nullopt;
  }
  const std::lock_guard guard{store_.mutex()};
  for (const auto& entry : roll_.read_named()) {
    if (entry.slot == slot && entry.identity == identity && roll_.lives(slot)) {
      return entry;
    }
  }
  return std::nullopt;
}

void Ledger::inherit_across_exec() { place_.inherit_across_exec(); }

/// Whether the process may wait for this lease: it announced it when it entered, or could have done so.
bool Ledger::announce(const LeaseRequest& request) {
  auto& claim = place_.own().claim;
  if (request.exclusive) {
    return claim.whole_devices;
  }
  if (request.bytes > claim.largest_bytes) {
    auto all = roll_.read();
    const std::size_t position = place_.with_own(all);
    if (!policy::may_raise(roll_.snapshot(all, claim.devices), position, request.bytes)) {
      return false;
    }
    claim.largest_bytes = request.bytes;
  }
  return true;
}

} // namespace gputest::ledger
