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

bool loads_libraries(const ElfFile& file) {
  return file.names_contain(std::string{"dlopen\0", 7}) || file.names_contain(std::string{"dlmopen\0", 8});
}

bool names_cuda(const ElfFile& file) {
  constexpr std::array libraries{"libcuda.so", "libcudart.so", "libOpenCL.so"};
  return std::any_of(libraries.begin(), libraries.end(),
                     [&](const char* const name) { return file.data_contains(name); });
}

bool has_code_for_gpus(const ElfFile& file) {
  constexpr std::array sections{".nv_fatbin", "__nv_relfatbin", ".nvFatBinSegment"};
  return std::any_of(sections.begin(), sections.end(), [&](const char* const name) { return file.has_section(name); });
}

/// Whether a library is an interface to GPUs, or an interpreter that is told at run time what to do; or has itself to
/// do with GPUs.
bool library_uses_gpu(const std::string& path) {
  constexpr std::array names{"libcuda.so", "libcudart.so", "libOpenCL.so", "libpython", "libperl.so", "libjvm.so"};
  const auto name = path.substr(path.find_last_of('/') + 1);
  if (std::any_of(names.begin(), names.end(), [&](const char* const known) { return name.rfind(known, 0) == 0; })) {
    return true;
  }
  const auto library = ElfFile::open(path);
  return !library || has_code_for_gpus(*library) || (loads_libraries(*library) && names_cuda(*library));
}

/// The files in the dynamic linker's list: `name => file (address)`, or `file (address)`. What is not found has no
/// file.
std::vector<std::string> files_in(const std::string& list) {
  std::vector<std::string> files;
  std::istringstream lines{list};
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find('/', line.find("=> ") == std::string::npos ? 0 : line.find("=> "));
    const auto end = line.rfind(" (");
    if (begin != std::string::npos && end != std::string::npos && begin < end) {
      files.push_back(line.substr(begin, end - begin));
    } else if (line.find("not found") != std::string::npos) {
      files.emplace_back();
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
  if (has_code_for_gpus(*program) || loads_libraries(*program)) {
    return GpuUse::yes;
  }
  const auto linker = program->interpreter();
  if (linker.empty()) { // a static program has everything in itself
    return names_cuda(*program) ? GpuUse::yes : GpuUse::no;
  }
  const auto list = os::output_of({linker, "--list", path});
  const auto libraries = files_in(list.value_or(""));
  return !list || std::any_of(libraries.begin(), libraries.end(), library_uses_gpu) ? GpuUse::yes : GpuUse::no;
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
