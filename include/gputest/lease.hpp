#pragma once

#include <gputest/requirement.hpp>

#include <string>

namespace gputest {

/// The right to some bytes of some of this process's devices. Move-only; gives back when it ends.
///
/// Giving back first synchronises the devices and returns pooled memory, then frees the bytes for others; memory that
/// the test still holds stays on the ledger until the process ends. A lease that was not granted holds nothing and says
/// why.
class Lease {
public:
  Lease() = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  /// Whether the bytes are held.
  [[nodiscard]] explicit operator bool() const { return held_; }

  /// Why nothing is held: the text of a skip or of a failure. Empty for a lease that was granted.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// Whether reason() must fail the test (the wait limit ran out, nothing may be skipped) and not merely skip it.
  [[nodiscard]] bool must_fail() const { return must_fail_; }

  /// Gives back now. Does nothing the second time.
  void release() noexcept;

private:
  friend Lease lease(const Requirement&);
  bool held_ = false;
  bool must_fail_ = false;
  std::string reason_;
};

/// Leases memory for a section of a test (see ScopedTest and GPUTEST_LEASE in gputest/gtest/scoped.hpp).
///
/// Blocks until the memory is free, first come first served, for at most GPUTEST_WAIT_LIMIT; says on stderr whom it
/// waits for. A large requirement under LargePolicy::exclude never blocks. Throws NestedLease if this process already
/// holds one.
[[nodiscard]] Lease lease(const Requirement& requirement);

} // namespace gputest
