// SPDX-License-Identifier: BSD-3-Clause
// A libnvidia-ml.so.1 without a driver. FAKE_NVML says what it shows, in words; it is read again at every call, so that
// a test can change the machine under an open NVML:
//   gpus=2            how many GPUs (1)                  init=9            nvmlInit_v2() answers this error
//   lost=1            this GPU has fallen off the bus    memory_v2=13      as does nvmlDeviceGetMemoryInfo_v2()
//   slices=2          GPU 0 is in MIG mode with so many  used=5            bytes in use of every device (0)
//   sm=75,90          compute capabilities by GPU (90)   mode=3            compute mode of every GPU (0)
//   memory=3          memory queries answer this error
//   long_uuids=1      UUIDs in their real form, as fake_cuda_attributes.cpp has them
//   gib=80,40         memory of each device of a GPU, by GPUs (80)
//   lost_slices=0,2   these slices have fallen off   slice_error=15    finding a slice answers this error
//   numa=1            the memory of every GPU is on this NUMA node
//   compute=7:100,8:- processes as pid:bytes, - for unknown; also graphics= and mps=
//   compute_error=3   listing them answers this error; also graphics_error= and mps_error=
//   table=701         nvmlInit_v2() fails in a process whose table of descriptors has fewer places
//   newcomers=3       at so many of the coming calls more processes have come than there is room for
// Built with FAKE_NVML_OLD_DRIVER it lacks the functions of newer drivers.
#include "core/devices/cuda/nvml_api.hpp"
#include "support/fake_words.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace nvml = gputest::devices::nvml;

constexpr nvml::Result not_supported = nvml::not_supported;
using nvml::not_found;
constexpr nvml::Result gpu_is_lost = 15; // NVML_ERROR_GPU_IS_LOST

constexpr unsigned long long reserved_bytes = 512ULL << 20U;

constexpr unsigned max_gpus = 16;
constexpr unsigned most_slices = 7;

// Handles: the address of a GPU's or of a slice's place in here. Slices sit at the odd places, as they may.
struct Device {
  bool slice = false;
  unsigned index = 0;
};
std::array<Device, max_gpus> gpus;
std::array<Device, most_slices> slices;

// NVML may be called by several threads at once.
std::atomic<int> lists{0};
std::atomic<unsigned long> newcomers_seen{0};

const gputest::tests::FakeWords fake{"FAKE_NVML"};
std::string word(const std::string& key) { return fake.word(key); }

unsigned long long number(const std::string& key, unsigned long long otherwise) {
  const auto text = word(key);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

nvml::Result error(const std::string& key) { return static_cast<nvml::Result>(number(key, nvml::success)); }

bool is_lost(const Device& device) {
  if (!device.slice) {
    return number("lost", max_gpus) == device.index;
  }
  return ("," + word("lost_slices") + ",").find("," + std::to_string(device.index) + ",") != std::string::npos;
}

unsigned long long total_bytes_of(const Device& device) { return fake.number_at("gib", device.index, 80) << 30U; }

nvml::Result copy(const std::string& text, char* to, unsigned size) {
  if (text.size() >= size) {
    return nvml::insufficient_size;
  }
  std::memcpy(to, text.c_str(), text.size() + 1);
  return nvml::success;
}

const Device& device_of(nvml::Handle handle) { return *static_cast<Device*>(handle); }

[[maybe_unused]] nvml::Result list(const std::string& kind, nvml::Handle handle, unsigned* count,
                                   nvml::ProcessInfo* infos) {
  ++lists;
  if (is_lost(device_of(handle))) {
    return gpu_is_lost;
  }
  if (const auto result = error(kind + "_error"); result != nvml::success) {
    return result;
  }
  if (newcomers_seen < number("newcomers", 0)) {
    ++newcomers_seen;
    ++*count;
    return nvml::insufficient_size;
  }
  std::vector<nvml::ProcessInfo> processes;
  std::istringstream entries{word(kind)};
  for (std::string entry; std::getline(entries, entry, ',');) {
    const auto colon = entry.find(':');
    const auto bytes = entry.substr(colon + 1);
    processes.push_back({static_cast<unsigned>(std::stoul(entry.substr(0, colon))),
                         bytes == "-" ? nvml::value_not_available : std::stoull(bytes), ~0U, ~0U});
  }
  const auto module = *count;
  *count = static_cast<unsigned>(processes.size());
  if (processes.size() > module) {
    return nvml::insufficient_size;
  }
  for (const auto& process : processes) {
    *infos++ = process;
  }
  return nvml::success;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): NVML's names.
extern "C" {

/// How often it was asked for a list of processes.
int fake_nvml_lists() { return lists; }

nvml::Result nvmlInit_v2() {
  newcomers_seen = 0;
  std::ifstream status{"/proc/self/status"};
  const std::string text{std::istreambuf_iterator<char>{status}, {}};
  const auto places = std::strtoull(text.c_str() + text.find("FDSize:") + std::strlen("FDSize:"), nullptr, 10);
  return places < number("table", 0) ? nvml::no_permission : error("init");
}

nvml::Result nvmlShutdown() { return nvml::success; }

const char* nvmlErrorString(nvml::Result result) {
  return result == 3    ? "Not Supported"
         : result == 9  ? "Driver Not Loaded"
         : result == 15 ? "GPU is lost"
         : result == 18 ? "Driver/library version mismatch"
                        : "Unknown Error";
}

nvml::Result nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(number("gpus", 1));
  return nvml::success;
}

nvml::Result nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Handle* handle) {
  gpus.at(index) = {false, index};
  *handle = &gpus.at(index);
  return is_lost(gpus.at(index)) ? gpu_is_lost : nvml::success;
}

