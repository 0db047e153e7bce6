// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/jobs.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>

namespace gputest::tests {

namespace {

/// Keeps this process, and those that it starts, on one processor, another one than the next job's: a tracer and what
/// it traces take turns, and on one processor neither has to be woken on another.
void stay_on_one_processor(std::size_t job) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return; // then they may move, and take longer
  }
  std::vector<std::size_t> processors;
  for (std::size_t number = 0; number < CPU_SETSIZE; ++number) {
    if (CPU_ISSET(number, &allowed)) {
      processors.push_back(number);
    }
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processors[job % processors.size()], &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

int do_share(std::size_t job, std::size_t jobs, std::size_t count, int output,
             const std::function<std::function<std::string(std::size_t)>()>& make_work) {
  const auto work = make_work();
  for (std::size_t number = job; number < count; number += jobs) {
    if (std::string wrong = work(number); !wrong.empty()) {
      wrong += '\n';
      static_cast<void>(!::write(output, wrong.data(), wrong.size()));
    }
  }
  return 0;
}

} // namespace

std::vector<std::string> in_jobs(std::size_t jobs, std::size_t count,
                                 const std::function<std::function<std::string(std::size_t)>()>& make_work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw std::system_error{errno, std::generic_category(), "pipe"};
  }
  std::vector<pid_t> processes;
  for (std::size_t job = 0; job < jobs; ++job) {
    processes.push_back(::fork());
    if (processes.back() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[0]);
      if (jobs > 1) { // else others run beside this program, and may be on that processor too
        stay_on_one_processor(job);
      }
      int status = 1;
      try {
        status = do_share(job, jobs, count, ends[1], make_work);
      } catch (const std::exception& error) {
        const std::string text = std::string{error.what()} + "\n";
        static_cast<void>(!::write(ends[1], text.data(), text.size()));
      }
      ::_exit(status);
    }
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t size = 0; (size = ::read(ends[0], piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  std::vector<std::string> said;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    said.push_back(line);
  }
  for (const pid_t process : processes) {
    int status = 0;
    if (::waitpid(process, &status, 0) != process || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      said.emplace_back("a process of this test ended before it was done");
    }
  }
  return said;
}

} // namespace gputest::tests
