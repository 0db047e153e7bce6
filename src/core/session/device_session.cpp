// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/device_session.hpp"

#include "core/os/file.hpp"
#include "core/policy/request.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <utility>

namespace gputest::session {

namespace {

/// Whether some of it is known to be still allocated.
bool leaves_memory(const devices::Usage& usage, const std::vector<devices::DeviceUsage>& left) {
  const auto leaves = [](const devices::DeviceUsage& device) { return left_of(device) > Bytes{}; };
  return std::any_of(usage.devices.begin(), usage.devices.end(), leaves) ||
         std::any_of(left.begin(), left.end(), leaves);
}

Settings checked(Settings settings) {
  settings::check_folder(settings.folder, "Settings::folder");
  return settings;
}

} // namespace

DeviceSession::DeviceSession(Settings settings, Entry entry, std::string program, Overhead::Now now)
    : settings_{checked(std::move(settings))}, entry_{std::move(entry)}, answers_{settings_, entry_,
                                                                                  std::move(program)},
      process_{&devices::this_process(settings_)}, now_{std::move(now)}, heap_{*process_} {
  settings::set_for_process(settings_);
  runlog::configure(settings_.log, answers_.full_name(""));
}

DeviceSession::~DeviceSession() { release(); }

void DeviceSession::set_entry(Entry entry) {
  entry_ = std::move(entry);
  fit_entry();
  admitted_ = false;
}

/// Makes the entry's request one of this process on this machine.
void DeviceSession::fit_entry() {
  entry_.request = parent_lease_ ? parent_lease_->share_of(entry_.request)
                   : machine_    ? policy::fitted(entry_.request, largest_for_a_test())
                                 : entry_.request;
}

std::string DeviceSession::release(Bytes managed, const std::vector<devices::DeviceUsage>& left) noexcept {
  if (!holds_ && !parent_lease_) {
    return {};
  }
  const auto settled = process_->synchronize_and_trim();
  auto usage = measures_ ? meter_->end() : devices::Usage{};
  if (holds_) {
    has_left_ = has_left_ || leaves_memory(usage, left);
    if (overhead_.is_due(settled, managed, now_())) {
      measure_overhead(settled, managed, has_left_ ? Learn::nothing : Learn::context);
    }
  }
  if (measures_) {
    if (growth_) {
      growth_->end();
    }
    judge(std::move(usage), left);
    measures_ = false;
    growth_.reset();
    meter_->ask_beyond({}, {});
  }
  if (holds_) {
    ledger_->release();
    holds_ = false;
    log_release(measured_ ? measured_->usage : devices::Usage{});
  }
  begin_unleased_period();
  return settled.error;
}

std::string DeviceSession::synchronize() noexcept { return process_->synchronize_and_trim().error; }

void DeviceSession::log_release(const devices::Usage& usage) const noexcept {
  try {
    const std::chrono::duration<double> held = std::chrono::steady_clock::now() - leased_at_;
    runlog::write("release", runlog::release_details(held.count(), usage, devices_, leased_gpus_), leased_test_);
    if (measured_ && usage.evidence != devices::Evidence::unknown) {
      const auto allowed = allowance_.whole_devices ? std::nullopt : std::optional{allowance_.leased.front()};
      runlog::write("need",
                    runlog::need_details({measured_->peak, usage.evidence, devices_.front(), allowed,
                                          allowance_.request.memory_by}),
                    leased_test_);
    }
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): no memory
  }
}

std::string DeviceSession::count_unleased(const std::string& where) {
  if (watches_unleased_) {
    judge_unleased(meter_->so_far());
  }
  if (entered_.kind != Outcome::Kind::granted || holds_ || !process_->in_use()) {
    return {};
  }
  const auto settled = process_->synchronize_and_trim();
  const Bytes managed = overhead_.managed();
  if (!settled.error.empty() || parent_lease_ || (unleased_.empty() && !overhead_.is_due(settled, managed, now_()))) {
    return settled.error;
  }
  const Bytes before = overhead_.bytes();
  measure_overhead(settled, managed, Learn::nothing); // what was taken without a lease is not the context's
  const Bytes now = overhead_.bytes();
  if (now > before + policy::to_memory_request(MemoryClass::small, smallest_).bytes) {
    unleased_ = where + " took " + to_string(now - before);
    if (!watches_unleased_) { // which says it of the test
      tell(took_without_lease(where, now - before));
    }
  } else if (now < before) {
    unleased_.clear();
  }
  return {};
}

/// Records in the ledger what the process still has of its devices: its context, and what its tests have not freed.
void DeviceSession::measure_overhead(const devices::Settled& settled, Bytes managed, Learn learn) {
  try {
    Bytes listed;
    for (const std::size_t index : indices_) {
      listed = std::max(listed, contexts_->used(index));
    }
    const Bytes unlisted = process_->lists_managed_memory() ? Bytes{} : managed;
    overhead_.measured(settled, listed, unlisted, now_());
    ledger_->set_overhead(overhead_.bytes().count());
    if (learn == Learn::context && unleased_.empty() && overhead_.to_learn() > Bytes{}) {
      const auto devices = mask_of(bits_.size());
      ledger_->devices().remember(os::executable_identity().value_or(0), devices, overhead_.to_learn().count());
    }
  } catch (const LedgerError&) { // NOLINT(bugprone-empty-catch)
    // The ledger then counts what was expected, as it did before.
  }
}

std::vector<std::string> DeviceSession::stray_contexts(const std::string& who) try {
  if (entered_.kind != Outcome::Kind::granted || sees_only_its_own_ || !process_->in_use()) {
    return {};
  }
  // The devices visible to a process are fixed when it begins to use devices.
  std::vector<std::string> uuids;
  for (const auto& device : devices_) {
    uuids.push_back(device.uuid);
  }
  sees_only_its_own_ = process_->sees_only(uuids);
  return sees_only_its_own_ ? std::vector<std::string>{} : contexts_->strays(indices_, who);
} catch (const LedgerError&) { // of simulated devices; whoever uses them next hears of it
  return {};
}

std::string DeviceSession::loss() const {
  try {
    if (ledger_) {
      ledger_->require_intact();
    }
    return {};
  } catch (const LedgerError& error) {
    return error.what();
  }
}

void DeviceSession::log_end_of_command(const devices::Usage& usage) const noexcept {
  if (leased_gpus_ > 0) { // not under another process's lease
    log_release(usage);
  }
}

bool DeviceSession::has_place() const {
  return entered_.kind == Outcome::Kind::granted && ledger_ && !parent_lease_ && !late_;
}

bool DeviceSession::may_wait_for(const Request& request) {
  return !has_place() ||
         ledger_->may_wait_for({"", mask_of(1), policy::to_memory_request(request, smallest_).bytes.count()});
}

void DeviceSession::set_idle() {
  if (has_place() && !is_idle_) {
    ledger_->set_idle();
    is_idle_ = true;
  }
}

bool DeviceSession::resume() {
  is_idle_ = is_idle_ && !ledger_->resume();
  return !is_idle_;
}

std::optional<int> DeviceSession::leave_descriptor() const {
  return is_idle_ ? std::optional{ledger_->leave_descriptor()} : std::nullopt;
}

void DeviceSession::hand_over() {
  if (!parent_lease_) {
    ledger_->inherit_across_exec();
  }
  holds_ = false; // the program after exec() keeps it
}

} // namespace gputest::session
