// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/reason.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <system_error>

namespace gputest::os {

namespace {

std::string advice(int error_number) {
  switch (error_number) {
  case EMFILE: {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return " (this process has all " + std::to_string(limit.rlim_cur) +
           " open that it may have; close some, or raise the limit: ulimit -n)";
  }
  case ENFILE:
    return " (the machine has no file descriptor left for anybody: /proc/sys/fs/file-nr)";
  case ENOSPC:
    return " (df and df -i show what is full)";
  case EDQUOT:
    return " (quota shows what is full)";
  default:
    return "";
  }
}

} // namespace

std::string reason(int error_number) { return std::generic_category().message(error_number) + advice(error_number); }

LedgerError failure(const std::string& to_do, const std::string& path, int error_number) {
  return LedgerError{"cannot " + to_do + " " + path + ": " + reason(error_number)};
}

} // namespace gputest::os
