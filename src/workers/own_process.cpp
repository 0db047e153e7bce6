// SPDX-License-Identifier: BSD-3-Clause
#include "workers/own_process.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/text.hpp"
#include "supervise/events.hpp"
#include "supervise/watcher.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using supervise::describe_end;
using supervise::does_not_fail;
using supervise::end_by_signal;
using supervise::run_entry;
using supervise::run_supervised;
using supervise::say;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds for_search{10};
constexpr int most_halvings = 32; ///< of the cases of a worker: enough for a few that end their process early
constexpr std::size_t longest_list = 100'000; ///< of filters: the kernel takes 128 KiB for a variable

/// What this process and its children write meanwhile is dropped.
class Silence {
public:
  Silence() {
    const os::Descriptor nowhere{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO && nowhere; ++stream) {
      ::dup2(nowhere.number(), stream);
    }
  }
  ~Silence() {
    ::dup2(output_.number(), STDOUT_FILENO);
    ::dup2(error_.number(), STDERR_FILENO);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

private:
  os::Descriptor output_{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)};
  os::Descriptor error_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)};
};

/// What GPUTEST_CASES says: these cases one after another, in one process.
std::string list_of(const std::vector<std::string>& filters) {
  std::string list;
  for (const auto& filter : filters) {
    list += (list.empty() ? "" : ";") + filter;
  }
  return list;
}

/// A worker's command: without what belongs to the one case.
std::vector<std::string> command_of_worker(const TestCase& test) {
  std::vector<std::string> command{test.command.front()};
  command.insert(command.end(), test.arguments.begin(), test.arguments.end());
  return command;
}

/// The case's command, without its report.
std::vector<std::string> without_report(std::vector<std::string> command) {
  command.erase(std::remove_if(command.begin(), command.end(),
                               [](const auto& word) { return policy::starts_with(word, "--gtest_output="); }),
                command.end());
  return command;
}

/// The last of the cases whose list is short enough for a variable.
std::vector<std::string> last_of(const std::vector<std::string>& cases) {
  std::size_t length = 0;
  auto first = cases.end();
  while (first != cases.begin() && (length += std::prev(first)->size() + 1) < longest_list) {
    --first;
  }
  return {first, cases.end()};
}

/// Whether the case fails after these, in one process. False also if that is not known by `until`. Changes the
/// environment: what this process starts is no entry any more, and no part of the run's log.
bool fails_after(const TestCase& test, std::vector<std::string> cases, Clock::time_point until) {
  const auto left = until - Clock::now();
  if (left.count() <= 0) {
    return false;
  }
  cases.push_back(test.filter);
  os::remove_variable("GPUTEST_ENTRY");
  os::set_variable("GPUTEST_LOG", "off");
  os::set_variable("GPUTEST_CASES", list_of(cases));
  os::set_variable("GPUTEST_LEARNED", "1024TiB"); // nobody watches it: what it takes beyond a lease would be others'
  const Silence silence;
  const auto end = run_supervised(command_of_worker(test), {left, nullptr, {}});
  return end.error == 0 && !end.timed_out && (end.signal != 0 || !does_not_fail(end.status));
}

/// Cases after which the case fails.
struct Culprits {
  std::vector<std::string> filters;
  bool seen_again = false; ///< whether it has failed after them in the search
};

/// The fewest of the cases `before` that are found by halving. All of them, if the case does not fail after a half.
Culprits find_culprits(const TestCase& test, const std::vector<std::string>& before) {
  const auto until = Clock::now() + for_search;
  Culprits found{last_of(before), false};
  while (found.filters.size() > 1) {
    const auto middle = found.filters.begin() + static_cast<std::ptrdiff_t>(found.filters.size() / 2);
    std::vector<std::string> later{middle, found.filters.end()};
    std::vector<std::string> earlier{found.filters.begin(), middle};
    if (fails_after(test, later, until)) {
      found = {std::move(later), true};
    } else if (fails_after(test, earlier, until)) {
      found = {std::move(earlier), true};
    } else {
      break;
    }
  }
  found.seen_again = found.seen_again || (!found.filters.empty() && fails_after(test, found.filters, until));
  return found;
}

std::string command_after(const TestCase& test, std::vector<std::string> before) {
  std::array<char, 4096> folder{};
  before.push_back(test.filter);
  const auto* const here = ::getcwd(folder.data(), folder.size());
  return policy::shell_words({"cd", here == nullptr ? "." : here}) +
         " && GPUTEST_CASES=" + policy::shell_words({list_of(before)}) + " " +
         policy::shell_words(command_of_worker(test));
}

} // namespace

int run_in_own_process(const TestCase& test, const std::string& why) {
  const auto target = policy::parse_report_target(os::variable("GPUTEST_ENTRY"));
  if (!why.empty() && os::output_of(target, os::TestStatusPage::open(target.page).get()) != os::Output::judged) {
    say(test.name + " runs in a process of its own: " + why);
  }
  return supervise::watch_tests(test.command);
}

