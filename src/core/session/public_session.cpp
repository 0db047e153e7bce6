// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/session.hpp>

#include "core/os/process.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/idle_session.hpp"
#include "core/session/lease_scope.hpp"
#include "core/session/messages.hpp"
#include "core/session/session.hpp"

#include <gputest/error.hpp>
#include <gputest/test_run.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace gputest {

namespace detail {

namespace {

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

/// A session, and the one lease that its process may hold.
class Leasing {
public:
  Leasing(Settings settings, Entry entry) : session_{std::move(settings), std::move(entry), program_name()} {
    check_request(session_.entry().request, "the CTest entry");
    of_process() = this;
  }
  ~Leasing() { of_process() = nullptr; }
  Leasing(const Leasing&) = delete;
  Leasing& operator=(const Leasing&) = delete;

  /// The one of this process; null without one.
  static Leasing*& of_process() {
    static Leasing* leasing = nullptr;
    return leasing;
  }

  Outcome enter(const Plan& plan, bool in_place_of_parent) {
    const std::lock_guard guard{mutex_};
    for (const auto& request : plan.requests) {
      check_request(request, "the plan");
    }
    if (std::exchange(has_entered_, true)) {
      throw Error{"Session::enter() was called a second time; a process chooses its devices once. Call it once, with a "
                  "Plan of all that its tests will ask for"};
    }
    session::Account::instance().guard();
    in_place_of_parent_ = in_place_of_parent;
    static_cast<void>(TestRun::of_process()); // takes GPUTEST_ENTRY: what this one starts is no entry
    auto outcome = session_.enter(plan);
    if (outcome.kind == Outcome::Kind::fail) {
      TestRun::of_process().refused(outcome.reason);
    }
    chosen_devices() = devices();
    if (!in_place_of_parent_) {
      session_.measure();
    }
    if (!in_place_of_parent_ && !devices().empty() && devices().front().simulated) {
      session::tell("the devices are simulated: memory only, no kernels (GPUTEST_DEVICES)");
    }
    return outcome;
  }

  [[nodiscard]] const std::vector<Device>& devices() const { return session_.devices(); }
  [[nodiscard]] const Entry& entry() const { return session_.entry(); }

  void set_entry(Entry entry) {
    check_request(entry.request, "the CTest entry");
    const std::lock_guard guard{mutex_};
    session_.set_entry(std::move(entry));
  }

  Outcome check(const Request& request, const std::string& who) {
    check_request(request, who);
    const std::lock_guard guard{mutex_};
    if (in_place_of_parent_) {
      return {};
    }
    if (held_ && who != holder_) {
      session_.share();
    }
    // Where several tests share a lease, those after the problem ask for none.
    return logged(held_ && !broken_by_.empty() ? skip_after_problem(who) : session_.check_devices(request, who), who);
  }

  Outcome foresee(const Request& request, const std::string& who) {
    check_request(request, who);
    const std::lock_guard guard{mutex_};
    if (in_place_of_parent_) {
      return {};
    }
    return broken_by_.empty() ? session_.foresee(request, who) : skip_after_problem(who);
  }

  /// Leases; `number` becomes that of the lease.
  Outcome lease(const Request& request, const std::string& who, std::uint64_t& number) {
    check_request(request, who);
    const std::lock_guard guard{mutex_};
    if (held_) {
      throw NestedLease{who + " asked for a lease of " + short_text(request) + " while " +
                        (who == holder_ ? "it" : holder_) + " has one of " + short_text(*held_) +
                        "; waiting for a second one could deadlock. Give the first back before"};
    }
    if (!in_place_of_parent_) {
      auto outcome = broken_by_.empty() ? session_.acquire(request, who) : skip_after_problem(who);
      if (outcome.kind == Outcome::Kind::granted) {
        outcome = session_.prepare_heap(request, who);
      }
      if (outcome.kind == Outcome::Kind::fail) {
        TestRun::of_process().refused(outcome.reason);
      }
      if (outcome.kind != Outcome::Kind::granted) {
        return logged(std::move(outcome), who);
      }
    }
    held_ = request;
    holder_ = who;
    session::Account::instance().open({who, session_.bytes_of(request), session_.largest_for_a_test()});
    number = ++last_;
    return {};
  }

