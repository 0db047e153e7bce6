// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/settings.hpp"

#include "core/os/environment.hpp"
#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <sstream>

namespace gputest::settings {

namespace {

constexpr const char* own_prefix = "GPUTEST_";

/// Variables of the CMake project, of its tests, and GPUTEST_ROOT, where find_package() searches: a script that builds
/// gputest may have them in its environment.
const std::set<std::string>& names_of_build() {
  // Never destroyed, as the table.
  static const auto& names = *new std::set<std::string>{
      // NOLINT(cppcoreguidelines-owning-memory)
      "GPUTEST_BENCHMARKS", "GPUTEST_BUILD_CLI",      "GPUTEST_BUILD_INSIGHTS", "GPUTEST_CLANG_FORMAT",
      "GPUTEST_CLI",        "GPUTEST_DEVELOPER_MODE", "GPUTEST_FUZZ",           "GPUTEST_GOOGLETEST_SOURCE",
      "GPUTEST_INSTALL",    "GPUTEST_NINJA",          "GPUTEST_NVIDIA_HEADERS", "GPUTEST_ROOT",
      "GPUTEST_SANITIZE",   "GPUTEST_TEST_SET"};
  return names;
}

} // namespace

const std::vector<Setting>& settings_table() {
  using By = SetBy;
  // Never destroyed: settings may be read first when the process ends.
  static const auto& table = *new std::vector<Setting>{
      // NOLINT(cppcoreguidelines-owning-memory)
      {"GPUTEST_DEVICES", "all, none, or simulated:<n>x<size>[,<option>...] such as simulated:2x16GiB", "all",
       "the GPUs that tests may use", By::user},
      {"GPUTEST_DEVICE_MEMORY", "a size such as 8GiB", "their own size",
       "decide as if each GPU had at most this much memory", By::user},
      {"GPUTEST_PROCESSES_PER_DEVICE", "0 to 1024", "0",
       "at most so many test processes use a GPU at once. 0: as many as its memory allows", By::user},
      {"GPUTEST_MEMORY", "auto, small, medium, large, a size such as 3GiB, or none", "auto",
       "memory per device, for tests that do not declare it. auto: what they turn out to need. none: these use no GPU. "
       "'3GiB alone': no other process uses the GPU meanwhile",
       By::entry},
      {"GPUTEST_GPUS", "0 to 16", "1", "number of GPUs. 0 is GPUTEST_MEMORY=none", By::entry},
      {"GPUTEST_REQUIRES",
       "memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch, tcc, wddm, mig, "
       "sm_<n>, total_memory=<size>, free_memory=<size>",
       "nothing", "what each GPU must support or have", By::entry},
      {"GPUTEST_HEAP", "a size such as 64MiB", "not changed",
       "device heap for malloc() in kernels, for tests that do not declare it", By::entry},
      {"GPUTEST_KEEPS", "a size such as 64MiB", "nothing",
       "memory that a test may leave allocated on each device, for tests that do not declare it", By::entry},
      {"GPUTEST_LARGE", "exclude, serial or wait", "exclude", "what a large test does while other tests run",
       By::entry},
      {"GPUTEST_TEST", "a name", "the program's name", "CTest's name of the test, for messages", By::entry},
      {"GPUTEST_WAIT_LIMIT", "a time such as 90s, 20min or 1h", "20min",
       "the longest wait for memory. Then the test fails, and its message names the holder of the memory", By::entry},
      {"GPUTEST_TIMEOUT", "seconds", "none",
       "how long a test process may run, without the time spent waiting. With '90 SIGINT 2.5' it is sent SIGINT and "
       "killed "
       "2.5 s later. Has an effect only in CTest entries",
       By::entry},
      {"GPUTEST_RUN_MODE", "auto|serial|parallel", "auto", "how CTest runs tests", By::user},
      {"GPUTEST_REQUIRE_GPU", "0|1", "0", "1: a skip because there is no GPU, or too few, is a failure", By::user},
      {"GPUTEST_FORBID_SKIP", "0|machine|1", "0",
       "machine: a skip because of the machine (no GPU, too little memory, a missing capability) is a failure. "
       "1: every skip is a failure",
       By::user},
      {"GPUTEST_USES_GPU", "auto|yes|no", "auto", "whether the command of 'gputest run --if-gpu' uses a GPU", By::user},
      {"GPUTEST_OVERUSE", "auto|fail|warn|off|stop", "auto",
       "what happens to a test that takes more than its lease. auto: fail in a CTest entry, else warn. "
       "stop: its process ends before it takes more, where gputest sees each allocation",
       By::user},
      {"GPUTEST_ATTEMPTS", "3|2|1", "3",
       "how often a test process of undeclared memory may run, if gputest stops it before it takes more than there is "
       "room for",
       By::user},
      {"GPUTEST_LEAKS", "auto|fail|warn|off", "auto", "the same for a test that leaves memory allocated", By::user},
      {"GPUTEST_METER", "auto|sampled|off", "auto", "what measures the memory that tests use", By::user},
      {"GPUTEST_MEMORY_RESOURCE", "auto|pool|malloc", "auto", "where gputest::memory_resource takes memory from",
       By::user},
      {"GPUTEST_SCHEDULING", "ctest|ledger", "ctest",
       "ledger: CTest also starts tests that do not fit on the devices at once", By::user},
      {"GPUTEST_ISOLATION", "worker|process", "worker",
       "process: cases of gpu_discover_tests(ISOLATION worker) run in processes of their own", By::user},
      {"GPUTEST_DEPENDENCE", "fail|show", "fail", "show: a case that fails in a worker and passes alone is no failure",
       By::user},
      {"GPUTEST_MPS", "auto|on|off", "auto", "whether workers share GPUs through CUDA's MPS", By::user},
      {"GPUTEST_CASES", "filters such as A.first;B.second", "none",
       "run these cases one after another in this process, as a worker does", By::user},
      {"GPUTEST_LOG", "off, or the absolute path of a folder", "Testing/gputest, where ctest runs the tests",
       "the folder of the run logs", By::user},
      {"GPUTEST_DIR", "an absolute path", "/run/gputest, else /tmp/gputest-<uid>", "the folder of the ledger",
       By::user},
      {"GPUTEST_DEFAULT_LOG", "a path, relative to ctest's folder", "none",
       "the folder of the run logs if GPUTEST_LOG is not set", By::gputest},
      {"GPUTEST_DEFAULT_PROCESSES_PER_DEVICE", "0 to 1024", "0",
       "GPUTEST_PROCESSES_PER_DEVICE if that is not set: the project's", By::gputest},
      {"GPUTEST_DEPTH", "a + for each", "none",
       "the entries of CTest within which the process runs, one within another: each adds its own", By::gputest},
      {"GPUTEST_ENTRY", "ctest, will_fail or by_output, also with :<n> or a word behind it, or the path of a page",
       "nobody", "to whom the process reports how its tests ended", By::gputest},
      {"GPUTEST_PATH", "a list of folders", "PATH is as ctest has it",
       "PATH as the properties of the entry have changed it, with * for that of ctest", By::gputest},
      {"GPUTEST_LEARNED", "a size such as 3GiB", "256MiB", "what GPUTEST_MEMORY=auto stands for at first", By::gputest},
      {"GPUTEST_ATTEMPT", "2 or 3", "none", "how often the test process has been started, if that is not once",
       By::gputest},
      {"GPUTEST_ATTEMPT_BECAUSE", "a text", "none", "why it was started again, for 'gputest status'", By::gputest},
      {"GPUTEST_LEASE_OF", "a process in the ledger", "none", "the holder of the parent lease", By::gputest},
      {"GPUTEST_ALLOCATION", "CTest's allocation, and UUIDs", "none",
       "the devices that the numbers of this allocation count, since CUDA_VISIBLE_DEVICES shows only some of them",
       By::gputest},
      {"GPUTEST_LIST_FILE", "a file", "none", "the executable writes the list of its tests to this file, and runs none",
       By::gputest},
      {"GPUTEST_WORKER", "a socket", "none", "where a worker gets its cases", By::gputest},
  };
  return table;
}

std::vector<std::string> words_of(const Setting& setting) {
  std::vector<std::string> words;
  std::istringstream values{setting.values};
  for (std::string word; std::getline(values, word, '|');) {
    words.push_back(word);
  }
  return words.size() > 1 ? words : std::vector<std::string>{};
}

std::size_t parse_word(const std::string& name, const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  const auto& table = settings_table();
  const auto setting = std::find_if(table.begin(), table.end(), [&](const Setting& one) { return name == one.name; });
  const auto words = words_of(*setting);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) {
    return static_cast<std::size_t>(found - words.begin());
  }
  std::string known;
  for (const auto& word : words) {
    known += (known.empty() ? "" : ", ") + word;
  }
  throw InvalidSetting{name + "='" + text + "' is unknown; it is one of " + known};
}

