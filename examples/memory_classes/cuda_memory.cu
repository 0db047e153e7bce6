// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_memory.hpp"

#include <gputest/error.hpp>

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace {

using Word = unsigned long long; // the type that atomicAdd() takes

constexpr int threads_per_block = 256;
constexpr int blocks = 2048; // enough to fill any device; the kernels stride over the rest

__device__ Word wrong_words;

__device__ Word pattern(std::size_t index, Word round) { return (index + 1) * 0x9E3779B97F4A7C15ULL + round; }

__global__ void fill(Word* words, std::size_t count, Word round) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    words[i] = pattern(i, round);
  }
}

__global__ void verify(const Word* words, std::size_t count, Word round) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    if (words[i] != pattern(i, round)) {
      atomicAdd(&wrong_words, 1ULL);
    }
  }
}

/// Any CUDA call may be the one that runs out: the first makes the context, the first kernel loads its module.
void check(cudaError_t result, const std::string& what) {
  if (result == cudaSuccess) {
    return;
  }
  static_cast<void>(cudaGetLastError());                             // else the next check would report this one again
  const std::string text = what + ": " + cudaGetErrorString(result); // for want of memory it is "out of memory"
  if (result == cudaErrorMemoryAllocation) {
    throw gputest::OutOfMemory{text};
  }
  throw std::runtime_error{text};
}

class CudaMemory final : public DeviceMemory {
public:
  CudaMemory(gputest::Bytes size, int index) : count_{size.count() / sizeof(Word)}, index_{index} {
    check(cudaSetDevice(index_), "cudaSetDevice");
    check(cudaMalloc(&words_, count_ * sizeof(Word)), "cudaMalloc of " + to_string(size));
  }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  ~CudaMemory() override { static_cast<void>(cudaFree(words_)); }

  std::uint64_t exercise(std::chrono::milliseconds duration) override {
    check(cudaSetDevice(index_), "cudaSetDevice");
    Word wrong = 0;
    check(cudaMemcpyToSymbol(wrong_words, &wrong, sizeof wrong), "clearing the count of wrong words");
    const auto end = std::chrono::steady_clock::now() + duration;
    Word round = 0;
    do {
      fill<<<blocks, threads_per_block>>>(words_, count_, round);
      check(cudaGetLastError(), "starting fill");
      verify<<<blocks, threads_per_block>>>(words_, count_, round);
      check(cudaGetLastError(), "starting verify");
      check(cudaDeviceSynchronize(), "filling and verifying");
      ++round;
    } while (std::chrono::steady_clock::now() < end);
    check(cudaMemcpyFromSymbol(&wrong, wrong_words, sizeof wrong), "reading the count of wrong words");
    return wrong;
  }

private:
  Word* words_ = nullptr;
  std::size_t count_ = 0;
  int index_ = 0;
};

} // namespace

std::unique_ptr<DeviceMemory> allocate_cuda(gputest::Bytes size, int index) {
  return std::make_unique<CudaMemory>(size, index);
}

int cuda_device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
