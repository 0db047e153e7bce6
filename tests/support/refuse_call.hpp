// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gputest::tests {

/// From here on this process, a child of the test, gets `error` from a system call whose `argument` is `value`, as on a
/// system that has no such call. Whether it may.
inline bool refuse_call(unsigned number, unsigned argument, unsigned value, unsigned error) {
  constexpr auto numbers = static_cast<unsigned>(offsetof(seccomp_data, nr));
  const auto arguments = static_cast<unsigned>(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
  std::array<sock_filter, 6> program{
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, numbers), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arguments), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace gputest::tests
