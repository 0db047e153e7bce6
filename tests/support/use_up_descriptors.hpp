// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace gputest::tests {

/// Opens files until this process has none left that it may open, apart from `left`; returns those it opened, last
/// first.
inline std::vector<int> use_up_descriptors(std::size_t left = 0) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 256); // soon done
  ::setrlimit(RLIMIT_NOFILE, &limit);
  std::vector<int> opened;
  for (int file = ::open("/dev/null", O_RDONLY); file >= 0; file = ::open("/dev/null", O_RDONLY)) {
    opened.insert(opened.begin(), file);
  }
  for (; left > 0 && !opened.empty(); --left) {
    ::close(opened.front());
    opened.erase(opened.begin());
  }
  return opened;
}

} // namespace gputest::tests
