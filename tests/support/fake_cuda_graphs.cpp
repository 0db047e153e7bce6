// SPDX-License-Identifier: BSD-3-Clause
// What a meter asks of libcuda.so.1, without a driver: one device with a context, on which graphs have used what
// FAKE_GRAPHS says.
#include "backend/cuda/cuda_driver_api.hpp"

#include <cstdint>
#include <cstdlib>

namespace cuda = gputest::backend::cuda;

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

cuda::Result cuDeviceGetUuid_v2(cuda::Uuid* uuid, cuda::Device /*device*/) {
  *uuid = {};
  uuid->back() = 7;
  return cuda::success;
}

cuda::Result cuDeviceGetCount(int* count) {
  *count = 1;
  return cuda::success;
}

cuda::Result cuDevicePrimaryCtxGetState(cuda::Device /*device*/, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return cuda::success;
}

cuda::Result cuDeviceGetGraphMemAttribute(cuda::Device /*device*/, int /*attribute*/, void* value) {
  const char* const used = std::getenv("FAKE_GRAPHS");
  *static_cast<std::uint64_t*>(value) = used == nullptr ? 0 : std::strtoull(used, nullptr, 10);
  return cuda::success;
}

cuda::Result cuDeviceSetGraphMemAttribute(cuda::Device /*device*/, int /*attribute*/, void* /*value*/) {
  return cuda::success;
}

} // extern "C"
