// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/slot_store.hpp"

#include "core/os/file.hpp"
#include "core/os/host.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
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

/// Members may leave what they like in a shared folder: how much of it is looked through, and how many of them can be
/// on one ledger.
constexpr std::size_t max_entries = 4096;
constexpr std::size_t max_users = 256;

/// Who has how many entries of the folder, apart from the parts of its users: an error that names the one with most.
LedgerError too_many_entries(const LedgerFolder& folder, const std::string& prefix, DIR* entries) {
  std::map<uid_t, std::size_t> counts;
  ::rewinddir(entries);
  std::size_t looked_at = 0;
  for (const dirent* entry = nullptr; looked_at <= max_entries && (entry = ::readdir(entries)) != nullptr;) {
    ++looked_at;
    struct stat status {};
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && ::fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        name != prefix + std::to_string(status.st_uid)) {
      ++counts[status.st_uid];
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = folder.path() + " has more than " + std::to_string(max_entries) +
                     " entries, and a shared ledger needs one a user, called " + prefix + "<uid>";
  if (most != counts.end()) {
    const std::string uid = std::to_string(most->first);
    const std::string name = user_name(most->first);
    text += ". Of those that are no ledger, " + std::to_string(most->second) + " belong to " + name + " (uid " + uid +
            "). " + name + " or an administrator can remove them: find " + folder.path() +
            " -mindepth 1 -maxdepth 1 -uid " + uid + " ! -name " + prefix + uid + " -exec rm -r {} +";
  }
  return LedgerError{text};
}

/// The other users that have a folder of the right name and owner. A part that does not belong to the user of its name
/// is nobody's, and is never used.
std::vector<uid_t> owners_in(const LedgerFolder& folder, const std::string& store) {
  const int copy = ::openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // with a place of its own in it
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{copy >= 0 ? ::fdopendir(copy) : nullptr, ::closedir};
  if (!entries) {
    throw failure("read the folder", folder.path(), errno);
  }
  const std::string prefix = store + ".";
  std::vector<uid_t> owners;
  std::size_t count = 0;
  for (const dirent* entry = nullptr; (entry = ::readdir(entries.get())) != nullptr;) {
    if (++count > max_entries) {
      throw too_many_entries(folder, prefix, entries.get());
    }
    const std::string name = entry->d_name;
    uid_t owner = 0;
    const char* const end = name.data() + name.size();
    if (name.compare(0, prefix.size(), prefix) == 0) {
      const auto number = std::from_chars(name.data() + prefix.size(), end, owner);
      struct stat status {};
      if (number.ec == std::errc{} && number.ptr == end && owner != ::geteuid() &&
          name == prefix + std::to_string(owner) &&
          ::fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
          status.st_uid == owner) {
        owners.push_back(owner);
      }
    }
  }
  return owners;
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

SlotStore::TakenSlot SlotStore::take(const std::function<bool(std::size_t)>& is_free) {
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
    return known != nullptr ? !known->owner_lives() : !os::owner_lives(store_->liveness_fifo(slot));
  });
  return ended;
}

LivenessWatch* LivenessWatches::find(std::size_t slot) {
  const auto known = std::find(slots_.begin(), slots_.end(), slot);
  return known == slots_.end() ? nullptr : &fifos_[static_cast<std::size_t>(known - slots_.begin())];
}

/// Finds the users that have joined or left since the last look, in a shared folder. Throws LedgerError for a part that
/// is damaged, and where there are more entries or users than it looks at.
void SlotStore::find_others() {
  struct stat status {};
  if (!folder_.is_shared() || ::fstat(folder_.number(), &status) != 0) {
    return;
  }
  const auto& changed = status.st_mtim;
  if (changed.tv_sec == looked_at_.tv_sec && changed.tv_nsec == looked_at_.tv_nsec) {
    return;
  }
  looked_at_ = {};
  if (!look_for_others()) {
    return; // what is made in a part does not change the folder
  }
  // The clock of files goes on in steps of some milliseconds: of a folder that has just changed the next change may
  // have the same time.
  std::timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec > changed.tv_sec + 1) {
    looked_at_ = changed;
  }
}

/// Whether all of them are complete. A part that was removed and made anew is another one, with a number of its own.
bool SlotStore::look_for_others() {
  auto owners = owners_in(folder_, name_);
  for (auto part = parts_.upper_bound(0); part != parts_.end();) {
    const StorePart& seen = part->second;
    const auto known = std::find(owners.begin(), owners.end(), seen.owner());
    const auto now = FileIdentity::at(StorePart::place(folder_, name_, seen.owner()));
    if (known != owners.end() && now && *now == seen.folder_identity()) {
      owners.erase(known);
      ++part;
    } else { // gone, or made anew
      part = parts_.erase(part);
    }
  }
  bool complete = true;
  for (const uid_t owner : owners) {
    auto part = StorePart::open(StorePart::place(folder_, name_, owner), layout_);
    if (!part) {
      complete = false; // just being made
      continue;
    }
    if (parts_.size() - parts_.count(0) + 1 >= max_users) {
      throw LedgerError{folder_.path() + " has ledgers of more than " + std::to_string(max_users) +
                        " users; an administrator has to remove those that nobody needs, or use several shared folders "
                        "(GPUTEST_DIR)"};
    }
    parts_.emplace(next_++, std::move(*part));
  }
  return complete;
}

} // namespace gputest::os
