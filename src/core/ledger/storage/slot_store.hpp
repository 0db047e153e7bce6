// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/storage/file_lock.hpp"
#include "core/ledger/storage/ledger_folder.hpp"
#include "core/ledger/storage/slot_fifos.hpp"
#include "core/ledger/storage/store_part.hpp"

#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gputest::os {

/// Records of fixed size, one a slot, each with two FIFOs: one shows whether its owner lives, one wakes the owner.
///
/// Each user writes a part of the store, which belongs to that user and to which nobody else can write. In a private
/// folder there is one part; in a shared one all read the parts of all, and the slots of the others come after this
/// user's, in an order that is this process's own. A slot's number never comes to mean another slot.
///
/// What no gputest has written is an error and nothing else. A damaged part of another user's is an error too, since
/// what it said of memory in use is not known any more.
class SlotStore {
public:
  using Checksum = StorePart::Checksum;

  /// Opens the store `name` in `folder`, and makes both if they do not exist. Throws LedgerError, also for a folder on
  /// a network file system.
  SlotStore(const std::string& folder, const std::string& name, const Layout& layout);

  /// Throws LedgerError if the store was removed, renamed or replaced since it was opened, so that others use another
  /// one.
  void require_in_place() const;

  /// Throws LedgerError if something else in this process has closed one of the store's files.
  void require_intact() const;

  /// As LedgerFolder::lock(). For who only looks there is no need.
  void lock_folder() { folder_.lock(); }

  /// Guards one read-modify-write of the records: microseconds, never a test's duration.
  [[nodiscard]] FileLock& mutex() { return *mutex_; }

  /// This user's slots: 0 to slots() - 1.
  [[nodiscard]] std::size_t slots() const { return layout_.slots; }
  [[nodiscard]] bool is_own(std::size_t slot) const { return slot < layout_.slots; }

  /// Whose a slot is. Throws LedgerError if its part is gone.
  [[nodiscard]] uid_t owner_of(std::size_t slot) const {
    return is_own(slot) ? owner_ : part(part_index(slot)).owner();
  }

  /// A slot, and its liveness FIFO, which makes it its owner's.
  struct TakenSlot {
    std::size_t slot = 0;
    LivenessFifo liveness;
  };

  /// Takes this user's first slot that `is_free` accepts and whose liveness FIFO nobody has. Throws LedgerError if
  /// there is none. Under the mutex.
  [[nodiscard]] TakenSlot take(const std::function<bool(std::size_t)>& is_free);

  /// Calls `visit(slot, record)` for every slot that has ever had an owner, of any user. Throws LedgerError for damage.
  /// Under the mutex.
  template <class StoredRecord, class Visit>
  void for_each(Visit visit) {
    find_others();
    for (const auto& [index, part] : parts_) {
      part.template for_each<StoredRecord>(
          [&, first = index * layout_.slots](std::size_t slot, const StoredRecord& record) {
            visit(first + slot, record);
          });
    }
  }

  /// Copies a record of any user. Under the mutex. Throws LedgerError, also if its part is gone.
  template <class StoredRecord>
  [[nodiscard]] StoredRecord read(std::size_t slot) const {
    return part(part_index(slot)).template read_record<StoredRecord>(slot % layout_.slots);
  }

  /// Replaces a record of this user's. Under the mutex.
  template <class StoredRecord>
  void write(std::size_t slot, const StoredRecord& record) {
    make_own().write_record(slot, record);
  }

  /// The parts of the users, by number: this one's has 0. One may not be made yet, or be gone; no number is used twice.
  [[nodiscard]] bool has_part(std::size_t index) const { return parts_.count(index) != 0; }
  [[nodiscard]] std::size_t part_index(std::size_t slot) const { return slot / layout_.slots; }

  /// Copies a row of a part's table. Under the mutex.
  template <class Row>
  [[nodiscard]] Row read_row(std::size_t row, std::size_t part_number = 0) const {
    return part(part_number).template read_row<Row>(row);
  }

  /// Replaces a row of this user's table. Under the mutex.
  template <class Row>
  void write_row(std::size_t row, const Row& contents) {
    make_own().write_row(row, contents);
  }

  /// A slot's wake-up FIFO, and its liveness FIFO. Of a part that is gone, nothing is there.
  [[nodiscard]] FileAt wake_fifo(std::size_t slot) const;
  [[nodiscard]] FileAt liveness_fifo(std::size_t slot) const;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  [[nodiscard]] FileAt own_place() const { return StorePart::place(folder_, name_, owner_); }
  [[nodiscard]] const StorePart& part(std::size_t index) const;
  void open_own();
  StorePart& make_own();
  void find_others();
  bool look_for_others();

  Layout layout_;
  std::string name_;
  uid_t owner_;
  LedgerFolder folder_;
  std::string path_;        ///< of this user's part
  std::string ledger_file_; ///< of this user's part, relative to folder_
  std::unique_ptr<FileLock> mutex_;
  std::map<std::size_t, StorePart> parts_; ///< by number: this user's, and the others that were complete at a look
  std::size_t next_ = 1;                   ///< number of the next one that is found
  std::timespec looked_at_{};              ///< the folder's time of change when others were looked for
};

/// The liveness FIFOs of the claims that block a waiting process. They stay open between its decisions. All by slot.
class LivenessWatches {
public:
  explicit LivenessWatches(const SlotStore& store) : store_{&store} {}

  /// Watches the owners of these slots from now on, and no others. Returns those that have ended already: they are not
  /// watched, since wait() would not report them. Throws LedgerError if a liveness FIFO cannot be opened.
  [[nodiscard]] std::vector<std::size_t> watch(const std::vector<std::size_t>& slots);

  /// Blocks until `own` is notified, the owner of a watched slot ends, or the time is over.
  [[nodiscard]] Woken wait(const WakeFifo& own, std::chrono::milliseconds at_most) const;

  /// Those of `slots`, watched or not, whose process has ended.
  [[nodiscard]] std::vector<std::size_t> ended_among(const std::vector<std::size_t>& slots);

private:
  [[nodiscard]] LivenessWatch* find(std::size_t slot); ///< null if it is not watched

  const SlotStore* store_;
  std::vector<std::size_t> slots_;
  std::vector<LivenessWatch> fifos_; ///< of slots_, in their order
};

} // namespace gputest::os
