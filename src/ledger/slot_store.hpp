#pragma once

#include "system/bell.hpp"
#include "system/file_lock.hpp"
#include "system/shared_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace gputest::ledger {

/// Sizes of a slot store; a store on disk with other ones is of another version.
struct Layout {
  std::uint32_t version = 0;
  std::uint32_t table_bytes = 0;  ///< of a table before the records, a multiple of the page size
  std::uint32_t record_bytes = 0; ///< a power of two up to a page, so that no record crosses a page
  std::uint32_t slots = 0;
};

/// A folder of fixed-size records, one a slot, each with a bell that its owner keeps locked while it lives.
///
/// Made complete in a private folder and then renamed into place, so that it is never seen half built. Readable and
/// writable by every user of the machine; nothing in it is created or removed afterwards.
class SlotStore {
public:
  /// Opens the store `name` in `folder`, and makes both if they do not exist. Throws LedgerError, also for a folder on
  /// a network file system.
  SlotStore(const std::string& folder, const std::string& name, const Layout& layout);

  /// Throws LedgerError if the store's folder was removed since it was opened, so that others use another
  /// one.
  void require_in_place() const;

  /// Throws LedgerError if something else in this process has closed one of the store's files.
  void require_intact() const;

  /// Guards one read-modify-write of the records: microseconds, never a test's duration.
  [[nodiscard]] system::FileLock& mutex() { return mutex_; }

  [[nodiscard]] std::size_t slots() const { return layout_.slots; }

  /// Slots from here on have never had an owner, so that a look at everybody need not go through all. Under the mutex.
  [[nodiscard]] std::size_t used_slots() const {
    return std::min(slots(), std::size_t{copy<std::uint32_t>(used_slots_offset)}); // whatever the file says
  }

  /// A slot, and its bell, which makes it its owner's.
  struct Taken {
    std::size_t slot = 0;
    system::Bell bell;
  };

  /// Takes the first slot that `is_free` accepts and whose bell nobody has. Throws LedgerError if there is none. Under
  /// the mutex.
  [[nodiscard]] Taken take(const std::function<bool(std::size_t)>& is_free);

  /// Copies a record. Under the mutex.
  template <class Record>
  [[nodiscard]] Record read(std::size_t slot) const {
    return copy<Record>(record_offset(slot));
  }

  /// Replaces a record. Under the mutex.
  template <class Record>
  void write(std::size_t slot, const Record& record) {
    file_.write(record_offset(slot), &record, sizeof(Record));
  }

  /// Copies a row of the table. Under the mutex.
  template <class Row>
  [[nodiscard]] Row read_row(std::size_t index) const {
    return copy<Row>(table_offset + index * sizeof(Row));
  }

  /// Replaces a row of the table. Under the mutex.
  template <class Row>
  void write_row(std::size_t index, const Row& row) {
    file_.write(table_offset + index * sizeof(Row), &row, sizeof(Row));
  }

  /// Path of a slot's bell.
  [[nodiscard]] std::string bell(std::size_t slot) const;

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  static constexpr std::size_t used_slots_offset = 2048; // in the header's page, the one thing there that changes
  static constexpr std::size_t table_offset = 4096;      // after the header's page

  [[nodiscard]] std::size_t record_offset(std::size_t slot) const {
    return table_offset + layout_.table_bytes + slot * layout_.record_bytes;
  }

  template <class T>
  [[nodiscard]] T copy(std::size_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }

  Layout layout_;
  std::string path_;
  system::FileLock mutex_;
  system::SharedFile file_;
};

} // namespace gputest::ledger
