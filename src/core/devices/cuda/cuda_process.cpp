// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_process.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/cuda/cuda_driver_memory.hpp"
#include "core/devices/metering.hpp"

namespace gputest::devices {

namespace {

class CudaProcess final : public ThisProcess {
public:
  [[nodiscard]] bool in_use() const override { return cuda_is_initialised(); }
  [[nodiscard]] Settled synchronize_and_trim() override { return devices::synchronize_and_trim(); }
  [[nodiscard]] DeviceState state() const override { return cuda_state(); }
  [[nodiscard]] Meter& meter(MeterSetting setting) override { return cuda_meter(setting); }
  [[nodiscard]] bool sees_only(const std::vector<std::string>& uuids) const override { return cuda_sees_only(uuids); }
  [[nodiscard]] std::string set_heap(int device, Bytes heap) override {
    return CudaMemory::instance().set_heap(device, heap);
  }
  [[nodiscard]] bool lists_managed_memory() const override { return false; }

  [[nodiscard]] MemorySource& memory() override { return CudaMemory::instance(); }
};

} // namespace

ThisProcess& cuda_process() {
  static ThisProcess& process = *new CudaProcess; // NOLINT(cppcoreguidelines-owning-memory): as its memory
  return process;
}

} // namespace gputest::devices
