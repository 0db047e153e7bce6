#pragma once

#include "platform/file_lock.hpp"
#include "platform/ledger_folder.hpp"
#include "platform/shared_file.hpp"
#include "platform/wake_fifo.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gputest::platform {

/// Sizes of a slot store; a store on disk with other ones is of another version.
struct Layout {
  std::uint32_t version = 0;
  std::uint32_t table_bytes = 0;  ///< of a table before the records, a multiple of the page size
  std::uint32_t record_bytes = 0; ///< a power of two up to a page, so that no record crosses a page
  std::uint32_t slots = 0;        ///< of each user
};

/// Records of fixed size, one a slot, each with a wake-up FIFO that its owner keeps locked while it lives.
///
/// Each user writes a part of the store, which belongs to that user and to which nobody else can write. In a private
/// folder there is one part; in a shared one all read the parts of all, and the slots of the others come after this
/// user's, in an order that is this process's own. A part is made complete before anybody sees it.
///
/// Every record and every row of the table ends with a checksum, which the store writes and checks: what no gputest has
/// written is an error and nothing else. A damaged part of another user's is an error too, since what it said of memory
/// in use is not known any more.
class SlotStore {
public:
  /// Of a record or row, at its end.
  using Checksum = std::uint64_t;

  /// Opens the store `name` in `folder`, and makes both if they do not exist. Throws LedgerError, also for a folder on
  /// a network file system.
  SlotStore(const std::string& folder, const std::string& name, const Layout& layout);

  /// Throws LedgerError if the store's files were removed since it was opened, so that others use other ones.
  void require_in_place() const;

  /// Throws LedgerError if something else in this process has closed one of the store's files.
  void require_intact() const;

  /// Guards one read-modify-write of the records: microseconds, never a test's duration.
  [[nodiscard]] FileLock& mutex() { return *mutex_; }

  /// This user's slots: 0 to slots() - 1.
  [[nodiscard]] std::size_t slots() const { return layout_.slots; }
  [[nodiscard]] bool is_own(std::size_t slot) const { return slot < layout_.slots; }

  /// Whose a slot is.
  [[nodiscard]] uid_t owner_of(std::size_t slot) const { return part_of(slot).owner; }

  /// A slot, and its wake-up FIFO, which makes it its owner's.
  struct Taken {
    std::size_t slot = 0;
    WakeFifo fifo;
  };

  /// Takes this user's first slot that `is_free` accepts and whose wake-up FIFO nobody has. Throws LedgerError if there
  /// is none. Under the mutex.
  [[nodiscard]] Taken take(const std::function<bool(std::size_t)>& is_free);

  /// Calls `visit(slot, record)` for every slot that has ever had an owner, of any user. Throws LedgerError for damage.
  /// Under the mutex.
  template <class StoredRecord, class Visit>
  void for_each(Visit visit) {
    refresh();
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const Records records = parts_[part]->is_there ? read_records(*parts_[part]) : Records{};
      for (std::size_t slot = 0; slot < records.count; ++slot) {
        visit(part * layout_.slots + slot, from<StoredRecord>(&records.bytes[slot * layout_.record_bytes]));
      }
    }
  }

  /// Copies a record of any user. Under the mutex.
  template <class StoredRecord>
  [[nodiscard]] StoredRecord read(std::size_t slot) const {
    return copy<StoredRecord>(part_of(slot), record_offset(slot % layout_.slots));
  }

  /// Replaces a record of this user's. Under the mutex.
  template <class StoredRecord>
  void write(std::size_t slot, const StoredRecord& record) {
    put(record_offset(slot), record);
  }

  /// The parts of the users, this one's first. One may not be made yet, or be gone.
  [[nodiscard]] bool has_part(std::size_t part) const { return part < parts_.size() && parts_[part]->is_there; }
  [[nodiscard]] std::size_t part_index(std::size_t slot) const { return slot / layout_.slots; }

  /// Copies a row of a part's table. Under the mutex.
  template <class Row>
  [[nodiscard]] Row read_row(std::size_t index, std::size_t part = 0) const {
    return copy<Row>(*parts_.at(part), header_bytes + index * (sizeof(Row) + sizeof(Checksum)));
  }

  /// Replaces a row of this user's table. Under the mutex.
  template <class Row>
  void write_row(std::size_t index, const Row& row) {
    put(header_bytes + index * (sizeof(Row) + sizeof(Checksum)), row);
  }

  /// A slot's wake-up FIFO.
  [[nodiscard]] FileAt fifo(std::size_t slot) const;

  /// Of this user's part.
  [[nodiscard]] const std::string& path() const { return parts_.front()->path; }

private:
  static constexpr std::size_t header_bytes = 4096; // magic and layout, which never change

  /// What belongs to one user.
  struct Part {
    uid_t owner = 0;
    std::string path;
    KeptDescriptor folder;
    SharedFile file;
    bool is_there = false;
    mutable std::size_t used = 0; ///< slots, as last seen: how much to read at once
  };

  struct Records {
    std::size_t count = 0;
    std::unique_ptr<std::byte[]> bytes; // NOLINT(cppcoreguidelines-avoid-c-arrays): without being zeroed first
  };

  [[nodiscard]] std::size_t used_offset() const { return header_bytes + layout_.table_bytes; }
  [[nodiscard]] std::size_t record_offset(std::size_t slot) const {
    return used_offset() + (1 + slot) * layout_.record_bytes;
  }
  [[nodiscard]] std::size_t file_bytes() const { return record_offset(layout_.slots); }

  [[nodiscard]] FileAt folder_of(uid_t owner) const;
  [[nodiscard]] Part& part_of(std::size_t slot) const { return *parts_.at(slot / layout_.slots); }
  void make_own();
  [[nodiscard]] bool open(Part& part) const;
  void refresh();
  [[nodiscard]] bool look_for_parts();
  [[nodiscard]] Records read_records(const Part& part) const;
  [[nodiscard]] std::size_t used_slots(const Part& part, const std::byte* block) const;
  void read_checked(const Part& part, std::size_t offset, void* data, std::size_t size) const;
  void write_checked(std::size_t offset, std::byte* data, std::size_t size);

  template <class T>
  [[nodiscard]] static T from(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }

  template <class T>
  [[nodiscard]] T copy(const Part& part, std::size_t offset) const {
    std::byte bytes[sizeof(T) + sizeof(Checksum)]; // NOLINT(*-avoid-c-arrays, *-member-init): read at once
    read_checked(part, offset, bytes, sizeof bytes);
    return from<T>(bytes);
  }

  template <class T>
  void put(std::size_t offset, const T& value) {
    static_assert(sizeof(T) % sizeof(Checksum) == 0, "the checksum is of whole words");
    std::byte bytes[sizeof(T) + sizeof(Checksum)]; // NOLINT(*-avoid-c-arrays, *-member-init): written at once
    std::memcpy(bytes, &value, sizeof(T));
    write_checked(offset, bytes, sizeof bytes);
  }

  Layout layout_;
  std::string name_;
  LedgerFolder folder_;
  std::unique_ptr<FileLock> mutex_;
  std::vector<std::unique_ptr<Part>> parts_; ///< this user's first; never removed, since slot numbers must not change
  std::timespec looked_at_{};                ///< the shared folder's time of change when its parts were looked for
};

} // namespace gputest::platform
