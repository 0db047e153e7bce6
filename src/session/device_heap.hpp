#pragma once

#include <gputest/bytes.hpp>
#include <gputest/device.hpp>

#include <string>
#include <vector>

namespace gputest::session {

/// The heap of this process for `malloc` in kernels: one size for all its tests, since the limit cannot change once
/// such a kernel has run.
class DeviceHeap {
public:
  /// What the tests of this process will ask for, as far as known.
  void expect(const std::vector<Bytes>& heaps);

  /// What the largest of them takes of a device.
  [[nodiscard]] Bytes cost() const;

  /// Sets the heap of the first `gpus` devices, as far as it is not set yet, before a test's first kernel. Makes their
  /// contexts.
  ///
  /// A test that asks for none gets what all others ask for, so that no kernel of it keeps theirs from being set.
  /// Returns why the test `who` cannot have what it asks for, or nothing.
  [[nodiscard]] std::string prepare(Bytes heap, const std::vector<Device>& devices, int gpus, const std::string& who);

private:
  [[nodiscard]] std::string is_set_already(Bytes heap, const std::string& who) const;

  std::vector<Bytes> expected_; ///< each size once
  Bytes size_;                  ///< 0: not set
  std::string set_for_;
  int devices_set_ = 0;
};

} // namespace gputest::session
