// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/slot_file.hpp"

#include <gputest/error.hpp>

#include <array>

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

} // namespace

void SlotFile::create(const FileAt& file, const Layout& layout) {
  SharedFile::create(file, bytes_of(layout, header_bytes));
  SharedFile made{file};
  const Header header{magic, layout};
  const Used none;
  made.write(0, &header, sizeof header);
  made.write(header_bytes + layout.table_bytes, &none, sizeof none);
}

SlotFile::SlotFile(const FileAt& file, const Layout& layout) : layout_{layout}, owner_{file.owner}, file_{file} {
  Header header{};
  if (file_.size() >= sizeof header) {
    file_.read(0, &header, sizeof header);
  }
  const std::size_t right_size = bytes_of(layout, header_bytes);
  const bool right_sizes = header.layout.table_bytes == layout_.table_bytes &&
                           header.layout.record_bytes == layout_.record_bytes && header.layout.slots == layout_.slots;
  if (header.magic == magic && header.layout.version == layout_.version && right_sizes && file_.size() == right_size) {
    return;
  }
  const std::string seen =
      file_.size() == 0                          ? "empty"
      : header.magic != magic                    ? "something else"
      : header.layout.version != layout_.version ? "layout version " + std::to_string(header.layout.version)
      : file_.size() != right_size
          ? "damaged (" + std::to_string(file_.size()) + " bytes in place of " + std::to_string(right_size) + ")"
          : "damaged (its sizes are not those of its version)";
  throw LedgerError{file.path + " is " + seen + ", and this gputest reads layout version " +
                    std::to_string(layout_.version) + " only" + repair_of(owner_)};
}

LedgerError SlotFile::damaged(const std::string& how) const {
  return LedgerError{file_.path() + " is damaged: " + how + repair_of(owner_)};
}

std::size_t SlotFile::used_slots(const std::byte* block) const {
  const auto used = from<Used>(block);
  if ((used.slots ^ used.complement) != UINT32_MAX || used.slots > layout_.slots) {
    throw damaged("it says that " + std::to_string(used.slots) + " slots are used");
  }
  return used.slots;
}

SlotFile::Records SlotFile::read_records() const {
  const std::size_t size = layout_.record_bytes;
  std::array<std::byte, sizeof(Used)> used{};
  file_.read(used_offset(), used.data(), used.size());
  Records records;
  records.record_bytes_ = size;
  records.count_ = used_slots(used.data());
  records.bytes_.reset(new std::byte[records.count_ * size]); // NOLINT(*-owning-memory): reset() takes it
  file_.read(record_offset(0), records.bytes_.get(), records.count_ * size);
  for (std::size_t slot = 0; slot < records.count_; ++slot) {
    if (!is_sound(records.bytes_.get() + slot * size, size)) {
      throw damaged("record " + std::to_string(slot) + " has not been written by any gputest");
    }
  }
  return records;
}

void SlotFile::note_use(std::size_t slot) {
  std::array<std::byte, sizeof(Used)> block{};
  file_.read(used_offset(), block.data(), block.size());
  if (const auto used = static_cast<std::uint32_t>(slot + 1); used > used_slots(block.data())) {
    const Used more{used, ~used};
    file_.write(used_offset(), &more, sizeof more);
  }
}

void SlotFile::read_checked(std::size_t offset, void* data, std::size_t size) const {
  file_.read(offset, data, size);
  if (!is_sound(static_cast<const std::byte*>(data), size)) {
    throw damaged("what is at byte " + std::to_string(offset) + " has not been written by any gputest");
  }
}

void SlotFile::write_checked(std::size_t offset, std::byte* data, std::size_t size) {
  const Checksum sum = checksum(data, size - sizeof sum);
  std::memcpy(data + size - sizeof sum, &sum, sizeof sum);
  file_.write(offset, data, size);
}

} // namespace gputest::os
