// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_driver_api.hpp"

namespace gputest::devices::cuda {

bool Functions::bind(const os::SharedLibrary& library) {
  library.bind(allocate_from_pool, "cuMemAllocFromPoolAsync");
  library.bind(free_to_pool, "cuMemFreeAsync");
  library.bind(default_pool, "cuDeviceGetDefaultMemPool");
  library.bind(current_pool, "cuDeviceGetMemPool");
  library.bind(default_pool_at, "cuMemGetDefaultMemPool");
  library.bind(current_pool_at, "cuMemGetMemPool");
  library.bind(trim_pool, "cuMemPoolTrimTo");
  library.bind(pool_attribute, "cuMemPoolGetAttribute");
  library.bind(trim_graph_memory, "cuDeviceGraphMemTrim");
  library.bind(graph_memory_attribute, "cuDeviceGetGraphMemAttribute");
  if (!library.bind(uuid, "cuDeviceGetUuid_v2")) {
    library.bind(uuid, "cuDeviceGetUuid"); // which gives a slice the UUID of its GPU
  }
  library.bind(get_limit, "cuCtxGetLimit");
  library.bind(current_device, "cuCtxGetDevice");
  library.bind(can_access_peer, "cuDeviceCanAccessPeer");

  // The `_v2` functions are what cuda.h makes of the plain names; the unversioned symbols have an older meaning.
  return library.bind(initialise, "cuInit") && library.bind(device_count, "cuDeviceGetCount") &&
         library.bind(device, "cuDeviceGet") && library.bind(attribute, "cuDeviceGetAttribute") &&
         library.bind(error_name, "cuGetErrorName") && library.bind(primary_state, "cuDevicePrimaryCtxGetState") &&
         library.bind(primary_retain, "cuDevicePrimaryCtxRetain") &&
         library.bind(primary_release, "cuDevicePrimaryCtxRelease_v2") &&
         library.bind(push_context, "cuCtxPushCurrent_v2") && library.bind(pop_context, "cuCtxPopCurrent_v2") &&
         library.bind(synchronize, "cuCtxSynchronize") && library.bind(synchronize_stream, "cuStreamSynchronize") &&
         library.bind(set_limit, "cuCtxSetLimit") && library.bind(memory_info, "cuMemGetInfo_v2") &&
         library.bind(allocate, "cuMemAlloc_v2") && library.bind(allocate_managed, "cuMemAllocManaged") &&
         library.bind(free, "cuMemFree_v2");
}

} // namespace gputest::devices::cuda
