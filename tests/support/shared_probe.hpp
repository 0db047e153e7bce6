// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"
#include "support/observed.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>

namespace gputest::tests {

/// A device as a test wants it seen, by all processes at once.
struct SharedDevice {
  std::atomic<std::uint64_t> total_bytes;
  std::atomic<std::uint64_t> external_bytes;
  std::atomic<bool> keeps_memory_of_the_dead; ///< whether memory of ended processes is not back yet
  std::atomic<std::uint64_t> begun;           ///< observations
  std::atomic<std::uint64_t> observed;        ///< observations that were completed
  std::atomic<std::int64_t> slow_process;     ///< observations by this process are not completed until this changes
  std::atomic<std::uint64_t> slow;            ///< so many observations take more than half a second
};

/// Devices named `device-0` to `device-3`, which show whatever the test has set.
class SharedProbe : public ledger::DeviceProbe {
public:
  static constexpr std::size_t count = 4;

  /// Maps the file at `path`, and makes it if there is none.
  explicit SharedProbe(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void* address = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, sizeof(Devices)) == 0) {
      address = ::mmap(nullptr, sizeof(Devices), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (address == MAP_FAILED) {
      throw std::system_error{errno, std::generic_category(), "cannot map " + path};
    }
    ::close(file);
    devices_ = static_cast<Devices*>(address);
  }
  SharedProbe(const SharedProbe&) = delete;
  SharedProbe& operator=(const SharedProbe&) = delete;
  ~SharedProbe() override { ::munmap(devices_, sizeof(Devices)); }

  [[nodiscard]] static std::string uuid(std::size_t device) { return "device-" + std::to_string(device); }

  [[nodiscard]] SharedDevice& device(std::size_t index) const { return devices_->at(index); }

  [[nodiscard]] std::shared_ptr<const ledger::Observation> observe(const std::string& uuid) const override {
    ++named(uuid).begun;
    while (named(uuid).slow_process == ::getpid()) {
      ::sched_yield();
    }
    if (named(uuid).slow > 0) {
      --named(uuid).slow;
      std::this_thread::sleep_for(std::chrono::milliseconds{510});
    }
    const policy::Capacity capacity{named(uuid).total_bytes, named(uuid).external_bytes};
    const bool back = !named(uuid).keeps_memory_of_the_dead;
    ++named(uuid).observed;
    return std::make_shared<Observed>([capacity] { return capacity; },
                                      [back](const ledger::Record& /*ended*/) { return back; });
  }

private:
  using Devices = std::array<SharedDevice, count>; // all zero is a valid one, and that is what a new file holds
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "else it would not work between processes");

  [[nodiscard]] SharedDevice& named(const std::string& uuid) const {
    return device(static_cast<std::size_t>(uuid.back() - '0'));
  }

  Devices* devices_;
};

} // namespace gputest::tests
