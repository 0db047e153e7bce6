// SPDX-License-Identifier: BSD-3-Clause
// The part of the fake libcuda.so.1 that is asked what devices can do. FAKE_CUDA says what it answers, in words:
//   init=100       cuInit() answers this error           crash=1       cuInit() crashes
//   hidden=1       it does not show this device          no_pools=1    this device has no memory pools
//   sm=75,90       compute capabilities by device (90)   peers=01      which of them reach one another (all)
//   slices=1       the devices are slices, of which CUDA shows a process the first of CUDA_VISIBLE_DEVICES
// Built together with fake_cuda.cpp, whose own functions of these names are renamed there.
// Device i has the UUID 00000000-0000-0000-0000-00000000000i. It shows those that CUDA_VISIBLE_DEVICES names.
#include "support/fake_cuda.hpp"
#include "support/fake_words.hpp"

#include "core/devices/cuda/cuda_driver_api.hpp"

#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#undef cuInit
#undef cuDeviceGetAttribute

namespace {

namespace cuda = gputest::devices::cuda;

const gputest::tests::FakeWords fake{"FAKE_CUDA"};
std::string word(const std::string& key) { return fake.word(key); }

std::vector<int> shown; // the devices that cuInit() found, by ordinal

/// Whether a word has the digit of this device in it.
bool says(const std::string& key, int device) { return word(key).find(std::to_string(device)) != std::string::npos; }

int sm_of(int device) { return static_cast<int>(fake.number_at("sm", static_cast<unsigned>(device), 90)); }

/// The devices that CUDA_VISIBLE_DEVICES names, as CUDA takes them.
std::vector<int> visible() {
  const char* uuids = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<int> devices;
  std::istringstream list{uuids != nullptr ? uuids : ""};
  for (std::string uuid; std::getline(list, uuid, ',');) {
    const int device = uuid.back() - '0';
    if (says("hidden", device)) {
      break;
    }
    devices.push_back(device);
    if (!word("slices").empty()) {
      break;
    }
  }
  return devices;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
extern "C" {

int cuInit(unsigned /*flags*/) {
  if (!word("crash").empty()) {
    std::abort();
  }
  const auto error = word("init");
  const int result = error.empty() ? 0 : std::stoi(error);
  if (result == 0) {
    fake_cuda()->initialised = true;
    shown = visible();
    fake_cuda()->devices = static_cast<int>(shown.size());
  }
  return result;
}

int cuDeviceGetUuid_v2(cuda::Uuid* uuid, int device) {
  *uuid = {};
  uuid->back() = static_cast<unsigned char>(shown.at(static_cast<std::size_t>(device)));
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int ordinal) {
  const int device = shown.at(static_cast<std::size_t>(ordinal));
  switch (attribute) {
  case cuda::compute_capability_major:
    *value = sm_of(device) / 10;
    return 0;
  case cuda::compute_capability_minor:
    *value = sm_of(device) % 10;
    return 0;
  case cuda::has_memory_pools:
    *value = says("no_pools", device) ? 0 : 1;
    return 0;
  case cuda::has_managed_memory:
  case cuda::concurrent_managed_access:
    *value = 1;
    return 0;
  case cuda::integrated:
    *value = 0;
    return 0;
  default:
    return 1; // as a driver that is too old to know it, here of cooperative_launch
  }
}

int cuDeviceCanAccessPeer(int* can, int ordinal, int peer) {
  const bool everybody = word("peers").empty();
  *can = everybody || (says("peers", shown.at(static_cast<std::size_t>(ordinal))) &&
                       says("peers", shown.at(static_cast<std::size_t>(peer))))
             ? 1
             : 0;
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
