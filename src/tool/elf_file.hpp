// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

/// An executable or a shared library in the form ELF, read by its section headers.
///
/// Nothing of it is run or mapped. The file may change while it is read: what cannot be read counts as not there. Not
/// thread-safe.
class ElfFile {
public:
  /// nullopt if the file cannot be read, has no section headers, or is not a 64-bit ELF file of this byte order.
  [[nodiscard]] static std::optional<ElfFile> open(const std::string& path);

  /// Whether a section has exactly this name.
  [[nodiscard]] bool has_section(const std::string& name) const;

  /// The path of the dynamic linker that the kernel starts for it; empty for a static program and for a library.
  [[nodiscard]] std::string interpreter() const;

  /// Whether the names of what it takes from other files, or gives to them, contain this text.
  [[nodiscard]] bool names_contain(const std::string& text) const;

  /// Whether its data, constant or not, contains this text. Reads all of the data.
  [[nodiscard]] bool data_contains(const std::string& text) const;

private:
  struct Section {
    std::string name;
    bool is_data = false;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  ElfFile() = default;
  [[nodiscard]] std::string read_at(std::uint64_t offset, std::uint64_t size) const;
  [[nodiscard]] bool read_sections();
  [[nodiscard]] std::string contents_of(const std::string& name) const;

  mutable std::ifstream file_;
  std::uint64_t size_ = 0;
  std::vector<Section> sections_;
};

} // namespace gputest::tool
