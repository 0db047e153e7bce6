// SPDX-License-Identifier: BSD-3-Clause
// One of two tests that find out whether ctest runs them together, and what find_run_mode() makes of that ctest.
//
//   rendezvous <a|b> <folder>   as a test: writes found-<a|b>, and `together` if both run at once
//   rendezvous find             writes what it found to its standard output
//   rendezvous orphan           the same, below no process of its caller's
//
// A serial ctest starts the second test only when the first has ended, so the first must know that it need not wait. It
// looks at ctest itself: one that is asleep, with this test for its only child, has nothing more to start.

#include "platform/ctest_process.hpp"
#include "platform/process.hpp"
#include "policy/run_mode.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using gputest::policy::RunMode;

const char* name_of(RunMode mode) {
  switch (mode) {
  case RunMode::direct:
    return "direct";
  case RunMode::serial:
    return "serial";
  case RunMode::parallel:
    return "parallel";
  case RunMode::unknown:
    break;
  }
  return "unknown";
}

void write_finding(std::ostream& out) {
  const auto finding = gputest::policy::find_run_mode(gputest::platform::look_for_ctest());
  out << name_of(finding.mode) << '\n' << finding.because << '\n';
}

void touch(const fs::path& path) { std::ofstream file{path}; }

bool is_asleep(pid_t pid) {
  const auto stat = gputest::platform::contents_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  return name_end != std::string::npos && stat->compare(name_end, 3, ") S") == 0;
}

int children_of(pid_t pid) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    if (gputest::platform::parent_of(std::stoi(name)) == pid)
      ++count;
  }
  return count;
}

// One look may fall into a moment in which ctest writes to its log, so many in a row must say the same.
bool other_one_comes(const fs::path& begin_of_other, pid_t ctest) {
  constexpr int looks = 40;
  for (int idle = 0; idle < looks;) {
    if (fs::exists(begin_of_other))
      return true;
    if (::getppid() != ctest)
      throw std::runtime_error{"ctest has gone"};
    idle = is_asleep(ctest) && children_of(ctest) == 1 ? idle + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return false;
}

int meet(const std::string& name, const fs::path& folder) {
  const std::string other = name == "a" ? "b" : "a";
  const pid_t ctest = ::getppid();
  std::ofstream found{folder / ("found-" + name)};
  write_finding(found);
  found.close();
  touch(folder / ("begin-" + name));
  if (!fs::exists(folder / ("end-" + other)) && other_one_comes(folder / ("begin-" + other), ctest))
    touch(folder / "together");
  touch(folder / ("end-" + name));
  return 0;
}

int find_as_an_orphan() {
  const pid_t parent = ::getpid();
  if (::fork() != 0)
    ::_exit(0);
  while (::getppid() == parent)
    std::this_thread::yield();
  write_finding(std::cout);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "orphan")
    return find_as_an_orphan();
  if (first == "find")
    return write_finding(std::cout), 0;
  if (first == "folder") {
    const auto ctest = gputest::platform::find_running_ctest();
    std::cout << (ctest ? ctest->folder : "none") << '\n';
    return 0;
  }
  return argc >= 3 ? meet(first, argv[2]) : 64; // a ctest may add arguments
}