std::string settings_reference() {
  std::string text;
  for (const auto& setting : settings_table()) {
    std::string values = setting.values;
    for (auto bar = values.find('|'); bar != std::string::npos; bar = values.find('|')) {
      values.replace(bar, 1, ", ");
    }
    text += std::string{"  "} + setting.name + "  " + values + " (default: " + setting.fallback + ")\n      " +
            (setting.by == SetBy::gputest ? "set by gputest: " : "") + setting.meaning + "\n";
  }
  return text;
}

void refuse_unknown(const std::vector<std::string>& names) {
  std::set<std::string> settings;
  for (const auto& setting : settings_table()) {
    settings.insert(setting.name);
  }
  std::string unknown;
  for (const auto& name : names) {
    if (name.find(own_prefix) == 0 && settings.count(name) == 0 && names_of_build().count(name) == 0) {
      unknown += (unknown.empty() ? "" : ", and ") + name + " (the nearest setting is " +
                 policy::nearest_name(name, settings) + ")";
    }
  }
  if (!unknown.empty()) {
    throw InvalidSetting{"unknown gputest setting " + unknown +
                         ". Correct the name, or unset the variable; names that begin with GPUTEST_ are gputest's"};
  }
}

void refuse_unknown_variables() { refuse_unknown(os::variables_with(own_prefix)); }

} // namespace gputest::settings
