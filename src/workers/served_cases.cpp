// SPDX-License-Identifier: BSD-3-Clause
#include "workers/served_cases.hpp"

#include "core/os/environment.hpp"
#include "core/policy/text.hpp"
#include "workers/own_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

constexpr std::string_view memory_variable = "GPUTEST_MEMORY=";

} // namespace

bool ServedCases::add(const WorkerMessage& job) {
  for (const auto& text : job.texts) {
    if (policy::starts_with(text, memory_variable)) {
      memory_.insert(text.substr(memory_variable.size()));
    }
  }
  if (!file_) {
    const WithoutUmask modes;
    do {
      file_ = Descriptor{::openat(place_.key_folder.number(), name_of_file_.c_str(),
                                  O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600)};
    } while (!file_ && errno == EEXIST && !(name_of_file_ += "-later").empty()); // a killed one had the same pid
  }
  limits_ += std::chrono::milliseconds{job.code};
  const auto line = job.texts.front() + "\n";
  return ::write(file_.number(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

void ServedCases::end_was_seen() const { ::unlinkat(place_.key_folder.number(), name_of_file_.c_str(), 0); }

void ServedCases::tell_end(const std::string& how, bool may_be_anothers_error, const std::string& wrote) const {
  const auto cases = lines_of(read_from(file_, 0));
  if (cases.empty()) {
    return;
  }
  if (note_end(place_.key_folder, may_be_anothers_error, wrote,
               "that had run " + policy::counted(cases.size(), "case") + ", " + cases.back() + " last, " + how)) {
    end_was_seen();
  }
  if (!may_be_anothers_error) {
    blame_for_shared_errors(place_, owner_);
  }
}

void ServedCases::show(const std::string& wrote) const {
  const auto cases = wrote.empty() ? std::vector<std::string>{} : lines_of(read_from(file_, 0));
  if (!cases.empty()) {
    add_to_file(place_.key_folder, "remarks",
                "gputest: after " + cases.back() + " a worker of " + test_.command.front() + " wrote:\n" +
                    policy::in_whole_lines(wrote));
  }
}

void ServedCases::run_again(bool left_exit) const {
  const pid_t supervisor = ::getpid();
  const pid_t child = ::fork(); // all that it starts is ended with its time; what the cases have left is not below it
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == supervisor) {
      run_again_here(left_exit);
    }
    std::_Exit(EXIT_SUCCESS);
  }
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
}

void ServedCases::run_again_here(bool left_exit) const {
  const Descriptor wrote{::memfd_create("gputest-end", MFD_CLOEXEC)};
  ::dup2(wrote.number(), STDOUT_FILENO);
  ::dup2(wrote.number(), STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);                                                  // NOLINT(concurrency-mt-unsafe)
  const Descriptor one_at_a_time = open_lock_file(place_.key_folder, "rerun"); // cases may have locks of CTest's
  ::flock(one_at_a_time.number(), LOCK_EX);
  // What one has declared is wrong for another. Annotations take precedence.
  os::set_variable("GPUTEST_MEMORY", memory_.size() == 1 ? *memory_.begin() : "auto");
  const auto cases = lines_of(read_from(file_, 0));
  const auto told = milliseconds_in(place_.key_folder, "end"); // 0 if there was no room for it
  const auto until = told.count() > 0 ? Clock::time_point{told} : Clock::now() + usual_time_limit;
  const auto result = rerun_and_check_end(test_, cases, limits_, until, left_exit, place_.ctest);
  if (result == Rerun::ended_badly) {
    tell_end("did not come to its end. To show how a process ends after them, they ran again in another one, which did "
             "not end as it should",
             false, read_from(wrote, 0));
  } else if (result == Rerun::ended_well ||
             add_to_file(place_.key_folder, "remarks",
                         "gputest: of " + policy::counted(cases.size(), "case") + " that had passed in a worker, " +
                             cases.back() + " last, some " +
                             (result == Rerun::not_shown
                                  ? "end their process before exit() has come to its end, too many to find out what "
                                    "they hide of the others. GPUTEST_ISOLATION=process shows that\n"
                              : result == Rerun::out_of_time
                                  ? "had no time to run once more, which was to show how their process ends. "
                                    "GPUTEST_ISOLATION=process shows that\n"
                                  : "failed when they ran once more. That does not count: it was to show how their "
                                    "process ends, and that was as it should\n"))) {
    end_was_seen();
  }
}

} // namespace gputest::workers
