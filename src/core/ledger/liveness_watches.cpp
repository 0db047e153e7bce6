// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/liveness_watches.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gputest::ledger {

std::vector<std::size_t> LivenessWatches::watch(const std::vector<std::size_t>& slots) {
  std::vector<std::size_t> ended;
  std::vector<std::size_t> watched;
  std::vector<os::LivenessWatch> fifos;
  watched.reserve(slots.size());
  fifos.reserve(slots.size());
  for (const std::size_t slot : slots) {
    auto* const known = find(slot);
    auto fifo = known != nullptr ? std::move(*known) : os::LivenessWatch{store_->liveness_fifo(slot)};
    if (known == nullptr && !fifo.owner_lives()) {
      ended.push_back(slot);
      continue; // a FIFO without an owner would never hang up, not even for the slot's next owner
    }
    watched.push_back(slot);
    fifos.push_back(std::move(fifo));
  }
  slots_ = std::move(watched);
  fifos_ = std::move(fifos);
  return ended;
}

os::Woken LivenessWatches::wait(const os::WakeFifo& own, std::chrono::milliseconds at_most) const {
  auto woken = os::wait(own, fifos_, at_most);
  for (std::size_t& ended : woken.ended) {
    ended = slots_[ended];
  }
  return woken;
}

std::vector<std::size_t> LivenessWatches::ended_among(const std::vector<std::size_t>& slots) {
  std::vector<std::size_t> ended;
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(ended), [&](std::size_t slot) {
    const auto* const known = find(slot);
    return known != nullptr ? !known->owner_lives() : !os::LivenessWatch{store_->liveness_fifo(slot)}.owner_lives();
  });
  return ended;
}

os::LivenessWatch* LivenessWatches::find(std::size_t slot) {
  const auto known = std::find(slots_.begin(), slots_.end(), slot);
  return known == slots_.end() ? nullptr : &fifos_[static_cast<std::size_t>(known - slots_.begin())];
}

} // namespace gputest::ledger
