// SPDX-License-Identifier: BSD-3-Clause
// Executables and libraries, which anybody may have made. An input is such a file.

#include "tool/elf_file.hpp"
#include "core/os/scratch_folder.hpp"
#include "proofs/fuzz/fuzzer.hpp"

#include <fstream>

using namespace gputest;
using tests::require;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const os::ScratchFolder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto elf = tool::ElfFile::open(path);
  if (!elf) {
    return 0;
  }
  const std::string text{reinterpret_cast<const char*>(data), size};
  require(tests::contains(text, elf->interpreter()), "an interpreter is in the file");
  for (const char* const name : {"dlopen", ".nv_fatbin", "libcuda.so"}) {
    require(!elf->names_contain(name) || tests::contains(text, name), "an imported function is in the file", name);
    require(!elf->has_section(name) || tests::contains(text, name), "a section's name is in the file", name);
    require(!elf->data_contains(name) || tests::contains(text, name), "found data is in the file", name);
  }
  return 0;
}
