// SPDX-License-Identifier: BSD-3-Clause
#include "tool/elf_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <elf.h>

namespace gputest::tool {

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) { // a FIFO would block
    return std::nullopt;
  }
  ElfFile elf;
  elf.size_ = std::filesystem::file_size(path, error);
  elf.file_.open(path, std::ios::binary);
  return !error && elf.read_sections() ? std::optional{std::move(elf)} : std::nullopt;
}

/// Up to `size` bytes from `offset`; fewer where the file ends: a damaged header may ask for more than there is.
std::string ElfFile::read_at(std::uint64_t offset, std::uint64_t size) const {
  std::string bytes(offset < size_ ? std::min(size, size_ - offset) : 0, '\0');
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file_.gcount()));
  return bytes;
}

bool ElfFile::read_sections() {
  constexpr auto own_byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  Elf64_Ehdr header{};
  const auto first = read_at(0, sizeof(header));
  std::memcpy(&header, first.data(), first.size());
  if (std::memcmp(&header.e_ident[0], ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != own_byte_order || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return false;
  }
  const auto table = read_at(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  std::vector<Elf64_Shdr> rows(table.size() / sizeof(Elf64_Shdr));
  if (header.e_shstrndx >= rows.size()) {
    return false;
  }
  std::memcpy(rows.data(), table.data(), rows.size() * sizeof(Elf64_Shdr));
  const auto names = read_at(rows[header.e_shstrndx].sh_offset, rows[header.e_shstrndx].sh_size);
  for (const auto& row : rows) {
    const bool is_data = row.sh_type == SHT_PROGBITS && (row.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == SHF_ALLOC;
    sections_.push_back({row.sh_name < names.size() ? names.c_str() + row.sh_name : "", is_data, row.sh_offset,
                         row.sh_type == SHT_NOBITS ? 0 : row.sh_size});
  }
  return true;
}

std::string ElfFile::contents_of(const std::string& name) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const Section& section) { return section.name == name; });
  return found == sections_.end() ? std::string{} : read_at(found->offset, found->size);
}

bool ElfFile::has_section(const std::string& name) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) { return section.name == name; });
}

std::string ElfFile::interpreter() const {
  const auto text = contents_of(".interp");
  return text.substr(0, text.find('\0'));
}

bool ElfFile::names_contain(const std::string& text) const {
  return contents_of(".dynstr").find(text) != std::string::npos;
}

bool ElfFile::data_contains(const std::string& text) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) {
    return section.is_data && read_at(section.offset, section.size).find(text) != std::string::npos;
  });
}

} // namespace gputest::tool
