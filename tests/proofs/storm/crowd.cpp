// SPDX-License-Identifier: BSD-3-Clause
#include "crowd.hpp"

#include "core/ledger/stored_record.hpp"
#include "proofs/lock_holder.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>
#include <utility>

namespace gputest::tests::storm {

namespace {

constexpr unsigned few_us_until_memory_is_back = 100; // mostly; every waiter looks often until it is
constexpr unsigned most_us_until_memory_is_back = 3000;
constexpr unsigned most_us_stopped = 3000; // mostly, and where it has the ledger's mutex
constexpr unsigned most_us_stopped_for_long = 200'000;

/// What every process of a storm does first.
void become_mortal() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_TIMERSLACK, 1);
}

} // namespace

Crowd::Crowd(Board& board, std::string folder, std::mt19937& random)
    : board_{&board}, folder_{std::move(folder)}, random_{&random} {
  // Whoever loses its parent becomes a child of this process.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t ends{};
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  // Sanitizers catch them, and whoever is started here may be killed before it has done anything.
  for (const int signal : {SIGSEGV, SIGABRT}) {
    static_cast<void>(std::signal(signal, SIG_DFL));
  }
}

std::uint64_t Crowd::next_number() {
  while (std::any_of(processes_.begin(), processes_.end(),
                     [&](const Process& process) { return process.number % most_rows == next_number_ % most_rows; })) {
    ++next_number_;
  }
  return next_number_++;
}

bool Crowd::start_one() {
  Process process;
  process.number = next_number();
  Row& row = board_->row_of(process.number);
  row.number = process.number;
  row.holds_since = 0;
  row.waiting.queued_at = 0;
  row.was_stopped = false;
  row.doing = Doing::starting;
  row.pulse = Pulse::runs;
  const auto seed = static_cast<unsigned>((*random_)());
  std::array<int, 2> life{-1, -1};
  process.pid = ::pipe2(life.data(), O_CLOEXEC) == 0 ? ::fork() : -1;
  if (process.pid == 0) {
    become_mortal();
    ::close(life[0]);
    ::_exit(live(*board_, folder_, process.number, seed));
  }
  const int error = errno;
  ::close(life[1]);
  if (process.pid < 0) {
    ::close(life[0]);
    board_->violate(Rule::failure, std::string{"cannot start a process: "} + std::generic_category().message(error));
    return false;
  }
  process.life = life[0];
  processes_.push_back(process);
  ++running_;
  ++board_->starts;
  return true;
}

void Crowd::strike_one() {
  if (processes_.empty()) {
    return;
  }
  const Process& process = processes_.at(up_to(static_cast<unsigned>(processes_.size()) - 1));
  if (process.pid != 0) {
    constexpr std::array<int, 6> signals{SIGKILL, SIGKILL, SIGKILL, SIGABRT, SIGSEGV, SIGSTOP};
    ::kill(process.pid, signals.at(up_to(5)));
  }
}

void Crowd::stop_one() {
  const Process& process = processes_.at(up_to(static_cast<unsigned>(processes_.size()) - 1));
  if (process.pid != 0) {
    ::kill(process.pid, SIGSTOP);
  }
}

void Crowd::keep_stopped(bool keep) {
  keep_stopped_ = keep;
  for (auto& process : processes_) {
    if (!keep && process.stays_stopped) {
      process.stays_stopped = false;
      process.goes_on_at = Clock::now();
    }
  }
}

void Crowd::attend() {
  sigset_t ends{};
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGCHLD);
  const timespec a_millisecond{0, 1'000'000};
  ::sigtimedwait(&ends, nullptr, &a_millisecond);
  reap();
  let_go_on();
  give_back_memory();
}