nvml::Result nvmlDeviceGetUUID(nvml::Handle handle, char* uuid, unsigned size) {
  const auto& device = device_of(handle);
  if (!word("long_uuids").empty()) {
    return copy("GPU-00000000-0000-0000-0000-00000000000" + std::to_string(device.index), uuid, size);
  }
  return copy((device.slice ? "MIG-fake-" : "GPU-fake-") + std::to_string(device.index), uuid, size);
}

nvml::Result nvmlDeviceGetName(nvml::Handle handle, char* name, unsigned size) {
  return copy(device_of(handle).slice ? "Fake GPU MIG 1g.10gb" : "Fake GPU", name, size);
}

nvml::Result nvmlDeviceGetMemoryInfo(nvml::Handle handle, nvml::Memory* memory) {
  const auto used = number("used", 0) + reserved_bytes;
  const auto total = total_bytes_of(device_of(handle));
  *memory = {total, total - used, used};
  return is_lost(device_of(handle)) ? gpu_is_lost : error("memory");
}

#ifndef FAKE_NVML_OLD_DRIVER

nvml::Result nvmlSystemGetDriverVersion(char* version, unsigned size) { return copy("999.1", version, size); }

nvml::Result nvmlDeviceGetMemoryInfo_v2(nvml::Handle handle, nvml::MemoryV2* memory) {
  if (memory->version != nvml::memory_v2_version) {
    return 25; // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
  }
  const auto used = number("used", 0);
  const auto total = total_bytes_of(device_of(handle));
  *memory = {memory->version, total, reserved_bytes, total - reserved_bytes - used, used};
  return is_lost(device_of(handle)) ? gpu_is_lost : error(word("memory").empty() ? "memory_v2" : "memory");
}

nvml::Result nvmlDeviceGetCudaComputeCapability(nvml::Handle handle, int* major, int* minor) {
  const auto sm = static_cast<int>(fake.number_at("sm", device_of(handle).index, 90));
  *major = sm / 10;
  *minor = sm % 10;
  return device_of(handle).slice ? not_supported : nvml::success;
}

nvml::Result nvmlDeviceGetComputeMode(nvml::Handle handle, int* mode) {
  *mode = static_cast<int>(number("mode", 0));
  return device_of(handle).slice ? not_supported : nvml::success;
}

nvml::Result nvmlDeviceGetNumaNodeId(nvml::Handle /*gpu*/, unsigned* node) {
  *node = static_cast<unsigned>(number("numa", 0));
  return word("numa").empty() ? not_supported : nvml::success;
}

nvml::Result nvmlDeviceGetMigMode(nvml::Handle handle, unsigned* now, unsigned* after_reset) {
  *now = device_of(handle).index == 0 && !word("slices").empty() ? nvml::mig_enabled : 0;
  *after_reset = *now;
  return nvml::success;
}

nvml::Result nvmlDeviceGetMaxMigDeviceCount(nvml::Handle /*handle*/, unsigned* count) {
  *count = most_slices;
  return nvml::success;
}

nvml::Result nvmlDeviceGetMigDeviceHandleByIndex(nvml::Handle /*gpu*/, unsigned index, nvml::Handle* handle) {
  if (index % 2 == 0 || index / 2 >= number("slices", 0)) {
    return not_found;
  }
  slices.at(index) = {true, index / 2};
  *handle = &slices.at(index);
  return error("slice_error");
}

nvml::Result nvmlDeviceGetComputeRunningProcesses_v2(nvml::Handle handle, unsigned* count, nvml::ProcessInfo* infos) {
  return list("compute", handle, count, infos);
}

nvml::Result nvmlDeviceGetGraphicsRunningProcesses_v2(nvml::Handle handle, unsigned* count, nvml::ProcessInfo* infos) {
  return list("graphics", handle, count, infos);
}

// Drivers 535.43 to 535.86 fill a longer struct through this name, so nothing may call it where there is `_v2`.
nvml::Result nvmlDeviceGetComputeRunningProcesses_v3(nvml::Handle /*handle*/, unsigned* /*count*/,
                                                     nvml::ProcessInfo* /*infos*/) {
  return not_supported;
}

// Only as `_v3`, so that a test sees the one name stand in for the other.
nvml::Result nvmlDeviceGetMPSComputeRunningProcesses_v3(nvml::Handle handle, unsigned* count,
                                                        nvml::ProcessInfo* infos) {
  return list("mps", handle, count, infos);
}

#endif
}
// NOLINTEND(readability-identifier-naming)
