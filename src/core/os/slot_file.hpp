// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file_at.hpp"
#include "core/os/kept_descriptor.hpp"

#include <gputest/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include <sys/types.h>

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
      std::this_thread::sleep_for(std::chrono::milliseconds{1}); // whoever writes may not have a processor
    }
  }
}

/// The file of one user's part of a slot store: a header, a table of rows, and records of fixed size, one a slot.
///
/// Every record and every row ends with a checksum, which is written and checked here: what no gputest has written is
/// an error and nothing else. Nothing of the file is mapped: another process may truncate it, and a wild pointer of a
/// test cannot change it. A process killed while it writes leaves either the old record or the new one, since none
/// crosses a page. All but create() under the store's mutex, or in read_without_mutex().
class SlotFile {
public:
  /// Of a record or row, at its end.
  using Checksum = std::uint64_t;

  /// Makes a file in which no slot has ever had an owner, with its blocks allocated, so that no write can fail because
  /// the disk is full. Throws LedgerError.
  static void create(const FileAt& file, const Layout& layout);

  /// Opens one, for writing too if it is this user's. Throws LedgerError for one that is damaged or has another layout.
  SlotFile(const FileAt& file, const Layout& layout);

  /// What is in the slots that have ever had an owner.
  class Records {
  public:
    [[nodiscard]] std::size_t count() const { return count_; }

    template <class StoredRecord>
    [[nodiscard]] StoredRecord read(std::size_t slot) const {
      return from<StoredRecord>(&bytes_[slot * record_bytes_]);
    }

  private:
    friend class SlotFile;
    std::size_t count_ = 0;
    std::size_t record_bytes_ = 0;
    std::unique_ptr<std::byte[]> bytes_; // NOLINT(cppcoreguidelines-avoid-c-arrays): without being zeroed first
  };

  /// Reads them all. Throws LedgerError for damage. Without the mutex each record is one that was written, or damage
  /// that the next try does not see: read_without_mutex().
  [[nodiscard]] Records read_records() const;

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

  /// Throws LedgerError if something else in this process has closed the file.
  void require_kept() const { static_cast<void>(file_.number()); }

  [[nodiscard]] bool is_removed() const { return file_.is_removed(); }
  [[nodiscard]] const FileIdentity& identity() const { return file_.identity(); }

private:
  static constexpr std::size_t header_bytes = 4096; // magic and layout, which never change

  [[nodiscard]] std::size_t used_offset() const { return header_bytes + layout_.table_bytes; }
  [[nodiscard]] std::size_t record_offset(std::size_t slot) const {
    return used_offset() + (1 + slot) * layout_.record_bytes;
  }
  [[nodiscard]] std::size_t used_slots() const;
  [[nodiscard]] std::size_t size() const;
  void read(std::size_t offset, void* data, std::size_t size) const;
  void write(std::size_t offset, const void* data, std::size_t size);
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

  Layout layout_;
  uid_t owner_;
  KeptDescriptor file_;
};

} // namespace gputest::os
