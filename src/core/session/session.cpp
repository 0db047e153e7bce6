// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/session.hpp>

#include "core/ledger/ledger_view.hpp"
#include "core/os/mutex.hpp"
#include "core/os/process.hpp"
#include "core/session/gate.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <filesystem>
#include <functional>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace gputest {

namespace {

/// Is in each program that has a Session: the launcher leases nothing for such a program (tool/command_facts).
[[gnu::used, gnu::section(".gputest_session")]] const volatile char session_mark = 1;

std::string program_name() {
  return std::filesystem::path{os::executable_of(os::own_pid()).value_or("this executable")}.filename().string();
}

/// What all Sessions of this process share. There is one Session at a time, because the ledger has one claim of a
/// process. Never destroyed: memory may be freed by a global variable's destructor.
struct OfProcess {
  os::Mutex mutex;
  pid_t pid = 0;                     ///< of the process that made the gate; one forked from it may make its own
  std::weak_ptr<session::Gate> gate; ///< of the Session
  /// Chosen by each Session that has entered, the last one's at the end: what current_devices() has returned stays.
  std::list<std::vector<Device>> devices{1};
  session::Account account;
};

OfProcess& of_process() {
  static auto& of_process = *new OfProcess; // NOLINT(cppcoreguidelines-owning-memory)
  return of_process;
}

} // namespace

std::shared_ptr<session::Gate> session::gate_of_process() {
  const std::lock_guard guard{of_process().mutex};
  return of_process().gate.lock();
}

bool session::process_has_had_gate() {
  const std::lock_guard guard{of_process().mutex};
  return of_process().pid == os::own_pid();
}

session::Account& session::Account::instance() { return of_process().account; }

const std::vector<Device>& current_devices() {
  const std::lock_guard guard{of_process().mutex};
  return of_process().devices.back();
}

Session::Session(Settings settings, Entry entry) {
  auto& process = of_process();
  const std::lock_guard guard{process.mutex};
  if (process.pid == os::own_pid() && !process.gate.expired()) {
    throw Error{"this process has a gputest::Session already, and the ledger knows one claim of a process; use that "
                "one, or end it before the next. With gputest::main, run_all_tests() or Catch2's main() of gputest "
                "the session is theirs"};
  }
  gate_ = std::make_shared<session::Gate>(std::move(settings), std::move(entry), program_name());
  process.pid = os::own_pid();
  process.gate = gate_;
  static_cast<void>(session_mark); // a use, so that no linker leaves the section out
}

Session Session::from_environment() { return {settings_from_environment(), entry_from_environment()}; }

Session::~Session() {
  if (gate_->is_in_use()) {
    // A signal handler calls exit(), and the call that it has interrupted uses the gate; or another thread does. The
    // process's end gives all back. Without memory, of which an interrupted call may be making some.
    using Kept = std::shared_ptr<session::Gate>;
    static std::aligned_storage_t<sizeof(Kept), alignof(Kept)> place;
    new (&place) Kept{std::move(gate_)};
    return;
  }
  release();
}

Outcome Session::enter(const Plan& plan) {
  using Role = session::Gate::Role;
  auto outcome = gate_->enter(plan, plan.in_place_of_parent ? Role::in_place_of_parent : Role::tests);
  const std::lock_guard guard{of_process().mutex};
  of_process().devices.push_back(devices());
  return outcome;
}

const std::vector<Device>& Session::devices() const { return gate_->place().chosen().devices; }

const Entry& Session::entry() const { return gate_->entry(); }

void Session::set_entry(Entry entry) { gate_->set_entry(std::move(entry)); }

void Session::while_waiting(std::function<void(const std::string&)> on_wait) {
  gate_->while_waiting(std::move(on_wait));
}

Outcome Session::check(const Request& request, const std::string& who) { return gate_->check(request, who); }

Outcome Session::foresee(const Request& request, const std::string& who) { return gate_->foresee(request, who); }

Lease Session::lease(const Request& request, const std::string& who) {
  auto answer = gate_->lease(request, who);
  Lease lease;
  lease.gate_ = gate_;
  lease.number_ = answer.number;
  lease.outcome_ = std::move(answer.outcome);
  return lease;
}

void Session::count_unleased(const std::string& where) { gate_->count_unleased(where); }

void Session::watch_unleased(const std::string& who) { gate_->watch_unleased(who); }

std::string Session::explain_out_of_memory(const std::string& who, bool may_run_again) {
  return gate_->explain_out_of_memory(who, may_run_again);
}

void Session::release() noexcept { gate_->release(); }

std::optional<Bytes> Session::allocated() const { return gate_->allocated(); }

Findings Session::examine(const std::string& who) { return gate_->examine(who); }

Lease::Lease(Lease&& other) noexcept
    : gate_{std::move(other.gate_)}, number_{std::exchange(other.number_, 0)}, outcome_{
                                                                                   std::exchange(other.outcome_, {})} {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    gate_ = std::move(other.gate_);
    number_ = std::exchange(other.number_, 0);
    outcome_ = std::exchange(other.outcome_, {});
  }
  return *this;
}

Lease::~Lease() { release(); }

Lease::operator bool() const {
  const auto gate = gate_.lock();
  return gate && gate->holds(number_);
}

const Outcome& Lease::outcome() const {
  static const Outcome holds_nothing{
      Outcome::Kind::fail, "this lease holds nothing: nothing was asked for, or it was moved from or given back",
      false};
  return outcome_.kind != Outcome::Kind::granted || *this ? outcome_ : holds_nothing;
}

void Lease::release() noexcept {
  if (const auto gate = gate_.lock(); gate && number_ != 0) {
    gate->release(number_);
  }
  number_ = 0;
}

namespace {

/// Of one that is not outside.
Claimant::Stage stage_of(policy::Stage stage) {
  static_assert(static_cast<int>(policy::Stage::idle) == static_cast<int>(Claimant::Stage::idle) + 1);
  return static_cast<Claimant::Stage>(static_cast<int>(stage) - 1);
}

policy::DeviceMask devices_of(const policy::Claim& claim) {
  const auto asked = policy::asked_devices(claim);
  return asked != 0 ? asked : claim.stage == policy::Stage::holding ? claim.wanted : claim.devices;
}

} // namespace

std::vector<Claimant> status(const Settings& settings) {
  settings::check_folder(settings.folder, "Settings::folder");
  const auto view = ledger::look_at_ledger(settings);
  std::vector<Claimant> all;
  for (const auto& record : view.records) {
    const auto& claim = record.claim;
    if (claim.stage == policy::Stage::outside) {
      continue; // it has a slot but no claim yet
    }
    Claimant one;
    one.who = record.who;
    one.pid = record.pid;
    one.stage = stage_of(claim.stage);
    one.devices = ledger::uuids_in(view, devices_of(claim));
    const bool entering = claim.stage == policy::Stage::entering;
    one.lease = Bytes{entering ? claim.largest_bytes : claim.lease_bytes};
    one.whole_devices = entering ? claim.whole_devices : claim.exclusive;
    one.overhead = Bytes{claim.overhead_bytes};
    one.since = record.since;
    one.ended = !record.alive;
    all.push_back(std::move(one));
  }
  return all;
}

} // namespace gputest
