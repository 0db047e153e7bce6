// SPDX-License-Identifier: BSD-3-Clause
// What a process may do inside of CUPTI's callback before an allocation: ask NVML, lock and write a file, wait, and
// end. Prints a line for each claim, and ends with 1 if one does not hold. Each claim runs CUDA in a process of its
// own.
//
//   nvcc -O1 -arch=native -o ask_proof ask_proof.cu -lcuda -lcupti -ldl && ./ask_proof
//
// With --mps it is a client of the MPS server that CUDA_MPS_PIPE_DIRECTORY names, and also claims what becomes of other
// clients.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// NVML, opened at run time, as gputest does.
struct Memory {
  unsigned long long total, free, used;
};
struct Nvml {
  void* device = nullptr;
  int (*memory)(void*, Memory*) = nullptr;
  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    auto handle = reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    memory = reinterpret_cast<int (*)(void*, Memory*)>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
    init();
    handle(0, &device);
  }
  unsigned long long used() const {
    Memory seen{};
    memory(device, &seen);
    return seen.used;
  }
};

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void first_used_later(int* out) { *out = 1; }

constexpr CUpti_CallbackId calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,          CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged,      CUPTI_DRIVER_TRACE_CBID_cuMemCreate,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync,        CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuArray3DCreate_v2,     CUPTI_DRIVER_TRACE_CBID_cuArrayCreate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync};

std::function<void()> before_allocation; // what the callback does
std::atomic<int> callbacks{0};

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER) {
    ++callbacks;
    if (before_allocation) {
      before_allocation();
    }
  }
}

void subscribe() {
  static CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(&subscriber, on_callback, nullptr) != CUPTI_SUCCESS) {
    std::puts("cannot subscribe");
    std::_Exit(3);
  }
  for (const auto call : calls) {
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call);
  }
}

void check(cudaError_t result) {
  if (result != cudaSuccess) {
    std::printf("    CUDA: %s\n", cudaGetErrorString(result));
    std::fflush(stdout);
    std::_Exit(4);
  }
}

int lock_file = -1;
/// What asking the ledger takes: a record lock, a read, a write of 256 bytes.
void ask_ledger() {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  fcntl(lock_file, F_SETLKW, &whole);
  char record[4096];
  (void)!pread(lock_file, record, sizeof record, 0);
  (void)!pwrite(lock_file, record, 256, 0);
  whole.l_type = F_UNLCK;
  fcntl(lock_file, F_SETLK, &whole);
}

struct Kind {
  const char* name;
  std::function<void(size_t)> allocate;
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"cudaMalloc",
       [](size_t bytes) {
         void* p;
         check(cudaMalloc(&p, bytes));
       }},
      {"cudaMallocPitch",
       [](size_t bytes) {
         void* p;
         size_t pitch;
         check(cudaMallocPitch(&p, &pitch, 1 << 20, bytes >> 20));
       }},
      {"cudaMallocAsync",
       [](size_t bytes) {
         void* p;
         check(cudaMallocAsync(&p, bytes, nullptr));
         check(cudaStreamSynchronize(nullptr));
       }},
      {"cudaMallocManaged",
       [](size_t bytes) {
         void* p;
         check(cudaMallocManaged(&p, std::min<size_t>(bytes, 1 << 30)));
       }},
      {"cuMemCreate",
       [](size_t bytes) {
         CUmemAllocationProp of{};
         of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
         of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
         CUmemGenericAllocationHandle handle;
         if (cuMemCreate(&handle, bytes, &of, 0) != CUDA_SUCCESS)
           std::_Exit(4);
       }},
      {"cudaMalloc3DArray",
       [](size_t bytes) {
         cudaArray_t array;
         const auto format = cudaCreateChannelDesc<float>();
         check(cudaMalloc3DArray(&array, &format, make_cudaExtent(1024, 1024, std::min<size_t>(bytes >> 22, 2048))));
       }},
      {"pool of its own", [](size_t bytes) {
         cudaMemPoolProps of{};
         of.allocType = cudaMemAllocationTypePinned;
         of.location.type = cudaMemLocationTypeDevice;
         cudaMemPool_t pool;
         check(cudaMemPoolCreate(&pool, &of));
         void* p;
         check(cudaMallocFromPoolAsync(&p, bytes, pool, nullptr));
         check(cudaStreamSynchronize(nullptr));
       }}};
  return all;
}

