// Holds what src/system/cuda_driver_api.hpp declares against NVIDIA's own header, at compile time and only where there
// is one.
#include "system/cuda_driver_api.hpp"

#if __has_include(<cuda.h>)

#include <cuda.h>

#include <type_traits>

namespace gputest::system::cuda {

static_assert(sizeof(Result) == sizeof(CUresult));
static_assert(std::is_same_v<Device, CUdevice>);
static_assert(sizeof(Context) == sizeof(CUcontext) && std::is_pointer_v<CUcontext>);
static_assert(sizeof(MemoryPool) == sizeof(CUmemoryPool) && std::is_pointer_v<CUmemoryPool>);

static_assert(success == CUDA_SUCCESS);
static_assert(capture_unsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);

// The plain names are macros for the versions that are bound by name; the arguments are what Functions says.
static_assert(std::is_same_v<decltype(&cuDeviceGetCount), CUresult (*)(int*)>);
static_assert(std::is_same_v<decltype(&cuDeviceGet), CUresult (*)(CUdevice*, int)>);
static_assert(std::is_same_v<decltype(&cuGetErrorName), CUresult (*)(CUresult, const char**)>);
static_assert(std::is_same_v<decltype(&cuDevicePrimaryCtxGetState), CUresult (*)(CUdevice, unsigned*, int*)>);
static_assert(std::is_same_v<decltype(&cuDevicePrimaryCtxRetain), CUresult (*)(CUcontext*, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuDevicePrimaryCtxRelease_v2), CUresult (*)(CUdevice)>);
static_assert(std::is_same_v<decltype(&cuCtxPushCurrent_v2), CUresult (*)(CUcontext)>);
static_assert(std::is_same_v<decltype(&cuCtxPopCurrent_v2), CUresult (*)(CUcontext*)>);
static_assert(std::is_same_v<decltype(&cuCtxSynchronize), CUresult (*)()>);
static_assert(std::is_same_v<decltype(&cuDeviceGetDefaultMemPool), CUresult (*)(CUmemoryPool*, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuDeviceGetMemPool), CUresult (*)(CUmemoryPool*, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuMemPoolTrimTo), CUresult (*)(CUmemoryPool, std::size_t)>);
static_assert(std::is_same_v<decltype(&cuDeviceGraphMemTrim), CUresult (*)(CUdevice)>);

} // namespace gputest::system::cuda

#endif
