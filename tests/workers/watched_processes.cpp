// SPDX-License-Identifier: BSD-3-Clause
#include "watched_processes.hpp"

#include "support/in_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::tests {

namespace {

/// By which others notice what a process does, or by which it is started, waits and ends.
constexpr std::array calls{
#ifdef SYS_open // not on all architectures
    SYS_open,
    SYS_rename,
    SYS_unlink,
    SYS_mkdir,
    SYS_poll,
    SYS_fork,
    SYS_vfork,
    SYS_dup2,
#endif
    SYS_openat,
    SYS_close,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_flock,
    SYS_fcntl,
    SYS_socket,
    SYS_bind,
    SYS_listen,
    SYS_connect,
    SYS_accept4,
    SYS_socketpair,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_ppoll,
    SYS_write,
    SYS_pwrite64,
    SYS_dup3,
    SYS_clone,
    SYS_clone3,
    SYS_execve,
    SYS_wait4,
    SYS_waitid,
    SYS_kill,
    SYS_setsid,
    SYS_prctl,
    SYS_pidfd_open,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_memfd_create,
    SYS_exit_group,
};

/// The one descriptor whose messages are not seen: by it the listener comes to this process.
constexpr int messenger = 777;

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

sock_filter load(std::size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
sock_filter answer(std::uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }
/// Skips the next instruction unless what was loaded is `value`.
sock_filter unless(std::uint32_t value) { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1); }

int install(std::vector<sock_filter>& filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

/// A child inherits the filter, and so does a program that it becomes. Returns the listener.
int install_filter() {
  std::vector<sock_filter> filter;
  filter.push_back(load(offsetof(seccomp_data, args))); // the low half; little endian
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, messenger, 0, 3));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  filter.push_back(unless(SYS_sendmsg));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  for (const auto call : calls) {
    filter.push_back(unless(static_cast<std::uint32_t>(call)));
    filter.push_back(answer(SECCOMP_RET_USER_NOTIF));
  }
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  return install(filter);
}

union Control {
  cmsghdr alignment;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

msghdr message_with(Control& control, iovec& part) {
  static char byte = 0;
  part = {&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  return message;
}

void send_descriptor(int socket, int descriptor) {
  Control control{};
  iovec part{};
  msghdr message = message_with(control, part);
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  ::sendmsg(socket, &message, 0);
}

int receive_descriptor(int socket) {
  Control control{};
  iovec part{};
  msghdr message = message_with(control, part);
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr) {
    return -1;
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

} // namespace

std::string WatchedProcesses::why_not() {
  const int error = in_child([] {
    std::vector<sock_filter> filter{answer(SECCOMP_RET_ALLOW)};
    return install(filter) < 0 ? errno : 0;
  });
  return error == 0
             ? ""
             : "the kernel or a container allows no filter of system calls: " + std::generic_category().message(error);
}

WatchedProcesses::WatchedProcesses(std::vector<std::string> command, const ChildProcess::Environment& environment,
                                   const std::string& output) {
  std::vector<std::string> assignments;
  for (const auto& [name, value] : environment) {
    assignments.push_back(name + "=" + value);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts) {
      all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
  };
  const auto arguments = pointers(command);
  const auto variables = pointers(assignments);
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    fail("socketpair");
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
    ::dup3(sockets[1], messenger, O_CLOEXEC);
    send_descriptor(messenger, install_filter()); // it is closed by execve()
    ::execve(arguments.front(), arguments.data(), variables.data());
    std::_Exit(EXIT_FAILURE);
  }
  ::close(sockets[1]);
  listener_ = receive_descriptor(sockets[0]);
  ::close(sockets[0]);
  end_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (listener_ < 0 || end_ < 0) {
    fail("a filter of system calls (seccomp) cannot be had here");
  }
  start_guard();
}

WatchedProcesses::~WatchedProcesses() {
  kill_all();
  ::close(listener_);
  char byte = 0;
  static_cast<void>(::write(guard_, &byte, 1) == 1 && ::read(guard_, &byte, 1) == 1); // until the guard has ended, too
  ::close(guard_);
  ::munmap(const_cast<pid_t*>(waiting_), sizeof *waiting_);
}

void WatchedProcesses::start_guard() {
  void* const shared = ::mmap(nullptr, sizeof *waiting_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::array<int, 2> sockets{};
  if (shared == MAP_FAILED || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    fail("socketpair");
  }
  waiting_ = static_cast<pid_t*>(shared);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() == 0) { // who kills this test with all below it does not find it
      ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
      ::dup2(STDOUT_FILENO, STDERR_FILENO);
      ::close(sockets[1]);
      char byte = 0;
      if (::read(sockets[0], &byte, 1) == 0) {
        kill_all();
      }
    }
    ::_exit(EXIT_SUCCESS);
  }
  ::waitpid(child, nullptr, 0);
  ::close(sockets[0]);
  guard_ = sockets[1];
}

void WatchedProcesses::kill_all() {
  if (*waiting_ > 0) {
    ::kill(*waiting_, SIGKILL);
  }
  while (const auto step = next()) {
    ::kill(step->thread, SIGKILL);
  }
}

std::optional<WatchedProcesses::Step> WatchedProcesses::next() {
  for (;;) {
    std::array<pollfd, 2> ready{{{listener_, POLLIN, 0}, {end_, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      continue;
    }
    if (ready[1].revents != 0) { // it keeps the filter until it is waited for (Linux before 6.11)
      ::waitpid(pid_, nullptr, 0);
      ::close(std::exchange(end_, -1));
    }
    if ((ready[0].revents & POLLIN) == 0) {
      if ((ready[0].revents & POLLHUP) != 0 && end_ < 0) {
        return std::nullopt; // nobody has the filter any more, and the program was waited for
      }
      continue;
    }
    seccomp_notif call{};
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0) { // else it was killed meanwhile
      *waiting_ = static_cast<pid_t>(call.pid);
      return Step{call.id, *waiting_, call.data.nr};
    }
  }
}

bool WatchedProcesses::has_next() const {
  pollfd ready{listener_, POLLIN, 0};
  return ::poll(&ready, 1, 20) > 0;
}

void WatchedProcesses::execute(const Step& step) const {
  seccomp_notif_resp answer{};
  answer.id = step.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &answer); // fails if it was killed or refused
  *waiting_ = 0;
}

void WatchedProcesses::refuse(const Step& step, int error) const {
  seccomp_notif_resp answer{};
  answer.id = step.id;
  answer.error = -error;
  ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  *waiting_ = 0;
}

} // namespace gputest::tests
