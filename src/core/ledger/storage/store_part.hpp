// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/storage/file_at.hpp"
#include "core/ledger/storage/ledger_folder.hpp"
#include "core/os/kernel_clock.hpp"

#include <gputest/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace gputest::os {

/// Sizes of a slot store; a store on disk with other ones is of another version.
struct Layout {
  std::uint32_t version = 0;
  std::uint32_t table_bytes = 0;  ///< of a table before the records, a multiple of the page size
  std::uint32_t record_bytes = 0; ///< a power of two up to a page, so that no record crosses a page
  std::uint32_t slots = 0;        ///< of each user
};

/// What `read` returns, which reads from a store whose mutex this process does not have: who only looks needs none.
///
/// A record or row is written at once, so that one read while it is written looks damaged, and is read again. Records
/// may be of different moments. Throws what `read` throws of damage that stays.
template <class Read>
auto read_without_mutex(Read read) {
  for (int tries_left = 10;; --tries_left) {
    try {
      return read();
    } catch (const LedgerError&) {
      if (tries_left == 1) {
        throw;
      }
      KernelClock::sleep_for(std::chrono::milliseconds{1}); // whoever writes may not have a processor
    }
  }
}

/// What belongs to one user in a slot store: a folder, to which nobody else can write, with the FIFOs of the slots and
/// a file: a header, a table of rows, and records of fixed size, one a slot.
///
/// Every record and every row ends with a checksum, which is written and checked here: what no gputest has written is
/// an error and nothing else. Nothing of the file is mapped: another process may truncate it, and a wild pointer of a
/// test cannot change it. A process killed while it writes leaves either the old record or the new one, since none
/// crosses a page. Reads and writes are under the store's mutex, or reads in read_without_mutex(). All throw
/// LedgerError.
class StorePart {
public:
  /// Of a record or row, at its end.
  using Checksum = std::uint64_t;

  /// Where the part of `owner` in the store `name` is. A private folder has one part; in a shared one the owner's uid
  /// is in its name.
  [[nodiscard]] static FileAt place(const LedgerFolder& folder, const std::string& name, uid_t owner);

  /// Opens the folder of this user's part, and makes it if there is none.
  [[nodiscard]] static Descriptor open_or_make_folder(const FileAt& place);

  /// Opens a part whose files are there, for writing too if it is this user's; nothing if they are not. Throws for
  /// anything else in their place, for damage and for another layout.
  [[nodiscard]] static std::optional<StorePart> open(const FileAt& place, const Layout& layout);

  /// Makes this user's part, in which no slot has ever had an owner, and opens it. It is complete before anybody sees
  /// it, with its blocks allocated, so that no write can fail because the disk is full.
  [[nodiscard]] static StorePart make(const FileAt& place, const Layout& layout);

  [[nodiscard]] uid_t owner() const { return owner_; }
  [[nodiscard]] const FileIdentity& folder_identity() const { return folder_.identity(); }
  [[nodiscard]] const FileIdentity& file_identity() const { return file_.identity(); }
  [[nodiscard]] bool is_removed() const { return file_.is_removed(); }

  /// Throws if something else in this process has closed the file.
  void require_kept() const { static_cast<void>(file_.number()); }

  /// Calls `visit(slot, record)` for each slot that has ever had an owner. Without the mutex each record is one that
  /// was written, or damage that the next try does not see.
  template <class StoredRecord, class Visit>
  void for_each(Visit visit) const {
    const auto bytes = read_records();
    const std::size_t count = used_in(bytes.get());
    for (std::size_t slot = 0; slot < count; ++slot) {
      visit(slot, from<StoredRecord>(&bytes[(1 + slot) * layout_.record_bytes]));
    }
  }

  template <class StoredRecord>
  [[nodiscard]] StoredRecord read_record(std::size_t slot) const {
    return copy<StoredRecord>(record_offset(slot));
  }
  template <class StoredRecord>
  void write_record(std::size_t slot, const StoredRecord& record) {
    put(record_offset(slot), record);
  }

  template <class Row>
  [[nodiscard]] Row read_row(std::size_t row) const {
    return copy<Row>(header_bytes + row * (sizeof(Row) + sizeof(Checksum)));
  }
  template <class Row>
  void write_row(std::size_t row, const Row& contents) {
    put(header_bytes + row * (sizeof(Row) + sizeof(Checksum)), contents);
  }

  /// Notes that a slot has had an owner.
  void note_use(std::size_t slot);

  /// The FIFO that wakes a slot's owner: all members may write to it.
  [[nodiscard]] FileAt wake_fifo(std::size_t slot) const;

  /// The FIFO that shows whether a slot's owner lives: only this user may write to it.
  [[nodiscard]] FileAt liveness_fifo(std::size_t slot) const;

private:
  static constexpr std::size_t header_bytes = 4096; // magic and layout, which never change

  /// How many slots have ever had an owner. Twice, so that no single damage is taken for a smaller number.
  struct Used {
    std::uint32_t slots = 0;
    std::uint32_t complement = UINT32_MAX;
  };

  StorePart(const FileAt& place, const Layout& layout, Descriptor folder, KeptDescriptor file);
  static void create_file(const FileAt& file, const Layout& layout);
  void require_layout() const;

  [[nodiscard]] std::size_t used_offset() const { return header_bytes + layout_.table_bytes; }
  [[nodiscard]] std::size_t record_offset(std::size_t slot) const {
    return used_offset() + (1 + slot) * layout_.record_bytes;
  }
  [[nodiscard]] std::size_t used_slots() const;
  [[nodiscard]] std::size_t used_in(const std::byte* bytes) const;
  [[nodiscard]] std::unique_ptr<std::byte[]> read_records() const; // NOLINT(*-avoid-c-arrays)
  [[nodiscard]] std::size_t size() const;
  void read(std::size_t offset, void* data, std::size_t size) const;
  static void write(int file, const std::string& path, std::size_t offset, const void* data, std::size_t size);
  void read_checked(std::size_t offset, void* data, std::size_t size) const;
  void write_checked(std::size_t offset, std::byte* data, std::size_t size);
  [[nodiscard]] LedgerError damaged(const std::string& how) const;

  template <class T>
  [[nodiscard]] static T from(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }

  template <class T>
  [[nodiscard]] T copy(std::size_t offset) const {
    std::byte bytes[sizeof(T) + sizeof(Checksum)]; // NOLINT(*-avoid-c-arrays, *-member-init): read at once
    read_checked(offset, bytes, sizeof bytes);
    return from<T>(bytes);
  }

  template <class T>
  void put(std::size_t offset, const T& value) {
    static_assert(sizeof(T) % sizeof(Checksum) == 0, "the checksum is of whole words");
    std::byte bytes[sizeof(T) + sizeof(Checksum)]; // NOLINT(*-avoid-c-arrays, *-member-init): written at once
    std::memcpy(bytes, &value, sizeof(T));
    write_checked(offset, bytes, sizeof bytes);
  }

  uid_t owner_;
  bool shared_;
  Layout layout_;
  KeptDescriptor folder_;
  KeptDescriptor file_;
};

} // namespace gputest::os
