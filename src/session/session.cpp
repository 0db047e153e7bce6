#include "session/session.hpp"

#include "devices/witness.hpp"
#include "policy/large_policy.hpp"
#include "session/allowed_devices.hpp"
#include "session/messages.hpp"
#include "session/observed_run_mode.hpp"
#include "session/reasons.hpp"
#include "system/cuda_driver.hpp"
#include "system/environment.hpp"
#include "system/process.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gputest::session {

using Kind = ledger::Result::Kind;
using std::chrono::steady_clock;

namespace {

/// A context that takes more is a leak as likely as not, and must not be what every later process is charged.
constexpr Bytes most_believable_context{std::uint64_t{2} << 30U};

std::string variable(const char* name) {
  const auto value = system::read_variable(name);
  return std::string{name} + (value ? "='" + *value + "'" : " (not set)");
}

} // namespace

Session::Session(policy::Settings settings, std::string program)
    : settings_{std::move(settings)}, program_{std::move(program)} {}

Session::~Session() { release(); }

Outcome Session::skip(const std::string& reason, bool for_want_of_gpu) const {
  if (settings_.forbid_skip || (for_want_of_gpu && settings_.require_gpu)) {
    const std::string demand = settings_.forbid_skip ? "GPUTEST_FORBID_SKIP=1" : "GPUTEST_REQUIRE_GPU=1";
    return {Outcome::Kind::fail, reason + " (" + demand + " makes this skip a failure)"};
  }
  return {Outcome::Kind::skip, reason};
}

Outcome Session::enter(const Plan& plan) {
  std::vector<Bytes> heaps;
  for (const auto& requirement : plan.requirements) {
    heaps.push_back(requirement.heap);
  }
  heap_.expect(heaps);
  std::string why_none;
  machine_ = devices::open_devices(settings_, why_none);
  if (machine_->devices().empty()) {
    return entered_ = skip("no GPU: " + why_none, true);
  }
  auto allowed = allowed_devices(*machine_);
  if (allowed.empty()) {
    return entered_ = skip("no GPU: " + variable("CUDA_VISIBLE_DEVICES") + " allows none of the " +
                               std::to_string(machine_->devices().size()) + " of this machine",
                           true);
  }
  const auto witness = devices::make_witness(machine_);
  capable_.emplace(machine_, witness);
  unusable_ = machine_->left_out();
  allowed = capable_->usable(allowed, unusable_);
  if (allowed.empty()) {
    return entered_ = skip("no GPU: " + unusable_, true);
  }
  smallest_ = machine_->devices()[allowed.front()].total;
  for (const std::size_t index : allowed) {
    smallest_ = std::min(smallest_, machine_->devices()[index].total);
  }
  ledger_.emplace(settings_.folder, witness);
  if (const auto holder = ledger_->holder_of(settings_.lease_of)) {
    return entered_ = run_under_lease_of(*holder, allowed);
  }
  return entered_ = enter_ledger(plan, allowed);
}

Outcome Session::run_under_lease_of(const ledger::Entry& holder, const std::vector<std::size_t>& allowed) {
  cover_ = holder;
  indices_ = allowed;
  for (const std::size_t index : allowed) {
    devices_.push_back(machine_->devices()[index]);
  }
  return {};
}

