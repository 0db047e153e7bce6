// SPDX-License-Identifier: BSD-3-Clause
// What StorePart reads from its file and writes to it.

#include "core/os/file.hpp"
#include "core/os/store_part.hpp"

#include <gputest/error.hpp>

#include <sys/stat.h>

#include <array>
#include <cerrno>

namespace gputest::os {

namespace {

/// Over whole words, and 0 for zeros. Against damage, not against forgery: a process that can write a record can
/// compute its checksum.
StorePart::Checksum checksum(const std::byte* bytes, std::size_t size) {
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
  StorePart::Checksum stored = 0;
  std::memcpy(&stored, bytes + size - sizeof stored, sizeof stored);
  return stored == checksum(bytes, size - sizeof stored);
}

} // namespace

LedgerError StorePart::damaged(const std::string& how) const {
  return LedgerError{file_.path() + " is damaged: " + how + repair_of(owner_)};
}

std::size_t StorePart::size() const {
  struct stat status {};
  return ::fstat(file_.unchecked_number(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void StorePart::read(std::size_t offset, void* data, std::size_t size) const {
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

void StorePart::write(int file, const std::string& path, std::size_t offset, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to write less
    const ssize_t written = ::pwrite(file, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (written == 0 || (written < 0 && errno != EINTR)) {
      throw failure("write", path, written < 0 ? errno : ENOSPC);
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

std::size_t StorePart::used_slots() const {
  Used used;
  read(used_offset(), &used, sizeof used);
  if ((used.slots ^ used.complement) != UINT32_MAX || used.slots > layout_.slots) {
    throw damaged("it says that " + std::to_string(used.slots) + " slots are used");
  }
  return used.slots;
}

std::unique_ptr<std::byte[]> StorePart::read_records(std::size_t count) const { // NOLINT(*-avoid-c-arrays)
  const std::size_t size = layout_.record_bytes;
  std::unique_ptr<std::byte[]> bytes{new std::byte[count * size]}; // NOLINT: without being zeroed first
  read(record_offset(0), bytes.get(), count * size);
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (!is_sound(bytes.get() + slot * size, size)) {
      throw damaged("record " + std::to_string(slot) + " has not been written by any gputest");
    }
  }
  return bytes;
}

void StorePart::note_use(std::size_t slot) {
  if (const auto used = static_cast<std::uint32_t>(slot + 1); used > used_slots()) {
    const Used more{used, ~used};
    write(file_.number(), file_.path(), used_offset(), &more, sizeof more);
  }
}

void StorePart::read_checked(std::size_t offset, void* data, std::size_t size) const {
  read(offset, data, size);
  if (!is_sound(static_cast<const std::byte*>(data), size)) {
    throw damaged("what is at byte " + std::to_string(offset) + " has not been written by any gputest");
  }
}

void StorePart::write_checked(std::size_t offset, std::byte* data, std::size_t size) {
  const Checksum sum = checksum(data, size - sizeof sum);
  std::memcpy(data + size - sizeof sum, &sum, sizeof sum);
  write(file_.number(), file_.path(), offset, data, size);
}

} // namespace gputest::os