int failures = 0;
void say(bool holds, const std::string& claim, const std::string& seen = "") {
  std::printf("%-6s %s%s%s\n", holds ? "holds" : "FAILS", claim.c_str(), seen.empty() ? "" : ": ", seen.c_str());
  std::fflush(stdout);
  failures += !holds;
}

/// Runs it in a child; its exit status, or 1000 + signal, or -1 if it had to be killed after that time.
int in_child(const std::function<void()>& body, double limit_ms, const std::function<void()>& meanwhile = {},
             double* took = nullptr) {
  std::fflush(stdout);
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (meanwhile) {
      meanwhile();
    }
    if (ms_since(start) > limit_ms) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    usleep(300);
  }
  if (took)
    *took = ms_since(start);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

/// Microseconds of an allocation of 1 MiB and its free, by what the callback does.
void measure(bool async) {
  const auto measure_with = [&](const char* name, bool with_callbacks, std::function<void()> work) {
    in_child(
        [&] {
          if (with_callbacks)
            subscribe();
          Nvml nvml;
          before_allocation = nullptr;
          check(cudaFree(nullptr));
          if (work)
            before_allocation = [&] { work(); };
          if (std::strcmp(name, "NVML and ledger") == 0)
            before_allocation = [&] {
              nvml.used();
              ask_ledger();
            };
          if (std::strcmp(name, "NVML") == 0)
            before_allocation = [&] { nvml.used(); };
          std::vector<double> each;
          for (int i = 0; i < 2000; ++i) {
            void* p = nullptr;
            const auto start = Clock::now();
            async ? check(cudaMallocAsync(&p, 1 << 20, nullptr)) : check(cudaMalloc(&p, 1 << 20));
            each.push_back(1000 * ms_since(start));
            async ? check(cudaFreeAsync(p, nullptr)) : check(cudaFree(p));
          }
          std::printf("       %s, %-18s median %.1f us, p99 %.1f us\n", async ? "cudaMallocAsync" : "cudaMalloc", name,
                      median(each), (std::sort(each.begin(), each.end()), each[each.size() * 99 / 100]));
        },
        60000);
  };
  measure_with("no callback", false, {});
  measure_with("empty callback", true, {});
  measure_with("ledger", true, [] { ask_ledger(); });
  measure_with("NVML", true, [] {});
  measure_with("NVML and ledger", true, [] {});
}

/// While the callback waits 200 ms, other threads launch, synchronise and allocate.
void others_go_on(const Kind& kind) {
  const int status = in_child(
      [&] {
        subscribe();
        check(cudaFree(nullptr));
        check(cudaMallocAsync(reinterpret_cast<void**>(new void*), 1 << 20, nullptr));
        std::atomic<bool> waiting{false}, over{false};
        std::atomic<int> launched{0}, allocated{0}, loaded{0};
        const auto self = std::this_thread::get_id();
        before_allocation = [&] {
          if (std::this_thread::get_id() == self) {
            waiting = true;
            Nvml().used();
            ask_ledger();
            usleep(200000);
            waiting = false;
          }
        };
        std::thread launches([&] {
          cudaStream_t stream;
          check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
          while (!over) {
            const bool was = waiting;
            spin<<<1, 1, 0, stream>>>(1000);
            check(cudaStreamSynchronize(stream));
            launched += was && waiting;
          }
        });
        std::thread allocates([&] {
          while (!over) {
            const bool was = waiting;
            void* p = nullptr;
            check(cudaMalloc(&p, 1 << 20));
            check(cudaFree(p));
            allocated += was && waiting;
          }
        });
        std::thread loads([&] {
          while (!waiting && !over) {
          }
          int* out = nullptr;
          check(cudaMalloc(&out, 4));
          first_used_later<<<1, 1>>>(out); // its module part is loaded now
          check(cudaDeviceSynchronize());
          loaded = waiting ? 1 : 0;
        });
        kind.allocate(64 << 20);
        over = true;
        launches.join();
        allocates.join();
        loads.join();
        std::printf("       %-18s in 200 ms of waiting: %d launches, %d allocations of other threads, a new kernel "
                    "loaded: %s\n",
                    kind.name, launched.load(), allocated.load(), loaded ? "yes" : "no");
        std::fflush(stdout);
        std::_Exit(launched > 0 && allocated > 0 ? 0 : 5);
      },
      30000);
  say(status == 0,
      std::string("while a callback of ") + kind.name + " waits, other threads launch, synchronise and allocate",
      status == 0 ? "" : "status " + std::to_string(status));
}

