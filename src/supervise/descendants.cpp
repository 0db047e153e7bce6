// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/descendants.hpp"

#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <set>

#include <sys/prctl.h>
#include <unistd.h>

namespace gputest::supervise {

std::vector<pid_t> descendants(const std::vector<pid_t>& spared) {
  std::multimap<pid_t, pid_t> children;
  for (const auto pid : os::all_other_processes()) {
    children.emplace(os::parent_of(pid).value_or(0), pid);
  }
  std::vector<pid_t> found;
  pid_t parent = ::getpid();
  for (std::size_t next = 0;; parent = found[next++]) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      if (std::find(spared.begin(), spared.end(), child->second) == spared.end()) {
        found.push_back(child->second);
      }
    }
    if (next == found.size()) {
      return found;
    }
  }
}

bool end_descendants(const std::vector<pid_t>& spared) {
  // A fork that is under way when SIGKILL arrives either fails, or its child is there already: the next search finds
  // it. Its parent may have gone by then, so such children become this process's own. (SIGSTOP does not keep a fork
  // from being completed later.)
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::set<pid_t> killed;
  // Processes that fork and exit in turn are faster than any search. CTest, too, leaves them running.
  constexpr std::chrono::seconds longest{1};
  const auto until = os::KernelClock::now() + longest;
  for (bool any = true; any;) {
    if (os::KernelClock::now() >= until) {
      return false;
    }
    any = false;
    for (const pid_t pid : descendants(spared)) {
      if (killed.insert(pid).second) {
        ::kill(pid, SIGKILL);
        any = true;
      }
    }
  }
  return true;
}

} // namespace gputest::supervise
