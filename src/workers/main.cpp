// SPDX-License-Identifier: BSD-3-Clause
// gputest-entry [--own-process=<why>] [--fixtures=<hash>] [--long] <executable> <argument>...
// gputest-entry --end <executable> [<file of its long cases> [<hash of the fixtures>]]
// gputest-entry --watch <executable> <argument>...
// gputest-entry --list <seconds> <executable> <argument>...
// gputest-entry --emulator [<list>...] --before <executable> <argument>...
//
// CTest starts it for each case of gpu_discover_tests(ISOLATION worker). It has the case run by a worker: the
// executable itself, which stays and runs one case after another; or, with --own-process, by a process of the case's
// own, and says why; --long: it took long when it ran last; --fixtures: those of the user, which cases that share a
// worker have in common. When all cases have ended, CTest starts the second form, whose entry fails if a worker does
// not end as it should. The third form runs and watches any other executable whose tests gputest runs. The fourth has
// an executable list its tests when ctest starts. The fifth becomes a command that begins with the words of lists of
// CMake's, which are known only when CMake generates, and may be empty or gone.
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "supervise/descendants.hpp"
#include "supervise/supervised_command.hpp"
#include "supervise/watcher.hpp"
#include "workers/client.hpp"
#include "workers/workers_end.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <unistd.h>

namespace {

/// GoogleTest takes the last of several filters, so an entry would pass by the tests of another one.
void refuse_second_filter(const std::vector<std::string>& arguments) {
  const auto is_filter = [](const std::string& argument) { return argument.rfind("--gtest_filter=", 0) == 0; };
  const auto first = std::find_if(arguments.begin(), arguments.end(), is_filter);
  const auto second = first == arguments.end() ? first : std::find_if(first + 1, arguments.end(), is_filter);
  if (second != arguments.end()) {
    throw gputest::Error{"the entry selects its tests by " + *first + ", and its command also has " + *second +
                         ". Choose entries by ctest -R, not by ctest -- --gtest_filter=..."};
  }
}

/// Without its settings, the tests of an entry would lease what they say themselves, and nobody would judge them. Where
/// ctest has not started this process itself, somebody runs the command of an entry by hand.
void refuse_lost_settings() {
  if (gputest::os::read_variable("GPUTEST_ENTRY")) {
    return;
  }
  if (gputest::os::is_child_of_ctest()) {
    throw gputest::Error{
        "the entry has lost the settings of gpu_add_test(), such as MEMORY: the property ENVIRONMENT_MODIFICATION was "
        "replaced after the end of the directory that adds it. Write set_property(TEST <name> DIRECTORY <directory> "
        "APPEND PROPERTY ENVIRONMENT_MODIFICATION <value>...) there"};
  }
}

/// CMake waits as long as any process has the command's output open, so what the command has started is killed at its
/// end. Ends as the command does; if that takes longer, by SIGRTMAX, as no command does by itself.
int list_tests(const char* seconds, std::vector<std::string> command) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto program = command.front();
  const auto end =
      gputest::supervise::run_supervised(std::move(command), {std::chrono::seconds{std::atoi(seconds)}, nullptr, {}});
  gputest::supervise::end_descendants();
  if (end.error != 0) {
    return gputest::supervise::say_why_not_executed(program, end.error);
  }
  if (end.signal != 0) {
    gputest::supervise::end_by_signal(end.timed_out ? SIGRTMAX : end.signal);
  }
  return end.status;
}

/// Appends the words of a list, as CMake takes it apart.
void append_words_of(const std::string& list, std::vector<std::string>& words) {
  int brackets = 0;
  std::string word;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at == list.size() || (list[at] == ';' && brackets == 0)) {
      if (!word.empty()) {
        words.push_back(std::exchange(word, ""));
      }
      continue;
    }
    if (list.compare(at, 2, "\\;") == 0 && brackets == 0) {
      ++at;
    }
    brackets += list[at] == '[' ? 1 : list[at] == ']' ? -1 : 0;
    word += list[at];
  }
}

/// Returns only if the command does not start.
int become_command_of_lists(const std::vector<std::string>& arguments) {
  const auto end_of_lists = std::find(arguments.begin(), arguments.end(), "--before");
  if (arguments.end() - end_of_lists < 2) {
    throw gputest::Error{"--emulator has no executable after --before"};
  }
  std::vector<std::string> command;
  std::for_each(arguments.begin(), end_of_lists, [&](const auto& list) { append_words_of(list, command); });
  command.insert(command.end(), end_of_lists + 1, arguments.end());
  return gputest::supervise::say_why_not_executed(command.front(), gputest::os::become(command));
}

} // namespace

int main(int argc, char** argv) try {
  if (argc > 3 && std::string{argv[1]} == "--list") {
    return list_tests(argv[2], {argv + 3, argv + argc});
  }
  if (argc > 1 && std::string{argv[1]} == "--emulator") {
    return become_command_of_lists({argv + 2, argv + argc});
  }
  refuse_second_filter({argv + 1, argv + argc});
  if (argc > 2 && std::string{argv[1]} == "--watch") {
    refuse_lost_settings();
    return gputest::supervise::watch_tests({argv + 2, argv + argc});
  }
  if (argc > 2 && std::string{argv[1]} == "--end") { // what `ctest -- ARGS` adds to every command is for the tests
    return gputest::workers::end_workers(argv[2], argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
  }
  const auto test = gputest::workers::read_test_case({argv + 1, argv + argc});
  if (test.command.empty()) {
    gputest::supervise::say("gputest-entry is started by CTest: gputest-entry <executable> <argument>...");
    return 64;
  }
  return gputest::workers::run_case(test);
} catch (const gputest::Error& error) {
  gputest::supervise::say(std::string{"failed: "} + error.what());
  gputest::supervise::end_by_signal(SIGKILL); // CTest may invert an exit code
}
