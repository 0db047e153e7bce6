// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/wait_notice.hpp"

#include "core/os/process.hpp"
#include "core/policy/text.hpp"
#include "supervise/events.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gputest::supervise {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds before_notice{4}; ///< looked for once a second, so that people read it within 5
constexpr seconds between_notices{60};

struct flock lock_at(std::int64_t begin, std::int64_t length) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = length;
  return lock;
}

/// For how long a file has not been written to.
nanoseconds unchanged_for(const struct stat& status) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return seconds{now.tv_sec - status.st_mtim.tv_sec} + nanoseconds{now.tv_nsec - status.st_mtim.tv_nsec};
}

bool is_own(pid_t pid) {
  struct stat process {};
  return ::stat(("/proc/" + std::to_string(pid)).c_str(), &process) == 0 && process.st_uid == ::geteuid();
}

/// The one whose standard error no other ctest judges.
pid_t outermost_ctest(pid_t ctest) {
  const auto above = os::find_ctest_above(ctest);
  return above ? outermost_ctest(above->pid) : ctest;
}

/// A process's standard error, as it writes to it itself; none if that is not allowed. A file that is not appended to
/// has a position of that process's own, so another descriptor of it would be overwritten.
os::Descriptor standard_error_of(pid_t pid) {
  if (os::Descriptor shared{static_cast<int>(::syscall(SYS_pidfd_getfd, open_pidfd(pid).number(), STDERR_FILENO, 0))}) {
    return shared;
  }
  const auto folder = "/proc/" + std::to_string(pid);
  struct stat status {};
  const auto info = os::contents_of(folder + "/fdinfo/2").value_or("");
  const auto flags = info.find("flags:\t");
  const bool appends =
      flags != std::string::npos && (std::strtol(info.c_str() + flags + 7, nullptr, 8) & O_APPEND) != 0;
  if (::stat((folder + "/fd/2").c_str(), &status) != 0 || (S_ISREG(status.st_mode) && !appends)) {
    return {};
  }
  return os::Descriptor{::open((folder + "/fd/2").c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
}

} // namespace

void WaitNotice::print_if_due(os::TestStatusPage& page) {
  const auto waited = page.seen_waiting();
  if (waited < before_notice - seconds{1}) {
    file_ = os::Descriptor{};
    return;
  }
  if (!file_) {
    const auto ctest = os::find_ctest();
    const auto place = ctest ? os::ctest_place(ctest->pid) : std::nullopt;
    if (!place || place->log_file.empty() || !is_own(ctest->pid)) {
      return;
    }
    ctest_ = ctest->pid;
    log_ = place->log_file;
    constexpr std::int64_t longest_time = std::int64_t{1} << 40; // in ms, of a machine
    first_ = longest_time * ctest_;
    since_ = first_ +
             std::chrono::duration_cast<std::chrono::milliseconds>(os::KernelClock::now().time_since_epoch() - waited)
                 .count();
    file_ = os::Descriptor{::open((place->folder + "/Testing/Temporary/gputest-waiting").c_str(),
                                  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR)};
    auto own = lock_at(since_, 1);
    static_cast<void>(::fcntl(file_.number(), F_OFD_SETLK, &own));
  }
  auto earlier = lock_at(first_, since_ - first_);
  struct stat log {};
  if (waited < before_notice || ::fcntl(file_.number(), F_OFD_GETLK, &earlier) != 0 || earlier.l_type != F_UNLCK ||
      ::stat(log_.c_str(), &log) != 0 || unchanged_for(log) < before_notice) {
    return;
  }
  // The last line of this run; another run may have the same folder.
  struct Written {
    std::int64_t ctest;
    std::uint64_t start;
    std::int64_t at;
  };
  constexpr pid_t places = 128;
  const auto place = static_cast<off_t>(ctest_ % places) * static_cast<off_t>(sizeof(Written));
  const Written now{ctest_, os::start_time_of(ctest_).value_or(0), os::KernelClock::now().time_since_epoch().count()};
  Written last{};
  const bool any = ::pread(file_.number(), &last, sizeof last, place) == static_cast<ssize_t>(sizeof last);
  if (any && last.ctest == now.ctest && last.start == now.start && nanoseconds{now.at - last.at} < between_notices) {
    return;
  }
  if (::pwrite(file_.number(), &now, sizeof now, place) != static_cast<ssize_t>(sizeof now)) {
    return; // nobody would know that it was written
  }
  if (const auto reader = outermost_ctest(ctest_); is_own(reader)) {
    os::write_if_ready(standard_error_of(reader), "gputest: " + policy::printable(page.waits_for()) + "\n");
  }
}

} // namespace gputest::supervise
