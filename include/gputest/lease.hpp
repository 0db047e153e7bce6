// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/outcome.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace gputest {

namespace session {
class Gate;
}
namespace detail {
class TestSequence;
}

/// The right of this process to some bytes of some of its devices. Move-only; its destructor gives them back.
///
/// It belongs to the process, not to a thread: all threads may use the devices while it is held. A thread other than
/// the one that asked may own and release it. Before you release it, end the work of all threads on the devices: the
/// release synchronises the devices, empties memory pools, and then makes the bytes available to other processes.
/// Memory that the test still holds remains in the ledger until the process exits. Two threads must not use one object
/// at the same time.
///
/// A lease that was not granted, was moved from, or was given back holds nothing. Assigning to a lease gives back what
/// it held.
class Lease {
public:
  Lease() = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  /// Whether the bytes are held.
  [[nodiscard]] explicit operator bool() const;

  /// The result of the request. A failure if the lease was never requested, was moved from, or was given back.
  [[nodiscard]] const Outcome& outcome() const;

  /// Why nothing is held: the text of a skip or of a failure. Empty while the bytes are held.
  [[nodiscard]] const std::string& reason() const { return outcome().reason; }

  /// Whether reason() must fail the test (the wait limit was exceeded, or skips are forbidden) instead of skipping it.
  [[nodiscard]] bool must_fail() const { return outcome().kind == Outcome::Kind::fail; }

  /// Gives the bytes back now. Does nothing the second time. Session::examine() returns the problems that it finds.
  void release() noexcept;

private:
  friend class Session;
  friend class detail::TestSequence;
  std::weak_ptr<session::Gate> gate_;
  std::uint64_t number_ = 0; ///< of this lease in its session; 0: none
  Outcome outcome_;
};

} // namespace gputest
