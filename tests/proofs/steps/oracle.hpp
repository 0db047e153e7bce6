// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"
#include "support/observed.hpp"
#include "support/shared_object.hpp"

#include <sys/file.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace gputest::tests {

/// What the processes of a scenario really use, in their own words and without the ledger's help.
///
/// A process says what it uses after the ledger has let it, and takes that back before it tells the ledger. For one
/// that is killed its killer does, and only then the devices show its memory as free.
class StepsOracle : public ledger::DeviceProbe {
public:
  static constexpr std::size_t devices = 2;
  static constexpr std::size_t max_processes = 128;
  static constexpr std::uint64_t device_bytes = 1000;

  /// What one process uses of each device.
  struct Use {
    std::array<std::uint32_t, devices> overhead_bytes{};
    std::array<std::uint32_t, devices> leased_bytes{};
    std::array<bool, devices> inside{};
    std::array<bool, devices> alone{};     ///< inside as one that may ask for the whole device
    std::array<bool, devices> exclusive{}; ///< has a lease of the whole device
    std::array<bool, devices> medium_lock{};
  };

  explicit StepsOracle(const std::string& path) : shared_{path} {}

  /// Says what process number `process` uses from now on, and looks whether all that is used is within the rules.
  void use(std::size_t process, const Use& use) {
    // A lock that the kernel takes back from who is killed; one line of the table is written at a time.
    ::flock(shared_.file(), LOCK_EX);
    shared_->uses[process] = use;
    check();
    ::flock(shared_.file(), LOCK_UN);
  }

  /// For a process that was killed: to be called when it is gone.
  void clear(std::size_t process) { use(process, Use{}); }

  /// How often the rules were broken.
  [[nodiscard]] std::uint32_t violations() const { return shared_->violations; }

  [[nodiscard]] std::shared_ptr<const ledger::Observation> observe(const std::string& uuid) const override {
    const auto device = static_cast<std::size_t>(uuid.back() - '0');
    std::array<bool, max_processes> inside{};
    for (std::size_t process = 0; process < max_processes; ++process) {
      inside[process] = shared_->uses[process].inside.at(device);
    }
    return std::make_shared<Observed>(
        [] {
          return policy::Capacity{device_bytes, 0};
        },
        [inside](const ledger::Record& ended) { return !inside.at(std::stoul(ended.who)); });
  }

private:
  struct Shared {
    std::array<Use, max_processes> uses;
    std::atomic<std::uint32_t> violations;
  };

  void check() {
    for (std::size_t d = 0; d < devices; ++d) {
      std::uint64_t bytes = 0;
      int inside = 0;
      int exclusive = 0;
      int medium_locks = 0;
      for (const Use& use : shared_->uses) {
        bytes += use.overhead_bytes.at(d) + use.leased_bytes.at(d);
        inside += use.inside.at(d) ? 1 : 0;
        exclusive += use.exclusive.at(d) || use.alone.at(d) ? 1 : 0;
        medium_locks += use.medium_lock.at(d) ? 1 : 0;
      }
      if (bytes > device_bytes || medium_locks > 1 || (exclusive > 0 && inside > 1)) {
        ++shared_->violations;
      }
    }
  }

  SharedObject<Shared> shared_;
};

} // namespace gputest::tests
