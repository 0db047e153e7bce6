// SPDX-License-Identifier: BSD-3-Clause
#include "workers/workers_end.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/policy/text.hpp"
#include "supervise/events.hpp"
#include "supervise/watcher.hpp"
#include "workers/meeting_place.hpp"
#include "workers/mps_server.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using namespace supervise; // NOLINT(google-build-using-namespace)
/// How long it waits for workers: a little longer than CTest does for a test without a TIMEOUT, as supervisors do. Its
/// own TIMEOUT (cmake/detail/workers.cmake) is longer than both times together.
constexpr std::chrono::seconds longest_end{1'600};
/// The last part of that, in which no cases run once more.
constexpr std::chrono::seconds after_reruns{100};
/// How long a supervisor may take to end when it was killed.
constexpr std::chrono::seconds longest_kill{10};

/// Says how many workers of an executable have run, and why they ended: where there are many, cases pay for starts.
void tell_of_workers(const std::string& executable, const std::map<std::string, std::size_t>& ends, std::size_t cases) {
  std::size_t workers = 0;
  std::string why;
  for (const auto& [end, count] : ends) {
    workers += count;
    why += (why.empty() ? ": " : ", ") + std::to_string(count) + " ended " + end;
  }
  if (workers > 0) {
    say(policy::counted(cases, "case") + " of " + executable + " had " + policy::counted(workers, "worker") + why);
  }
}

/// The folder of a `ctest --rerun-failed` that repeats this entry because it failed in the run before, or did not run.
/// A log that is older than `mark` says nothing of its time: ctest was killed before it could write another one.
std::optional<std::string> folder_of_repeated_failure(const std::string& mark) {
  const auto ctest = os::find_ctest();
  const auto folder = ctest ? os::working_directory_of(ctest->pid) : std::nullopt;
  const auto& arguments = ctest ? ctest->arguments : std::vector<std::string>{};
  if (!folder || std::find(arguments.begin(), arguments.end(), "--rerun-failed") == arguments.end()) {
    return std::nullopt;
  }
  // Each dashboard leaves one, with a date in its name. ctest is to read the newest, and CMake 3.25 reads the first
  // that the folder lists.
  std::filesystem::path first;
  std::filesystem::path newest;
  std::error_code error;
  const auto marked = std::filesystem::last_write_time(mark, error); // the first of all times if there is none
  for (std::filesystem::directory_iterator file{*folder + "/Testing/Temporary", error}, end; !error && file != end;
       file.increment(error)) {
    std::error_code gone;
    if (file->path().filename().string().rfind("LastTestsFailed", 0) == 0 &&
        last_write_time(file->path(), gone) >= marked) {
      first = first.empty() ? file->path() : first;
      newest =
          newest.empty() || last_write_time(file->path(), gone) > last_write_time(newest, gone) ? file->path() : newest;
    }
  }
  const auto failed = os::contents_of(first.string()).value_or("") + os::contents_of(newest.string()).value_or("");
  return failed.find(":" + os::variable("GPUTEST_TEST") + "\n") == std::string::npos ? std::nullopt : folder;
}

/// Writes the names of the cases that take long, a line each. `changes` are lines of MeetingPlace's file `long`.
void note_long_cases(const std::string& file, const std::string& changes) {
  if (file.empty() || changes.empty()) {
    return;
  }
  auto names = lines_of(os::contents_of(file).value_or(""));
  for (const auto& change : lines_of(changes)) {
    names.erase(std::remove(names.begin(), names.end(), change.substr(1)), names.end());
    if (change.front() == '+') {
      names.push_back(change.substr(1));
    }
  }
  std::string text;
  for (const auto& name : names) {
    text += name + "\n";
  }
  const auto unfinished =
      file + "-" + std::to_string(::getpid()); // a ctest that starts reads the old one or the new one
  const Descriptor to{::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (::write(to.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::rename(unfinished.c_str(), file.c_str()) != 0) {
    ::unlink(unfinished.c_str()); // they start in another order
  }
}

/// Blocks until no supervisor of the folder is left, and none is being made. One that has not ended then is killed.
void wait_for_supervisors(const Descriptor& folder, Clock::time_point until) {
  const auto start = open_lock_file(folder, "start");
  for (bool is_printed = false;;) {
    // Whoever makes a supervisor has the lock, until the supervisor shows its presence and its worker is ready.
    const bool none_is_made = !start || ::flock(start.number(), LOCK_EX | LOCK_NB) == 0;
    const auto supervisors = present_in(folder, "processes");
    if (none_is_made && supervisors.empty()) {
      return;
    }
    ::flock(start.number(), LOCK_UN);
    if (!supervisors.empty() && !is_printed) {
      is_printed = true;
      std::string names;
      for (const auto supervisor : supervisors) {
        names += (names.empty() ? ": " : ", ") + os::name_of_process(supervisor);
      }
      say("waits until " + std::to_string(supervisors.size()) +
          (supervisors.size() == 1 ? " worker ends" : " workers end") + names);
    }
    for (const auto supervisor : supervisors) { // a case may have stopped it
      ::kill(supervisor, Clock::now() > until ? SIGKILL : SIGCONT);
    }
    if (Clock::now() > until + longest_kill) { // what it has served is told
      return;
    }
    Events{}.add(open_pidfd(supervisors.empty() ? -1 : supervisors.front())).wait(std::chrono::milliseconds{20});
  }
}

/// What is to be told of the supervisors that have ended and have not told how their workers did.
std::string text_of_unseen(const MeetingPlace& place, const Descriptor& folder, const std::string& executable) {
  std::string text;
  for (const auto& name : names_in(folder)) {
    if (name.rfind(unconfirmed, 0) == 0) {
      const auto cases = lines_of(contents_of(folder, name));
      text += "gputest: failed: nobody has seen the end of a process of " + executable + " that had run " +
              (cases.empty() ? "cases" : policy::counted(cases.size(), "case") + ", " + cases.back() + " last") +
              ": its gputest-supervisor (" + name.substr(std::strlen(unconfirmed)) +
              ") was killed, or had no room in " + place.path + " to write down how it ended. Run the cases again\n";
    }
  }
  return text;
}

} // namespace

int end_workers(const std::string& executable, const std::string& long_cases, const std::string& fixtures) {
  const auto until = Clock::now() + longest_end;
  const auto last_rerun = std::to_string(
      std::chrono::duration_cast<std::chrono::milliseconds>((until - after_reruns).time_since_epoch()).count());
  const auto place = open_meeting_place({});
  // Is there until this passes, whatever ends it. Where it cannot be made, nothing shows that this had not failed.
  const auto mark = long_cases.empty() ? "" : long_cases + "-failed";
  const bool had_passed = ::access(mark.c_str(), F_OK) != 0;
  const bool is_made{Descriptor{::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)}};
  std::string failures;
  std::string remarks;
  std::string changes;                     // of the long cases
  std::map<std::string, std::size_t> ends; // of workers, by reasons
  std::size_t cases = 0;
  bool any = false;
  for (const auto& worker_key : place.run_folder ? names_in(place.run_folder) : std::vector<std::string>{}) {
    const auto folder = open_folder(place.run_folder.number(), worker_key);
    if (!is_of(folder, executable, fixtures)) {
      continue;
    }
    any = true;
    if (!write_file(folder, "end", last_rerun)) {
      write_file(folder, "end", ""); // needs no room
    }
    wait_for_supervisors(folder, until);
    auto text =
        contents_of(folder, "reported") + contents_of(folder, "failures") + text_of_unseen(place, folder, executable);
    if (const auto notes = contents_of(folder, "notes"); is_there(place.run_folder, own_error)) {
      static_cast<void>(::write(STDERR_FILENO, notes.data(), notes.size()) < 0);
    } else if (!notes.empty()) {
      text += notes + "gputest: failed: no case of this run failed on a server of MPS and alone, so no shared error "
                      "explains that. GPUTEST_MPS=off shows whether it is\n";
    }
    failures += text;
    remarks += contents_of(folder, "remarks");
    ::unlinkat(folder.number(), "remarks", 0);
    changes += contents_of(folder, "long");
    ::unlinkat(folder.number(), "long", 0);
    for (const auto& [count, why] : ended_workers(folder)) {
      ++ends[why];
      cases += count;
    }
    ::unlinkat(folder.number(), "end", 0);      // a ctest -S may run the cases again
    if (write_file(folder, "reported", text)) { // for a further attempt (--repeat)
      for (const auto& name : names_in(folder)) {
        if (name == "failures" || name == "notes" || name == "workers" || name.rfind(unconfirmed, 0) == 0) {
          ::unlinkat(folder.number(), name.c_str(), 0);
        }
      }
    }
  }
  note_long_cases(long_cases, changes);
  const auto repeated = failures.empty() && !(had_passed && is_made) ? folder_of_repeated_failure(mark) : std::nullopt;
  if (repeated) {
    say("failed: it failed in the run before, and ctest --rerun-failed leaves out cases that passed then, so nothing "
        "shows that their workers end as they should now. Run them again: " +
        policy::shell_words({"ctest", "--test-dir", *repeated}));
    return EXIT_FAILURE;
  }
  if (!any && os::variable("GPUTEST_ISOLATION") != "process") {
    say("skipped: no worker of " + executable + " has run, so there is no end of one to check");
    if (had_passed) {
      ::unlink(mark.c_str());
    }
    return skipped_exit_code;
  }
  tell_of_workers(executable, ends, cases);
  static_cast<void>(::write(STDERR_FILENO, remarks.data(), remarks.size()) < 0);
  if (place.run_folder && has_used_mps_server(place.run_folder)) {
    say("workers of this run shared GPUs by MPS");
  }
  if (failures.empty()) {
    ::unlink(mark.c_str());
    return EXIT_SUCCESS;
  }
  static_cast<void>(::write(STDERR_FILENO, failures.data(), failures.size()) < 0);
  say("what fails at the end of a process, such as in main() after the tests, in exit handlers, or by a check for "
      "leaks, is seen there only. GPUTEST_ISOLATION=process runs each case in a process of its own, and shows whose it "
      "is");
  return EXIT_FAILURE;
}

} // namespace gputest::workers
