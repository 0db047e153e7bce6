// SPDX-License-Identifier: BSD-3-Clause
// gputest's memory resources against the concepts of the CUDA toolkit at hand, at compile time.
#include <gputest/cuda/memory_resource.hpp>

#include <cuda/stream_ref>

#include <utility>

namespace gputest {
namespace {

// Up to CCCL 3.0 `resource` is the synchronous concept; 3.1 gave that name to the one with streams.
#if CCCL_VERSION >= 3001000
template <class Resource, class... Properties>
constexpr bool fits =
    ::cuda::mr::synchronous_resource_with<Resource, Properties...>&& ::cuda::mr::resource_with<Resource, Properties...>;
using DeviceRef = ::cuda::mr::resource_ref<::cuda::mr::device_accessible>;
#else
template <class Resource, class... Properties>
constexpr bool fits =
    ::cuda::mr::resource_with<Resource, Properties...>&& ::cuda::mr::async_resource_with<Resource, Properties...>;
using DeviceRef = ::cuda::mr::async_resource_ref<::cuda::mr::device_accessible>;
#endif

using ::cuda::mr::device_accessible;
using ::cuda::mr::host_accessible;

static_assert(fits<memory_resource, device_accessible>);
static_assert(!::cuda::has_property<memory_resource, host_accessible>);
static_assert(fits<managed_memory_resource, device_accessible, host_accessible>);

} // namespace

/// What a library does with a resource that it was given: nothing of it is gputest's.
void* allocate_through_a_reference(memory_resource& resource, ::cuda::stream_ref stream) {
  DeviceRef reference{resource};
#if CCCL_VERSION >= 3001000
  return reference.allocate(stream, 1024, 256);
#else
  return reference.allocate_async(1024, 256, stream);
#endif
}

} // namespace gputest
