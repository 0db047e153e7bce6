// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/system_calls.hpp"

#include <sys/file.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <optional>

namespace gputest::tests {

namespace {

struct Kind {
  std::string name;
  std::vector<int> errors;
};

const std::map<long, Kind>& kinds() {
  static const std::map<long, Kind> kinds{
      {SYS_open, {"open", {EMFILE, ENFILE, ENOMEM, EACCES, ENOENT, EINTR, EIO, ENOSPC, EROFS}}},
      {SYS_openat, {"openat", {EMFILE, ENFILE, ENOMEM, EACCES, ENOENT, EINTR, EIO, ENOSPC, EROFS}}},
      {SYS_close, {"close", {EINTR, EIO}}},
      {SYS_flock, {"flock", {EINTR, ENOLCK, ENOMEM}}},
      {SYS_fcntl, {"fcntl", {}}},
      {SYS_clock_nanosleep, {"clock_nanosleep", {EINTR}}},
      {SYS_pwrite64, {"pwrite64", {ENOSPC, EIO, EINTR, EDQUOT, ENOMEM}}},
      {SYS_read, {"read", {EINTR, EIO}}}, // EAGAIN is an answer of a FIFO, and not a failure
      {SYS_write, {"write", {ENOMEM}}},   // without blocking, to a pipe
      {SYS_ppoll, {"ppoll", {EINTR, ENOMEM, EINVAL}}},
      {SYS_mmap, {"mmap", {ENOMEM, EAGAIN, ENODEV, EACCES}}},
      {SYS_brk, {"brk", {ENOMEM}}},
      {SYS_stat, {"stat", {EACCES, ENOENT, EIO, ENOMEM}}},
      {SYS_lstat, {"lstat", {EACCES, ENOENT, EIO, ENOMEM}}},
      {SYS_newfstatat, {"newfstatat", {EACCES, ENOENT, EIO, ENOMEM}}},
      {SYS_statx, {"statx", {EACCES, ENOENT, EIO, ENOMEM}}},
      {SYS_access, {"access", {EACCES, ENOENT, EIO, ENOMEM}}},
      {SYS_faccessat, {"faccessat", {EACCES, ENOENT, EIO, ENOMEM}}},
      {SYS_mkdir, {"mkdir", {ENOSPC, EACCES, EROFS, EDQUOT, EIO, ENOMEM}}},
      {SYS_mknod, {"mknod", {ENOSPC, EACCES, EPERM, EROFS, EDQUOT, EIO, ENOMEM}}},
      {SYS_mknodat, {"mknodat", {ENOSPC, EACCES, EPERM, EROFS, EDQUOT, EIO, ENOMEM}}},
      {SYS_mkdirat, {"mkdirat", {ENOSPC, EACCES, EROFS, EDQUOT, EIO, ENOMEM}}},
      {SYS_renameat2, {"renameat2", {ENOSPC, EACCES, EROFS, EDQUOT, EIO}}},
      {SYS_pread64, {"pread64", {EIO, EINTR, ENOMEM}}},
      {SYS_rename, {"rename", {ENOSPC, EACCES, EROFS, EDQUOT, EIO, ENOTEMPTY}}},
      {SYS_fallocate, {"fallocate", {ENOSPC, EINTR, EIO, EFBIG, EDQUOT, ENOMEM}}},
      {SYS_ftruncate, {"ftruncate", {EIO, EINTR, ENOSPC}}},
      {SYS_chmod, {"chmod", {EPERM, EIO, EROFS}}},
      {SYS_fchmod, {"fchmod", {EPERM, EIO, EROFS}}},
      {SYS_fchmodat, {"fchmodat", {EPERM, EIO, EROFS}}},
      {SYS_getdents64, {"getdents64", {EIO, ENOENT, ENOMEM}}},
      {SYS_unlink, {"unlink", {EACCES, EIO, EROFS}}},
      {SYS_unlinkat, {"unlinkat", {EACCES, EIO, EROFS}}},
      {SYS_rmdir, {"rmdir", {EACCES, EIO, EROFS}}},
      {SYS_getrandom, {"getrandom", {EINTR, ENOSYS}}},
      {SYS_readlink, {"readlink", {EACCES, EIO}}},
      // These cannot fail on what the library passes to them.
      {SYS_fstat, {"fstat", {}}},
      {SYS_munmap, {"munmap", {}}},
      {SYS_geteuid, {"geteuid", {}}},
      {SYS_fstatfs, {"fstatfs", {}}},
      {SYS_getpid, {"getpid", {}}},
      {SYS_gettid, {"gettid", {}}},
      {SYS_getuid, {"getuid", {}}},
      {SYS_lseek, {"lseek", {}}},
      {SYS_futex, {"futex", {}}},
      {SYS_clock_gettime, {"clock_gettime", {}}},
      {SYS_madvise, {"madvise", {}}},
  };
  return kinds;
}

bool is_unlocking(const SystemCall& call) { return call.number == SYS_flock && (call.arguments[1] & LOCK_UN) != 0; }

/// As fstat() is made: of a descriptor, and not of a path.
bool is_of_a_descriptor(const SystemCall& call) {
  return call.number == SYS_newfstatat && (call.arguments[3] & AT_EMPTY_PATH) != 0;
}

/// Whether the kernel has not begun to wake it: one that is being woken on another core is still in its system call.
bool is_still_asleep(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')'); // the name before it may contain anything
  return name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0;
}

/// The system call that a process is blocked in; the kernel says `running` of one that is not blocked.
std::optional<SystemCall> blocked_in(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/syscall"};
  SystemCall call;
  if (!(file >> call.number)) {
    return std::nullopt;
  }
  for (auto& argument : call.arguments) {
    std::string word; // 0x..., which >> of a number does not take
    if (!(file >> word)) {
      return std::nullopt; // blocked, but not in a system call: in a page fault
    }
    argument = std::stoul(word, nullptr, 16);
  }
  if (!is_still_asleep(process)) {
    return std::nullopt;
  }
  return call;
}

} // namespace

