// SPDX-License-Identifier: BSD-3-Clause
// What metering costs: medians over processes with and without it, in turn. The start of CUDA varies by more than a
// meter costs, so the meter's own opening is a row of its own.
//
//   meter_benchmark [<processes of each kind>]
#include "metering/cuda_meter.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "meter_benchmark: a CUDA call answers %s\n", cudaGetErrorName(error));
    std::exit(1);
  }
}

/// Of one process.
struct Figures {
  double opening = 0;     ///< of the meter
  double start = 0;       ///< after it, until the first CUDA call has returned
  double malloc_pair = 0; ///< cudaMalloc() and cudaFree(), the median
  double async_pair = 0;  ///< cudaMallocAsync() and cudaFreeAsync(), the median
  double test = 0;        ///< a period of the meter's without an allocation
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The median of so many calls.
template <class Function>
double microseconds_of(int calls, Function function) {
  std::vector<double> each;
  each.reserve(calls);
  for (int i = 0; i < calls; ++i) {
    const auto begin = Clock::now();
    function();
    each.push_back(microseconds_since(begin));
  }
  return median(std::move(each));
}

Figures measure(bool metered) {
  constexpr int mallocs = 2000;
  constexpr int asyncs = 20000;
  constexpr int periods = 2000;
  Figures figures;
  std::unique_ptr<gputest::devices::Meter> meter;
  auto begin = Clock::now();
  if (metered) {
    std::string why;
    meter = gputest::metering::open_cupti_meter("", why);
    if (!meter) {
      std::fprintf(stderr, "meter_benchmark: %s\n", why.c_str());
      std::exit(1);
    }
    meter->begin();
  }
  figures.opening = microseconds_since(begin);
  begin = Clock::now();
  check(cudaFree(nullptr));
  figures.start = microseconds_since(begin);

  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, 1024, stream)); // the pool's first piece is not an allocation's cost
  figures.malloc_pair = microseconds_of(mallocs, [] {
    void* piece = nullptr;
    check(cudaMalloc(&piece, 1024));
    check(cudaFree(piece));
  });
  figures.async_pair = microseconds_of(asyncs, [stream] {
    void* piece = nullptr;
    check(cudaMallocAsync(&piece, 1024, stream));
    check(cudaFreeAsync(piece, stream));
  });
  check(cudaStreamSynchronize(stream));
  begin = Clock::now();
  for (int i = 0; i < periods && meter; ++i) {
    meter->begin();
    static_cast<void>(meter->end());
  }
  figures.test = microseconds_since(begin) / periods;
  return figures;
}

Figures in_a_process(bool metered) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    std::exit(1);
  }
  const pid_t child = fork(); // before any CUDA call of this process
  if (child == 0) {
    const auto figures = measure(metered);
    std::_Exit(write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 1);
  }
  Figures figures;
  int status = 0;
  close(ends[1]);
  const bool whole = read(ends[0], &figures, sizeof figures) == sizeof figures;
  close(ends[0]);
  waitpid(child, &status, 0);
  if (!whole || status != 0) {
    std::exit(1);
  }
  return figures;
}

double median(const std::vector<Figures>& runs, double Figures::*figure) {
  std::vector<double> values;
  for (const auto& run : runs) {
    values.push_back(run.*figure);
  }
  return median(std::move(values));
}

} // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 15;
  if (runs < 1) {
    std::fprintf(stderr, "usage: meter_benchmark [<processes of each kind>]\n");
    return 2;
  }
  std::vector<Figures> with;
  std::vector<Figures> without;
  for (int i = 0; i < runs; ++i) {
    with.push_back(in_a_process(true));
    without.push_back(in_a_process(false));
  }
  std::printf("medians of %d processes each, in turn\n", runs);
  std::printf("| us | without | metered | more |\n| --- | --- | --- | --- |\n");
  const auto row = [&](const char* name, double Figures::*figure) {
    const double plain = median(without, figure);
    const double metered = median(with, figure);
    std::printf("| %s | %.2f | %.2f | %.2f |\n", name, plain, metered, metered - plain);
  };
  row("opening of the meter", &Figures::opening);
  row("first CUDA call, with its context", &Figures::start);
  row("cudaMalloc and cudaFree", &Figures::malloc_pair);
  row("cudaMallocAsync and cudaFreeAsync", &Figures::async_pair);
  row("a test without allocations", &Figures::test);
  return 0;
}
