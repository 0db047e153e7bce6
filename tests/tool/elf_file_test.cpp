// SPDX-License-Identifier: BSD-3-Clause
#include "tool/elf_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include <dlfcn.h>

namespace gputest::tool {
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

} // namespace
} // namespace gputest::tool
