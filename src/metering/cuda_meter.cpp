// SPDX-License-Identifier: BSD-3-Clause
#include "metering/cuda_meter.hpp"

#include "core/os/mutex.hpp"
#include "core/settings/settings.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace gputest::metering {

namespace {

std::unique_ptr<devices::Meter> open_meter(MeterSetting setting) {
  if (setting == MeterSetting::off) {
    return std::make_unique<devices::NoMeter>("GPUTEST_METER=off");
  }
  if (setting == MeterSetting::sampled) {
    return open_nvml_meter("GPUTEST_METER=sampled");
  }
  const auto settings = settings::of_process();
  if (!settings.profiler.empty()) {
    return open_nvml_meter("another tool may need CUPTI (CUDA_INJECTION64_PATH=" + settings.profiler + ")");
  }
  std::string why;
  auto meter = open_cupti_meter(settings.cuda_folder, why);
  return meter ? std::move(meter) : open_nvml_meter(why);
}

} // namespace

} // namespace gputest::metering

namespace gputest::devices {

Meter& cuda_meter(MeterSetting setting) {
  static auto& meters = *new std::map<MeterSetting, std::unique_ptr<Meter>>; // NOLINT(cppcoreguidelines-owning-memory)
  static os::Mutex mutex;
  const std::lock_guard guard{mutex};
  auto& meter = meters[setting];
  if (!meter) {
    meter = metering::open_meter(setting);
  }
  return *meter;
}

} // namespace gputest::devices
