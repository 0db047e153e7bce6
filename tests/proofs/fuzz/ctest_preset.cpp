// SPDX-License-Identifier: BSD-3-Clause
// Files of CMake presets. An input is one; `p` is the preset that is looked for.

#include "core/os/ctest_process.hpp"
#include "proofs/fuzz/fuzzer.hpp"
#include "support/private_folder.hpp"

#include <fstream>

using namespace gputest;
using tests::require;

namespace {

/// Whether it may name other files, of this machine: they are no part of the input.
bool may_include(std::string_view text) { return tests::contains(text, "nclude") || tests::contains(text, "\\u"); }

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (may_include({reinterpret_cast<const char*>(data), size})) {
    return 0;
  }
  static const tests::PrivateFolder folder;
  const std::string path = folder.path() + "/CMakePresets.json";
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  require(!os::read_test_preset(folder.path(), "p") || tests::contains(tests::text_of(data, size), "testPresets"),
          "a preset is one of the file's");
  return 0;
}
