// SPDX-License-Identifier: BSD-3-Clause
#include "tool/gpu_use.hpp"

#include "core/os/program_output.hpp"
#include "tool/elf_file.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

namespace gputest::tool {

namespace {

bool begins_with(const std::string& text, const std::string& begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

/// Programs that run others, or read what they do from a file, and do not load it as a library.
bool runs_others(const std::string& path) {
  static const std::set<std::string> names{"busybox",  "catchsegv", "chrt",    "cmake",  "compute-sanitizer",
                                           "ctest",    "cuda-gdb",  "dash",    "env",    "gdb",
                                           "ltrace",   "make",      "mpiexec", "mpirun", "ncu",
                                           "nice",     "ninja",     "nohup",   "nsys",   "numactl",
                                           "orterun",  "prterun",   "setpriv", "sh",     "srun",
                                           "stdbuf",   "strace",    "taskset", "time",   "timeout",
                                           "valgrind", "xargs"};
  return names.count(path.substr(path.find_last_of('/') + 1)) > 0;
}

/// Whether a library with this name is an interface to GPUs, or an interpreter that is told at run time what to do.
bool is_telling(const std::string& library) {
  constexpr std::array libraries{"libcuda.so", "libcudart.so", "libOpenCL.so", "libpython", "libperl.so", "libjvm.so"};
  return std::any_of(libraries.begin(), libraries.end(),
                     [&](const char* const name) { return begins_with(library, name); });
}

bool loads_libraries(const ElfFile& file) { return file.imports({"dlopen", "dlmopen"}); }

bool names_cuda(const ElfFile& file) { return file.data_contains({"libcuda.so", "libcudart.so", "libOpenCL.so"}); }

/// Whether the file has code for a GPU, or is linked with an interface to one.
bool is_linked_with_cuda(const ElfFile& file) {
  constexpr std::array sections{".nv_fatbin", "__nv_relfatbin", ".nvFatBinSegment"};
  const auto needed = file.needed();
  return std::any_of(sections.begin(), sections.end(),
                     [&](const char* const name) { return file.has_section(name); }) ||
         std::any_of(needed.begin(), needed.end(), is_telling);
}

/// The files in the dynamic linker's list: `name => file (address)`, or `file (address)`.
std::vector<std::string> files_in(const std::string& list) {
  std::vector<std::string> files;
  std::istringstream lines{list};
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find('/', line.find("=> ") == std::string::npos ? 0 : line.find("=> "));
    const auto end = line.rfind(" (");
    if (begin != std::string::npos && end != std::string::npos && begin < end) {
      files.push_back(line.substr(begin, end - begin));
    }
  }
  return files;
}

} // namespace

GpuUse find_gpu_use(const std::string& path) {
  const auto program = ElfFile::open(path);
  if (!program || runs_others(path)) {
    return GpuUse::yes;
  }
  if (program->has_section(".gputest_session")) {
    return GpuUse::leases_itself;
  }
  if (is_linked_with_cuda(*program) || loads_libraries(*program)) {
    return GpuUse::yes;
  }
  const auto linker = program->interpreter();
  if (linker.empty()) { // a static program has everything in itself
    return names_cuda(*program) ? GpuUse::yes : GpuUse::no;
  }
  const auto list = os::output_of({linker, "--list", path});
  if (!list) {
    return GpuUse::yes;
  }
  for (const auto& file : files_in(*list)) {
    const auto library = ElfFile::open(file);
    if (!library || is_linked_with_cuda(*library) || (loads_libraries(*library) && names_cuda(*library))) {
      return GpuUse::yes;
    }
  }
  return GpuUse::no;
}

bool only_lists_tests(const std::vector<std::string>& arguments) {
  const std::set<std::string> lists{
      "--gtest_list_tests", "-gtest_list_tests",      "--gtest_list_tests=1", "--gtest_list_tests=true",
      "--list-tests",       "--list-test-names-only", "--list-tags",          "--list-reporters",
      "--list-test-cases",  "--list-test-suites",     "--list_content",       "--list_content=HRF",
      "--list_content=DOT", "--list_labels"};
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& argument) { return lists.count(argument) > 0; });
}

} // namespace gputest::tool
