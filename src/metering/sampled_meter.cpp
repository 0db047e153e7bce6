// SPDX-License-Identifier: BSD-3-Clause
#include "metering/sampled_meter.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/cuda/nvml.hpp"
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/policy/visible_devices.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace gputest::metering {

namespace {

using Figures = std::vector<std::optional<Bytes>>;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds interval{10};

/// While other processes start, a driver takes 30 ms for an answer: it gets nine tenths of the time to itself.
constexpr int pause_per_sample = 9;

/// Starts a thread that no signal is delivered to, so that the program's own threads handle theirs. Throws
/// std::system_error.
std::thread start_background_thread(std::function<void()> function) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before); // a thread begins with its creator's
  try {
    std::thread thread{std::move(function)};
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

class SampledMeter final : public devices::Meter {
public:
  SampledMeter(std::function<Figures()> own_bytes, std::function<bool()> in_use, std::string because)
      : own_bytes_{std::move(own_bytes)}, in_use_{std::move(in_use)}, because_{std::move(because)} {}
  ~SampledMeter() override {
    stop();
    if (pid_ != 0) {
      static_cast<void>(sampling_.release()); // as in begin()
    }
  }
  SampledMeter(const SampledMeter&) = delete;
  SampledMeter& operator=(const SampledMeter&) = delete;

  void begin() noexcept override {
    stop();
    try {
      if (pid_ != 0) { // forked in the middle of a period: its parent's thread and lock are no use here
        static_cast<void>(sampling_.release());
        sampling_ = std::make_unique<Sampling>();
      }
      {
        const std::lock_guard guard{sampling_->mutex};
        sampling_->stopping = false;
        before_ = own_bytes_();
        peak_ = before_;
      }
      pid_ = os::own_pid();
      sampling_->thread = start_background_thread([this] { sample_until_stopped(); });
    } catch (const std::exception&) {
      pid_ = 0;
    }
  }

  [[nodiscard]] devices::Usage so_far() noexcept override {
    devices::Usage usage;
    usage.because = because_ + ", and what the device says of this process cannot be had";
    if (pid_ != os::own_pid()) {
      return usage;
    }
    try {
      const bool uses_devices = in_use_();
      const std::lock_guard guard{sampling_->mutex};
      note(own_bytes_());
      read(usage, uses_devices);
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): it stays unknown
    }
    return usage;
  }

  [[nodiscard]] devices::Usage end() noexcept override {
    auto usage = so_far();
    stop();
    return usage;
  }

private:
  void sample_until_stopped() {
    std::unique_lock lock{sampling_->mutex};
    auto pause = steady_clock::duration{interval};
    while (!sampling_->wake.wait_for(lock, pause, [this] { return sampling_->stopping; })) {
      lock.unlock();
      const auto begin = steady_clock::now();
      Figures figures;
      try {
        figures = own_bytes_();
      } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): the next one may be had
      }
      pause = std::max<steady_clock::duration>(interval, pause_per_sample * (steady_clock::now() - begin));
      lock.lock();
      note(figures);
    }
  }

  /// With the mutex.
  void note(const Figures& figures) {
    // A process that does not use devices yet has no figures: it has nothing.
    peak_.resize(std::max(peak_.size(), figures.size()), Bytes{});
    before_.resize(peak_.size(), Bytes{});
    for (std::size_t i = 0; i < std::min(figures.size(), peak_.size()); ++i) {
      if (figures[i]) {
        peak_[i] = std::max(peak_[i].value_or(Bytes{}), *figures[i]);
      }
    }
  }

  /// With the mutex.
  void read(devices::Usage& usage, bool uses_devices) const {
    bool listed = false;
    for (std::size_t i = 0; i < peak_.size(); ++i) {
      if (!before_[i] || !peak_[i]) {
        return;
      }
      listed = listed || *peak_[i] > Bytes{};
      if (*peak_[i] > *before_[i]) {
        devices::DeviceUsage device;
        device.device = static_cast<int>(i);
        device.peak = *peak_[i] - *before_[i];
        device.with_context = *before_[i] == Bytes{};
        usage.devices.push_back(device);
      }
    }
    if (listed || !uses_devices) {
      usage.evidence = devices::Evidence::sampled;
      usage.because = because_;
    }
  }

  void stop() noexcept {
    if (pid_ != os::own_pid()) {
      return; // there is no such thread in a forked process
    }
    pid_ = 0;
    {
      const std::lock_guard guard{sampling_->mutex};
      sampling_->stopping = true;
    }
    sampling_->wake.notify_all();
    sampling_->thread.join();
  }

  std::function<Figures()> own_bytes_;
  std::function<bool()> in_use_;
  std::string because_;
  struct Sampling {
    std::mutex mutex; ///< of all figures
    std::condition_variable wake;
    bool stopping = false;
    std::thread thread;
  };

  std::unique_ptr<Sampling> sampling_ = std::make_unique<Sampling>();
  Figures before_; ///< when the period began
  Figures peak_;
  int pid_ = 0; ///< that has the thread; 0: there is none
};

} // namespace

std::unique_ptr<devices::Meter> make_sampled_meter(std::function<Figures()> own_bytes, std::function<bool()> in_use,
                                                   std::string because) {
  return std::make_unique<SampledMeter>(std::move(own_bytes), std::move(in_use), std::move(because));
}

namespace {

/// What NVML lists of this process, on the devices that CUDA shows it. Opened when the process begins to use devices,
/// because that takes 18 ms.
class OwnMemory {
public:
  [[nodiscard]] Figures operator()() {
    if (!devices::cuda_is_initialised()) {
      return {};
    }
    // A process that is forked from one that uses devices cannot use them, and a thread may have held the mutex.
    const int own = os::own_pid();
    int nobody = 0;
    if (!user_.compare_exchange_strong(nobody, own) && user_ != own) {
      return {};
    }
    const std::lock_guard guard{mutex_};
    if (!tried_) {
      tried_ = true;
      open();
    }
    Figures figures;
    for (const std::size_t index : visible_) {
      figures.push_back(own_bytes(index));
    }
    return figures;
  }

private:
  void open() {
    std::string why;
    nvml_ = devices::Nvml::open(why);
    if (!nvml_) {
      return;
    }
    std::vector<std::string> uuids;
    for (const auto& device : nvml_->devices()) {
      uuids.push_back(device.uuid);
    }
    visible_ = policy::visible_devices(os::read_variable("CUDA_VISIBLE_DEVICES"), uuids);
  }

  [[nodiscard]] std::optional<Bytes> own_bytes(std::size_t index) const {
    const auto processes = nvml_->processes(index);
    if (!processes) {
      return std::nullopt;
    }
    const auto own = std::find_if(processes->begin(), processes->end(),
                                  [](const devices::NvmlProcess& process) { return process.pid == os::own_pid(); });
    if (own == processes->end()) {
      return Bytes{};
    }
    return own->used_bytes ? std::optional{Bytes{*own->used_bytes}} : std::nullopt;
  }

  std::atomic<int> user_{0}; ///< the process that uses devices
  std::mutex mutex_;
  bool tried_ = false;
  std::optional<devices::Nvml> nvml_;
  std::vector<std::size_t> visible_;
};

} // namespace

std::unique_ptr<devices::Meter> open_nvml_meter(std::string because) {
  return make_sampled_meter([memory = std::make_shared<OwnMemory>()] { return (*memory)(); },
                            [] { return devices::cuda_is_initialised(); }, std::move(because));
}

} // namespace gputest::metering
