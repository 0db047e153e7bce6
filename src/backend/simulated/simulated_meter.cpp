// SPDX-License-Identifier: BSD-3-Clause
#include "backend/simulated/simulated_meter.hpp"

namespace gputest::backend {

namespace {

class SimulatedMeter : public Meter {
public:
  void begin() noexcept override { simulated_book().begin(); }
  [[nodiscard]] Usage so_far() noexcept override { return simulated_book().end(); }
  [[nodiscard]] Usage end() noexcept override { return simulated_book().end(); }
};

/// Its samples are so dense that they miss nothing.
class SampledMeter final : public SimulatedMeter {
public:
  [[nodiscard]] Usage so_far() noexcept override { return as_sampled(SimulatedMeter::so_far()); }
  [[nodiscard]] Usage end() noexcept override { return as_sampled(SimulatedMeter::end()); }

private:
  static Usage as_sampled(Usage usage) {
    if (usage.evidence == Evidence::exact) {
      usage.evidence = Evidence::sampled;
      usage.because = "GPUTEST_METER=sampled";
    }
    for (auto& device : usage.devices) {
      device.at_peak.clear();
      device.largest.clear();
      device.left.clear();
    }
    return usage;
  }
};

} // namespace

AllocationBook& simulated_book() {
  static AllocationBook& book = *new AllocationBook; // NOLINT(cppcoreguidelines-owning-memory)
  return book;
}

Meter& simulated_meter(MeterSetting setting) {
  static SimulatedMeter exact;
  static SampledMeter sampled;
  static NoMeter off{"GPUTEST_METER=off"};
  switch (setting) {
  case MeterSetting::automatic:
    return exact;
  case MeterSetting::sampled:
    return sampled;
  case MeterSetting::off:
    break;
  }
  return off;
}

} // namespace gputest::backend
