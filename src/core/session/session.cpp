// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/session.hpp>

#include "core/ledger/ledger_view.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/account.hpp"
#include "core/session/device_session.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/test_run.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace gputest {

namespace {

/// Is in each program that has a Session: the launcher leases nothing for such a program (tool/gpu_use).
[[gnu::used, gnu::section(".gputest_session")]] const volatile char session_mark = 1;

std::string program_name() {
  return std::filesystem::path{os::executable_of(os::own_pid()).value_or("this executable")}.filename().string();
}

std::vector<Device>& chosen_devices() {
  static std::vector<Device> devices;
  return devices;
}

/// A request in the middle of a sentence, without the capabilities, which the message names elsewhere.
std::string short_text(Request request) {
  request.capabilities = {};
  return to_string(request);
}

void check_request(const Request& request, const std::string& who) {
  if (request.gpus < 1 || request.gpus > max_gpus) {
    throw InvalidSetting{who + " asks for " + std::to_string(request.gpus) +
                         " GPUs (Request::gpus); allowed are 1 to " + std::to_string(max_gpus)};
  }
  if (const auto mistake = mistake_in(request.capabilities); !mistake.empty()) {
    throw InvalidSetting{who + " asks for " + mistake};
  }
}

} // namespace

namespace detail {

/// Refuses a second session in one process. A process forked from one that has a session may make its own.
class OnlySession {
public:
  OnlySession() {
    auto owner = process().load();
    if (owner == pid_ || !process().compare_exchange_strong(owner, pid_)) {
      throw Error{"this process has a gputest::Session already, and the ledger knows one claim of a process; use that "
                  "one, or end it before the next. With gputest::main, run_all_tests() or Catch2's main() of gputest "
                  "the session is theirs"};
    }
  }
  ~OnlySession() {
    auto owner = pid_;
    process().compare_exchange_strong(owner, 0);
  }
  OnlySession(const OnlySession&) = delete;
  OnlySession& operator=(const OnlySession&) = delete;

private:
  static std::atomic<pid_t>& process() {
    static std::atomic<pid_t> pid{0};
    return pid;
  }

  pid_t pid_ = os::own_pid();
};

/// What a Session shares with its leases: the one lease that the process may hold, and what was found of it.
struct SessionState {
  SessionState(Settings settings, Entry entry) : session{std::move(settings), std::move(entry), program_name()} {
    check_request(session.entry().request, "the CTest entry");
    of_process() = this;
  }
  ~SessionState() { of_process() = nullptr; }
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  /// That of this process; null without a session.
  static SessionState*& of_process() {
    static SessionState* state = nullptr;
    return state;
  }

  /// Gives back the lease of this number, or any.
  void release(std::optional<std::uint64_t> number) noexcept {
    const std::lock_guard guard{mutex};
    if (!held || (number && *number != last)) {
      return;
    }
    held.reset();
    const auto memory = session::Account::instance().close();
    // A death test's statement may have left CUDA unusable on purpose, and its parent holds the lease.
    const auto error = in_place_of_parent ? std::string{} : session.release(memory.managed, memory.left);
    try {
      if (const auto measured = session.take_measured()) {
        add(*measured);
      }
      note_error(holder, error);
    } catch (const std::exception& out_of_memory) {
      session::tell(out_of_memory.what());
    }
  }

  [[nodiscard]] Outcome skip_after_problem(const std::string& who) const {
    return session.skip(who + " cannot use a GPU in this process: " + broken_by + ". Run it by itself", SkipCause::run);
  }

  void add_problems(const session::Measured& measured) {
    if (!measured.overuse.empty()) {
      findings.overuse = measured.overuse;
    }
    for (const auto& problem : measured.problems) {
      add_problem(problem);
    }
  }

  /// What only gputest finds: no failure that WILL_FAIL expects. A sticky CUDA error is the program's own.
  void add_problem(const std::string& problem) {
    findings.problems.push_back(problem);
    TestRun::of_process().refused(problem);
  }

  void note_error(const std::string& who, const std::string& error) {
    if (!error.empty() && broken_by.empty()) {
      runlog::write("error", runlog::JsonObject{}.text("error", error), who);
      broken_by = who + " left it with " + error;
      findings.problems.push_back(who + " left CUDA unusable for the rest of this process: " + error +
                                  ". The tests after it are skipped; run them without it");
    }
  }