  [[nodiscard]] session::Session& session() { return session_; }

  void count_unleased(const std::string& where) {
    const std::lock_guard guard{mutex_};
    if (!in_place_of_parent_ && !held_) {
      note_error(where, session_.count_unleased(where));
    }
  }

  void watch_unleased(const std::string& who) {
    const std::lock_guard guard{mutex_};
    if (!in_place_of_parent_ && !held_) {
      session_.watch_unleased(who);
    }
  }

  std::string explain_out_of_memory(const std::string& who) {
    // Another thread may wait for a lease, and the caller may hold a lock of the test framework's.
    const std::unique_lock guard{mutex_, std::try_to_lock};
    return !guard || in_place_of_parent_ ? std::string{}
                                         : session_.explain_out_of_memory(who, held_ ? &*held_ : nullptr);
  }

  [[nodiscard]] bool holds(std::uint64_t number) {
    const std::lock_guard guard{mutex_};
    return number != 0 && number == last_ && held_;
  }

  void release(std::optional<std::uint64_t> number) noexcept {
    const std::lock_guard guard{mutex_};
    if (!held_ || (number && *number != last_)) {
      return;
    }
    held_.reset();
    const auto memory = session::close_lease();
    // A death test's statement may have left CUDA unusable on purpose, and its parent holds the lease.
    const auto error = in_place_of_parent_ ? std::string{} : session_.release(memory.managed, memory.left);
    try {
      findings_.memory_resource = memory.kinds;
      findings_.spilled = memory.spilled;
      if (const auto measured = session_.take_measured()) {
        add(*measured);
      }
      note_error(holder_, error);
    } catch (const std::exception& out_of_memory) {
      session::tell(out_of_memory.what());
    }
  }

  Findings examine(const std::string& who) {
    const std::lock_guard guard{mutex_};
    if (held_) {
      note_error(who, session_.synchronize());
      add_problems(session_.look());
    }
    if (!has_entered_) {
      add_problems(session_.look_for_use(who));
    }
    add_problems(session_.end_unleased());
    if (const auto loss = session_.loss(); !loss.empty() && broken_by_.empty()) {
      broken_by_ = who + " left it without its slot in the ledger";
      add_problem(who + " left this process without its slot in the ledger: " + loss +
                  ". The tests after it are skipped; run them without it");
    }
    if (!in_place_of_parent_) {
      for (auto& stray : session_.stray_contexts(who)) {
        add_problem(stray);
      }
    }
    return std::exchange(findings_, {});
  }

private:
  [[nodiscard]] Outcome skip_after_problem(const std::string& who) const {
    return session_.skip(who + " cannot use a GPU in this process: " + broken_by_ + ". Run it by itself",
                         SkipCause::run);
  }

  /// Writes a skip to the run log.
  static Outcome logged(Outcome outcome, const std::string& who) {
    if (outcome.kind == Outcome::Kind::skip) {
      runlog::RunLog::of_process().write("skip", runlog::skip_details(outcome), who);
    }
    return outcome;
  }

  void add_problems(const session::Measured& measured) {
    if (!measured.overuse.empty()) {
      findings_.overuse = measured.overuse;
    }
    for (const auto& problem : measured.problems) {
      add_problem(problem);
    }
  }

  /// What only gputest finds: no failure that WILL_FAIL expects. A sticky CUDA error is the program's own.
  void add_problem(const std::string& problem) {
    findings_.problems.push_back(problem);
    TestRun::of_process().refused(problem);
  }

