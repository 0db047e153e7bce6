// SPDX-License-Identifier: BSD-3-Clause
#include "platform/descendants.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gputest::platform {

namespace {

/// A directory entry as the kernel writes it; readdir() allocates memory.
struct KernelEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
};
constexpr std::size_t name_offset = offsetof(KernelEntry, type) + 1;

/// The pids of this process and of its descendants. The kernel gives none above this limit (PID_MAX_LIMIT).
using Family = std::bitset<std::size_t{1} << 22>;

bool has(const Family& family, pid_t pid) {
  return pid > 0 && static_cast<std::size_t>(pid) < family.size() && family[static_cast<std::size_t>(pid)];
}

/// -1 if it is not a number.
pid_t pid_of(const char* name) {
  pid_t pid = 0;
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') {
      return -1;
    }
    pid = pid * 10 + (*name - '0');
  }
  return pid;
}

/// From /proc/<pid>/stat: `<pid> (<name>) <state> <parent> …`, where the name may hold anything. -1 if it is gone.
pid_t parent_of(int proc, const char* pid) {
  std::array<char, 64> path{};
  const std::size_t length = std::strlen(pid);
  if (length + 6 > path.size()) {
    return -1;
  }
  std::memcpy(path.data(), pid, length);
  std::memcpy(path.data() + length, "/stat", 6);
  const int file = ::openat(proc, path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return -1;
  }
  std::array<char, 512> text{};
  const auto count = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  const char* const name_end = count > 0 ? std::strrchr(text.data(), ')') : nullptr;
  if (name_end == nullptr || std::strlen(name_end) < 5) {
    return -1;
  }
  pid_t parent = 0;
  for (const char* digit = name_end + 4; *digit >= '0' && *digit <= '9'; ++digit) {
    parent = parent * 10 + (*digit - '0');
  }
  return parent;
}

/// Kills the children of the family that are neither in it nor spared, and adds them. Whether there were any.
bool kill_children(Family& family, int proc, const pid_t* first_spared, const pid_t* last_spared) {
  alignas(KernelEntry) static std::array<char, 16384> block;
  bool any = false;
  ::lseek(proc, 0, SEEK_SET);
  for (;;) {
    const auto count = ::syscall(SYS_getdents64, proc, block.data(), block.size());
    if (count <= 0) {
      return any;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      std::uint16_t length = 0;
      std::memcpy(&length, block.data() + at + offsetof(KernelEntry, length), sizeof length);
      const char* const name = block.data() + at + name_offset;
      at += length;
      const pid_t pid = pid_of(name);
      if (pid > 0 && static_cast<std::size_t>(pid) < family.size() && !has(family, pid) &&
          has(family, parent_of(proc, name)) && std::find(first_spared, last_spared, pid) == last_spared) {
        ::kill(pid, SIGKILL);
        family[static_cast<std::size_t>(pid)] = true;
        any = true;
      }
    }
  }
}

} // namespace

void end_descendants(const pid_t* first_spared, const pid_t* last_spared) noexcept {
  static Family family;
  family.reset();
  family[static_cast<std::size_t>(::getpid())] = true;
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) {
    return;
  }
  // A fork that is under way when SIGKILL arrives either fails, or its child is there already: the next search finds
  // it. Its parent may have gone by then, so such children become this process's own. (SIGSTOP does not keep a fork
  // from being completed later.)
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  while (kill_children(family, proc, first_spared, last_spared)) {
  }
  ::close(proc);
}

} // namespace gputest::platform
