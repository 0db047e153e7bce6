// SPDX-License-Identifier: BSD-3-Clause
#include "device_buffer.hpp"

#include "cuda_memory.hpp"

#include <gputest/error.hpp>
#include <gputest/simulated_buffer.hpp>

#include <thread>

namespace {

class SimulatedMemory final : public DeviceMemory {
public:
  SimulatedMemory(gputest::Bytes size, int index) : buffer_{size, index} {}

  std::uint64_t exercise(std::chrono::milliseconds duration) override {
    std::this_thread::sleep_for(duration);
    return 0;
  }

private:
  gputest::SimulatedBuffer buffer_;
};

// If the devices are simulated, no CUDA call is made: this also runs on a machine without a driver.
std::unique_ptr<DeviceMemory> allocate(gputest::Bytes size, int index) {
  if (gputest::devices_are_simulated()) {
    return std::make_unique<SimulatedMemory>(size, index);
  }
  return allocate_cuda(size, index);
}

bool has_simulated_device(int index) {
  try {
    const gputest::SimulatedBuffer probe{gputest::Bytes{1}, index};
    return true;
  } catch (const gputest::OutOfMemory&) {
    return true; // full, but there
  } catch (const gputest::InvalidSetting&) {
    return false;
  }
}

} // namespace

DeviceBuffer::DeviceBuffer(gputest::Bytes size, int index) : memory_{allocate(size, index)} {}

int device_count() {
  if (!gputest::devices_are_simulated()) {
    return cuda_device_count();
  }
  int count = 0;
  while (has_simulated_device(count)) {
    ++count;
  }
  return count;
}
