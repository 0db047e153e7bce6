// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/overhead.hpp"

#include <algorithm>

namespace gputest::session {

namespace {

constexpr std::uint64_t smallest_piece = std::uint64_t{2} << 20U;
constexpr std::chrono::seconds longest_unmeasured{1};

/// If a context seems to take more, it is probably a leak.
constexpr Bytes max_believable_context{std::uint64_t{2} << 30U};

} // namespace

void Overhead::expect(Bytes usual, Bytes learnt, Bytes heap) {
  heap_ = heap > Bytes{};
  learnt_ = learnt <= max_believable_context ? learnt : Bytes{};
  expected_ = (learnt_ > Bytes{} ? learnt_ : usual) + heap;
  bytes_ = expected_;
}

bool Overhead::is_due(const devices::Settled& settled, Bytes managed, Clock::time_point now) const {
  if (settled.free_bytes.size() != free_bytes_.size() || managed != managed_) {
    return true;
  }
  for (std::size_t i = 0; i < free_bytes_.size(); ++i) {
    if (settled.free_bytes[i] + smallest_piece <= free_bytes_[i]) {
      return true;
    }
  }
  return settled.has_context && now - measured_at_ >= longest_unmeasured;
}

void Overhead::measured(const devices::Settled& settled, Bytes listed, Bytes managed, Clock::time_point now) {
  free_bytes_ = settled.free_bytes;
  managed_ = managed;
  measured_at_ = now;
  to_learn_ = {};
  if (listed == Bytes{}) { // it has no context any more, or the driver lists no processes
    bytes_ = expected_ + managed;
    return;
  }
  bytes_ = std::max(listed, heap_ ? expected_ : learnt_) + managed;
  if (!heap_ && managed == Bytes{} && listed <= max_believable_context) {
    to_learn_ = listed;
  }
}

} // namespace gputest::session
