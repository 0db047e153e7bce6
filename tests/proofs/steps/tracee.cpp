// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/tracee.hpp"

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gputest::tests {

namespace {

user_regs_struct registers(pid_t process) {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, process, nullptr, &registers) != 0) {
    throw std::system_error{errno, std::generic_category(), "PTRACE_GETREGS"};
  }
  return registers;
}

void set_registers(pid_t process, user_regs_struct registers) {
  if (::ptrace(PTRACE_SETREGS, process, nullptr, &registers) != 0) {
    throw std::system_error{errno, std::generic_category(), "PTRACE_SETREGS"};
  }
}

unsigned long next_bytes(pid_t process) {
  return static_cast<unsigned long>(::ptrace(PTRACE_PEEKTEXT, process, registers(process).rip, nullptr));
}

SystemCall call_of(const user_regs_struct& registers, unsigned long long number) {
  return {static_cast<long>(number), {registers.rdi, registers.rsi, registers.rdx, registers.r10}};
}

constexpr unsigned long syscall_instruction = 0x050f;
constexpr unsigned long breakpoint_instruction = 0xcc;

} // namespace

std::string Tracee::why_not() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return "ptrace() is not allowed: " + std::generic_category().message(WEXITSTATUS(status)) +
           "; in a container, start it with --cap-add=SYS_PTRACE";
  }
  if (!std::ifstream{"/proc/self/syscall"}) {
    return "/proc/<pid>/syscall, which tells that a process sleeps for ever, cannot be read";
  }
  return {};
}

std::optional<SystemCall> Tracee::at_system_call() const {
  if ((next_bytes(pid_) & 0xffffU) != syscall_instruction) {
    return std::nullopt;
  }
  const auto now = registers(pid_);
  return call_of(now, now.rax);
}

bool Tracee::at_breakpoint() const { return (next_bytes(pid_) & 0xffU) == breakpoint_instruction; }

SystemCall Tracee::system_call() const {
  const auto now = registers(pid_);
  return call_of(now, now.orig_rax);
}

void Tracee::leave_out() const {
  auto now = registers(pid_);
  now.orig_rax = static_cast<unsigned long long>(-1);
  set_registers(pid_, now);
}

void Tracee::set_result(long result) const {
  auto now = registers(pid_);
  now.rax = static_cast<unsigned long long>(result);
  set_registers(pid_, now);
}

void Tracee::set_third_argument(unsigned long value) const {
  auto now = registers(pid_);
  now.rdx = value;
  set_registers(pid_, now);
}

void Tracee::set_word(std::uintptr_t address, long value) const {
  if (::ptrace(PTRACE_POKEDATA, pid_, address, value) != 0) {
    throw std::system_error{errno, std::generic_category(), "PTRACE_POKEDATA"};
  }
}

Tracee::Tracee(pid_t process) : pid_{process} {
  if (::waitpid(pid_, &status_, 0) != pid_ || !WIFSTOPPED(status_) ||
      ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0) {
    throw std::system_error{errno, std::generic_category(), "cannot trace a process of this test"};
  }
  let_go();
}

void Tracee::let_go() {
  inside_call_ = false;
  ::ptrace(PTRACE_CONT, pid_, nullptr, 0);
}

Tracee::Stop Tracee::await_breakpoint() { return await(sleeps_for_ever); }
Tracee::Stop Tracee::to_boundary() { return resume(PTRACE_SYSCALL); }
Tracee::Stop Tracee::step() { return resume(PTRACE_SINGLESTEP); }

Tracee::Stop Tracee::resume(int request) {
  for (;;) {
    ::ptrace(static_cast<__ptrace_request>(request), pid_, nullptr, static_cast<long>(signal_));
    signal_ = 0;
    const Stop stop = await(sleeps_for_ever);
    if (signal_ == 0) {
      return stop;
    }
  }
}

Tracee::Stop Tracee::to_blocked() {
  constexpr int most_boundaries = 10; // those of the try, and then the pause
  for (int boundary = 0; boundary < most_boundaries; ++boundary) {
    const Stop stop = to_boundary();
    if (stop == Stop::entry && waits_for_a_mutex(system_call())) {
      return Stop::asleep;
    }
    if (stop != Stop::entry && stop != Stop::exit) {
      return stop;
    }
  }
  return Stop::entry;
}

Tracee::Stop Tracee::await(bool (*is_asleep)(pid_t)) {
  for (unsigned looks = 0;; ++looks) {
    const pid_t seen = ::waitpid(pid_, &status_, WNOHANG);
    if (seen < 0 || (seen == pid_ && !WIFSTOPPED(status_))) {
      return Stop::gone;
    }
    if (seen == pid_) {
      break;
    }
    if (looks > 1000 && is_asleep(pid_)) {
      if (::waitpid(pid_, &status_, WNOHANG) == pid_) {
        break;
      }
      return Stop::asleep;
    }
    ::sched_yield();
  }
  const int signal = WSTOPSIG(status_);
  if (signal == (SIGTRAP | 0x80)) {
    inside_call_ = !inside_call_;
    return inside_call_ ? Stop::entry : Stop::exit;
  }
  if (signal != SIGTRAP) {
    signal_ = signal;
    return Stop::step;
  }
  siginfo_t information{};
  ::ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &information);
  return information.si_code == TRAP_TRACE || information.si_code == TRAP_BRKPT ? Stop::step : Stop::breakpoint;
}

std::string Tracee::file(unsigned long descriptor) const {
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(descriptor));
}

std::string Tracee::end() const {
  return WIFSIGNALED(status_) ? "killed by signal " + std::to_string(WTERMSIG(status_))
                              : "ended with " + std::to_string(WEXITSTATUS(status_));
}

} // namespace gputest::tests
