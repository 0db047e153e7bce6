// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/simulated/simulated_memory.hpp"

#include "core/os/kernel_clock.hpp"
#include "core/os/process.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace gputest::devices {

/// What one process uses. A pid of 0: nobody.
struct SimulatedMemory::Record {
  std::int64_t pid = 0;
  std::array<std::uint64_t, max_devices> used_bytes{};
  std::int64_t seen_ended_ns =
      0; ///< when somebody first saw that it has ended, by the clock of all processes; 0: nobody
  std::array<char, 104> spare{};
};

namespace {

/// Devices of different sizes are different devices, and have a store each.
std::string store_name(const policy::SimulatedDevices& setting) {
  return "simulated-" + std::to_string(setting.count) + "x" + std::to_string(setting.size.count()) +
         (setting.kind.empty() ? "" : "-" + setting.kind) + "-4";
}

constexpr std::uint32_t with_checksum(std::size_t record) {
  return static_cast<std::uint32_t>(record + sizeof(os::SlotStore::Checksum));
}

} // namespace

SimulatedMemory::SimulatedMemory(const policy::SimulatedDevices& setting, const std::string& folder)
    : setting_{setting}, store_{os::private_folder(folder), store_name(setting),
                                os::Layout{4, 0, with_checksum(sizeof(Record)), 1024}} {
  static_assert(with_checksum(sizeof(Record)) == 256, "a record must divide a page");
}

void SimulatedMemory::allocate(std::size_t device, Bytes bytes) {
  const std::lock_guard guard{store_.mutex()};
  take_slot();
  std::uint64_t& own = used_.at(device);
  const Bytes context = own == 0 ? setting_.context : Bytes{};
  const Bytes asked = context + bytes;
  const MemoryUse use = count(device);
  let_in(device, use);
  const Bytes free = setting_.size - Bytes{use.used_bytes};
  if (asked > free) {
    throw OutOfMemory{
        "out of memory: " + to_string(bytes) + (context > Bytes{} ? " and a context of " + to_string(context) : "") +
        " asked of simulated device " + std::to_string(device) + ", which has " + to_string(free) + " of " +
        to_string(setting_.size) + " left; " + std::to_string(use.processes->size()) + " processes use the rest"};
  }
  own += asked.count();
  try {
    write_own();
  } catch (const LedgerError&) {
    own -= asked.count(); // it was not had, and may be asked for again
    throw;
  }
}

void SimulatedMemory::free(std::size_t device, Bytes bytes) noexcept {
  if (pid_ != os::own_pid()) {
    return; // a forked child's copy of its parent's buffer
  }
  try {
    const std::lock_guard guard{store_.mutex()};
    std::uint64_t& own = used_.at(device);
    own -= std::min(own, bytes.count());
    write_own();
  } catch (const LedgerError&) { // NOLINT(bugprone-empty-catch)
    // It stays counted until the process ends, like memory that a driver fails to free.
  }
}

Bytes SimulatedMemory::own(std::size_t device) {
  const std::lock_guard guard{store_.mutex()};
  return pid_ == os::own_pid() ? Bytes{used_.at(device)} : Bytes{}; // a forked child begins with nothing
}

MemoryUse SimulatedMemory::use(std::size_t device) {
  if (setting_.return_after.count() == 0) { // else it notes when processes ended
    return os::read_without_mutex([&] { return count(device); });
  }
  const std::lock_guard guard{store_.mutex()};
  return count(device);
}

MemoryUse SimulatedMemory::count(std::size_t device) {
  MemoryUse use;
  use.processes.emplace();
  store_.for_each<Record>([&](std::size_t slot, const Record& record) {
    if (record.pid == 0 || record.used_bytes.at(device) == 0 || !is_in_use(slot, record)) {
      return;
    }
    use.used_bytes += record.used_bytes.at(device);
    use.processes->push_back({record.pid, record.used_bytes.at(device)});
  });
  return use;
}

/// Whether what a record says still counts: its process lives, or has ended too short a time ago.
bool SimulatedMemory::is_in_use(std::size_t slot, Record record) {
  if (os::owner_lives(store_.liveness_fifo(slot))) {
    return true;
  }
  if (setting_.return_after.count() == 0) {
    return false;
  }
  const auto now = os::KernelClock::now().time_since_epoch();
  if (record.seen_ended_ns == 0) {
    record.seen_ended_ns = std::chrono::nanoseconds{now}.count();
    store_.write(slot, record);
  }
  return now - std::chrono::nanoseconds{record.seen_ended_ns} < setting_.return_after;
}

/// Refuses a process that the device would refuse for reasons other than memory.
void SimulatedMemory::let_in(std::size_t device, const MemoryUse& use) const {
  const std::string which = "simulated device " + std::to_string(device);
  if (const auto why = policy::why_unusable(setting_.facts); !why.empty()) {
    throw Error{which + " cannot be used: " + why};
  }
  const auto other = std::find_if(use.processes->begin(), use.processes->end(),
                                  [&](const ProcessMemory& process) { return process.pid != pid_; });
  if (setting_.facts.compute_mode == policy::ComputeMode::exclusive_process && other != use.processes->end()) {
    throw Error{which + " is busy: its compute mode is EXCLUSIVE_PROCESS, and pid " + std::to_string(other->pid) +
                " uses it"};
  }
}

void SimulatedMemory::take_slot() {
  if (liveness_ && pid_ == os::own_pid()) {
    return;
  }
  used_ = {}; // a forked child begins with nothing, in a slot of its own
  auto taken = store_.take([&](std::size_t slot) {
    const auto record = store_.read<Record>(slot);
    return record.pid == 0 || !is_in_use(slot, record);
  });
  slot_ = taken.slot;
  pid_ = os::own_pid();
  write_own();
  liveness_ =
      std::move(taken.liveness); // only now: with it what the slot's last owner used would count as this process's
}

void SimulatedMemory::write_own() {
  if (liveness_) {
    liveness_.require_kept(); // without it the slot may be somebody else's
  }
  Record record;
  record.pid = pid_;
  record.used_bytes = used_;
  store_.write(slot_, record);
}

} // namespace gputest::devices
