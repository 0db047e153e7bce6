// SPDX-License-Identifier: BSD-3-Clause
#include "tool/elf_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <elf.h>

namespace gputest::tool {

namespace {

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr unsigned char own_byte_order = ELFDATA2LSB;
#else
constexpr unsigned char own_byte_order = ELFDATA2MSB;
#endif

/// The table of `Row` in these bytes.
template <class Row>
std::vector<Row> rows_of(const std::string& bytes) {
  std::vector<Row> rows(bytes.size() / sizeof(Row));
  if (!rows.empty()) {
    std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(Row));
  }
  return rows;
}

/// The text that begins at `at`; empty if it begins outside.
std::string text_at(const std::string& texts, std::uint64_t at) {
  return at < texts.size() ? texts.substr(at, texts.find('\0', at) - at) : std::string{};
}

} // namespace

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

std::string ElfFile::read_at(std::uint64_t offset, std::uint64_t size) const {
  if (offset >= size_) {
    return {};
  }
  std::string bytes(std::min(size, size_ - offset), '\0'); // a damaged header may ask for more than there is
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file_.gcount()));
  return bytes;
}

bool ElfFile::read_sections() {
  const auto headers = rows_of<Elf64_Ehdr>(read_at(0, sizeof(Elf64_Ehdr)));
  if (headers.empty() || std::memcmp(&headers[0].e_ident[0], ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64 || headers[0].e_ident[EI_DATA] != own_byte_order ||
      headers[0].e_shentsize != sizeof(Elf64_Shdr)) {
    return false;
  }
  const auto& header = headers[0];
  const auto rows = rows_of<Elf64_Shdr>(read_at(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
  if (header.e_shstrndx >= rows.size()) {
    return false;
  }
  const auto& names_row = rows[header.e_shstrndx];
  const auto names = read_at(names_row.sh_offset, names_row.sh_size);
  for (const auto& row : rows) {
    sections_.push_back(
        {text_at(names, row.sh_name), row.sh_type, row.sh_flags, row.sh_offset, row.sh_size, row.sh_link});
  }
  return true;
}

const ElfFile::Section* ElfFile::find(std::uint32_t type) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const Section& section) { return section.type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

std::string ElfFile::contents_of(const Section& section) const {
  return section.type == SHT_NOBITS ? std::string{} : read_at(section.offset, section.size);
}

std::string ElfFile::texts_of(const Section& section) const {
  return section.linked < sections_.size() ? contents_of(sections_[section.linked]) : std::string{};
}

std::string ElfFile::interpreter() const {
  for (const auto& section : sections_) {
    if (section.name == ".interp") {
      return text_at(contents_of(section), 0);
    }
  }
  return {};
}

std::vector<std::string> ElfFile::needed() const {
  const auto* const dynamic = find(SHT_DYNAMIC);
  if (dynamic == nullptr) {
    return {};
  }
  std::vector<std::string> names;
  const auto texts = texts_of(*dynamic);
  for (const auto& row : rows_of<Elf64_Dyn>(contents_of(*dynamic))) {
    if (row.d_tag == DT_NEEDED) {
      names.push_back(text_at(texts, row.d_un.d_val));
    }
  }
  return names;
}

bool ElfFile::has_section(const std::string& name) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) { return section.name == name; });
}

bool ElfFile::imports(const std::vector<std::string>& functions) const {
  const auto* const symbols = find(SHT_DYNSYM);
  if (symbols == nullptr) {
    return false;
  }
  const auto texts = texts_of(*symbols);
  if (std::none_of(functions.begin(), functions.end(),
                   [&](const std::string& function) { return texts.find(function) != std::string::npos; })) {
    return false; // so most files' symbols are not read
  }
  const auto rows = rows_of<Elf64_Sym>(contents_of(*symbols));
  return std::any_of(rows.begin(), rows.end(), [&](const Elf64_Sym& symbol) {
    return symbol.st_shndx == SHN_UNDEF &&
           std::find(functions.begin(), functions.end(), text_at(texts, symbol.st_name)) != functions.end();
  });
}

bool ElfFile::data_contains(const std::vector<std::string>& texts) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) {
    if (section.type != SHT_PROGBITS || (section.flags & SHF_ALLOC) == 0 || (section.flags & SHF_EXECINSTR) != 0) {
      return false;
    }
    const auto bytes = contents_of(section);
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
      return ::memmem(bytes.data(), bytes.size(), text.data(), text.size()) != nullptr;
    });
  });
}

} // namespace gputest::tool
