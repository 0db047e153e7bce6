#include "policy/queues.hpp"

#include <algorithm>

namespace gputest::policy {

std::optional<std::size_t> next_ahead(const Snapshot& snapshot, std::size_t self, std::size_t device) {
  std::optional<std::size_t> next;
  const Claim& own = snapshot.claims[self];
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    if (claim.stage == own.stage && (asked_devices(claim) >> device & 1U) != 0 && claim.ticket < own.ticket &&
        (!next || claim.ticket > snapshot.claims[*next].ticket)) {
      next = position;
    }
  }
  return next;
}

std::vector<std::size_t> heads(const Snapshot& snapshot) {
  std::vector<std::size_t> queued;
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    if (asked_devices(snapshot.claims[position]) != 0) {
      queued.push_back(position);
    }
  }
  std::stable_sort(queued.begin(), queued.end(),
                   [&](std::size_t a, std::size_t b) { return snapshot.claims[a].ticket < snapshot.claims[b].ticket; });
  struct Queue {
    std::uint64_t ticket = 0;
    DeviceMask ahead = 0;     ///< asked for by those with earlier tickets
    DeviceMask alongside = 0; ///< and with this one: there is only one, unless a record is damaged
  };
  Queue entering;
  Queue leasing;
  std::vector<std::size_t> heads;
  for (const std::size_t position : queued) {
    const Claim& claim = snapshot.claims[position];
    const DeviceMask asked = asked_devices(claim);
    Queue& queue = claim.stage == Stage::waiting ? leasing : entering;
    if (claim.ticket != queue.ticket) {
      queue = {claim.ticket, queue.ahead | queue.alongside, 0};
    }
    // Who enters has a head's right on every candidate device that nobody ahead of it may use.
    if (claim.stage == Stage::waiting ? (asked & queue.ahead) == 0 : (asked & ~queue.ahead) != 0) {
      heads.push_back(position);
    }
    queue.alongside |= asked;
  }
  return heads;
}

} // namespace gputest::policy
