// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_driver_library.hpp"

#include <algorithm>
#include <utility>

namespace gputest::devices::cuda {

std::string driver_file() {
  std::string name{"lib-cuda.so.1"};
  name.erase(3, 1);
  return name;
}

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

std::optional<Library> Library::if_loaded() {
  auto file = os::SharedLibrary::if_loaded(driver_file().c_str());
  Functions functions;
  if (!file || !functions.bind(*file)) {
    return std::nullopt;
  }
  return Library{std::move(*file), functions};
}

std::optional<Library> Library::initialised(std::string& why) {
  auto file = os::SharedLibrary::open(driver_file().c_str(), why);
  if (!file) {
    return std::nullopt;
  }
  Functions functions;
  if (!functions.bind(*file)) {
    why = driver_file() + " lacks functions of the CUDA driver; it is too old, or a stub";
    return std::nullopt;
  }
  Library library{std::move(*file), functions};
  if (const auto result = functions.initialise(0); result != success) {
    why = "cuInit() answers " + library.describe(result);
    return std::nullopt;
  }
  return library;
}

int Library::device_count() const {
  int count = 0;
  return functions_.device_count(&count) == success ? count : 0;
}

bool Library::has_primary_context(Device device) const {
  unsigned flags = 0;
  int active = 0;
  return functions_.primary_state(device, &flags, &active) == success && active != 0;
}

std::string Library::describe(Result result) const {
  const char* name = nullptr;
  if (functions_.error_name(result, &name) != success || name == nullptr) {
    name = "CUDA error";
  }
  return std::string{name} + " (" + std::to_string(result) + ")";
}

std::string to_string(const Uuid& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string bare;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    bare += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    bare += digits[uuid.at(i) >> 4U];
    bare += digits[uuid.at(i) & 15U];
  }
  return bare;
}

std::string full_uuid(const std::vector<std::string>& uuids, const Uuid& uuid) {
  const auto bare = to_string(uuid);
  const auto found = std::find_if(uuids.begin(), uuids.end(), [&](const std::string& full) {
    return full.size() > bare.size() && full.compare(full.size() - bare.size(), bare.size(), bare) == 0;
  });
  return found == uuids.end() ? "" : *found;
}

PrimaryContext::PrimaryContext(const Functions& functions, Device device) : functions_{functions}, device_{device} {
  Context context = nullptr;
  result_ = functions_.primary_retain(&context, device_);
  retained_ = result_ == success;
  if (retained_) {
    result_ = functions_.push_context(context);
    pushed_ = result_ == success;
  }
}

PrimaryContext::~PrimaryContext() {
  if (pushed_) {
    Context popped = nullptr;
    functions_.pop_context(&popped);
  }
  if (retained_) {
    functions_.primary_release(device_);
  }
}

} // namespace gputest::devices::cuda