SecondRun run_again_in_own_process(const TestCase& test, const Circumstances& circumstances) {
  const auto& before = circumstances.before;
  const auto cases = policy::counted(before.size(), "case");
  say(test.name + (circumstances.skipped ? " was skipped" : " failed") + " in a process that " +
      (circumstances.shares_errors ? "shares errors of CUDA with other workers (MPS)"
                                   : "had run " + cases + " before it") +
      ". It runs once more, in a process of its own" +
      (circumstances.skipped ? "; the result of that counts" : ", which shows whether it depends on the process"));
  // The failure in the worker counts, unless the entry that ends workers tells of it: its report is the case's.
  const bool counts = test.dependence_fails && !circumstances.at_its_end;
  const bool has_result = !counts || circumstances.skipped || circumstances.has_shared_one;
  const auto end = run_entry(has_result ? test.command : without_report(test.command),
                             {test.name, policy::CommandKind::gputest_executable});
  const bool is_skipped = end.exit_code == skipped_exit_code;
  if (end.signal != 0 || !does_not_fail(end.exit_code) || (is_skipped && circumstances.skipped)) {
    return {end.exit_code, end.signal};
  }
  const auto result = test.name + (is_skipped ? " was skipped alone" : " passed alone");
  const bool depends = test.dependence_fails && circumstances.has_shared_one && !before.empty() &&
                       fails_after(test, last_of(before), Clock::now() + for_search);
  if (circumstances.skipped || (circumstances.has_shared_one && !depends)) {
    say("shared error: " + result + ", so " +
        (circumstances.skipped ? "CUDA may not begin in such a process"
                               : "an error of another case has probably reached it. That case fails. If none does, " +
                                     test.name + " may depend on what ran before it, or fail now and then") +
        "; GPUTEST_MPS=off shows that");
    return {end.exit_code, 0, true, false, !circumstances.skipped};
  }
  const auto culprits = find_culprits(test, before);
  if (before.empty()) {
    say("unstable: " + result +
        ", so it may fail by itself, or CUDA may not begin in such a process; "
        "GPUTEST_MPS=off shows that");
  } else {
    say((culprits.seen_again ? "dependence: " : "unstable: ") + result + ", and failed after " + cases +
        " in one process. " +
        (culprits.seen_again ? "It depends on what ran before. To see it: "
                             : "It did not fail again after them within 10 s, so it may fail by itself. To try it: ") +
        command_after(test, culprits.filters));
  }
  if (counts) {
    say("failed: " + test.name +
        " failed in a worker, which counts whatever comes of it alone. With GPUTEST_DEPENDENCE=show it would not");
  }
  return {counts ? EXIT_FAILURE : end.exit_code, 0, true, culprits.seen_again};
}

Rerun rerun_and_check_end(const TestCase& test, std::vector<std::string> cases, std::chrono::milliseconds limits,
                          Clock::time_point until, bool left_exit, const os::Descriptor& ctest) {
  const auto end_with_ctest = [&] {
    if (supervise::is_ready(ctest)) {
      std::_Exit(EXIT_FAILURE); // what runs below ends with this process
    }
  };
  os::set_variable("GPUTEST_LOG", "off");
  const auto run = [&](const std::vector<std::string>& list) {
    for (const auto* const name :
         {"GPUTEST_TEST", "GPUTEST_LEARNED", "GPUTEST_ATTEMPT", "GPUTEST_WAIT_LIMIT", "GTEST_OUTPUT"}) {
      os::remove_variable(name); // of the case for which the worker was started, and of the list before
    }
    os::set_variable("GPUTEST_CASES", list_of(list));
    const auto limit = std::chrono::ceil<std::chrono::seconds>(std::min<Clock::duration>(limits, until - Clock::now()));
    os::set_variable("GPUTEST_TIMEOUT", std::to_string(std::max<std::int64_t>(limit.count(), 1)));
    return run_entry(command_of_worker(test),
                     {test.command.front(), policy::CommandKind::gputest_executable, false, false, 0, end_with_ctest});
  };
  std::optional<bool> exits; // whether exit() comes to its end without a case
  const auto is_executables_way = [&] {
    if (!exits) {
      const Silence silence;
      exits = run({"-*"}).report.exit_has_ended;
    }
    return !*exits;
  };
  if (left_exit && is_executables_way()) {
    return Rerun::ended_well;
  }
  auto result = Rerun::ended_well;
  int halvings = 0;
  for (std::vector<std::vector<std::string>> lists{std::move(cases)}; !lists.empty();) {
    const auto all = std::move(lists.back());
    lists.pop_back();
    const auto list = last_of(all);
    if (list.empty()) {
      return Rerun::ended_badly; // no program can be given a name of that length
    }
    if (list.size() < all.size()) {
      lists.emplace_back(all.begin(), all.end() - static_cast<std::ptrdiff_t>(list.size()));
    }
    if (Clock::now() >= until) {
      return Rerun::out_of_time;
    }
    const auto end = run(list);
    const auto& report = end.report;
    if (end.command.timed_out && Clock::now() >= until && report.ended < list.size()) {
      return Rerun::out_of_time;
    }
    const bool is_of_cases = end.signal == 0 && !end.command.timed_out && end.exit_code == EXIT_FAILURE &&
                             report.failed && report.failed_by_gputest.empty() && report.begun == report.ended;
    if (end.signal != 0 || (!does_not_fail(end.exit_code) && !is_of_cases)) {
      say("the process ended " + describe_end(end.signal != 0 ? end.signal : W_EXITCODE(end.exit_code, 0)));
      return Rerun::ended_badly;
    }
    result = is_of_cases && result == Rerun::ended_well ? Rerun::cases_failed : result;
    if (report.exit_has_ended || list.size() == 1 || is_executables_way()) {
      continue;
    }
    if (++halvings > most_halvings) {
      result = Rerun::not_shown;
      continue;
    }
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    lists.emplace_back(list.begin(), middle);
    lists.emplace_back(middle, list.end());
  }
  return result;
}

} // namespace gputest::workers
