// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/slot_store.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include <unistd.h>

namespace gputest::os {

namespace {

constexpr mode_t mutex_mode = 0600;

std::unique_ptr<FileLock> open_shared_mutex(const LedgerFolder& folder) {
  constexpr uid_t root = 0;
  try {
    return std::make_unique<FileLock>(folder.at("mutex", root, mutex_mode));
  } catch (const LedgerError& error) {
    throw LedgerError{std::string{error.what()} +
                      "; in a shared folder it is a regular file of root's with the mode 0660, in the folder's group: "
                      "an administrator makes it with: systemd-tmpfiles --create gputest.conf"};
  }
}

} // namespace

SlotStore::SlotStore(const std::string& folder, const std::string& name, const Layout& layout)
    : layout_{layout}, name_{name}, owner_{::geteuid()}, folder_{folder}, path_{own_place().path},
      ledger_file_{own_place().name + "/ledger"} {
  folder_.refuse_network();
  if (folder_.is_shared()) {
    mutex_ = open_shared_mutex(folder_);
    open_own(); // the first of this user's processes to take a slot makes it
    return;
  }
  const FileAt place = own_place();
  const Descriptor opened = StorePart::open_or_make_folder(place);
  mutex_ = std::make_unique<FileLock>(FileAt{opened.number(), place.path, "mutex", place.owner, mutex_mode},
                                      FileLock::IfMissing::make);
  open_own();
  if (!has_part(0)) {
    const std::lock_guard guard{*mutex_};
    make_own();
  }
}

void SlotStore::open_own() {
  if (auto part = StorePart::open(own_place(), layout_)) {
    parts_.emplace(0, std::move(*part));
  }
}

/// This user's part, made unless it is there. Under the mutex.
StorePart& SlotStore::make_own() {
  mutex_->require_kept();
  if (!has_part(0)) {
    open_own();
  }
  if (!has_part(0)) {
    parts_.emplace(0, StorePart::make(own_place(), layout_));
  }
  return parts_.at(0);
}

const StorePart& SlotStore::part(std::size_t index) const {
  if (const auto found = parts_.find(index); found != parts_.end()) {
    return found->second;
  }
  throw LedgerError{index == 0 ? "the ledger " + path_ + " is not made yet"
                               : "the ledger of a user in " + folder_.path() + " was removed just now"};
}

void SlotStore::require_in_place() const {
  const bool is_replaced = has_part(0) && folder_.lacks(ledger_file_, part(0).file_identity());
  if (!is_replaced && !folder_.is_gone() && !mutex_->is_removed()) {
    return;
  }
  const bool is_removed = mutex_->is_removed() || (has_part(0) && part(0).is_removed());
  const bool again = FileIdentity::at(path()).has_value(); // the folder may be another one, too
  throw LedgerError{"the ledger " + path() + " was " + (is_removed ? "removed" : "renamed") +
                    (again ? " and made anew" : "") +
                    " while this process used it, so that nobody knows of everybody; let all GPU tests end, and start "
                    "them again. A ledger needs no cleaning up: what is in it of dead processes is not counted"};
}

void SlotStore::require_intact() const {
  mutex_->require_kept();
  if (has_part(0)) {
    part(0).require_kept();
  }
}

SlotStore::Taken SlotStore::take(const std::function<bool(std::size_t)>& is_free) {
  StorePart& own = make_own();
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (!is_free(slot)) {
      continue;
    }
    if (auto taken = LivenessFifo::take(liveness_fifo(slot))) {
      own.note_use(slot);
      return {slot, std::move(taken)};
    }
  }
  throw LedgerError{"all " + std::to_string(slots()) + " places of " + path() +
                    " are taken by running processes; run fewer GPU tests at once (ctest -j)"};
}

FileAt SlotStore::wake_fifo(std::size_t slot) const {
  const auto found = parts_.find(part_index(slot));
  return found == parts_.end() ? FileAt::nothing() : found->second.wake_fifo(slot % layout_.slots);
}

FileAt SlotStore::liveness_fifo(std::size_t slot) const {
  const auto found = parts_.find(part_index(slot));
  return found == parts_.end() ? FileAt::nothing() : found->second.liveness_fifo(slot % layout_.slots);
}

std::vector<std::size_t> LivenessWatches::watch(const std::vector<std::size_t>& slots) {
  std::vector<std::size_t> ended;
  std::vector<std::size_t> watched;
  std::vector<LivenessWatch> fifos;
  watched.reserve(slots.size());
  fifos.reserve(slots.size());
  for (const std::size_t slot : slots) {
    auto* const known = find(slot);
    auto fifo = known != nullptr ? std::move(*known) : LivenessWatch{store_->liveness_fifo(slot)};
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

Woken LivenessWatches::wait(const WakeFifo& own, std::chrono::milliseconds at_most) const {
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
    return known != nullptr ? !known->owner_lives() : !LivenessWatch{store_->liveness_fifo(slot)}.owner_lives();
  });
  return ended;
}

LivenessWatch* LivenessWatches::find(std::size_t slot) {
  const auto known = std::find(slots_.begin(), slots_.end(), slot);
  return known == slots_.end() ? nullptr : &fifos_[static_cast<std::size_t>(known - slots_.begin())];
}

} // namespace gputest::os