Outcome Session::enter_ledger(const Plan& plan, const std::vector<std::size_t>& allowed_by_others) {
  auto allowed = allowed_by_others;
  std::size_t gpus = 1;
  for (const auto& requirement : plan.requirements) {
    gpus = std::max(gpus, static_cast<std::size_t>(requirement.gpus));
  }
  // Tests that need more devices than there are will be skipped one by one; the others need not be.
  gpus = std::min(gpus, allowed.size());
  const auto& of_all = settings_.requirement.capabilities;
  if (capable_->capable(of_all, allowed, *ledger_).empty()) {
    return skip(not_capable(full_name(""), capable_->why_not(of_all, allowed, *ledger_)));
  }
  if (settings_.device_memory) {
    tell("every decision is as on devices of at most " + to_string(*settings_.device_memory) +
         " (GPUTEST_DEVICE_MEMORY)");
  }
  if (system::cuda_is_initialised()) {
    allowed.resize(gpus);
    tell(
        "CUDA was initialised before gputest could choose a device, so this process stays on the first one it sees; to "
        "let gputest choose, call run_all_tests() before the first CUDA call, or use gpu_add_test(... LAUNCHER on)");
  } else if (const auto capable = capable_->capable(of_all | plan.capabilities, allowed, *ledger_);
             capable.size() >= gpus) {
    allowed = capable; // otherwise a test whose devices lack something is skipped with what that is
  }

  ledger::Ledger::EnterRequest request;
  request.who = full_name("");
  request.gpus = static_cast<unsigned>(gpus);
  Bytes largest_device;
  std::uint64_t usual = 0;
  for (const std::size_t index : allowed) {
    request.candidates |= ledger_->devices().bit_of(machine_->devices()[index].uuid);
    largest_device = std::max(largest_device, machine_->devices()[index].total);
    usual = std::max(usual, machine_->usual_overhead_bytes(index));
  }
  // Once it is used the heap stays for as long as the context does, so it counts as that does.
  const Bytes context{std::max(usual, ledger_->devices().overhead_bytes(request.candidates))};
  request.overhead_bytes = (context + heap_.cost()).count();
  least_overhead_ = request.overhead_bytes;

  auto requirements = plan.requirements;
  const bool large_waits = settings_.large != LargePolicy::exclude;
  if (plan.open_ended) {
    requirements.emplace_back(large_waits ? MemoryClass::large : MemoryClass::medium);
  }
  for (const auto& requirement : requirements) {
    const auto memory = policy::to_memory_request(requirement, smallest_);
    const bool waits = requirement.memory_class != MemoryClass::large || large_waits;
    // What can never fit is refused when its test comes, and must not keep the others out.
    if (waits && memory.bytes + Bytes{request.overhead_bytes} <= largest_device) {
      request.largest_bytes = std::max(request.largest_bytes, memory.bytes.count());
      request.whole_devices = request.whole_devices || memory.exclusive;
    }
  }

  bool told = false;
  const auto result = ledger_->enter(request, patience(request.who, "a place on a GPU", &told));
  if (result.kind != Kind::granted) {
    return outcome_of(result, "a place on a GPU", request.who);
  }
  std::string visible;
  for (const std::size_t index : allowed) {
    const Device& device = machine_->devices()[index];
    const auto bit = ledger_->devices().bit_of(device.uuid);
    if ((result.devices & bit) != 0) {
      devices_.push_back(device);
      indices_.push_back(index);
      bits_.push_back(bit);
      visible += (visible.empty() ? "" : ",") + device.uuid;
    }
  }
  system::set_variable("CUDA_VISIBLE_DEVICES", visible);
  system::set_variable("GPUTEST_LEASE_OF", ledger_->credential());
  if (told) {
    tell(request.who + " goes on, on " + describe(devices_));
  }
  return {};
}

Outcome Session::check_devices(const Requirement& requirement, const std::string& test) {
  if (entered_.kind != Outcome::Kind::granted) {
    return entered_;
  }
  const std::string who = full_name(test);
  if (static_cast<std::size_t>(requirement.gpus) > devices_.size()) {
    return skip(who + " needs " + std::to_string(requirement.gpus) + " GPUs and may use " +
                    std::to_string(devices_.size()) + " (" + describe(devices_) + ")" +
                    (unusable_.empty() ? "" : "; " + unusable_),
                true);
  }
  const auto first = indices_.begin();
  if (const auto why = capable_->why_not(requirement.capabilities, {first, first + requirement.gpus}, *ledger_);
      !why.empty()) {
    return skip(not_capable(who, why));
  }
  return {};
}

Outcome Session::acquire(const Requirement& requirement, const std::string& test) {
  if (auto lacking = check_devices(requirement, test); lacking.kind != Outcome::Kind::granted) {
    return lacking;
  }
  const std::string who = full_name(test);
  const auto memory = policy::to_memory_request(requirement, smallest_);
  if (cover_) {
    return under_lease(requirement, memory);
  }
  // Whether it was announced does not matter for what can never be had.
  const Bytes asked = memory.bytes + Bytes{least_overhead_};
  for (auto device = devices_.begin(); device != devices_.begin() + requirement.gpus; ++device) {
    if (asked > device->total) {
      return never_fits_skip(who, policy::Refusal{asked.count(), device->total.count(), 1, 1});
    }
  }
  const bool large = requirement.memory_class == MemoryClass::large;
  const bool large_entry = settings_.requirement.memory_class == MemoryClass::large;
  auto decision = policy::LargeDecision::wait;
  if (large || large_entry) {
    if (!run_mode_) {
      run_mode_ = observed_run_mode(settings_.run_mode);
    }
    decision = policy::decide_large(settings_.large, run_mode_->mode);
    if (decision == policy::LargeDecision::exclude) {
      return skip(excluded_in_parallel(who, run_mode_->because, command_for(test)));
    }
  }
  bool told = false;
  auto patience = this->patience(who, to_string(requirement), &told);
  patience.may_wait = !large || decision == policy::LargeDecision::wait;
  const auto begin = steady_clock::now();
  const auto devices =
      std::accumulate(bits_.begin(), bits_.begin() + requirement.gpus, policy::DeviceMask{0}, std::bit_or<>{});
  const auto result = ledger_->lease({who, devices, memory.bytes.count(), memory.exclusive, memory.seat}, patience);
  if (result.kind != Kind::granted) {
    return outcome_of(result, to_string(requirement), test);
  }
  holds_ = true;
  if (told || !admitted_) {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - begin);
    tell("admitted " + who + ": " + to_string(requirement) + " on " + describe(devices_) +
         (machine_->devices().front().simulated ? " (simulated)" : "") +
         (told ? ", after waiting " + short_duration(waited) : ""));
    admitted_ = true;
  }
  return {};
}

