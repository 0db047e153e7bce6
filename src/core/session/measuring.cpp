// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/measuring.hpp"

#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"

#include <gputest/test_run.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gputest::session {

using devices::Evidence;

namespace {

/// What is left of all devices.
Bytes all_left(const std::vector<devices::DeviceUsage>& devices) {
  return std::accumulate(devices.begin(), devices.end(), Bytes{},
                         [](Bytes sum, const devices::DeviceUsage& one) { return sum + left_of(one); });
}

} // namespace

void Measuring::begin_leased_period(const Request& request, const std::string& test) {
  end_unleased_period();
  const auto memory = policy::to_memory_request(request, place_.chosen().smallest);
  std::optional<Bytes> leased = memory.whole_device() ? std::nullopt : std::optional{memory.bytes};
  if (const auto& parent = place_.parent_lease();
      parent && (!request.bytes || (parent->is_of_ranks() &&
                                    (request.memory_by == SaidBy::entry || request.memory_by == SaidBy::estimate)))) {
    leased = parent->bytes(); // what the test does not say, its parent has said
  }
  allowance_ = {messages_.full_name(test), test,    false, {}, !leased, request.keeps,
                place_.overhead().bytes(), request, {}};
  allowance_.leased.assign(place_.chosen().numbered_as_in_cuda ? static_cast<std::size_t>(request.gpus)
                                                               : place_.chosen().devices.size() + max_gpus,
                           leased.value_or(Bytes{}));
  overhead_before_ = place_.overhead().bytes();
  overuse_reported_ = false;
  children_before_ = os::children_seen();
  meter_->begin();
  measures_ = true;
  ask_beyond_the_lease();
}

void Measuring::share() {
  allowance_.of_suite = true;
  ask_beyond_the_lease();
}

/// An estimated lease grows before an allocation beyond it. With GPUTEST_OVERUSE=stop the process ends before that.
/// Under MPS a process that ends while its kernels run takes other clients' kernels with it, so they end first.
void Measuring::ask_beyond_the_lease() {
  if (allowance_.request.is_estimated()) {
    if (!growth_ && place_.has_record() && !allowance_.whole_devices && meter_->sees_allocations()) {
      growth_ = std::make_shared<Growth>(place_, *meter_, process_, allowance_, entry_.request.is_estimated());
      growth_->limit();
    }
    return;
  }
  if (settings_.overuse != Consequence::stop || allowance_.whole_devices ||
      !gputest::detail::TestRun::of_process().is_running()) {
    return;
  }
  meter_->ask_beyond({allowance_.leased, place_.largest_total()},
                     [process = &process_, allowance = allowance_](const devices::Usage& usage) {
                       if (const auto overuse = overuse_in(usage, allowance, Overrun::stopped); !overuse.text.empty()) {
                         static_cast<void>(process->synchronize_and_trim());
                         runlog::write("overuse", runlog::JsonObject{}.text("text", overuse.text), allowance.test);
                         gputest::detail::TestRun::of_process().end_as_failure(overuse.text);
                       }
                     });
}

void Measuring::watch(const std::string& who) {
  if (!place_.parent_lease()) { // its holder's lease is for all that this process takes
    watched_ = who;
    unleased_use_ = {};
    begin_unleased_period();
  }
}

// Samples would cost a thread in tests that use no GPU.
void Measuring::begin_unleased_period() {
  if (!watched_.empty() && meter_->sees_allocations()) {
    meter_->begin();
    watches_unleased_ = true;
  }
}

bool Measuring::check_unleased_use() {
  if (watches_unleased_) {
    judge_unleased(meter_->so_far());
  }
  return watches_unleased_;
}

void Measuring::end_unleased_period() noexcept {
  if (std::exchange(watches_unleased_, false)) {
    judge_unleased(meter_->end());
  }
}

void Measuring::judge_unleased(const devices::Usage& usage) {
  if (!unleased_use_.overuse.empty() || settings_.overuse == Consequence::off) {
    return;
  }
  const auto use = unleased_use_in(usage, messages_.full_name(watched_), watched_);
  if (!use.text.empty()) {
    unleased_use_.overuse = use.short_text;
    runlog::write("overuse", runlog::JsonObject{}.text("text", use.text), watched_);
    conclude(settings_.overuse, use.text, unleased_use_);
  }
}

Measured Measuring::end_watch() noexcept {
  end_unleased_period();
  watched_.clear();
  return std::exchange(unleased_use_, {});
}