std::string name_of(const SystemCall& call) {
  const auto kind = kinds().find(call.number);
  return kind == kinds().end() ? "call " + std::to_string(call.number) : kind->second.name;
}

std::vector<int> errors_of(const SystemCall& call) {
  const auto kind = kinds().find(call.number);
  if (kind == kinds().end()) {
    return {EIO, ENOMEM, EINTR}; // unknown: whatever it is, it has to be borne
  }
  if (call.number == SYS_fcntl && call.arguments[1] == F_SETLK) {
    return {ENOLCK, EINTR, EIO}; // locking and unlocking; a security module or a network file system may refuse it
  }
  if (is_of_a_descriptor(call) || call.number == SYS_fcntl) {
    return {}; // looks at what the kernel has in memory, or sets a descriptor's flags
  }
  if (is_unlocking(call)) {
    return {ENOMEM}; // before Linux 6.0
  }
  auto errors = kind->second.errors;
  const bool creates = call.number == SYS_openat && (call.arguments[2] & O_CREAT) != 0;
  if (call.number == SYS_openat && !creates) {
    errors.erase(std::remove(errors.begin(), errors.end(), ENOSPC), errors.end());
  }
  return errors;
}

bool is_of_the_allocator(const SystemCall& call) {
  return call.number == SYS_brk || (call.number == SYS_mmap && (call.arguments[3] & MAP_ANONYMOUS) != 0);
}

bool may_be_of_notifying(const SystemCall& call) {
  return call.number == SYS_write || call.number == SYS_pread64 ||
         (call.number == SYS_openat && (call.arguments[2] & O_ACCMODE) != O_RDONLY);
}

bool sleeps_until_woken(const SystemCall& call) { return is_sleep(call) && call.arguments[2] == 0; }

bool lasts(int error) { return error != EINTR && error != EAGAIN && error != EDEADLK; }

bool sleeps_in_poll(pid_t process) {
  const auto call = blocked_in(process);
  return call && is_sleep(*call);
}

bool sleeps_in_read(pid_t process) {
  const auto call = blocked_in(process);
  return call && call->number == SYS_read;
}

bool sleeps_for_a_mutex(pid_t process) {
  const auto call = blocked_in(process);
  return call && waits_for_a_mutex(*call);
}

bool sleeps_for_ever(pid_t process) {
  const auto call = blocked_in(process);
  return call && sleeps_until_woken(*call);
}

} // namespace gputest::tests
