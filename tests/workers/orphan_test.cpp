// SPDX-License-Identifier: BSD-3-Clause
#include "workers/orphan.hpp"

#include "workers/run_folder.hpp"

#include "child_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

/// The files of this process below /dev.
std::string devices_open() {
  std::string open;
  const Descriptor files{::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  auto names = names_in(files);
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); });
  for (const auto& name : names) {
    std::array<char, 100> target{};
    if (::readlinkat(files.number(), name.c_str(), target.data(), 99) > 0 &&
        std::string{target.data()}.rfind("/dev/", 0) == 0) {
      open += name + " " + target.data() + "\n";
    }
  }
  return open;
}

TEST(Orphan, has_only_what_it_was_to_keep_open_and_leads_no_session) {
  tests::TextPipe pipe;
  const Descriptor inherited{::open("/dev/zero", O_RDONLY)}; // NOLINT(android-cloexec-open)
  const Descriptor first{::fcntl(inherited.number(), F_DUPFD_CLOEXEC, 50)};
  const Descriptor kept{::fcntl(inherited.number(), F_DUPFD_CLOEXEC, first.number() + 5)};
  const Descriptor last{::fcntl(inherited.number(), F_DUPFD_CLOEXEC, kept.number() + 1)};
  const auto session = ::getsid(0);
  const auto made = become_an_orphan({kept.number(), pipe.writing_end()}); // in any order
  if (made == Orphaning::in_orphan) {
    pipe.write(devices_open() + (::getsid(0) == session      ? "in the session of its caller"
                                 : ::getsid(0) == ::getpid() ? "the leader of a session, which may get a terminal"
                                                             : ""));
    std::_Exit(EXIT_SUCCESS);
  }
  ASSERT_EQ(made, Orphaning::in_caller);
  EXPECT_EQ(pipe.read(), "0 /dev/null\n1 /dev/null\n2 /dev/null\n" + std::to_string(kept.number()) + " /dev/zero\n");
}

} // namespace
} // namespace gputest::workers
