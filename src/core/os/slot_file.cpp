// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/slot_file.hpp"

#include "core/os/reason.hpp"

#include <gputest/error.hpp>

#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <utility>

namespace gputest::os {

namespace {

constexpr std::array<char, 8> magic{'g', 'p', 'u', 't', 'e', 's', 't', '\n'};

struct Header {
  std::array<char, 8> magic;
  Layout layout;
};

/// How many slots have ever had an owner. Twice, so that no single damage is taken for a smaller number.
struct Used {
  std::uint32_t slots = 0;
  std::uint32_t complement = UINT32_MAX;
};

std::size_t bytes_of(const Layout& layout, std::size_t header) {
  return header + layout.table_bytes + (std::size_t{1} + layout.slots) * layout.record_bytes;
}

/// Over whole words, and 0 for zeros. Against damage, not against forgery: a process that can write a record can
/// compute its checksum.
SlotFile::Checksum checksum(const std::byte* bytes, std::size_t size) {
  constexpr std::size_t lanes = 4; // a multiplication takes the time of several that do not need each other's result
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  std::array<std::uint64_t, lanes> sums{};
  for (std::size_t word = 0; word < size / sizeof(std::uint64_t); ++word) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes + word * sizeof value, sizeof value);
    auto& sum = sums[word % lanes];
    sum = (sum ^ value) * odd;
    sum ^= sum >> 29U;
  }
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) {
    all = (all ^ sum) * odd;
    all ^= all >> 32U;
  }
  return all;
}

/// Of `size` bytes with the checksum at their end.
bool is_sound(const std::byte* bytes, std::size_t size) {
  SlotFile::Checksum stored = 0;
  std::memcpy(&stored, bytes + size - sizeof stored, sizeof stored);
  return stored == checksum(bytes, size - sizeof stored);
}

/// To write beyond RLIMIT_FSIZE is not only an error: a signal ends the process, without a word.
void require_size_allowed(std::size_t size, const std::string& path) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size) {
    throw LedgerError{path + " needs " + std::to_string(size) + " bytes, and this process may write files of " +
                      std::to_string(limit.rlim_cur) + " bytes only (ulimit -f); raise the limit"};
  }
}

