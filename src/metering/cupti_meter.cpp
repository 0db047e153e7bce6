// SPDX-License-Identifier: BSD-3-Clause
#include "metering/cuda_meter.hpp"

#include "core/devices/cuda/cuda_driver_library.hpp"
#include "core/os/shared_library.hpp"
#include "metering/allocation_book.hpp"
#include "metering/cupti_api.hpp"
#include "metering/driver_allocations.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputest::metering {

namespace {

/// Keeps the book by the driver's calls.
class CuptiMeter final : public devices::Meter {
public:
  CuptiMeter() = default;
  ~CuptiMeter() override {
    if (subscriber_ != nullptr) {
      cupti_.unsubscribe(subscriber_); // before what its callbacks use is gone
    }
  }
  CuptiMeter(const CuptiMeter&) = delete;
  CuptiMeter& operator=(const CuptiMeter&) = delete;

  /// Empty if it has subscribed, else the reason.
  std::string open(const std::string& cuda_folder) {
    std::string why;
    auto driver = os::SharedLibrary::open(devices::cuda::driver_file().c_str(), why);
    if (!driver || !driver_.bind(*driver)) {
      return driver ? "the CUDA driver lacks functions; it is too old" : why;
    }
    driver_file_ = std::move(driver);
    why.clear();
    std::vector<std::string> folders{""}; // the linker's own search
    for (const auto& toolkit : {cuda_folder, std::string{"/usr/local/cuda"}}) {
      folders.push_back(toolkit + "/lib64/");
      folders.push_back(toolkit + "/extras/CUPTI/lib64/");
    }
    for (const auto& folder : folders) {
      for (const char* const version : {".13", ".12", ""}) {
        switch (subscribe(folder + "libcupti.so" + version, why)) {
        case Opened::yes:
          return {};
        case Opened::taken:
          return why;
        case Opened::no:
          break;
        }
      }
    }
    return why.empty() ? "libcupti.so is neither in the linker's path nor in CUDA_HOME nor in /usr/local/cuda" : why;
  }

  void begin() noexcept override {
    guarded([&] {
      for_each_device([&](devices::cuda::Device device) {
        std::uint64_t none = 0;
        driver_.set_graph_memory(device, cupti::graphs_used_most, &none); // begins at what is used now
      });
      graphs_before_ = graph_memory();
      book_.begin();
    });
  }

  [[nodiscard]] bool sees_allocations() const noexcept override { return true; }
  void ask_beyond(Limits limits, Ask ask) override { book_.ask_beyond(std::move(limits), std::move(ask)); }

  [[nodiscard]] devices::Usage so_far() noexcept override {
    devices::Usage usage;
    guarded([&] {
      usage = book_.so_far();
      add_graphs(usage);
    });
    if (const char* const why = why_incomplete_) {
      usage = {};
      usage.because = why;
    }
    return usage;
  }

private:
  enum class Opened { no, yes, taken };

  Opened subscribe(const std::string& file, std::string& why) {
    std::string not_opened;
    auto library = os::SharedLibrary::open(file.c_str(), not_opened);
    if (!library || !cupti_.bind(*library)) {
      return Opened::no;
    }
    cupti::Subscriber subscriber = nullptr;
    auto result = cupti_.subscribe(&subscriber, &CuptiMeter::on_callback, this);
    for (const auto call : cupti::all_calls) {
      if (result == cupti::success) {
        result = cupti_.enable_callback(1, subscriber, cupti::driver_api, static_cast<cupti::CallbackId>(call));
      }
    }
    if (result == cupti::success) {
      result = cupti_.enable_callback(1, subscriber, cupti::resource, cupti::context_destroyed);
    }
    if (result == cupti::success) {
      cupti_file_ = std::move(library);
      subscriber_ = subscriber;
      return Opened::yes;
    }
    if (subscriber != nullptr) {
      cupti_.unsubscribe(subscriber);
    }
    if (result == cupti::subscriber_taken) {
      why = "another tool uses CUPTI: a profiler, compute-sanitizer, or the program itself";
      return Opened::taken;
    }
    if (why.empty()) { // the first found is the one that should work
      const char* name = nullptr;
      cupti_.error_name(result, &name);
      why = file + " answers " + (name != nullptr ? name : "error") + " (" + std::to_string(result) + ")";
    }
    return Opened::no; // another version may fit the driver
  }

