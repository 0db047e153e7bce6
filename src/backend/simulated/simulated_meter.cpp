// SPDX-License-Identifier: BSD-3-Clause
#include "backend/simulated/simulated_meter.hpp"

namespace gputest::backend {

namespace {

class SimulatedMeter : public Meter {
public:
  [[nodiscard]] bool sees_allocations() const noexcept override { return true; }
  void begin() noexcept override { simulated_book().begin(); }
  [[nodiscard]] Usage so_far() noexcept override { return simulated_book().so_far(); }
};

/// Its samples are so dense that they miss nothing.
class SimulatedSampler final : public SimulatedMeter {
public:
  [[nodiscard]] bool sees_allocations() const noexcept override { return false; }
  [[nodiscard]] Usage so_far() noexcept override { return as_sampled(SimulatedMeter::so_far()); }

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
      device.kept.clear();
      device.kept_at_begin = Bytes{};
      device.wanted = Bytes{};
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
  // Never destroyed: a lease may end when the process does.
  static auto& exact = *new SimulatedMeter;             // NOLINT(cppcoreguidelines-owning-memory)
  static auto& sampled = *new SimulatedSampler;         // NOLINT(cppcoreguidelines-owning-memory)
  static auto& off = *new NoMeter{"GPUTEST_METER=off"}; // NOLINT(cppcoreguidelines-owning-memory)
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