void Crowd::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    const auto process =
        std::find_if(processes_.begin(), processes_.end(), [&](const auto& p) { return p.pid == pid; });
    if (process == processes_.end()) {
      continue; // a child that outlived its parent
    }
    if (WIFSTOPPED(status)) {
      note_stop(*process);
      continue;
    }
    process->pid = 0;
    process->goes_on_at.reset();
    process->stays_stopped = false;
    --running_;
    if (WIFSIGNALED(status)) {
      ++board_->killed_by.at(static_cast<std::size_t>(WTERMSIG(status)));
      ++board_->killed_while.at(static_cast<std::size_t>(board_->row_of(process->number).doing.load()));
    } else if (WEXITSTATUS(status) == 0) {
      ++board_->finished;
      ++board_->steps;
    } else {
      board_->violate(Rule::failure, "process " + std::to_string(process->number) + " ended with " +
                                         std::to_string(WEXITSTATUS(status)));
    }
  }
}

void Crowd::note_stop(Process& process) {
  board_->row_of(process.number).was_stopped = true;
  ++board_->stops;
  const bool may_stay = !holds_mutex(process.pid, folder_ + "/" + ledger::ledger_name + "/mutex");
  if (keep_stopped_ && may_stay) {
    process.stays_stopped = true;
    ++board_->kept_stopped;
    return;
  }
  const unsigned most_us = may_stay && up_to(3) == 0 ? most_us_stopped_for_long : most_us_stopped;
  process.goes_on_at = Clock::now() + std::chrono::microseconds{up_to(most_us)};
}

void Crowd::let_go_on() {
  for (auto& process : processes_) {
    if (process.goes_on_at && *process.goes_on_at <= Clock::now()) {
      process.goes_on_at.reset();
      ::kill(process.pid, up_to(3) == 0 ? SIGKILL : SIGCONT);
    }
  }
}

/// The devices show the memory of the dead as free only some time after they, and their forked children, have ended,
/// and not all of them at once.
void Crowd::give_back_memory() {
  for (auto& process : processes_) {
    if (process.pid == 0 && !process.back_at) {
      pollfd life{process.life, 0, 0};
      if (::poll(&life, 1, 0) > 0) {
        ::close(process.life);
        const unsigned most_us = up_to(3) == 0 ? most_us_until_memory_is_back : few_us_until_memory_is_back;
        process.back_at = Clock::now() + std::chrono::microseconds{up_to(most_us)};
      }
    }
  }
  for (std::size_t position = processes_.size(); position-- > 0;) {
    Process& process = processes_[position];
    if (!process.back_at || *process.back_at > Clock::now()) {
      continue;
    }
    bool all_back = true;
    for (auto& word : board_->row_of(process.number).uses) {
      const Use use = Use::unpacked(word);
      if (use.inside && up_to(2) == 0) {
        all_back = false;
      } else if (use.inside) {
        Use none;
        none.version = use.version + 1;
        word = none.packed();
      }
    }
    if (all_back) {
      processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(position));
    }
  }
}

void Crowd::clear() {
  while (!processes_.empty()) {
    for (const auto& process : processes_) {
      if (process.pid != 0) {
        ::kill(process.pid, SIGKILL);
      }
    }
    attend();
  }
}

bool Crowd::somebody_stopped() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const Process& process) { return process.goes_on_at.has_value(); });
}

bool Crowd::settled() const {
  return std::all_of(processes_.begin(), processes_.end(), [&](const Process& process) {
    return process.pid != 0 && !process.goes_on_at &&
           (process.stays_stopped || board_->row_of(process.number).pulse != Pulse::runs);
  });
}

std::string Crowd::description() const {
  constexpr std::array<const char*, 3> pulses{"runs", "queued", "parked"};
  std::string text;
  for (const auto& process : processes_) {
    const Row& row = board_->row_of(process.number);
    text += "\n  process " + std::to_string(process.number) + " pid " + std::to_string(process.pid) + ": " +
            name_of(row.doing) + ", " +
            (process.stays_stopped ? "stopped" : pulses.at(static_cast<std::size_t>(row.pulse.load())));
    for (std::size_t device = 0; device < board_->devices; ++device) {
      if (const Use use = Use::unpacked(row.uses.at(device)); use.inside) {
        text += " [" + std::to_string(device) + ": " + std::to_string(use.overhead_bytes) + "+" +
                std::to_string(use.leased_bytes) + (use.exclusive ? " exclusive" : "") +
                (use.medium_lock ? " medium_lock" : "") + "]";
      }
    }
  }
  return text;
}

} // namespace gputest::tests::storm
