// SPDX-License-Identifier: BSD-3-Clause
#include "metering/allocation_book.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <string>
#include <utility>

namespace gputest::metering {

namespace {

constexpr std::size_t index_of(devices::AllocationKind kind) { return static_cast<std::size_t>(kind); }

/// The groups, the most bytes first.
template <class Groups>
std::vector<devices::Allocations> sorted(const Groups& groups) {
  std::vector<devices::Allocations> all;
  for (const auto& [key, allocations] : groups) {
    all.push_back(allocations);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const devices::Allocations& a, const devices::Allocations& b) { return a.bytes > b.bytes; });
  return all;
}

/// What this thread is about to allocate.
struct Asked {
  const AllocationBook* book = nullptr;
  int device = 0;
  std::uint64_t bytes = 0;
};
thread_local Asked asked_by_thread;

void add_to(devices::Allocations& group, const AllocationBook::Allocation& allocation) {
  group.kind = allocation.kind;
  group.function = allocation.function;
  group.bytes += Bytes{allocation.bytes};
  ++group.count;
}

} // namespace

std::uint64_t AllocationBook::total(const Sums& sums) {
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

std::unique_lock<os::Mutex> AllocationBook::lock() {
  std::unique_lock guard{mutex_};
  if (mutex_.was_locked_at_fork()) { // half-written, and the parent's: this process has allocated nothing yet
    new (&entries_) decltype(entries_);
    new (&devices_) decltype(devices_);
    new (&limits_) decltype(limits_);
    asks_ = false;
    asked_by_thread = {};
  }
  return guard;
}

void AllocationBook::add(std::uint64_t address, const Allocation& allocation) {
  const auto guard = lock();
  forget_asked();
  const auto [place, is_new] = entries_.try_emplace(address, Entry{allocation, period_});
  if (!is_new) {
    take_off(place->second);
    place->second = {allocation, period_};
  }
  auto& of_device = devices_[allocation.device];
  of_device.now.at(index_of(allocation.kind)) += allocation.bytes;
  of_device.before_periods += period_ == 0 ? allocation.bytes : 0;
  of_device.reported_free = of_device.free;
  if (const auto now = total(of_device.now); now > of_device.peak) {
    of_device.peak = now;
    of_device.at_peak = of_device.now;
  }
}

void AllocationBook::ask_beyond(devices::Meter::Limits limits, devices::Meter::Ask ask) {
  auto new_limits = ask ? std::make_shared<const Limits>(Limits{std::move(limits), std::move(ask)}) : nullptr;
  const auto guard = lock();
  limits_.swap(new_limits);
  asks_ = limits_ != nullptr;
}

void AllocationBook::ask(const Allocation& allocation) {
  std::shared_ptr<const Limits> limits;
  {
    const auto guard = lock();
    forget_asked();
    if (!limits_ || allocation.bytes == 0) {
      return;
    }
    auto& of_device = devices_[allocation.device];
    if (will_be_refused(allocation, of_device, limits_->at.total)) {
      return;
    }
    const auto device = static_cast<std::size_t>(allocation.device);
    const auto& limits_of = limits_->at.of_devices;
    const Bytes limit = device < limits_of.size() ? limits_of[device] : Bytes{};
    of_device.asked += allocation.bytes;
    asked_by_thread = {this, allocation.device, allocation.bytes};
    if (Bytes{total(of_device.now)} - Bytes{total(of_device.at_begin)} + Bytes{of_device.asked} <= limit) {
      return;
    }
    limits = limits_;
  }
  limits->ask(so_far_with(allocation)); // without the mutex: it may use the devices
}

/// Managed memory may exceed a device, but has to have addresses in the host's memory too, of which processors of today
/// give a process less than 2^48.
bool AllocationBook::will_be_refused(const Allocation& asked, const OfDevice& of_device, Bytes total) {
  constexpr std::uint64_t address_space = std::uint64_t{1} << 48;
  if (asked.kind == devices::AllocationKind::managed) {
    return asked.bytes >= address_space;
  }
  const auto on_device = [](const Sums& sums) {
    return sums[index_of(devices::AllocationKind::device)] + sums[index_of(devices::AllocationKind::pool)];
  };
  const Bytes taken = Bytes{on_device(of_device.now)} - Bytes{on_device(of_device.at_begin)};
  return asked.bytes > total.count() || taken.count() > total.count() - asked.bytes;
}

void AllocationBook::settle() {
  const auto guard = lock();
  forget_asked();
}

void AllocationBook::forget_asked() {
  if (asked_by_thread.book == this) {
    devices_[asked_by_thread.device].asked -= asked_by_thread.bytes;
    asked_by_thread = {};
  }
}

void AllocationBook::refuse(int device, std::uint64_t bytes) {
  const auto guard = lock();
  forget_asked();
  auto& of_device = devices_[device];
  of_device.refused.insert(total(of_device.now) + bytes);
  if (constexpr std::size_t most = 64; of_device.refused.size() > most) {
    of_device.refused.erase(of_device.refused.begin());
  }
}

void AllocationBook::tell_free(int device, std::uint64_t bytes) {
  const auto guard = lock();
  auto& free = devices_[device].free;
  free = std::max(free, bytes);
}

void AllocationBook::remove(std::uint64_t address) {
  const auto guard = lock();
  const auto place = entries_.find(address);
  if (place != entries_.end()) {
    take_off(place->second);
    entries_.erase(place);
  }
}

void AllocationBook::remove_owner(std::uint64_t owner) {
  const auto guard = lock();
  for (auto place = entries_.begin(); place != entries_.end();) {
    if (owner != 0 && place->second.allocation.owner == owner) {
      take_off(place->second);
      place = entries_.erase(place);
    } else {
      ++place;
    }
  }
}

void AllocationBook::take_off(const Entry& entry) {
  const auto& allocation = entry.allocation;
  auto& of_device = devices_[allocation.device];
  of_device.now.at(index_of(allocation.kind)) -= allocation.bytes;
  of_device.before_periods -= entry.period == 0 ? allocation.bytes : 0;
}

void AllocationBook::begin() {
  const auto guard = lock();
  ++period_;
  for (auto& [device, of_device] : devices_) {
    of_device.at_begin = of_device.at_peak = of_device.now;
    of_device.peak = total(of_device.now);
    of_device.kept_at_begin = of_device.peak - of_device.before_periods;
    of_device.free = of_device.reported_free = 0;
    of_device.refused.clear();
  }
}

/// The figures if `asked`, of which no bytes ask for nothing, were made, and all that other threads ask for there.
devices::Usage AllocationBook::so_far_with(const Allocation& asked) {
  const auto guard = lock();
  devices::Usage usage;
  usage.evidence = devices::Evidence::exact;
  using Group = std::pair<devices::AllocationKind, std::string>;
  std::map<int, std::map<Group, devices::Allocations>> left;
  std::map<int, std::map<std::uint64_t, Bytes>> kept;
  for (const auto& [address, entry] : entries_) {
    const auto& allocation = entry.allocation;
    if (entry.period == period_) {
      add_to(left[allocation.device][{allocation.kind, allocation.function}], allocation);
    } else if (entry.period != 0) {
      kept[allocation.device][entry.period] += Bytes{allocation.bytes};
    }
  }
  usage.period = period_;
  for (const auto& [device, noted] : devices_) {
    devices::DeviceUsage of;
    of.device = device;
    auto of_device = noted;
    if (asked.bytes > 0 && device == asked.device) {
      of_device.now.at(index_of(asked.kind)) += of_device.asked;
      of_device.reported_free = of_device.free;
      if (total(of_device.now) > of_device.peak) {
        of_device.peak = total(of_device.now);
        of_device.at_peak = of_device.now;
      }
    }
    of.peak = Bytes{of_device.peak - total(of_device.at_begin)};
    for (const auto kind :
         {devices::AllocationKind::device, devices::AllocationKind::pool, devices::AllocationKind::managed}) {
      const auto index = index_of(kind);
      if (of_device.at_peak.at(index) > of_device.at_begin.at(index)) {
        of.at_peak[kind] = Bytes{of_device.at_peak.at(index) - of_device.at_begin.at(index)};
      }
    }
    of.left = sorted(left[device]);
    of.reported_free = Bytes{of_device.reported_free};
    of.kept = std::move(kept[device]);
    of.kept_at_begin = Bytes{of_device.kept_at_begin};
    for (const auto bytes : of_device.refused) {
      of.refused.push_back(Bytes{bytes} - Bytes{total(of_device.at_begin)});
    }
    of.wanted = of.refused.empty() ? Bytes{} : of.refused.back();
    if (of.peak > Bytes{} || !of.left.empty() || of.wanted > Bytes{} || of.kept_at_begin > Bytes{}) {
      usage.devices.push_back(std::move(of));
    }
  }
  return usage;
}

} // namespace gputest::metering
