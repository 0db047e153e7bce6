// SPDX-License-Identifier: BSD-3-Clause
// Stands between the ledger and its mutex, and between gputest and NVML: the linker calls these functions in place of
// the library's (CMakeLists.txt). The library itself counts and measures nothing.
#include "recording.hpp"

#include "clock.hpp"
#include "core/devices/cuda/nvml_api.hpp"
#include "core/devices/device_list.hpp"
#include "core/ledger/storage/file_lock.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <stdexcept>

namespace gputest::benchmarks {

namespace {

using os::FileLock;
namespace nvml = devices::nvml;

// Of this process. The benchmark's processes have one thread.
Recording* recording = nullptr;
bool other_mutexes = false;
bool has_mutex = false;
std::int64_t locked_at = 0;
std::int64_t locked_at_processor_time = 0;

std::int64_t processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

Recording::Phase& phase() { return recording->phases.at(recording->phase); }

nvml::Functions driver; ///< NVML's own functions

template <class Function, class... Arguments>
nvml::Result counted(Function function, Arguments... arguments) {
  record_nvml_calls(1);
  return function(arguments...);
}

/// The same functions, counted.
nvml::Functions counting(const nvml::Functions& functions) {
  driver = functions;
  nvml::Functions result = functions;
  using Handle = nvml::Handle;
  using Info = nvml::ProcessInfo;
  const auto replace = [](auto*& function, auto* counted_function) {
    function = function == nullptr ? nullptr : counted_function;
  };
  replace(
      result.memory, +[](Handle device, nvml::Memory* m) { return counted(driver.memory, device, m); });
  replace(
      result.memory_v2, +[](Handle device, nvml::MemoryV2* m) { return counted(driver.memory_v2, device, m); });
  replace(
      result.compute_processes,
      +[](Handle device, unsigned* n, Info* all) { return counted(driver.compute_processes, device, n, all); });
  replace(
      result.graphics_processes,
      +[](Handle device, unsigned* n, Info* all) { return counted(driver.graphics_processes, device, n, all); });
  replace(
      result.mps_processes,
      +[](Handle device, unsigned* n, Info* all) { return counted(driver.mps_processes, device, n, all); });
  return result;
}

} // namespace

// The library's functions, and what is called in their place.
void library_lock(FileLock* lock) __asm__("__real__ZN7gputest2os8FileLock4lockEv");
void library_unlock(FileLock* lock) noexcept __asm__("__real__ZN7gputest2os8FileLock6unlockEv");
nvml::Result
library_read_memory(const nvml::Functions& functions, nvml::Handle device, nvml::MemoryFigures& figures) __asm__(
    "__real__ZN7gputest7devices4nvml11read_memoryERKNS1_9FunctionsEPvRNS1_13MemoryFiguresE");
std::optional<std::vector<devices::ProcessMemory>> library_list_processes(
    const nvml::Functions& functions,
    nvml::Handle device) __asm__("__real__ZN7gputest7devices4nvml14list_processesERKNS1_9FunctionsEPv");

void measured_lock(FileLock* lock) __asm__("__wrap__ZN7gputest2os8FileLock4lockEv");
void measured_unlock(FileLock* lock) noexcept __asm__("__wrap__ZN7gputest2os8FileLock6unlockEv");
nvml::Result
counted_read_memory(const nvml::Functions& functions, nvml::Handle device, nvml::MemoryFigures& figures) __asm__(
    "__wrap__ZN7gputest7devices4nvml11read_memoryERKNS1_9FunctionsEPvRNS1_13MemoryFiguresE");
std::optional<std::vector<devices::ProcessMemory>> counted_list_processes(
    const nvml::Functions& functions,
    nvml::Handle device) __asm__("__wrap__ZN7gputest7devices4nvml14list_processesERKNS1_9FunctionsEPv");

void measured_lock(FileLock* lock) {
  library_lock(lock);
  if (!other_mutexes) {
    has_mutex = true;
    locked_at_processor_time = processor_time();
    locked_at = now_ns();
  }
}

void measured_unlock(FileLock* lock) noexcept {
  const std::int64_t unlocked_at = now_ns();
  const std::int64_t ran = processor_time() - locked_at_processor_time;
  library_unlock(lock);
  if (!other_mutexes) {
    has_mutex = false;
    if (recording != nullptr) {
      phase().held.add(unlocked_at - locked_at);
      phase().on_processor.add(ran);
    }
  }
}

nvml::Result counted_read_memory(const nvml::Functions& functions, nvml::Handle device, nvml::MemoryFigures& figures) {
  return library_read_memory(counting(functions), device, figures);
}

std::optional<std::vector<devices::ProcessMemory>> counted_list_processes(const nvml::Functions& functions,
                                                                          nvml::Handle device) {
  return library_list_processes(counting(functions), device);
}

std::vector<double> Samples::all() const {
  const auto* const end = nanoseconds_.data() + std::min(count_.load(), most);
  return {nanoseconds_.data(), end};
}

void record_to(Recording* to) { recording = to; }

void record_nvml_calls(std::uint64_t calls) {
  if (recording != nullptr) {
    recording->nvml_calls += calls;
  }
}

void must_have_recorded(const Recording& recording) {
  const auto in_a_phase = [&](Samples Recording::Phase::*samples) {
    return std::any_of(recording.phases.begin(), recording.phases.end(),
                       [samples](const Recording::Phase& phase) { return !(phase.*samples).all().empty(); });
  };
  const bool looked = in_a_phase(&Recording::Phase::looks);
  if (looked && (!in_a_phase(&Recording::Phase::held) || recording.nvml_calls == 0)) {
    throw std::logic_error{
        "nothing was recorded of the ledger's mutex, or of NVML: the linker did not put recording.cpp in place of "
        "the library's functions"};
  }
}

bool others_start() { return recording != nullptr && recording->phase == Recording::others_start; }

OtherMutex::OtherMutex() { other_mutexes = true; }
OtherMutex::~OtherMutex() { other_mutexes = false; }

Look::Look() : began_at_{now_ns()} {
  if (has_mutex) {
    throw std::logic_error{"a device is looked at under the ledger's mutex"};
  }
}

Look::~Look() {
  if (recording != nullptr) {
    phase().looks.add(now_ns() - began_at_);
  }
}

} // namespace gputest::benchmarks
