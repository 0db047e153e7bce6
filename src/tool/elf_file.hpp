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

  /// The path of the dynamic linker that the kernel starts for it; empty for a static program and for a library.
  [[nodiscard]] std::string interpreter() const;

  /// The names of the libraries that it needs at its start, as DT_NEEDED has them.
  [[nodiscard]] std::vector<std::string> needed() const;

  /// Whether a section has exactly this name.
  [[nodiscard]] bool has_section(const std::string& name) const;

  /// Whether it takes one of these functions from another file.
  [[nodiscard]] bool imports(const std::vector<std::string>& functions) const;

  /// Whether its data, constant or not, contains one of these texts. Reads all of the data.
  [[nodiscard]] bool data_contains(const std::vector<std::string>& texts) const;

private:
  struct Section {
    std::string name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t linked = 0; ///< index of the section with its texts
  };

  ElfFile() = default;
  /// Up to `size` bytes from `offset`; fewer where the file ends.
  [[nodiscard]] std::string read_at(std::uint64_t offset, std::uint64_t size) const;
  [[nodiscard]] bool read_sections();
  [[nodiscard]] const Section* find(std::uint32_t type) const;
  [[nodiscard]] std::string contents_of(const Section& section) const;
  [[nodiscard]] std::string texts_of(const Section& section) const;

  mutable std::ifstream file_;
  std::uint64_t size_ = 0;
  std::vector<Section> sections_;
};

} // namespace gputest::tool
