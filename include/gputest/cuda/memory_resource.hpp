// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// For programs that compile against CUDA: makes gputest::memory_resource usable as a resource of `cuda::mr` and RMM. Up
// to CCCL 3.0 those concepts exist only with LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE defined for the whole
// program, as RMM does. Without CUDA's headers this is gputest/memory_resource.hpp and nothing more.

#include <gputest/memory_resource.hpp>

#if __has_include(<cuda/memory_resource>)
#include <cuda/memory_resource>

// 3.1 renamed `resource` to `synchronous_resource` and `async_resource` to `resource`, and is no longer experimental.
#if defined(LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE) || CCCL_VERSION >= 3001000

namespace gputest {

inline void get_property(const memory_resource& /*resource*/, ::cuda::mr::device_accessible /*property*/) noexcept {}
inline void get_property(const managed_memory_resource& /*resource*/,
                         ::cuda::mr::device_accessible /*property*/) noexcept {}
inline void get_property(const managed_memory_resource& /*resource*/,
                         ::cuda::mr::host_accessible /*property*/) noexcept {}

} // namespace gputest

#endif
#endif
