#include "system/cuda_driver.hpp"

#include "system/cuda_driver_api.hpp"
#include "system/shared_library.hpp"

#include <optional>
#include <utility>

namespace gputest::system {

namespace {

/// The driver that this process has loaded. Its functions answer "not initialised" before cuInit() and in a forked
/// child.
class Driver {
public:
  [[nodiscard]] static std::optional<Driver> if_loaded() {
    auto file = SharedLibrary::if_loaded("libcuda.so.1");
    cuda::Functions functions;
    if (!file || !functions.bind(*file)) {
      return std::nullopt;
    }
    return Driver{std::move(*file), functions};
  }

  /// Number of devices; 0 unless CUDA is initialised.
  [[nodiscard]] int device_count() const {
    int count = 0;
    return functions_.device_count(&count) == cuda::success ? count : 0;
  }

  [[nodiscard]] const cuda::Functions& functions() const { return functions_; }

private:
  Driver(SharedLibrary file, const cuda::Functions& functions) : file_{std::move(file)}, functions_{functions} {}

  SharedLibrary file_; // keeps functions_ callable
  cuda::Functions functions_;
};

/// Makes a device's active primary context the thread's current one for as long as the object lives.
class PrimaryContext {
public:
  PrimaryContext(const cuda::Functions& functions, cuda::Device device) : functions_{functions}, device_{device} {
    cuda::Context context = nullptr;
    result_ = functions_.primary_retain(&context, device_);
    retained_ = result_ == cuda::success;
    if (retained_) {
      result_ = functions_.push_context(context);
      pushed_ = result_ == cuda::success;
    }
  }
  ~PrimaryContext() {
    if (pushed_) {
      cuda::Context popped = nullptr;
      functions_.pop_context(&popped);
    }
    if (retained_) {
      functions_.primary_release(device_);
    }
  }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

  /// Waits for the context's work, if it could be made current at all.
  [[nodiscard]] cuda::Result synchronize() const { return pushed_ ? functions_.synchronize() : result_; }

private:
  const cuda::Functions& functions_;
  cuda::Device device_;
  cuda::Result result_ = cuda::success;
  bool retained_ = false;
  bool pushed_ = false;
};

bool has_primary_context(const cuda::Functions& functions, cuda::Device device) {
  unsigned flags = 0;
  int active = 0;
  return functions.primary_state(device, &flags, &active) == cuda::success && active != 0;
}

std::string describe(const cuda::Functions& functions, cuda::Result result) {
  const char* name = nullptr;
  if (functions.error_name(result, &name) != cuda::success || name == nullptr) {
    name = "CUDA error";
  }
  return std::string{name} + " (" + std::to_string(result) + ")";
}

/// Gives the device back what its pools hold unused. A device without pools (TCC, some vGPUs) has none to give back.
void trim(const cuda::Functions& functions, cuda::Device device) {
  if (functions.trim_graph_memory != nullptr) {
    functions.trim_graph_memory(device);
  }
  if (functions.trim_pool == nullptr) {
    return;
  }
  cuda::MemoryPool trimmed = nullptr;
  for (const auto pool_of : {functions.default_pool, functions.current_pool}) {
    cuda::MemoryPool pool = nullptr;
    if (pool_of != nullptr && pool_of(&pool, device) == cuda::success && pool != nullptr && pool != trimmed) {
      functions.trim_pool(pool, 0);
      trimmed = pool;
    }
  }
}

} // namespace

bool cuda_is_initialised() {
  const auto driver = Driver::if_loaded();
  int count = 0;
  return driver && driver->functions().device_count(&count) == cuda::success;
}

Settled settle_cuda() {
  Settled settled;
  const auto driver = Driver::if_loaded();
  if (!driver) {
    return settled;
  }
  const auto& functions = driver->functions();
  const int count = driver->device_count();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cuda::Device device = 0;
    if (functions.device(&device, ordinal) != cuda::success || !has_primary_context(functions, device)) {
      continue;
    }
    settled.used_cuda = true;
    const PrimaryContext context{functions, device};
    const auto result = context.synchronize();
    if (result == cuda::success) {
      trim(functions, device);
    } else if (result != cuda::capture_unsupported && settled.error.empty()) {
      // A stream capture that the test left open also forbids to synchronise, but that is no sticky error.
      settled.error = describe(functions, result);
    }
  }
  return settled;
}

} // namespace gputest::system
