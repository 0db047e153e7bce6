// SPDX-License-Identifier: BSD-3-Clause
// Says what it finds out about the ctest that has started it.
//
//   ctest_observer find             the run mode and its reason
//   ctest_observer folder           the folder in which ctest runs, its pid, and its start time
//   ctest_observer options          the options of ctest
//   ctest_observer orphan [...]     one of these (find), below no process of its caller's
//   ctest_observer worker <pid> ... one of these, as a worker of that ctest
//   ctest_observer as-nobody ...    one of these, as another user if it may
//   ctest_observer ... : <command>  passes for a ctest that keeps no log and runs the command

#include "core/os/ctest_process.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/policy/run_mode.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>
#include <unistd.h>

namespace {

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

using Words = std::vector<std::string>;

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
  return 64;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ctest_observer: %s\n", error.what());
  return 70;
}