  std::mutex mutex; ///< of what follows
  OnlySession only;
  session::DeviceSession session;
  bool has_entered = false;
  bool in_place_of_parent = false;
  std::optional<Request> held;
  std::string holder;     ///< of the lease: the test
  std::uint64_t last = 0; ///< number of the last lease
  std::string broken_by;  ///< the test after which nothing can be leased any more, and why
  Findings findings;

private:
  /// Of a lease that was given back; a test may have several.
  void add(const session::Measured& measured) {
    add_problems(measured);
    findings.evidence = devices::to_string(measured.usage.evidence);
    // A lower bound of 0 says nothing.
    if (measured.usage.evidence == devices::Evidence::exact || measured.peak > Bytes{}) {
      findings.peak = std::max(findings.peak.value_or(Bytes{}), measured.peak);
      TestRun::of_process().note_peak(measured.peak);
    } else {
      TestRun::of_process().note_peak(std::nullopt);
    }
    if (measured.left) {
      findings.left = findings.left.value_or(Bytes{}) + *measured.left;
    }
  }
};

void set_session_idle() {
  if (auto* const state = SessionState::of_process()) {
    state->session.set_idle();
  }
}

bool resume_session() {
  auto* const state = SessionState::of_process();
  return state == nullptr || state->session.resume();
}

bool session_may_wait_for(const Request& request) {
  auto* const state = SessionState::of_process();
  return state == nullptr || state->session.may_wait_for(request);
}

std::optional<int> leave_descriptor_of_session() {
  auto* const state = SessionState::of_process();
  return state == nullptr ? std::nullopt : state->session.leave_descriptor();
}

} // namespace detail

const std::vector<Device>& current_devices() { return chosen_devices(); }

Session::Session(Settings settings, Entry entry)
    : state_{std::make_shared<detail::SessionState>(std::move(settings), std::move(entry))} {
  static_cast<void>(session_mark); // a use, so that no linker leaves the section out
}

Session Session::from_environment() { return {settings_from_environment(), entry_from_environment()}; }

Session::~Session() { release(); }

namespace {

/// Writes a skip to the run log.
Outcome logged(Outcome outcome, const std::string& who) {
  if (outcome.kind == Outcome::Kind::skip) {
    runlog::write("skip", runlog::JsonObject{}.text("reason", outcome.reason), who);
  }
  return outcome;
}

Outcome enter_with(detail::SessionState& state, const Plan& plan, bool in_place_of_parent) {
  const std::lock_guard guard{state.mutex};
  for (const auto& request : plan.requests) {
    check_request(request, "the plan");
  }
  if (std::exchange(state.has_entered, true)) {
    throw Error{"Session::enter() was called a second time; a process chooses its devices once. Call it once, with a "
                "Plan of all that its tests will ask for"};
  }
  session::Account::instance().guard();
  state.in_place_of_parent = in_place_of_parent;
  static_cast<void>(detail::TestRun::of_process()); // takes GPUTEST_ENTRY: what this one starts is no entry
  auto outcome = state.session.enter(plan);
  if (outcome.kind == Outcome::Kind::fail) {
    detail::TestRun::of_process().refused(outcome.reason);
  }
  const auto& devices = chosen_devices() = state.session.devices();
  if (!in_place_of_parent) {
    state.session.measure();
  }
  if (!in_place_of_parent && !devices.empty() && devices.front().simulated) {
    session::tell("the devices are simulated: memory only, no kernels (GPUTEST_DEVICES)");
  }
  return outcome;
}

} // namespace

Outcome Session::enter(const Plan& plan) { return enter_with(*state_, plan, false); }

Outcome Session::enter_in_place_of_parent(const Plan& plan) { return enter_with(*state_, plan, true); }

const std::vector<Device>& Session::devices() const { return state_->session.devices(); }

const Entry& Session::entry() const { return state_->session.entry(); }

void Session::set_entry(Entry entry) {
  check_request(entry.request, "the CTest entry");
  const std::lock_guard guard{state_->mutex};
  state_->session.set_entry(std::move(entry));
}

void Session::while_waiting(std::function<void(const std::string&)> on_wait) {
  const std::lock_guard guard{state_->mutex};
  state_->session.while_waiting(std::move(on_wait));
}

Outcome Session::check(const Request& request, const std::string& who) {
  check_request(request, who);
  auto& state = *state_;
  const std::lock_guard guard{state.mutex};
  if (state.in_place_of_parent) {
    return {};
  }
  if (state.held && who != state.holder) {
    state.session.share();
  }
  // Where several tests share a lease, those after the problem ask for none.
  return logged(state.held && !state.broken_by.empty() ? state.skip_after_problem(who)
                                                       : state.session.check_devices(request, who),
                who);
}

Outcome Session::foresee(const Request& request, const std::string& who) {
  check_request(request, who);
  const std::lock_guard guard{state_->mutex};
  if (state_->in_place_of_parent) {
    return {};
  }
  return state_->broken_by.empty() ? state_->session.foresee(request, who) : state_->skip_after_problem(who);
}