  static void on_callback(void* meter, cupti::Domain domain, cupti::CallbackId id, const void* data) {
    auto& self = *static_cast<CuptiMeter*>(meter);
    self.guarded([&] {
      if (domain == cupti::resource) {
        self.allocations_.note_end(static_cast<const cupti::ResourceData*>(data)->context);
        return;
      }
      self.allocations_.note(static_cast<cupti::Call>(id), *static_cast<const cupti::CallData*>(data));
    });
  }

  /// Nothing may be thrown into the driver. What is not noted makes the figures unknown.
  template <class Function>
  void guarded(Function function) noexcept {
    try {
      function();
    } catch (const UnknownArrayFormat&) {
      why_incomplete_ = "the process has made an array of a format whose size is not known";
    } catch (...) {
      why_incomplete_ = "a call of the CUDA driver could not be noted: out of memory";
    }
  }

  /// Calls it for the devices on which graphs may have allocated.
  template <class Function>
  void for_each_device(Function function) const {
    int count = 0;
    if (driver_.graph_memory == nullptr || driver_.set_graph_memory == nullptr ||
        driver_.device_count(&count) != devices::cuda::success) {
      return;
    }
    for (devices::cuda::Device device = 0; device < count; ++device) {
      unsigned flags = 0;
      int active = 0;
      if (driver_.primary_state(device, &flags, &active) == devices::cuda::success && active != 0) {
        function(device);
      }
    }
  }

  /// The most that graphs have used of each device since the mark was set.
  [[nodiscard]] std::map<devices::cuda::Device, std::uint64_t> graph_memory() const {
    std::map<devices::cuda::Device, std::uint64_t> used;
    for_each_device([&](devices::cuda::Device device) {
      std::uint64_t bytes = 0;
      if (driver_.graph_memory(device, cupti::graphs_used_most, &bytes) == devices::cuda::success && bytes > 0) {
        used[device] = bytes;
      }
    });
    return used;
  }

  /// Graphs allocate when they run, without a call. The driver does not say when they had most. It counts alone,
  /// because the rest may have been freed then: the peak is at least the larger of both.
  void add_graphs(devices::Usage& usage) {
    for (const auto& [device, bytes] : graph_memory()) {
      const auto before = graphs_before_.find(device);
      const Bytes used = Bytes{bytes} - Bytes{before == graphs_before_.end() ? 0 : before->second};
      if (used == Bytes{}) {
        continue;
      }
      auto of = std::find_if(usage.devices.begin(), usage.devices.end(),
                             [d = device](const devices::DeviceUsage& each) { return each.device == d; });
      if (of == usage.devices.end()) {
        usage.devices.emplace_back().device = device;
        of = usage.devices.end() - 1;
      }
      if (used > of->peak) {
        of->peak = used;
        of->at_peak = {{devices::AllocationKind::pool, used}};
      }
    }
  }

  std::optional<os::SharedLibrary> driver_file_;
  std::optional<os::SharedLibrary> cupti_file_;
  cupti::DriverFunctions driver_;
  cupti::Functions cupti_;
  cupti::Subscriber subscriber_ = nullptr;
  AllocationBook book_;
  DriverAllocations allocations_{book_, driver_, cupti_};
  std::map<devices::cuda::Device, std::uint64_t> graphs_before_;
  std::atomic<const char*> why_incomplete_{nullptr};
};

} // namespace

bool cupti::Functions::bind(const os::SharedLibrary& library) {
  return library.bind(subscribe, "cuptiSubscribe") && library.bind(unsubscribe, "cuptiUnsubscribe") &&
         library.bind(enable_callback, "cuptiEnableCallback") && library.bind(device_of_context, "cuptiGetDeviceId") &&
         library.bind(error_name, "cuptiGetResultString");
}

bool cupti::DriverFunctions::bind(const os::SharedLibrary& library) {
  library.bind(graph_memory, "cuDeviceGetGraphMemAttribute");
  library.bind(set_graph_memory, "cuDeviceSetGraphMemAttribute");
  return library.bind(device_count, "cuDeviceGetCount") && library.bind(primary_state, "cuDevicePrimaryCtxGetState") &&
         library.bind(is_capturing, "cuStreamIsCapturing") &&
         library.bind(is_capturing_ptsz, "cuStreamIsCapturing_ptsz") &&
         library.bind(pointer_attribute, "cuPointerGetAttribute");
}

std::unique_ptr<devices::Meter> open_cupti_meter(const std::string& cuda_folder, std::string& why) {
  auto meter = std::make_unique<CuptiMeter>();
  why = meter->open(cuda_folder);
  return why.empty() ? std::move(meter) : nullptr;
}

} // namespace gputest::metering
