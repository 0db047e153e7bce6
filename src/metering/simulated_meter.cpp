// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/meter.hpp"
#include "metering/allocation_book.hpp"

#include <utility>
#include <vector>

namespace gputest::metering {

namespace {

/// What this process has allocated of simulated devices.
AllocationBook& simulated_book() {
  static AllocationBook& book = *new AllocationBook; // NOLINT(cppcoreguidelines-owning-memory)
  return book;
}

class SimulatedMeter : public devices::Meter {
public:
  [[nodiscard]] bool sees_allocations() const noexcept override { return true; }
  void begin() noexcept override { simulated_book().begin(); }
  [[nodiscard]] devices::Usage so_far() noexcept override { return simulated_book().so_far(); }
  void ask_beyond(Limits limits, Ask ask) override { simulated_book().ask_beyond(std::move(limits), std::move(ask)); }
};

/// Its samples are so dense that they miss nothing.
class SimulatedSampler final : public SimulatedMeter {
public:
  [[nodiscard]] bool sees_allocations() const noexcept override { return false; }
  void ask_beyond(Limits /*limits*/, Ask /*ask*/) override {}
  [[nodiscard]] devices::Usage so_far() noexcept override {
    devices::Usage usage;
    usage.evidence = devices::Evidence::sampled;
    usage.because = "GPUTEST_METER=sampled";
    for (const auto& exact : SimulatedMeter::so_far().devices) {
      usage.devices.emplace_back().device = exact.device;
      usage.devices.back().peak = exact.peak;
    }
    return usage;
  }
};

} // namespace

} // namespace gputest::metering

namespace gputest::devices {

Meter& simulated_meter(MeterSetting setting) {
  static auto& exact = *new metering::SimulatedMeter;     // NOLINT(cppcoreguidelines-owning-memory)
  static auto& sampled = *new metering::SimulatedSampler; // NOLINT(cppcoreguidelines-owning-memory)
  static auto& off = *new NoMeter{"GPUTEST_METER=off"};   // NOLINT(cppcoreguidelines-owning-memory)
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

void note_simulated_allocation(std::uint64_t id, AllocationKind kind, int device, const char* function, Bytes bytes) {
  metering::simulated_book().add(id, {kind, device, function, bytes.count()});
}

void ask_simulated_allocation(AllocationKind kind, int device, const char* function, Bytes bytes) {
  metering::simulated_book().ask({kind, device, function, bytes.count()});
}

void note_simulated_free(std::uint64_t id) { metering::simulated_book().remove(id); }

void note_simulated_refusal(int device, Bytes bytes) { metering::simulated_book().refuse(device, bytes.count()); }

void note_simulated_answer(int device, Bytes free) { metering::simulated_book().tell_free(device, free.count()); }

} // namespace gputest::devices
