// SPDX-License-Identifier: BSD-3-Clause
// What a meter asks of libcuda.so.1, without a driver: devices on which graphs have used what FAKE_GRAPHS says, as in
// `1000,-,2000`; - for one without a context. Without FAKE_GRAPHS there is one device, with a context.
#include "core/devices/cuda/cuda_driver_api.hpp"

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace cuda = gputest::devices::cuda;

namespace {

std::vector<std::string> devices() {
  const char* const used = std::getenv("FAKE_GRAPHS");
  std::istringstream words{used == nullptr ? "0" : used};
  std::vector<std::string> devices;
  for (std::string word; std::getline(words, word, ',');) {
    devices.push_back(word);
  }
  return devices;
}

std::string at(cuda::Device device) { return devices().at(static_cast<std::size_t>(device)); }

} // namespace

extern "C" {

cuda::Result cuStreamIsCapturing(cuda::Stream /*stream*/, int* status) {
  *status = 0;
  return cuda::success;
}

cuda::Result cuStreamIsCapturing_ptsz(cuda::Stream stream, int* status) { return cuStreamIsCapturing(stream, status); }

cuda::Result cuPointerGetAttribute(void* value, int /*attribute*/, cuda::DevicePointer /*pointer*/) {
  *static_cast<int*>(value) = 0;
  return cuda::success;
}

cuda::Result cuDeviceGetCount(int* count) {
  *count = static_cast<int>(devices().size());
  return cuda::success;
}

cuda::Result cuDevicePrimaryCtxGetState(cuda::Device device, unsigned* flags, int* active) {
  *flags = 0;
  *active = at(device) == "-" ? 0 : 1;
  return cuda::success;
}

cuda::Result cuDeviceGetGraphMemAttribute(cuda::Device device, int /*attribute*/, void* value) {
  *static_cast<std::uint64_t*>(value) = std::stoull(at(device));
  return cuda::success;
}

cuda::Result cuDeviceSetGraphMemAttribute(cuda::Device /*device*/, int /*attribute*/, void* /*value*/) {
  return cuda::success;
}

} // extern "C"