  /// Of a lease that was given back; a test may have several.
  void add(const session::Measured& measured) {
    add_problems(measured);
    findings_.evidence = devices::to_string(measured.usage.evidence);
    // A lower bound of 0 says nothing.
    if (measured.usage.evidence == devices::Evidence::exact || measured.peak > Bytes{}) {
      findings_.peak = std::max(findings_.peak.value_or(Bytes{}), measured.peak);
      TestRun::of_process().note_peak(measured.peak);
    } else {
      TestRun::of_process().note_peak(std::nullopt);
    }
    if (measured.left) {
      findings_.left = findings_.left.value_or(Bytes{}) + *measured.left;
    }
  }

  void note_error(const std::string& who, const std::string& error) {
    if (!error.empty() && broken_by_.empty()) {
      runlog::RunLog::of_process().write("error", runlog::JsonObject{}.text("error", error), who);
      broken_by_ = who + " left it with " + error;
      findings_.problems.push_back(who + " left CUDA unusable for the rest of this process: " + error +
                                   ". The tests after it are skipped; run them without it");
    }
  }

  std::mutex mutex_;
  OnlySession only_;
  session::Session session_;
  bool has_entered_ = false;
  bool in_place_of_parent_ = false;
  std::optional<Request> held_;
  std::string holder_;     ///< of the lease: the test
  std::uint64_t last_ = 0; ///< number of the last lease
  std::string broken_by_;  ///< the test after which nothing can be leased any more, and why
  Findings findings_;
};

void set_session_idle() {
  if (auto* const leasing = Leasing::of_process()) {
    leasing->session().set_idle();
  }
}

bool resume_session() {
  auto* const leasing = Leasing::of_process();
  return leasing == nullptr || leasing->session().resume();
}

std::optional<int> leave_descriptor_of_session() {
  auto* const leasing = Leasing::of_process();
  return leasing == nullptr ? std::nullopt : leasing->session().leave_descriptor();
}

} // namespace detail

const std::vector<Device>& current_devices() { return detail::chosen_devices(); }

namespace {

/// Is in each program that has a Session: the launcher leases nothing for such a program (tool/gpu_use).
[[gnu::used, gnu::section(".gputest_session")]] const volatile char session_mark = 1;

} // namespace

Session::Session(Settings settings, Entry entry)
    : leasing_{std::make_shared<detail::Leasing>(std::move(settings), std::move(entry))} {
  static_cast<void>(session_mark); // a use, so that no linker leaves the section out
}

Session Session::from_environment() { return {settings_from_environment(), entry_from_environment()}; }

Session::~Session() { release(); }

Outcome Session::enter(const Plan& plan) { return leasing_->enter(plan, false); }

Outcome Session::enter_in_place_of_parent(const Plan& plan) { return leasing_->enter(plan, true); }

const std::vector<Device>& Session::devices() const { return leasing_->devices(); }

const Entry& Session::entry() const { return leasing_->entry(); }

void Session::set_entry(Entry entry) { leasing_->set_entry(std::move(entry)); }

Outcome Session::check(const Request& request, const std::string& who) { return leasing_->check(request, who); }

Outcome Session::foresee(const Request& request, const std::string& who) { return leasing_->foresee(request, who); }

Lease Session::lease(const Request& request, const std::string& who) {
  Lease lease;
  lease.outcome_ = leasing_->lease(request, who, lease.number_);
  lease.session_ = leasing_;
  return lease;
}

void Session::count_unleased(const std::string& where) { leasing_->count_unleased(where); }

void Session::watch_unleased(const std::string& who) { leasing_->watch_unleased(who); }

std::string Session::explain_out_of_memory(const std::string& who) { return leasing_->explain_out_of_memory(who); }

void Session::release() noexcept { leasing_->release(std::nullopt); }

Findings Session::examine(const std::string& who) { return leasing_->examine(who); }

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
  return session && session->holds(number_);
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

} // namespace gputest
