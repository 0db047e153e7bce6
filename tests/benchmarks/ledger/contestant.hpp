// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gputest::benchmarks {

/// Something that keeps other processes out, as one process has it open.
class Lock {
public:
  Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  virtual ~Lock() = default;

  /// Blocks until nobody else has it.
  virtual void acquire() = 0;
  virtual void release() = 0;
};

/// One way to keep other processes out. A `place` is a path in the run's folder that belongs to it
/// alone.
struct Contestant {
  std::string name;
  /// Makes at `place` what its processes share.
  std::function<void(const std::string& place)> make;
  /// Opens it, in each process and after any fork.
  std::function<std::unique_ptr<Lock>(const std::string& place)> open;
};

/// All that are compared. The first is the raw pthread mutex, which the others' figures are divided by.
[[nodiscard]] const std::vector<Contestant>& contestants();

/// Makes a place for each contestant, named after `experiment`.
[[nodiscard]] std::vector<std::string> make_places(const std::string& folder, const std::string& experiment);

} // namespace gputest::benchmarks