/// The callback ends the process: what it asked for is not taken.
void ends_before(const Kind& kind, bool busy, bool synchronise, bool threads, const Nvml& nvml) {
  const auto before = nvml.used();
  unsigned long long most = 0;
  double took = 0;
  const size_t asked = 24ULL << 30;
  auto* exiting =
      static_cast<Clock::time_point*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const int status = in_child(
      [&] {
        subscribe();
        check(cudaFree(nullptr));
        cudaStream_t stream;
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        std::vector<std::thread> others;
        std::atomic<bool> over{false};
        if (threads) {
          for (int i = 0; i < 4; ++i) {
            others.emplace_back([&] {
              while (!over) {
                void* p = nullptr;
                if (cudaMalloc(&p, 1 << 20) == cudaSuccess)
                  cudaFree(p);
                spin<<<1, 1>>>(100000);
                cudaDeviceSynchronize();
              }
            });
          }
          usleep(20000);
        }
        if (busy)
          spin<<<1, 1, 0, stream>>>(600000000LL); // some 0.35 s
        const auto self = std::this_thread::get_id();
        before_allocation = [&] {
          if (std::this_thread::get_id() == self) {
            if (synchronise)
              cuCtxSynchronize();
            *exiting = Clock::now();
            _exit(42);
          }
        };
        kind.allocate(asked);
      },
      10000, [&] { most = std::max(most, nvml.used()); }, &took);
  const double end = ms_since(*exiting);
  munmap(exiting, 4096);
  const double mib = (most > before ? most - before : 0) / 1048576.0;
  const bool small = mib < 2500; // a context and what the threads take
  char seen[160];
  std::snprintf(seen, sizeof seen, "status %d, at most %.0f MiB more in use, ended %.0f ms after _exit()", status, mib,
                end);
  say(status == 42 && small,
      std::string(kind.name) + " of 24 GiB: the process ends before it is taken" + (busy ? ", a kernel runs" : "") +
          (synchronise ? ", synchronised first" : "") + (threads ? ", four threads use CUDA" : ""),
      seen);
}

/// Subscribed before fork(), CUDA in the child only.
void in_a_fork() {
  const int status = in_child(
      [] {
        subscribe();
        const int inner = in_child(
            [] {
              before_allocation = [] { _exit(42); };
              void* p = nullptr;
              cudaMalloc(&p, 1 << 20);
            },
            10000);
        std::_Exit(inner == 42 ? 42 : inner == 0 ? 1 : 2);
      },
      20000);
  say(status == 42, "a child that was forked after the subscription asks, too",
      status == 1 ? "no callback in the child" : "status " + std::to_string(status));
}

