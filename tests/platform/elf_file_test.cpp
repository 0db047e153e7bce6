// SPDX-License-Identifier: BSD-3-Clause
#include "platform/elf_file.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <elf.h>

namespace gputest::platform {
namespace {

TEST(ElfFile, imports_what_it_calls_and_not_what_it_has) {
  const auto own = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(own);
  EXPECT_TRUE(own->imports({"getenv"}));
  EXPECT_FALSE(own->imports({"no_such_function"}));
  Dl_info library{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&::getenv), &library), 0); // NOLINT
  const auto libc = ElfFile::open(library.dli_fname);
  ASSERT_TRUE(libc);
  EXPECT_FALSE(libc->imports({"getenv"})) << library.dli_fname;
}

struct Section {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t flags = 0;
  std::string contents{};
  std::uint32_t linked = 0; ///< the first one has the number 1
};

template <class Row>
std::string bytes_of(const Row& row) {
  return {reinterpret_cast<const char*>(&row), sizeof row}; // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

Elf64_Ehdr sound_header() {
  Elf64_Ehdr header{};
  const std::string begin = std::string{ELFMAG} + static_cast<char>(ELFCLASS64) +
                            static_cast<char>(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
  begin.copy(reinterpret_cast<char*>(&header.e_ident[0]), EI_NIDENT); // NOLINT
  header.e_shentsize = sizeof(Elf64_Shdr);
  return header;
}

class ElfFileOfSections : public ::testing::Test {
protected:
  /// A file with an empty section, these, and one with their names; `change` may damage the header and the table.
  template <class Change>
  [[nodiscard]] std::optional<ElfFile> made_of(std::vector<Section> sections, Change change) const {
    sections.insert(sections.begin(), Section{"", SHT_NULL, 0, "", 0});
    sections.push_back({".shstrtab", SHT_STRTAB, 0, "", 0});
    std::string& names = sections.back().contents;
    std::vector<Elf64_Shdr> rows(sections.size());
    for (std::size_t i = 0; i < sections.size(); ++i) {
      rows[i].sh_name = static_cast<Elf64_Word>(names.size());
      names += sections[i].name + '\0';
    }
    auto header = sound_header();
    std::string contents;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      rows[i].sh_type = sections[i].type;
      rows[i].sh_flags = sections[i].flags;
      rows[i].sh_offset = sizeof header + contents.size();
      rows[i].sh_size = sections[i].contents.size();
      rows[i].sh_link = sections[i].linked;
      contents += sections[i].contents;
    }
    header.e_shoff = sizeof header + contents.size();
    header.e_shnum = static_cast<Elf64_Half>(rows.size());
    header.e_shstrndx = static_cast<Elf64_Half>(rows.size() - 1);
    change(header, rows);
    std::string file = bytes_of(header) + contents;
    for (const auto& row : rows) {
      file += bytes_of(row);
    }
    folder_.write("file", file, 0644);
    return ElfFile::open(folder_.path() + "/file");
  }

  [[nodiscard]] ElfFile made_of(std::vector<Section> sections) const {
    return made_of(std::move(sections), [](auto&, auto&) {}).value();
  }

  tests::PrivateFolder folder_;
};

std::string symbol(std::uint32_t name, std::uint16_t section) {
  Elf64_Sym row{};
  row.st_name = name;
  row.st_shndx = section;
  return bytes_of(row);
}

std::string entry(std::int64_t tag, std::uint64_t value) {
  Elf64_Dyn row{};
  row.d_tag = tag;
  row.d_un.d_val = value;
  return bytes_of(row);
}

using namespace std::string_literals;

TEST_F(ElfFileOfSections, of_another_kind_of_machine_or_without_sections_is_none) {
  const auto is_read_after = [&](auto change) {
    return made_of({{".text"}}, [&](Elf64_Ehdr& header, auto&) { change(header); }).has_value();
  };
  EXPECT_TRUE(is_read_after([](auto&) {}));
  EXPECT_FALSE(is_read_after([](auto& header) { header.e_ident[EI_MAG3] = 'G'; }));
  EXPECT_FALSE(is_read_after([](auto& header) { header.e_ident[EI_CLASS] = ELFCLASS32; }));
  EXPECT_FALSE(is_read_after([](auto& header) { header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB; }));
  EXPECT_FALSE(is_read_after([](auto& header) { --header.e_shentsize; }));
  EXPECT_FALSE(is_read_after([](auto& header) { header.e_shnum = 0; }));
  EXPECT_FALSE(is_read_after([](auto& header) { header.e_shstrndx = header.e_shnum; }));
  EXPECT_FALSE(is_read_after([](auto& header) { header.e_shoff = 1'000'000; }));
  EXPECT_FALSE(ElfFile::open(folder_.path() + "/none"));
  folder_.write("file", "", 0644);
  EXPECT_FALSE(ElfFile::open(folder_.path() + "/file")) << "empty";
}

TEST_F(ElfFileOfSections, has_those_with_exactly_their_names) {
  const ElfFile file = made_of({{".first"}, {".second"}});
  EXPECT_TRUE(file.has_section(".first"));
  EXPECT_TRUE(file.has_section(".second"));
  EXPECT_FALSE(file.has_section(".sec"));
  EXPECT_FALSE(file.has_section("second"));
  const auto unnamed = made_of({{".first"}}, [](auto&, auto& rows) { rows[1].sh_name = 1000; });
  ASSERT_TRUE(unnamed);
  EXPECT_FALSE(unnamed->has_section(".first")) << "its name is not among the names";
}

TEST_F(ElfFileOfSections, names_the_interpreter_up_to_its_end) {
  EXPECT_EQ(made_of({{".text"}, {".interp", SHT_PROGBITS, SHF_ALLOC, "/lib/ld.so\0more"s}}).interpreter(),
            "/lib/ld.so");
  EXPECT_EQ(made_of({{".text", SHT_PROGBITS, SHF_ALLOC, "/lib/ld.so"}}).interpreter(), "");
}

TEST_F(ElfFileOfSections, needs_the_libraries_that_it_names_in_their_order) {
  const std::string names = "\0libb.so\0liba.so\0own.so\0"s;
  const auto dynamic = [&](std::uint32_t linked) {
    return Section{".dynamic", SHT_DYNAMIC, 0,
                   entry(DT_NEEDED, 1) + entry(DT_SONAME, 17) + entry(DT_NEEDED, 9) + entry(DT_NULL, 0), linked};
  };
  const Section texts{".dynstr", SHT_STRTAB, 0, names};
  EXPECT_EQ(made_of({texts, dynamic(1)}).needed(), (std::vector<std::string>{"libb.so", "liba.so"}));
  EXPECT_EQ(made_of({dynamic(4'000'000'000U), texts}).needed(), (std::vector<std::string>{"", ""})) << "of no texts";
  EXPECT_TRUE(made_of({texts}).needed().empty());
}

TEST_F(ElfFileOfSections, imports_what_has_exactly_the_name_of_a_symbol_without_a_section) {
  const Section texts{".dynstr", SHT_STRTAB, 0, "\0dlopen_own\0dlmopen\0getenv\0"s};
  const Section symbols{".dynsym", SHT_DYNSYM, 0,
                        symbol(0, SHN_UNDEF) + symbol(1, SHN_UNDEF) + symbol(12, 3) + symbol(20, SHN_UNDEF), 1};
  const ElfFile file = made_of({texts, symbols});
  EXPECT_TRUE(file.imports({"getenv"}));
  EXPECT_TRUE(file.imports({"dlopen", "getenv"}));
  EXPECT_TRUE(file.imports({"getenv", "dlopen"}));
  EXPECT_FALSE(file.imports({"dlopen"})) << "of which another name only has the beginning";
  EXPECT_FALSE(file.imports({"dlmopen"})) << "which it has itself";
  EXPECT_FALSE(made_of({texts}).imports({"getenv"}));
}

TEST_F(ElfFileOfSections, contains_texts_in_its_data_and_nowhere_else) {
  const auto contains = [&](const Section& section) {
    const ElfFile file = made_of({{".other", SHT_PROGBITS, SHF_ALLOC, "nothing"}, section});
    return file.data_contains({"libcuda.so", "libOpenCL.so"});
  };
  const std::string text = "a libOpenCL.so.1";
  EXPECT_TRUE(contains({".rodata", SHT_PROGBITS, SHF_ALLOC, text}));
  EXPECT_TRUE(contains({".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, "libcuda.so"}));
  EXPECT_FALSE(contains({".rodata", SHT_PROGBITS, SHF_ALLOC, "libcuda"}));
  EXPECT_FALSE(contains({".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text}));
  EXPECT_FALSE(contains({".debug_str", SHT_PROGBITS, 0, text}));
  EXPECT_FALSE(contains({".note", SHT_NOTE, SHF_ALLOC, text}));
}

TEST_F(ElfFileOfSections, that_are_cut_off_have_what_is_there) {
  const auto cut = [&](std::uint64_t before_end) {
    return made_of({{".text"}, {".interp", SHT_PROGBITS, SHF_ALLOC, "/lib/ld.so"}}, [&](auto& header, auto& rows) {
      const auto end = header.e_shoff + rows.size() * sizeof(Elf64_Shdr);
      rows.back().sh_size += 1000; // the names
      rows[2].sh_offset = end - before_end;
      rows[2].sh_size = ~std::uint64_t{0};
    });
  };
  ASSERT_TRUE(cut(0));
  EXPECT_EQ(cut(0)->interpreter(), "");
  EXPECT_EQ(cut(std::uint64_t{0} - 8)->interpreter(), "") << "behind the end";
  EXPECT_TRUE(cut(8)->data_contains({"\0\0\0\0\0\0\0\0"s})) << "the end of the table";
  EXPECT_FALSE(cut(7)->data_contains({"\0\0\0\0\0\0\0\0"s}));
}

TEST_F(ElfFileOfSections, without_contents_in_the_file_have_none) {
  const auto file = made_of({{".interp", SHT_NOBITS, SHF_ALLOC, "/lib/ld.so"}}, [](auto&, auto&) {});
  ASSERT_TRUE(file);
  EXPECT_EQ(file->interpreter(), "");
}

} // namespace
} // namespace gputest::platform
