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
      process_{&devices::this_process(settings_)}, place_{settings_, answers_, *process_}, now_{std::move(now)} {
  settings::set_for_process(settings_);
  runlog::configure(settings_.log, answers_.full_name(""));
}

DeviceSession::~DeviceSession() { release(); }

void DeviceSession::set_entry(Entry entry) {
  entry_ = std::move(entry);
  place_.fit(entry_);
  admitted_ = false;
}

std::string DeviceSession::release(Bytes managed, const std::vector<devices::DeviceUsage>& left) noexcept {
  if (!holds_ && !place_.parent_lease()) {
    return {};
  }
  const auto settled = process_->synchronize_and_trim();
  auto usage = measures_ ? meter_->end() : devices::Usage{};
  if (holds_) {
    has_left_ = has_left_ || leaves_memory(usage, left);
    if (place_.overhead().is_due(settled, managed, now_())) {
      place_.measure_overhead(settled, managed, now_(), has_context_alone());
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
    place_.ledger().release();
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
    runlog::write("release", runlog::release_details(held.count(), usage, place_.chosen().devices, leased_gpus_),
                  leased_test_);
    if (measured_ && usage.evidence != devices::Evidence::unknown) {
      const auto allowed = allowance_.whole_devices ? std::nullopt : std::optional{allowance_.leased.front()};
      runlog::write("need",
                    runlog::need_details({measured_->peak, usage.evidence, place_.chosen().devices.front(), allowed,
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
  if (!place_.has_devices() || holds_ || !process_->in_use()) {
    return {};
  }
  const auto settled = process_->synchronize_and_trim();
  const Bytes managed = place_.overhead().managed();
  if (!settled.error.empty() || place_.parent_lease() ||
      (unleased_.empty() && !place_.overhead().is_due(settled, managed, now_()))) {
    return settled.error;
  }
  const Bytes before = place_.overhead().bytes();
  place_.measure_overhead(settled, managed, now_(), false); // what was taken without a lease is not the context's
  const Bytes now = place_.overhead().bytes();
  if (now > before + policy::to_memory_request(MemoryClass::small, place_.chosen().smallest).bytes) {
    unleased_ = where + " took " + to_string(now - before);
    if (!watches_unleased_) { // which says it of the test
      tell(took_without_lease(where, now - before));
    }
  } else if (now < before) {
    unleased_.clear();
  }
  return {};
}

std::string DeviceSession::loss() const {
  try {
    if (place_.has_devices()) {
      place_.ledger().require_intact();
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

bool DeviceSession::may_wait_for(const Request& request) {
  return !place_.has_record() ||
         place_.ledger().may_wait_for(
             {"", place_.mask_of(1), policy::to_memory_request(request, place_.chosen().smallest).bytes.count()});
}

void DeviceSession::set_idle() {
  if (place_.has_record() && !is_idle_) {
    place_.ledger().set_idle();
    is_idle_ = true;
  }
}

bool DeviceSession::resume() {
  is_idle_ = is_idle_ && !place_.ledger().resume();
  return !is_idle_;
}

std::optional<int> DeviceSession::leave_descriptor() const {
  return is_idle_ ? std::optional{place_.ledger().leave_descriptor()} : std::nullopt;
}

void DeviceSession::hand_over() {
  if (!place_.parent_lease()) {
    place_.ledger().inherit_across_exec();
  }
  holds_ = false; // the program after exec() keeps it
}

} // namespace gputest::session
