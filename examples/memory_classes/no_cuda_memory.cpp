// SPDX-License-Identifier: BSD-3-Clause
// Replaces cuda_memory.cu if there is no CUDA compiler.
#include "cuda_memory.hpp"

#include <stdexcept>

std::unique_ptr<DeviceMemory> allocate_cuda(gputest::Bytes size, int /*index*/) {
  throw std::runtime_error{"asked for " + gputest::to_string(size) +
                           " of a real GPU, but this was built without a CUDA compiler; install one and configure "
                           "again, or set GPUTEST_DEVICES=simulated:1x16GiB"};
}

int cuda_device_count() { return 0; }
