// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/verdict.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace gputest::policy {

namespace {

constexpr int last_attempt = 3; // with whole devices

/// That CTest accepts as TIMEOUT_SIGNAL_NAME.
const std::array<std::pair<const char*, int>, 5> signals{
    {{"SIGINT", SIGINT}, {"SIGQUIT", SIGQUIT}, {"SIGTERM", SIGTERM}, {"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}}};

} // namespace

Verdict judge(const EntryReport& report, int exit_code, CommandKind command, int skip_code) {
  const bool only_tests = command == CommandKind::gputest_executable;
  const bool unfinished = report.begun > report.ended;
  const bool is_missing = only_tests && report.begun == 0;
  const bool nothing_ran = report.nothing_ran > 0 && report.nothing_ran == report.ended;
  const bool is_failed_by_gputest = !report.failed_by_gputest.empty() || nothing_ran || !report.not_run.empty();
  if (skip_code != 0 && exit_code == skip_code && !is_failed_by_gputest && !unfinished && !report.failed) {
    return {skipped_exit_code, "", true};
  }
  if (exit_code == skipped_exit_code && !report.not_run.empty()) {
    return {EXIT_FAILURE, report.not_run, false};
  }
  if (exit_code == skipped_exit_code) {
    if (report.skipped > 0 && !is_failed_by_gputest && !unfinished && !(only_tests && report.failed)) {
      return {exit_code, "", true};
    }
    return {EXIT_FAILURE,
            "the command ended with 77, which CTest would report as skipped, and gputest did not skip it. Some "
            "programs end with the number of their failures. To skip a test of another framework, set "
            "SKIP_REGULAR_EXPRESSION. If its tests use gputest, keep the environment of the entry: something such as "
            "'env -i' has cleared it",
            !is_failed_by_gputest && !(only_tests && (unfinished || is_missing))};
  }
  if (exit_code != 0) {
    return {exit_code, "", !is_failed_by_gputest && !(only_tests && (unfinished || is_missing))};
  }
  if (unfinished) {
    return {EXIT_FAILURE,
            "the command ended with 0, and " + (report.running.empty() ? "its tests" : "the test " + report.running) +
                " had begun and not ended. Something has called _exit(0) or become another program. Let a test return, "
                "or skip it with its framework's own macro",
            false};
  }
  if (only_tests && report.failed) {
    return {EXIT_FAILURE,
            "tests have failed, but the command ended with 0. End its main() with the result of run_all_tests(), and "
            "let nothing end the process after it: a handler of atexit(), a destructor",
            !is_failed_by_gputest};
  }
  if (nothing_ran) {
    return {EXIT_FAILURE,
            "no test ran, although the command ended with 0" +
                std::string{report.failed_by_gputest.empty()
                                ? ": it only lists them, or prints a help. Leave out --gtest_list_tests, --list-tests "
                                  "or --help, or run tests, too"
                                : ""},
            false};
  }
  if (!report.not_run.empty()) {
    return {EXIT_FAILURE, report.not_run, false};
  }
  if (!report.failed_by_gputest.empty()) {
    return {EXIT_FAILURE, "gputest has failed a test, although the command ended with 0: " + report.failed_by_gputest,
            false};
  }
  if (is_missing) {
    return {
        EXIT_FAILURE,
        "the command ended with 0, and gputest did not run its tests. End its main() with `return "
        "gputest::run_all_tests();` or gputest::report_end(), or write LAUNCHER on in gpu_add_test() for a program "
        "that does not use gputest. Or they cannot open /proc/<pid>/fd of gputest-entry, as in another pid namespace",
        false};
  }
  // The command may have dropped the exit code; CTest's summary shows a skip all the same.
  return {report.skipped > 0 ? skipped_exit_code : 0, "", true};
}

std::string message_for_forced_failure(const std::string& entry, bool will_fail) {
  return entry + (will_fail
                      ? " is expected to fail (WILL_FAIL), but not for this reason"
                      : " is judged by its output (PASS_, FAIL_ or SKIP_REGULAR_EXPRESSION), and fails in spite of "
                        "it");
}

std::string text_of_stop(const std::string& who, const Stopped& stopped) {
  const auto leased = to_string(stopped.leased);
  switch (stopped.cause) {
  case StopCause::own_unleased:
    return who + " takes memory outside of its leases, for which there was no room beside other processes";
  case StopCause::others:
    return who +
           (stopped.leased == Bytes{} ? " found no room for its lease"
                                      : " ran out of memory within its lease of " + leased) +
           (stopped.taken > Bytes{} ? ", while tests of other processes had " + to_string(stopped.taken) +
                                          " more than gputest had estimated for them"
                                    : ", while other processes had memory of its device without a lease");
  case StopCause::small_lease:
  case StopCause::none:
    break;
  }
  return who + " needs " + to_string(stopped.needed) + ", and its estimated lease of " + leased +
         " could not grow: others hold the rest";
}

bool runs_again(const EntryReport& report, int signal) {
  return report.stopped && report.failed_by_gputest.empty() && signal == 0;
}

bool is_withheld(const std::optional<std::string>& memory) { return memory.value_or("auto").rfind("auto", 0) == 0; }

int parse_attempts(const std::string& text) { return text == "1" ? 1 : text == "2" ? 2 : 3; }

NextAttempt next_attempt(const std::string& entry, const EntryReport& report, int attempt, int attempts) {
  const auto& running = report.running;
  const auto who = running.empty() || running == entry ? entry : entry + ": " + running;
  const std::string remedy = ". MEMORY in gpu_add_test() or gpu_discover_tests(), or an annotation, says what it needs";
  NextAttempt next;
  next.because = text_of_stop(who, report.stopped);
  const auto cause = report.stopped.cause;
  const std::string counts = report.has_failed() ? ". What had failed before counts, too" : ". Only that counts";
  if (cause != StopCause::small_lease && attempt < attempts) {
    next.text =
        next.because + ". It runs once more, alone" + counts +
        (cause == StopCause::own_unleased ? ". A lease of its suite, or MEMORY of its entry, leases it before" : "");
    next.number = attempts;
    next.alone = true;
    return next;
  }
  next.text = next.because + ". It was stopped before it took them, and ";
  if (attempt >= attempts) {
    next.text = "failed: " + next.text + "runs no more (GPUTEST_ATTEMPTS=" + std::to_string(attempts) + ")" + remedy;
    return next;
  }
  const auto needed = report.stopped.needed;
  next.number = attempt + 1;
  next.lease =
      next.number == last_attempt ? Bytes{} : std::max(needed + Bytes{needed.count() / 8}, report.stopped.possible);
  next.text += "runs again with " + (next.lease == Bytes{} ? std::string{"a whole device"} : to_string(next.lease)) +
               counts + remedy + ", so that it runs once";
  return next;
}

int TimeLimit::signal() const {
  const auto* const found =
      std::find_if(signals.begin(), signals.end(), [&](const auto& signal) { return signal.first == signal_name; });
  return found == signals.end() ? 0 : found->second;
}

namespace {

/// Up to 999999999 seconds, at least a millisecond, also `.5` and `5.`, as CTest takes. nullopt if it is not that.
std::optional<std::chrono::milliseconds> parse_seconds(const std::string& text) {
  const auto digits = [](const std::string& part) { return part.find_first_not_of("0123456789") == std::string::npos; };
  const auto point = text.find('.');
  const auto whole = text.substr(0, point);
  auto decimals = point == std::string::npos ? "" : text.substr(point + 1);
  if (!digits(whole) || !digits(decimals) || whole.size() > 9 || text.find_first_of("123456789") == std::string::npos) {
    return std::nullopt;
  }
  decimals = (decimals + "000").substr(0, 3);
  const std::chrono::milliseconds duration{std::stoll("0" + whole) * 1000 + std::stoll(decimals)};
  return std::max(duration, std::chrono::milliseconds{1});
}

} // namespace

std::optional<TimeLimit> parse_time_limit(const std::string& text) {
  std::istringstream all{text};
  std::vector<std::string> words{std::istream_iterator<std::string>{all}, {}};
  const auto count = words.size();
  words.resize(3);
  const auto duration = parse_seconds(words[0]);
  const auto grace = parse_seconds(count < 3 ? "1" : words[2]);
  if (!duration || !grace || count > 3) {
    return std::nullopt;
  }
  TimeLimit limit{*duration, words[0] + " s", words[1], *grace};
  const bool is_known = limit.signal() != 0 || count == 1;
  return is_known ? std::optional{limit} : std::nullopt;
}

std::string text_of_time_out(const TimedOut& run, const TimeLimit& limit) {
  const bool names_both = !run.entry.empty() && !run.running.empty() && run.running != run.entry;
  const auto who = names_both ? run.entry + ": " + run.running : run.entry.empty() ? run.running : run.entry;
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(run.waited).count();
  const auto not_counting =
      limit.text + ", the limit (TIMEOUT)" +
      (waited == 0 ? "" : ", not counting " + std::to_string(waited) + " s in which it waited for a GPU") + ". ";
  if (!run.left_behind.empty()) {
    return "timed out: " + run.entry +
           " has ended and left processes behind that hold its output, so CTest waits for "
           "them: " +
           run.left_behind + ". Together they have run for " + not_counting +
           "Those that were found end here. Let the test end what it starts, or give it an output of its own";
  }
  return "timed out: " + (who.empty() ? "this process" : who) + " has run for " + not_counting +
         "It ends here, and so do the processes that it started" +
         (limit.signal_name.empty() ? "" : ", after " + limit.signal_name + " (TIMEOUT_SIGNAL_NAME)") +
         ". If it needs longer, raise its TIMEOUT";
}

} // namespace gputest::policy
