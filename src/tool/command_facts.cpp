// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_facts.hpp"

#include "core/os/file.hpp"
#include "core/os/program_output.hpp"
#include "core/os/remembered.hpp"
#include "core/os/shared_library.hpp"
#include "core/policy/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

namespace gputest::tool {

namespace {

bool has(const std::string& bytes, const std::string& text) { return bytes.find(text) != std::string::npos; }

std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool is_one_of(const std::string& names, const std::string& path) { return has(names, " " + name_of(path) + " "); }

/// Programs that read from a file or a text which others they run.
bool reads_what_it_runs(const std::string& path) {
  return is_one_of(
      " Rscript bash busybox cmake ctest dash docker find hyperfine ksh make ninja podman script sh su tmux"
      " watch xargs zsh ",
      path);
}

/// Programs that run the command in their arguments.
bool runs_its_arguments(const std::string& path) {
  return is_one_of(" apptainer bwrap catchsegv choom chroot chrt compute-sanitizer cuda-gdb dbus-run-session doas env"
                   " faketime firejail flock gdb ionice linux32 linux64 ltrace mpiexec mpirun ncu nice nohup nsenter"
                   " nsys numactl orterun perf pkexec prlimit prterun rr runcon runuser setarch setpriv setsid"
                   " singularity srun start-stop-daemon stdbuf strace sudo systemd-run taskset time timeout tini"
                   " uclampset unshare valgrind ",
                   path);
}

/// CUDA's driver or runtime, OpenCL's loader, and what gives work to a GPU by libraries that name these: OpenMP's and
/// OpenACC's offloading (GCC, LLVM), SYCL. Whatever has code for GPUs needs one of these, or loads one by its name.
/// Sources and folders have similar names, such as `libcudacxx`, and stand in debugging information and messages.
const std::set<std::string> gpu_names{"libcuda.so", "libcudart",       "libOpenCL",  "GOMP_target",
                                      "GOACC_",     "libomptarget.so", "libsycl.so", "libacpp-rt"};

/// Those have functions for offloading, whether it is used or not.
const std::array<const char*, 3> openmp_runtimes{"/libgomp.", "/libomp.", "/libiomp5."};

/// What runs a text that it is told at run time. A version may follow.
const std::array<const char*, 13> interpreters{"libR",      "libguile", "libjulia",     "libjvm",  "liblua",
                                               "libnode",   "libphp",   "liboctinterp", "libperl", "libtcl",
                                               "libpython", "libruby",  "libluajit"};

bool is_elf(const std::string& path) {
  std::array<char, 4> begin{};
  std::ifstream file{path, std::ios::binary};
  return file.read(begin.data(), begin.size()) && std::string_view{begin.data(), begin.size()} == "\177ELF";
}

template <class Names>
bool has_one_of(const Names& names, const std::string& text) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return has(text, name); });
}

bool is_interpreter(const std::string& library) {
  const auto file = name_of(library);
  return std::any_of(interpreters.begin(), interpreters.end(), [&](const std::string& name) {
    return policy::starts_with(file, name) && file.find_first_of(".-0123456789", name.size()) == name.size();
  });
}

bool uses_gpu(const std::string& library) {
  if (has_one_of(openmp_runtimes, library)) {
    return false;
  }
  if (has_one_of(gpu_names, name_of(library))) {
    return true;
  }
  const auto names = policy::joined({gpu_names.begin(), gpu_names.end()}, " ");
  const auto uses = os::remembered(library, names, [&]() -> std::optional<bool> {
    const auto found = os::texts_in(library, gpu_names, true);
    return found ? std::optional{!found->empty()} : std::nullopt;
  });
  return uses.value_or(true);
}

/// The dynamic linker of this process; empty if it has none.
std::string dynamic_linker() {
  for (const auto& path : os::loaded_libraries()) {
    if (has(path, "/ld-") || has(path, "/ld.")) {
      return path;
    }
  }
  return "";
}

/// The files in the dynamic linker's list: `name => file (address)`, or `file (address)`.
std::vector<std::string> files_in(const std::string& list) {
  std::vector<std::string> files;
  std::istringstream lines{list};
  for (std::string line; std::getline(lines, line);) {
    const auto arrow = line.find("=> ");
    const auto begin = line.find('/', arrow == std::string::npos ? 0 : arrow);
    const auto end = line.rfind(" (");
    if (begin != std::string::npos && end != std::string::npos && begin < end) {
      files.push_back(line.substr(begin, end - begin));
    }
  }
  return files;
}

/// The libraries that the dynamic linker would load for a program; nullopt if one is not there.
std::optional<std::vector<std::string>> libraries_of(const std::string& linker, const std::string& path) {
  const auto list = os::output_of({linker, "--list", path});
  return list && !has(*list, "not found") ? std::optional{files_in(*list)} : std::nullopt;
}

bool any_uses_gpu(const std::optional<std::vector<std::string>>& libraries) {
  return !libraries || std::any_of(libraries->begin(), libraries->end(), uses_gpu);
}

} // namespace

FoundCommand find_command(const std::string& command, const std::optional<std::string>& path) {
  if (command.empty()) {
    return {ENOENT, ""};
  }
  if (command.find('/') != std::string::npos) {
    const int error = os::why_not_executable(command);
    return {error, error == 0 ? command : ""};
  }
  int worst = ENOENT;
  // execvp() uses these two folders if PATH is not set. An empty one is the working directory, also after a last ':'.
  for (const auto& folder : policy::parts_of(path.value_or("/bin:/usr/bin") + ":", ':')) {
    const auto file = (folder.empty() ? "." : folder) + "/" + command;
    const int error = os::why_not_executable(file);
    if (error == 0) {
      return {0, file};
    }
    worst = error == EACCES ? EACCES : worst;
  }
  return {worst, ""};
}

bool names_no_gpu(const std::string& path) {
  const auto linker = dynamic_linker();
  auto texts = gpu_names;
  texts.insert(linker);
  return !linker.empty() && os::texts_in(path, texts) == std::set{linker} && !any_uses_gpu(libraries_of(linker, path));
}

bool runs_script(const std::vector<std::string>& command, const std::optional<std::string>& path) {
  for (const auto& word : command) {
    const auto found = find_command(word, path);
    if (found.error == 0 && !runs_its_arguments(found.file)) { // else an option, or what one says
      return reads_what_it_runs(found.file) || !is_elf(found.file);
    }
  }
  return true;
}

GpuUse find_gpu_use(const std::string& path) {
  if (reads_what_it_runs(path) || runs_its_arguments(path) || !is_elf(path)) {
    return GpuUse::yes;
  }
  const std::string session = ".gputest_session";
  const std::string loads = std::string{"dlopen\0", 7};
  const auto linker = dynamic_linker();
  auto texts = gpu_names;
  texts.insert({session, loads, linker});
  const auto found = os::texts_in(path, texts);
  if (found && found->count(session) > 0) {
    return GpuUse::leases_itself;
  }
  if (linker.empty() || found != std::set{linker}) {
    return GpuUse::yes;
  }
  const auto libraries = libraries_of(linker, path);
  const bool interprets = libraries && std::any_of(libraries->begin(), libraries->end(), is_interpreter);
  return interprets || any_uses_gpu(libraries) ? GpuUse::yes : GpuUse::no;
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