/// Many threads ask at once, while another process holds the file's lock for 20 ms again and again.
void many_threads() {
  const pid_t locker = fork();
  if (locker == 0) {
    for (;;) {
      struct flock whole = {};
      whole.l_type = F_WRLCK;
      fcntl(lock_file, F_SETLKW, &whole);
      usleep(20000);
      whole.l_type = F_UNLCK;
      fcntl(lock_file, F_SETLK, &whole);
      usleep(1000);
    }
  }
  const int status = in_child(
      [] {
        subscribe();
        Nvml nvml;
        check(cudaFree(nullptr));
        before_allocation = [&] {
          nvml.used();
          ask_ledger();
        };
        std::vector<std::thread> all;
        for (int i = 0; i < 16; ++i) {
          all.emplace_back([i] {
            for (int n = 0; n < 20; ++n) {
              void* p = nullptr;
              i % 2 ? check(cudaMalloc(&p, 1 << 20)) : check(cudaMallocAsync(&p, 1 << 20, nullptr));
              spin<<<1, 1>>>(1000);
              check(cudaDeviceSynchronize());
              i % 2 ? check(cudaFree(p)) : check(cudaFreeAsync(p, nullptr));
            }
          });
        }
        for (auto& each : all)
          each.join();
      },
      60000);
  kill(locker, SIGKILL);
  waitpid(locker, nullptr, 0);
  say(status == 0, "sixteen threads ask at once, while others hold the lock: no deadlock",
      "status " + std::to_string(status));
}

/// Under MPS one client ends in its callback, and another one goes on.
void neighbours(bool busy, bool synchronise) {
  auto* rounds =
      static_cast<std::atomic<int>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t neighbour = fork();
  if (neighbour == 0) {
    void* p = nullptr;
    check(cudaMalloc(&p, 1 << 20));
    for (int i = 0; i < 3000; ++i) {
      spin<<<1, 1>>>(1000000);
      if (cudaDeviceSynchronize() != cudaSuccess)
        std::_Exit(7);
      ++*rounds;
    }
    std::_Exit(0);
  }
  while (*rounds < 20)
    usleep(1000);
  int ended = 0;
  for (int i = 0; i < 4; ++i) {
    ended += in_child(
                 [&] {
                   subscribe();
                   check(cudaFree(nullptr));
                   if (busy)
                     spin<<<1, 1>>>(600000000LL);
                   before_allocation = [&] {
                     if (synchronise)
                       cuCtxSynchronize();
                     _exit(42);
                   };
                   void* p = nullptr;
                   cudaMalloc(&p, 1ULL << 30);
                 },
                 20000) == 42;
  }
  int status = 0;
  waitpid(neighbour, &status, 0);
  const bool unharmed = ended == 4 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool expected = !busy || synchronise;
  say(unharmed == expected,
      std::string("a neighbour of the same MPS server ") + (expected ? "goes on" : "does not go on") +
          (busy ? ", a kernel ran" : "") + (synchronise ? ", synchronised first" : ""),
      std::to_string(ended) + " of 4 ended, the neighbour after " + std::to_string(rounds->load()) + " rounds");
}

} // namespace

int main(int argc, char** argv) {
  const bool mps = argc > 1 && std::strcmp(argv[1], "--mps") == 0;
  char name[] = "/tmp/ask_proof.XXXXXX";
  lock_file = mkstemp(name);
  unlink(name);
  (void)!ftruncate(lock_file, 1 << 20);
  const Nvml nvml;
  measure(false);
  measure(true);
  for (const auto& kind : kinds())
    others_go_on(kind);
  for (const auto& kind : kinds())
    ends_before(kind, false, false, false, nvml);
  if (!mps)
    ends_before(kinds()[0], true, false, false, nvml); // it would take the clients of its server with it
  ends_before(kinds()[0], true, true, false, nvml);
  ends_before(kinds()[0], false, false, true, nvml);
  ends_before(kinds()[2], true, true, true, nvml);
  in_a_fork();
  many_threads();
  if (mps) {
    neighbours(false, false);
    neighbours(true, true);
    neighbours(true, false);
  }
  std::printf("%d claims do not hold\n", failures);
  return failures != 0;
}