void write_at(int file, const std::string& path, std::size_t offset, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to write less
    const ssize_t written = ::pwrite(file, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (written == 0 || (written < 0 && errno != EINTR)) {
      throw failure("write", path, written < 0 ? errno : ENOSPC);
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

KeptDescriptor open_kept(const FileAt& file) {
  Descriptor opened = file.open(file.is_own() ? O_RDWR : O_RDONLY, S_IFREG);
  if (opened) {
    return {std::move(opened), file.path};
  }
  const bool is_leased = errno == EWOULDBLOCK;
  const auto why = failure(file.is_own() ? "read and write" : "read", file.path, errno);
  throw !is_leased
      ? why
      : LedgerError{std::string{why.what()} + ": a process of its owner's keeps a file lease on it (fcntl F_SETLEASE)" +
                    repair_of(file.owner)};
}

} // namespace

void SlotFile::create(const FileAt& file, const Layout& layout) {
  const auto size = bytes_of(layout, header_bytes);
  require_size_allowed(size, file.path);
  const Descriptor created = file.open(O_RDWR | O_CREAT, S_IFREG);
  if (!created || ::ftruncate(created.number(), 0) != 0) { // a killed process's beginning
    throw failure("create", file.path, errno);
  }
  int error = EINTR;
  while (error == EINTR) {
    error = ::posix_fallocate(created.number(), 0, static_cast<off_t>(size));
  }
  if (error != 0) {
    throw failure("allocate " + std::to_string(size) + " bytes for", file.path, error);
  }
  const Header header{magic, layout};
  const Used none;
  write_at(created.number(), file.path, 0, &header, sizeof header);
  write_at(created.number(), file.path, header_bytes + layout.table_bytes, &none, sizeof none);
}

SlotFile::SlotFile(const FileAt& file, const Layout& layout)
    : layout_{layout}, owner_{file.owner}, file_{open_kept(file)} {
  const std::size_t seen_size = size();
  if (file.is_own()) {
    require_size_allowed(seen_size, file.path);
  }
  Header header{};
  if (seen_size >= sizeof header) {
    read(0, &header, sizeof header);
  }
  const std::size_t right_size = bytes_of(layout, header_bytes);
  const bool right_sizes = header.layout.table_bytes == layout_.table_bytes &&
                           header.layout.record_bytes == layout_.record_bytes && header.layout.slots == layout_.slots;
  if (header.magic == magic && header.layout.version == layout_.version && right_sizes && seen_size == right_size) {
    return;
  }
  const std::string seen =
      seen_size == 0                             ? "empty"
      : header.magic != magic                    ? "something else"
      : header.layout.version != layout_.version ? "layout version " + std::to_string(header.layout.version)
      : seen_size != right_size
          ? "damaged (" + std::to_string(seen_size) + " bytes in place of " + std::to_string(right_size) + ")"
          : "damaged (its sizes are not those of its version)";
  throw LedgerError{file.path + " is " + seen + ", and this gputest reads layout version " +
                    std::to_string(layout_.version) + " only" + repair_of(owner_)};
}

LedgerError SlotFile::damaged(const std::string& how) const {
  return LedgerError{file_.path() + " is damaged: " + how + repair_of(owner_)};
}

std::size_t SlotFile::size() const {
  struct stat status {};
  return ::fstat(file_.unchecked_number(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void SlotFile::read(std::size_t offset, void* data, std::size_t size) const {
  auto* const bytes = static_cast<std::byte*>(data);
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to read less
    const ssize_t count =
        ::pread(file_.unchecked_number(), bytes + done, size - done, static_cast<off_t>(offset + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      require_kept(); // a file of the test's own may be shorter
      throw damaged("it ends after " + std::to_string(this->size()) + " bytes, and has to have " +
                    std::to_string(offset + size) + " at least");
    } else if (const int error = errno; error != EINTR) {
      require_kept();
      throw failure("read", file_.path(), error);
    }
  }
}

void SlotFile::write(std::size_t offset, const void* data, std::size_t size) {
  write_at(file_.number(), file_.path(), offset, data, size);
}

std::size_t SlotFile::used_slots() const {
  Used used;
  read(used_offset(), &used, sizeof used);
  if ((used.slots ^ used.complement) != UINT32_MAX || used.slots > layout_.slots) {
    throw damaged("it says that " + std::to_string(used.slots) + " slots are used");
  }
  return used.slots;
}

SlotFile::Records SlotFile::read_records() const {
  const std::size_t size = layout_.record_bytes;
  Records records;
  records.record_bytes_ = size;
  records.count_ = used_slots();
  records.bytes_.reset(new std::byte[records.count_ * size]); // NOLINT(*-owning-memory): reset() takes it
  read(record_offset(0), records.bytes_.get(), records.count_ * size);
  for (std::size_t slot = 0; slot < records.count_; ++slot) {
    if (!is_sound(records.bytes_.get() + slot * size, size)) {
      throw damaged("record " + std::to_string(slot) + " has not been written by any gputest");
    }
  }
  return records;
}

void SlotFile::note_use(std::size_t slot) {
  if (const auto used = static_cast<std::uint32_t>(slot + 1); used > used_slots()) {
    const Used more{used, ~used};
    write(used_offset(), &more, sizeof more);
  }
}

void SlotFile::read_checked(std::size_t offset, void* data, std::size_t size) const {
  read(offset, data, size);
  if (!is_sound(static_cast<const std::byte*>(data), size)) {
    throw damaged("what is at byte " + std::to_string(offset) + " has not been written by any gputest");
  }
}

void SlotFile::write_checked(std::size_t offset, std::byte* data, std::size_t size) {
  const Checksum sum = checksum(data, size - sizeof sum);
  std::memcpy(data + size - sizeof sum, &sum, sizeof sum);
  write(offset, data, size);
}

} // namespace gputest::os