Lease Session::lease(const Request& request, const std::string& who) {
  check_request(request, who);
  auto& state = *state_;
  Lease lease;
  lease.session_ = state_;
  const std::lock_guard guard{state.mutex};
  if (state.held) {
    throw NestedLease{who + " asked for a lease of " + short_text(request) + " while " +
                      (who == state.holder ? "it" : state.holder) + " has one of " + short_text(*state.held) +
                      "; waiting for a second one could deadlock. Give the first back before"};
  }
  if (!state.in_place_of_parent) {
    lease.outcome_ = state.broken_by.empty() ? state.session.acquire(request, who) : state.skip_after_problem(who);
    if (lease.outcome_.kind == Outcome::Kind::granted) {
      lease.outcome_ = state.session.prepare_heap(request, who);
    }
    if (lease.outcome_.kind == Outcome::Kind::fail) {
      detail::TestRun::of_process().refused(lease.outcome_.reason);
    }
    if (lease.outcome_.kind != Outcome::Kind::granted) {
      lease.outcome_ = logged(std::move(lease.outcome_), who);
      return lease;
    }
  }
  state.held = request;
  state.holder = who;
  session::Account::instance().open(
      {who, state.session.limits_of(request), state.session.place().largest_for_a_test()});
  lease.number_ = ++state.last;
  return lease;
}

void Session::count_unleased(const std::string& where) {
  const std::lock_guard guard{state_->mutex};
  if (!state_->in_place_of_parent && !state_->held) {
    state_->note_error(where, state_->session.count_unleased(where));
  }
}

void Session::watch_unleased(const std::string& who) {
  const std::lock_guard guard{state_->mutex};
  if (!state_->in_place_of_parent && !state_->held) {
    state_->session.watch_unleased(who);
  }
}

std::string Session::explain_out_of_memory(const std::string& who) {
  // Another thread may wait for a lease, and the caller may hold a lock of the test framework's.
  const std::unique_lock guard{state_->mutex, std::try_to_lock};
  return !guard || state_->in_place_of_parent
             ? std::string{}
             : state_->session.explain_out_of_memory(who, state_->held ? &*state_->held : nullptr);
}

void Session::release() noexcept { state_->release(std::nullopt); }

std::optional<Bytes> Session::allocated() const {
  const std::lock_guard guard{state_->mutex};
  return state_->session.allocated();
}

Findings Session::examine(const std::string& who) {
  auto& state = *state_;
  const std::lock_guard guard{state.mutex};
  if (state.held) {
    state.note_error(who, state.session.synchronize());
    state.add_problems(state.session.look());
  }
  if (!state.has_entered) {
    state.add_problems(state.session.look_for_use(who));
  }
  state.add_problems(state.session.end_unleased());
  if (const auto loss = state.session.loss(); !loss.empty() && state.broken_by.empty()) {
    state.broken_by = who + " left it without its slot in the ledger";
    state.add_problem(who + " left this process without its slot in the ledger: " + loss +
                      ". The tests after it are skipped; run them without it");
  }
  if (!state.in_place_of_parent) {
    for (const auto& stray : state.session.stray_contexts(who)) {
      state.add_problem(stray);
    }
  }
  return std::exchange(state.findings, {});
}

Lease::Lease(Lease&& other) noexcept
    : session_{std::move(other.session_)}, number_{std::exchange(other.number_, 0)}, outcome_{std::exchange(
                                                                                         other.outcome_, {})} {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    session_ = std::move(other.session_);
    number_ = std::exchange(other.number_, 0);
    outcome_ = std::exchange(other.outcome_, {});
  }
  return *this;
}

Lease::~Lease() { release(); }

Lease::operator bool() const {
  const auto session = session_.lock();
  if (!session) {
    return false;
  }
  const std::lock_guard guard{session->mutex};
  return number_ != 0 && number_ == session->last && session->held;
}

const Outcome& Lease::outcome() const {
  static const Outcome holds_nothing{
      Outcome::Kind::fail, "this lease holds nothing: nothing was asked for, or it was moved from or given back",
      false};
  return outcome_.kind != Outcome::Kind::granted || *this ? outcome_ : holds_nothing;
}

void Lease::release() noexcept {
  if (const auto session = session_.lock(); session && number_ != 0) {
    session->release(number_);
  }
  number_ = 0;
}

namespace {

Claimant::Stage stage_of(policy::Stage stage) {
  using Stage = Claimant::Stage;
  constexpr std::array stages{
      Stage::inside /* outside */, Stage::entering, Stage::inside, Stage::waiting, Stage::holding, Stage::idle};
  return stages.at(static_cast<std::size_t>(stage));
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
