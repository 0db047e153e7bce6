// SPDX-License-Identifier: BSD-3-Clause
#include "backend/simulated/simulated_meter.hpp"

#include "backend/simulated/own_simulated_devices.hpp"
#include "backend/tree_usage.hpp"
#include "settings/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputest::backend {

namespace {

/// Tells the launcher above, if there is one, what is allocated.
void report_to_launcher(AllocationBook& book) {
  const auto file = settings::of_process().meter_file;
  if (file.empty()) {
    return;
  }
  if (std::shared_ptr<TreeMember> member = TreeMember::join(file)) {
    book.watch([member, uuids = std::vector<std::string>{}](int device, std::uint64_t bytes) mutable {
      if (uuids.empty()) { // not before: they are chosen with the first allocation
        uuids = OwnSimulatedDevices::instance("what this process has allocated").uuids();
      }
      member->allocated(uuids.at(static_cast<std::size_t>(device)), bytes);
    });
  }
}

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
  static AllocationBook& book = *[] {
    auto* const made = new AllocationBook; // NOLINT(cppcoreguidelines-owning-memory)
    report_to_launcher(*made);
    return made;
  }();
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
