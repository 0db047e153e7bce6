// SPDX-License-Identifier: BSD-3-Clause
#include "metering/cuda_meter.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/policy/visible_devices.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <iterator>
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

/// A period, and the thread that samples in it. Of no use in a forked process, which has no such thread.
struct Period {
  int pid = os::own_pid();
  std::mutex mutex; ///< of what follows
  std::condition_variable wake;
  bool stopping = false;
  Figures before;
  Figures peak;
  std::thread thread;

  /// With the mutex.
  void note(const Figures& figures) {
    // A process that does not use devices yet has no figures: it has nothing.
    peak.resize(std::max(peak.size(), figures.size()), Bytes{});
    before.resize(peak.size(), Bytes{});
    for (std::size_t i = 0; i < figures.size(); ++i) {
      if (figures[i]) {
        peak[i] = std::max(peak[i].value_or(Bytes{}), *figures[i]);
      }
    }
  }
};

class SampledMeter final : public devices::Meter {
public:
  SampledMeter(std::function<Figures()> own_bytes, std::function<bool()> in_use, std::string because)
      : own_bytes_{std::move(own_bytes)}, in_use_{std::move(in_use)}, because_{std::move(because)} {}
  ~SampledMeter() override { stop(); }
  SampledMeter(const SampledMeter&) = delete;
  SampledMeter& operator=(const SampledMeter&) = delete;

  void begin() noexcept override {
    stop();
    try {
      auto period = std::make_unique<Period>();
      period->before = period->peak = own_bytes_();
      period->thread = start_background_thread([this, &sampled = *period] { sample_until_stopped(sampled); });
      period_ = std::move(period);
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): it stays unknown
    }
  }

  [[nodiscard]] devices::Usage so_far() noexcept override {
    devices::Usage usage;
    usage.because = because_ + ", and what the device says of this process cannot be had";
    if (!period_ || period_->pid != os::own_pid()) {
      return usage;
    }
    try {
      const bool uses_devices = in_use_();
      const auto figures = own_bytes_();
      const std::lock_guard guard{period_->mutex};
      period_->note(figures);
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
  void sample_until_stopped(Period& period) const {
    std::unique_lock lock{period.mutex};
    auto pause = steady_clock::duration{interval};
    while (!period.wake.wait_for(lock, pause, [&] { return period.stopping; })) {
      lock.unlock();
      const auto begin = steady_clock::now();
      Figures figures;
      try {
        figures = own_bytes_();
      } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): the next one may be had
      }
      pause = std::max<steady_clock::duration>(interval, pause_per_sample * (steady_clock::now() - begin));
      lock.lock();
      period.note(figures);
    }
  }

  /// With the mutex.
  void read(devices::Usage& usage, bool uses_devices) const {
    bool listed = false;
    for (std::size_t i = 0; i < period_->peak.size(); ++i) {
      const auto& before = period_->before[i];
      const auto& peak = period_->peak[i];
      if (!before || !peak) {
        return;
      }
      listed = listed || *peak > Bytes{};
      if (*peak > *before) {
        auto& device = usage.devices.emplace_back();
        device.device = static_cast<int>(i);
        device.peak = *peak - *before;
        device.with_context = *before == Bytes{};
      }
    }
    if (listed || !uses_devices) {
      usage.evidence = devices::Evidence::sampled;
      usage.because = because_;
    }
  }

  void stop() noexcept {
    if (!period_) {
      return;
    }
    if (period_->pid != os::own_pid()) {
      static_cast<void>(period_.release());
      return;
    }
    {
      const std::lock_guard guard{period_->mutex};
      period_->stopping = true;
    }
    period_->wake.notify_all();
    period_->thread.join();
    period_.reset();
  }

  std::function<Figures()> own_bytes_;
  std::function<bool()> in_use_;
  std::string because_;
  std::unique_ptr<Period> period_; ///< null: none has begun
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
    Figures figures;
    if (devices::cuda_is_initialised()) { // which it never is in a forked process
      std::call_once(opened_, [this] { open(); });
      std::transform(visible_.begin(), visible_.end(), std::back_inserter(figures),
                     [this](std::size_t index) { return own_bytes(index); });
    }
    return figures;
  }

private:
  void open() {
    std::string why;
    machine_ = devices::open_real(why);
    std::vector<std::string> uuids;
    for (const auto& device : machine_ ? machine_->devices() : std::vector<Device>{}) {
      uuids.push_back(device.uuid);
    }
    visible_ = policy::visible_devices(os::read_variable("CUDA_VISIBLE_DEVICES"), uuids);
  }

  [[nodiscard]] std::optional<Bytes> own_bytes(std::size_t index) const {
    const auto processes = machine_->memory(index).processes;
    if (!processes) {
      return std::nullopt;
    }
    const auto own = std::find_if(processes->begin(), processes->end(),
                                  [](const devices::ProcessMemory& process) { return process.pid == os::own_pid(); });
    if (own == processes->end()) {
      return Bytes{};
    }
    return own->used_bytes ? std::optional{Bytes{*own->used_bytes}} : std::nullopt;
  }

  std::once_flag opened_;
  std::unique_ptr<devices::DeviceList> machine_;
  std::vector<std::size_t> visible_;
};

} // namespace

std::unique_ptr<devices::Meter> open_nvml_meter(std::string because) {
  return make_sampled_meter([memory = std::make_shared<OwnMemory>()] { return (*memory)(); },
                            [] { return devices::cuda_is_initialised(); }, std::move(because));
}

} // namespace gputest::metering
