// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/gate.hpp"

#include "core/os/process.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/test_run.hpp>

#include <algorithm>
#include <utility>

namespace gputest::session {

namespace {

using gputest::detail::TestRun;

void check_request(const Request& request, const std::string& who) {
  if (request.gpus < 1 || request.gpus > max_gpus) {
    throw InvalidSetting{who + " asks for " + std::to_string(request.gpus) +
                         " GPUs (Request::gpus); allowed are 1 to " + std::to_string(max_gpus)};
  }
  if (const auto mistake = mistake_in(request.capabilities); !mistake.empty()) {
    throw InvalidSetting{who + " asks for " + mistake};
  }
}

/// Writes a skip to the run log.
Outcome logged(Outcome outcome, const Request& request, const Entry& entry, const std::string& test) {
  if (outcome.kind == Outcome::Kind::skip) {
    const auto memory_class = std::max(request.memory_class, entry.request.memory_class);
    runlog::write("skip", runlog::JsonObject{}.text("reason", outcome.reason).text("class", to_string(memory_class)),
                  test);
  }
  return outcome;
}

} // namespace

Gate::Gate(Settings settings, Entry entry, std::string program, Overhead::Now now)
    : settings_{std::move(settings)}, entry_{std::move(entry)}, messages_{settings_, entry_, std::move(program)},
      process_{devices::this_process(settings_)}, place_{settings_, messages_, process_},
      measuring_{settings_, entry_, messages_, place_, process_}, now_{std::move(now)} {
  settings::check_folder(settings_.folder, "Settings::folder");
  check_request(entry_.request, "the CTest entry");
  settings::set_for_process(settings_);
  runlog::configure(settings_.log, entry_.name.empty() ? messages_.full_name("") : entry_.name);
}

std::unique_lock<os::Mutex> Gate::lock_if_possible() const {
  return is_forked() || os::Mutex::any_of_this_thread() ? std::unique_lock<os::Mutex>{} : std::unique_lock{mutex_};
}

bool Gate::is_in_use() const { return os::Mutex::any_of_this_thread() || !std::unique_lock{mutex_, std::try_to_lock}; }

std::unique_lock<os::Mutex> Gate::lock() const {
  auto guard = lock_if_possible();
  if (!guard && !is_forked()) {
    throw Error{"this thread is in another call of gputest: a signal handler, and what is called during a wait, must "
                "not use the gputest::Session"};
  }
  if (!guard) {
    throw Error{"this process was forked from the one that made the gputest::Session, and must not use it: make its "
                "own, or leave the lease to its parent"};
  }
  return guard;
}

Outcome Gate::enter(const Plan& plan, Role role) {
  const auto guard = lock();
  for (const auto& request : plan.requests) {
    check_request(request, "the plan");
  }
  if (std::exchange(was_entered_, true)) {
    throw Error{"Session::enter() was called a second time; a process chooses its devices once. Call it once, with "
                "all requests of its tests"};
  }
  role_ = role;
  if (role != Role::command) {
    Account::instance().guard();
    static_cast<void>(TestRun::of_process()); // takes GPUTEST_ENTRY: what this one starts is no entry
  }
  auto outcome = place_.enter(plan, entry_);
  if (role != Role::command && outcome.kind == Outcome::Kind::fail) {
    TestRun::of_process().failed_by_gputest(outcome.reason);
  }
  if (role == Role::tests) {
    measuring_.start();
    if (const auto& devices = place_.chosen().devices; !devices.empty() && devices.front().simulated) {
      note("the devices are simulated: memory only, no kernels (GPUTEST_DEVICES)");
    }
  }
  return outcome;
}

void Gate::set_entry(Entry entry) {
  check_request(entry.request, "the CTest entry");
  const auto guard = lock();
  entry_ = std::move(entry);
  place_.fit(entry_);
  is_announced_ = false;
}

void Gate::while_waiting(std::function<void(const std::string&)> on_wait) {
  const auto guard = lock();
  messages_.while_waiting(std::move(on_wait));
}

Outcome Gate::check(const Request& request, const std::string& test) {
  check_request(request, test);
  const auto guard = lock();
  if (role_ == Role::in_place_of_parent) {
    return {};
  }
  if (leased_ != 0 && test != held_.test) {
    measuring_.share();
  }
  return logged(check_devices(request, test), request, entry_, test);
}

/// Where several tests share a lease, those after the problem ask for none.
Outcome Gate::check_devices(const Request& request, const std::string& test) {
  return leased_ != 0 && !broken_by_.empty() ? skip_after_problem(test) : place_.check(request, test);
}

bool Gate::would_check(const Request& request, const std::string& test) {
  check_request(request, test);
  const auto guard = lock();
  return role_ == Role::in_place_of_parent || check_devices(request, test).kind == Outcome::Kind::granted;
}

Outcome Gate::foresee(const Request& request, const std::string& test) {
  check_request(request, test);
  const auto guard = lock();
  if (role_ == Role::in_place_of_parent) {
    return {};
  }
  return broken_by_.empty() ? foresee_lease(request, test) : skip_after_problem(test);
}

Outcome Gate::skip_after_problem(const std::string& test) const {
  return messages_.skip(test + " cannot use a GPU in this process: " + broken_by_ + ". Run it by itself",
                        SkipCause::run);
}

Gate::Answer Gate::lease(const Request& request, const std::string& test) {
  check_request(request, test);
  const auto guard = lock();
  if (leased_ != 0) {
    throw NestedLease{test + " asked for a lease of " + memory_text(request) + " while " +
                      (test == held_.test ? "it" : held_.test) + " has one of " + memory_text(held_.request) +
                      "; waiting for a second one could deadlock. Give the first back before"};
  }
  auto outcome = broken_by_.empty() ? acquire(request, test) : skip_after_problem(test);
  if (outcome.kind != Outcome::Kind::granted) {
    if (outcome.kind == Outcome::Kind::fail && role_ != Role::command) {
      TestRun::of_process().failed_by_gputest(outcome.reason);
    }
    return {logged(std::move(outcome), request, entry_, test), 0};
  }
  if (role_ != Role::command) {
    auto limits = held_.bytes;
    for (std::size_t i = 0; request.is_estimated() && i < limits.size(); ++i) {
      limits[i] = place_.chosen().devices[i].total; // it grows, so devices are its limit
    }
    Account::instance().open({test, std::move(limits), place_.largest_for_a_test()});
  }
  return {std::move(outcome), held_.number};
}

Outcome Gate::acquire(Request request, const std::string& test) {
  const bool asks = role_ != Role::in_place_of_parent;
  if (asks && place_.has_record()) {
    request = beside_unleased(request);
  }
  if (asks) {
    auto outcome = foresee_lease(request, test);
    if (outcome.kind == Outcome::Kind::granted && !place_.parent_lease()) {
      outcome = ask_ledger(request, test);
    }
    if (outcome.kind != Outcome::Kind::granted) {
      return outcome;
    }
  }
  held_ = {held_.number + 1, request, test, bytes_of(request), os::KernelClock::now()};
  if (role_ == Role::tests) {
    if (auto problem = place_.prepare_heap(request, messages_.full_name(test)); !problem.empty()) {
      std::string error; // the heap's says more
      give_back({}, error);
      return {Outcome::Kind::fail, std::move(problem)};
    }
  }
  leased_ = held_.number;
  if (asks) {
    measuring_.begin_leased_period(request, test);
  }
  if (asks && place_.has_record()) {
    const auto lease = measurements(std::nullopt);
    TestRun::of_process().note_lease(lease.leased, lease.devices);
  }
  return {};
}

bool Gate::holds(std::uint64_t number) const { return number != 0 && leased_ == number; }

std::optional<Bytes> Gate::allocated() const {
  const auto guard = lock_if_possible();
  return guard ? measuring_.allocated() : std::nullopt;
}

void Gate::release(std::optional<std::uint64_t> number) noexcept {
  const auto is_held = [&] { return number ? holds(*number) : leased_ != 0; };
  if (!is_held()) {
    return; // without the mutex, which a thread may have that waits for a lease, and exit() may be called meanwhile
  }
  const auto guard = lock_if_possible();
  if (!guard || !is_held()) {
    return;
  }
  leased_ = 0;
  const auto memory = Account::instance().close();
  // A death test's statement may have left CUDA unusable on purpose, and its parent holds the lease.
  if (role_ != Role::in_place_of_parent) {
    std::string error;
    if (const auto measured = give_back(memory, error)) {
      add(*measured);
    }
    note_error(held_.test, error);
  }
}

Findings Gate::examine(const std::string& test) {
  const auto guard = lock_if_possible();
  if (!guard) {
    return {};
  }
  if (leased_ != 0) {
    note_error(test, process_.synchronize_and_trim().error);
    add_problems(measuring_.check_overuse());
  }
  if (!was_entered_) {
    add_problems(measuring_.look_for_use(test));
  }
  add_problems(measuring_.end_watch());
  if (const auto lost = loss(); !lost.empty() && broken_by_.empty()) {
    broken_by_ = test + " left it without its slot in the ledger";
    add_problem(test + " left this process without its slot in the ledger: " + lost +
                ". The tests after it are skipped; run them without it");
  }
  if (role_ != Role::in_place_of_parent) {
    for (const auto& stray : place_.stray_contexts(test)) {
      add_problem(stray);
    }
  }
  return std::exchange(findings_, {});
}

/// The files of gputest that the process has lost; empty if none.
std::string Gate::loss() const try {
  if (place_.has_devices()) {
    place_.ledger().require_intact();
  }
  return {};
} catch (const LedgerError& error) {
  return error.what();
}

/// Of a lease that was given back; a test may have several.
void Gate::add(const Measured& measured) {
  add_problems(measured);
  findings_.evidence = devices::to_string(measured.usage.evidence);
  // A lower bound of 0 says nothing.
  const bool is_known = measured.usage.evidence == devices::Evidence::exact || measured.peak > Bytes{};
  if (is_known) {
    findings_.peak = std::max(findings_.peak.value_or(Bytes{}), measured.peak);
  }
  TestRun::of_process().note_peak(is_known ? std::optional{measured.peak} : std::nullopt);
  if (measured.left) {
    findings_.left = findings_.left.value_or(Bytes{}) + *measured.left;
  }
}

void Gate::add_problems(const Measured& measured) {
  if (!measured.overuse.empty()) {
    findings_.overuse = measured.overuse;
  }
  for (const auto& problem : measured.problems) {
    add_problem(problem);
  }
}

/// What only gputest finds: no failure that WILL_FAIL expects. A sticky CUDA error is the program's own.
void Gate::add_problem(const std::string& problem) {
  findings_.problems.push_back(problem);
  TestRun::of_process().failed_by_gputest(problem);
}

void Gate::note_error(const std::string& test, const std::string& error) {
  if (!error.empty() && broken_by_.empty()) {
    runlog::write("error", runlog::JsonObject{}.text("error", error), test);
    broken_by_ = test + " left it with " + error;
    findings_.problems.push_back(test + " left CUDA unusable for the rest of this process: " + error +
                                 ". The tests after it are skipped; run them without it");
  }
}

void Gate::count_unleased(const std::string& where) {
  const auto guard = lock_if_possible();
  if (guard && role_ != Role::in_place_of_parent && leased_ == 0) {
    note_error(where, find_unleased(where));
  }
}

void Gate::watch_unleased(const std::string& test) {
  const auto guard = lock_if_possible();
  if (guard && role_ != Role::in_place_of_parent && leased_ == 0) {
    measuring_.watch(test);
  }
}

std::string Gate::explain_out_of_memory(const std::string& test, bool may_run_again) {
  // Another thread may wait for a lease, and the caller may hold a lock of the test framework's.
  const std::unique_lock guard{mutex_, std::try_to_lock};
  if (!guard || is_forked() || role_ == Role::in_place_of_parent || !place_.has_devices()) {
    return {};
  }
  const auto* const held = leased_ != 0 ? &held_.request : nullptr;
  const auto grown = measuring_.grown_to();
  const auto leased = grown || held == nullptr ? grown : std::optional{held_.bytes.front()};
  const auto beyond = place_.ledger().unleased_memory(place_.mask());
  auto all = place_.ledger().records();
  const auto is_beside = [&](const ledger::Record& record) {
    return record.alive && record.pid != os::own_pid() && policy::is_inside(record.claim) &&
           (record.claim.devices & place_.mask()) != 0;
  };
  if (may_run_again && held != nullptr && place_.has_record()) {
    if (const auto taken = measuring_.taken_by_others(beyond, *leased)) {
      process_.synchronize_and_trim(); // else a client of MPS ends others with it
      TestRun::of_process().run_again_alone({policy::StopCause::others, *leased, {}, *taken});
    }
  }
  if (may_run_again && held == nullptr && std::any_of(all.begin(), all.end(), is_beside)) {
    run_again_alone(policy::StopCause::own_unleased);
  }
  const auto& parent = place_.parent_lease();
  std::vector<ledger::Record> holders;
  for (auto& record : all) {
    const auto is_same_process = [&](const ledger::Excess& excess) { return is_same(excess.holder, record); };
    if (is_beside(record) && record.claim.stage == policy::Stage::holding &&
        (record.claim.wanted & place_.mask()) != 0 && !(parent && is_same(parent->holder(), record)) &&
        std::none_of(beyond.excesses.begin(), beyond.excesses.end(), is_same_process)) {
      holders.push_back(std::move(record));
    }
  }
  auto text = ran_out_of_memory(messages_.full_name(test), test, leased, held,
                                held != nullptr ? measuring_.own_use() : OwnUse{}, parent ? parent->shared_with() : "",
                                holders, beyond);
  runlog::write("out_of_memory", runlog::out_of_memory_details(text, beyond.excesses), test);
  tell(text);
  return text;
}

void Gate::hand_over() {
  if (place_.has_record()) {
    place_.ledger().inherit_across_exec();
  }
  leased_ = 0; // the program after exec() keeps the lease
}

void Gate::log_end_of_command(const devices::Usage& usage, const std::optional<Measured>& measured) const noexcept {
  if (place_.has_record()) {
    log_release(usage, measured);
  }
}

bool Gate::may_wait_for(const Request& request) {
  const auto memory = policy::to_memory_request(request, place_.chosen().smallest);
  return !place_.has_record() || place_.ledger().may_wait_for({"", place_.mask_of(1), memory.bytes.count()});
}

void Gate::set_idle() {
  if (place_.has_record() && !is_idle_) {
    place_.ledger().set_idle();
    is_idle_ = true;
  }
}

bool Gate::resume() {
  is_idle_ = is_idle_ && !place_.ledger().resume();
  return !is_idle_;
}

std::string Gate::memory_left() const {
  const Bytes left = measuring_.still_left();
  const bool is_much = left > policy::to_memory_request(MemoryClass::small, place_.chosen().smallest).bytes;
  return is_much ? to_string(left) + " of device memory are left" : "";
}

std::optional<int> Gate::leave_descriptor() const {
  return is_idle_ ? std::optional{place_.ledger().leave_descriptor()} : std::nullopt;
}

} // namespace gputest::session
