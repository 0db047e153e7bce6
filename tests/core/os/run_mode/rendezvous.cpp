// SPDX-License-Identifier: BSD-3-Clause
// One of two tests that find out whether ctest runs them together, and what find_run_mode() makes of that ctest.
//
//   rendezvous <a|b> <folder>   as a test: writes found-<a|b>, and `together` if both run at once
//   rendezvous find             writes what it found to its standard output
//   rendezvous folder           writes the folder in which its ctest runs, the pid, and the start time
//   rendezvous options          writes the options of its ctest
//   rendezvous resource-spec    writes whether its ctest has a resource spec file
//   rendezvous orphan [...]     one of these (find), below no process of its caller's
//   rendezvous worker <pid> ... one of these, as a worker of that ctest
//   rendezvous as-nobody ...    one of these, as another user if it may
//   rendezvous ... : <command>  passes for a ctest of version 4.4 that keeps no log and runs the command
//
// A serial ctest starts the second test only when the first has ended, so the first must know that it need not wait. It
// looks at ctest itself: one that is asleep, with this test for its only child, has nothing more to start.

#include "core/os/ctest_process.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/policy/run_mode.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>
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
  const auto finding = gputest::policy::find_run_mode(gputest::os::look_for_ctest());
  out << name_of(finding.mode) << '\n' << finding.because << '\n';
}

void touch(const fs::path& path) { std::ofstream file{path}; }

bool is_asleep(pid_t pid) {
  const auto stat = gputest::os::contents_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  return name_end != std::string::npos && stat->compare(name_end, 3, ") S") == 0;
}

int children_of(pid_t pid) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    if (gputest::os::parent_of(std::stoi(name)) == pid)
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

using Words = std::vector<std::string>;

const char* name_of(gputest::os::UsersResourceSpec spec) {
  switch (spec) {
  case gputest::os::UsersResourceSpec::none:
    return "none";
  case gputest::os::UsersResourceSpec::possible:
    return "possible";
  case gputest::os::UsersResourceSpec::named:
    break;
  }
  return "named";
}

void write_running_ctest(std::ostream& out) {
  if (const auto ctest = gputest::os::find_running_ctest())
    out << ctest->folder << '\n' << ctest->pid << ' ' << ctest->start_time << '\n';
  else
    out << "none\n";
}

void become_an_orphan() {
  const pid_t parent = ::getpid();
  if (::fork() != 0)
    ::_exit(0);
  while (::getppid() == parent)
    std::this_thread::yield();
}

void become_nobody() {
  constexpr uid_t nobody = 65534;
  if (::getuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0))
    throw std::runtime_error{"cannot become nobody"};
  ::prctl(PR_SET_DUMPABLE, 1); // what a program of that user's is: it may read its own files in /proc
}

// Nothing if the words are for another purpose.
bool write_answer(const Words& words) {
  if (words.front() == "find") {
    write_finding(std::cout);
  } else if (words.front() == "folder") {
    write_running_ctest(std::cout);
  } else if (words.front() == "options") {
    for (const auto& option : gputest::os::options_of_ctest())
      std::cout << option << ' ';
    std::cout << '\n';
  } else if (words.front() == "resource-spec") {
    std::cout << name_of(gputest::os::find_users_resource_spec()) << '\n';
  } else if (words.front() == "orphan") {
    become_an_orphan();
    return write_answer(words.size() > 1 ? Words{words.begin() + 1, words.end()} : Words{"find"});
  } else if (words.front() == "worker") {
    gputest::os::set_ctest_of_process(std::stoi(words.at(1)));
    return write_answer({words.begin() + 2, words.end()});
  } else if (words.front() == "as-nobody") {
    become_nobody();
    return write_answer({words.begin() + 1, words.end()});
  } else {
    return false;
  }
  return true;
}

// Whether the words are those of a ctest.
bool act_as_ctest(const Words& words) {
  if (words.front() == "--version") {
    std::cout << "ctest version 4.4.0\n\nand more\n";
    return true;
  }
  const auto command = std::find(words.begin(), words.end(), ":");
  if (command == words.end())
    return false;
  for (int inherited = STDERR_FILENO + 1; inherited < 1024; ++inherited)
    ::close(inherited); // the log of a ctest above it
  std::cout << gputest::os::output_of({command + 1, words.end()}).value_or("");
  return true;
}

} // namespace

int main(int argc, char** argv) try {
  const Words words{argv + 1, argv + argc};
  if (words.empty())
    return 64;
  if (act_as_ctest(words) || write_answer(words))
    return 0;
  return argc >= 3 ? meet(words[0], words[1]) : 64; // a ctest may add arguments
} catch (const std::exception& error) {
  std::fprintf(stderr, "rendezvous: %s\n", error.what());
  return 70;
}