Measured Measuring::look_for_use(const std::string& who) noexcept {
  Measured measured;
  if (settings_.overuse == Consequence::off || has_used_unasked_ || !process_.in_use() ||
      !process_.synchronize_and_trim().has_context) {
    return measured;
  }
  has_used_unasked_ = true;
  const auto text = used_unasked(messages_.full_name(who), entry_.no_gpu_seen);
  runlog::write("overuse", runlog::JsonObject{}.text("text", text), who);
  conclude(entry_.no_gpu_seen ? Consequence::warn : settings_.overuse, text, measured);
  return measured;
}

Measured Measuring::check_overuse() noexcept {
  Measured measured;
  if (measures_) {
    measured.usage = meter_->so_far();
    allow_for_context(measured.usage);
    judge_overuse(measured);
  }
  return measured;
}

/// Under a parent lease the holder has announced the context, which is in samples.
void Measuring::allow_for_context(const devices::Usage& usage) {
  const bool has_context = std::any_of(usage.devices.begin(), usage.devices.end(),
                                       [](const devices::DeviceUsage& device) { return device.with_context; });
  if (has_context && place_.parent_lease() && !place_.chosen().indices.empty()) {
    allowance_.context =
        std::max(allowance_.context, Bytes{place_.machine()->usual_overhead_bytes(place_.chosen().indices.front())});
  }
}

std::optional<Measured> Measuring::judge(devices::Usage usage, const std::vector<devices::DeviceUsage>& left) noexcept {
  if (!measures_) {
    return std::nullopt;
  }
  if (growth_) {
    growth_->end();
  }
  Measured measured;
  measured.usage = std::move(usage);
  allow_for_context(measured.usage);
  measured.peak = peak_in(measured.usage, allowance_);
  judge_overuse(measured);
  judge_leaks(measured, left);
  tell_growth(measured);
  if (measured.usage.evidence == Evidence::exact && (os::has_children() || os::children_seen() != children_before_)) {
    measured.usage.evidence = Evidence::sampled; // at least: what other processes allocate is not in it
    measured.usage.because = "the test has started processes";
  }
  measures_ = false;
  growth_.reset();
  meter_->ask_beyond({}, {});
  return measured;
}

Measured Measuring::judge_command(devices::Usage usage) {
  Measured measured;
  measured.usage = std::move(usage);
  measured.peak = peak_in(measured.usage, allowance_);
  judge_overuse(measured);
  return measured;
}

/// An estimate that was too small is nobody's mistake.
void Measuring::judge_overuse(Measured& measured) {
  if (growth_) {
    std::fill(allowance_.leased.begin(), allowance_.leased.end(), growth_->leased());
  }
  const auto overuse = overuse_in(measured.usage, allowance_);
  if (overuse.text.empty() || overuse_reported_ || settings_.overuse == Consequence::off) {
    return;
  }
  overuse_reported_ = true;
  measured.overuse = overuse.short_text;
  runlog::write("overuse", runlog::JsonObject{}.text("text", overuse.text), allowance_.test);
  const bool is_mistake = !allowance_.request.is_estimated() || overuse.of_other_device;
  conclude(is_mistake ? settings_.overuse : Consequence::warn, overuse.text, measured);
}

/// For which tests together the test says what it may keep: for itself, again and again; its suite; or its entry.
std::string Measuring::who_may_keep() const {
  const auto suite = allowance_.test.substr(0, allowance_.test.find('.'));
  return allowance_.request.keeps_by == SaidBy::entry   ? ""
         : allowance_.request.keeps_by == SaidBy::suite ? suite
                                                        : suite + "." + allowance_.test;
}

void Measuring::judge_leaks(Measured& measured, const std::vector<devices::DeviceUsage>& left) {
  if (allowance_.keeps > Bytes{} && measured.usage.period != 0) {
    auto& periods = keeping_periods_[who_may_keep()];
    allowance_.periods = periods;
    periods.insert(measured.usage.period);
  }
  const bool exact = measured.usage.evidence == Evidence::exact;
  const auto& devices = exact ? measured.usage.devices : left;
  if (exact || !left.empty()) {
    measured.left = all_left(devices);
    if (exact && allowance_.keeps == Bytes{}) {
      leaving_periods_.insert(measured.usage.period);
    } else if (allowance_.keeps == Bytes{}) {
      left_ += *measured.left;
    }
  }
  if (const auto leak = leak_in(devices, allowance_); !leak.empty()) {
    runlog::write("leak", runlog::JsonObject{}.text("text", leak), allowance_.test);
    const bool is_declared = !allowance_.request.is_estimated() || allowance_.keeps > Bytes{};
    conclude(settings_.leaks == Consequence::automatic && !is_declared ? Consequence::warn : settings_.leaks, leak,
             measured);
  }
}