Outcome Session::prepare_heap(const Requirement& requirement, const std::string& who) {
  const std::string problem = heap_.prepare(requirement.heap, devices_, requirement.gpus, full_name(who));
  if (problem.empty()) {
    return {};
  }
  release();
  return {Outcome::Kind::fail, problem};
}

std::vector<Bytes> Session::bytes_of(const Requirement& requirement) const {
  const auto memory = policy::to_memory_request(requirement, smallest_);
  std::vector<Bytes> bytes;
  for (const auto& device : devices_) {
    if (bytes.size() < static_cast<std::size_t>(requirement.gpus)) {
      bytes.push_back(memory.exclusive ? device.total : memory.bytes);
    }
  }
  return bytes;
}

/// A process that runs under another one's lease takes none, but must not use more than that one holds.
Outcome Session::under_lease(const Requirement& requirement, const policy::MemoryRequest& memory) const {
  const auto& claim = cover_->claim;
  const bool holding = claim.stage == policy::Stage::holding;
  const bool fits = memory.seat ? claim.seat : !memory.exclusive && memory.bytes <= Bytes{claim.lease_bytes};
  if (holding && (claim.exclusive || fits)) {
    return {};
  }
  return {Outcome::Kind::fail, beyond_cover(to_string(requirement), *cover_)};
}

ledger::Patience Session::patience(const std::string& who, const std::string& what, bool* told) const {
  ledger::Patience patience;
  patience.until = steady_clock::now() + settings_.wait_limit;
  patience.on_wait = [who, what, told](const ledger::Blocked& blocked) {
    *told = true;
    tell(who + " waits for " + what + ": " + describe(blocked));
  };
  return patience;
}

Outcome Session::outcome_of(const ledger::Result& result, const std::string& what, const std::string& test) const {
  const std::string who = full_name(test);
  switch (result.kind) {
  case Kind::granted:
    break;
  case Kind::refused:
    return never_fits_skip(who, result.refusal);
  case Kind::would_wait:
    return skip(excluded_by_others(who, result.blocked, command_for(test)));
  case Kind::timed_out:
    return {Outcome::Kind::fail, waited_too_long(who, what, settings_.wait_limit, result.blocked), true};
  case Kind::stuck:
    return {Outcome::Kind::fail, contexts_leave_no_room(who, what, result.blocked), true};
  case Kind::unannounced:
    return {Outcome::Kind::fail, not_announced(who, what, result.blocked)};
  }
  return {};
}

Outcome Session::never_fits_skip(const std::string& who, const policy::Refusal& refusal) const {
  return skip(never_fits(who, refusal) + (settings_.device_memory ? " (GPUTEST_DEVICE_MEMORY limits it)" : ""));
}

std::string Session::release(Bytes managed) noexcept {
  if (!holds_ && !cover_) {
    return {};
  }
  const auto settled = system::settle_cuda();
  if (holds_) {
    measure_overhead(managed);
    ledger_->release();
    holds_ = false;
  }
  return settled.error;
}

/// Puts what the process still has of its devices on the ledger: its context, and what its tests have not freed.
void Session::measure_overhead(Bytes managed) {
  try {
    const auto& all = machine_->devices();
    std::uint64_t kept = 0;
    policy::DeviceMask devices = 0;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const auto index =
          std::find_if(all.begin(), all.end(), [&](const Device& d) { return d.uuid == devices_[i].uuid; });
      const auto use = machine_->memory(static_cast<std::size_t>(index - all.begin()));
      for (const auto& process : use.processes.value_or(std::vector<devices::ProcessMemory>{})) {
        kept = std::max(kept, process.pid == system::own_pid() ? process.used_bytes.value_or(0) : 0);
      }
      devices |= bits_[i];
    }
    const Bytes unlisted = all.front().simulated ? Bytes{} : managed;
    ledger_->set_overhead((Bytes{std::max(kept, least_overhead_)} + unlisted).count());
    // What every later process is charged as its context must not hold this one's heap.
    if (heap_.cost() == Bytes{} && kept > ledger_->devices().overhead_bytes(devices) &&
        Bytes{kept} <= most_believable_context) {
      ledger_->devices().remember_overhead(devices, kept);
    }
  } catch (const LedgerError&) { // NOLINT(bugprone-empty-catch)
    // The ledger then counts the usual overhead, as it did before.
  }
}

std::string Session::loss() const {
  try {
    if (ledger_) {
      ledger_->require_intact();
    }
    return {};
  } catch (const LedgerError& error) {
    return error.what();
  }
}

void Session::hand_over() {
  if (!cover_) {
    ledger_->inherit_across_exec();
  }
  holds_ = false; // what comes after exec() keeps it
}

/// A test as CTest and GoogleTest know it, for messages: `sort_keys: Sort.Keys`, or with the program's name.
std::string Session::full_name(const std::string& test) const {
  const std::string entry = settings_.test.empty() ? program_ : settings_.test;
  return test.empty() || test == entry ? entry : entry + ": " + test;
}

std::string Session::command_for(const std::string& test) const {
  return policy::command_for_large(settings_.test, program_, test);
}

} // namespace gputest::session