/// What the device's own figure for this process shows where no meter sees allocations. It has modules and the like in
/// it, so nothing fails.
void Measuring::tell_growth(const Measured& measured) const {
  const Bytes grown = place_.overhead().bytes() - overhead_before_;
  if (measured.usage.evidence != Evidence::exact && !place_.parent_lease() && !measured.left &&
      measured.overuse.empty() && grown > allowance_.keeps + growth_of_a_context &&
      settings_.leaks != Consequence::off) {
    tell(keeps_more(allowance_.who, grown));
  }
}

void Measuring::conclude(Consequence consequence, const std::string& text, Measured& measured) const {
  if (consequence == Consequence::automatic) {
    consequence = entry_.name.empty() ? Consequence::warn : Consequence::fail;
  }
  if (consequence == Consequence::fail || consequence == Consequence::stop) {
    measured.problems.push_back(text);
  } else if (consequence == Consequence::warn) {
    tell(text);
  }
}

std::optional<Bytes> Measuring::allocated() const {
  const auto usage = measures_ ? meter_->so_far() : devices::Usage{};
  return usage.evidence == Evidence::exact ? std::optional{all_left(usage.devices)} : std::nullopt;
}

Bytes Measuring::still_left() const {
  Bytes all = left_;
  const auto usage = leaving_periods_.empty() ? devices::Usage{} : meter_->so_far();
  for (const auto& device : usage.devices) {
    for (const auto& [period, bytes] : device.kept) {
      all += leaving_periods_.count(period) != 0 ? bytes : Bytes{};
    }
    all += leaving_periods_.count(usage.period) != 0 ? left_of(device) : Bytes{};
  }
  return all;
}

/// What the lease's holder has allocated by now, and has asked for in vain, if that is known.
OwnUse Measuring::own_use() const {
  const auto usage = measures_ ? meter_->so_far() : devices::Usage{};
  if (usage.evidence != Evidence::exact) {
    return {"", {}, place_.largest_for_a_test()};
  }
  Bytes now;
  Bytes wanted;
  for (const auto& device : usage.devices) {
    now = std::max(now, left_of(device));
    wanted = std::max(wanted, wanted_of(device, place_.largest_for_a_test()));
  }
  auto allowance = allowance_;
  if (growth_) {
    std::fill(allowance.leased.begin(), allowance.leased.end(), growth_->leased());
  }
  const Bytes peak = peak_in(usage, allowance);
  const bool within = overuse_in(usage, allowance).text.empty();
  return {"It had allocated " + to_string(now) + " itself" +
              (peak > now ? ", and " + to_string(peak) + " before" : "") + ": " + (within ? "within" : "beyond") +
              " its lease",
          wanted, place_.largest_for_a_test()};
}

std::optional<Bytes> Measuring::taken_by_others(const ledger::Blocked& beyond, Bytes leased) const {
  if (place_.chosen().indices.size() != 1) {
    return std::nullopt;
  }
  Bytes taken;
  for (const auto& [holder, bytes] : beyond.excesses) {
    if (holder.pid == os::own_pid()) {
      return std::nullopt;
    }
    taken += holder.claim.estimated ? Bytes{bytes} : Bytes{};
  }
  const auto usage = measures_ ? meter_->so_far() : devices::Usage{};
  Bytes asked = leased; // at most
  if (usage.evidence == Evidence::exact && !usage.devices.empty()) {
    const auto& own = usage.devices.front();
    const Bytes wanted = wanted_of(own, leased + granularity_of_drivers);
    if (wanted == Bytes{} || wanted > leased + granularity_of_drivers) {
      return std::nullopt; // the device has refused it nothing, or nothing that it might have
    }
    const Bytes room = place_.smallest_usable() - place_.overhead().bytes(); // alone
    if (allowance_.request.is_estimated() && wanted + growth_of_a_context <= room) {
      return taken; // others had it then, and may have given it back since
    }
    asked = wanted - left_of(own);
  }
  const auto device = place_.chosen().indices.front();
  const Bytes free = place_.machine()->usable_bytes(device) - Bytes{place_.machine()->used_bytes(device)};
  const bool explains =
      allowance_.request.is_estimated() ? !beyond.excesses.empty() || beyond.external_bytes > 0 : asked - free <= taken;
  return asked > free && explains ? std::optional{taken} : std::nullopt;
}

} // namespace gputest::session
