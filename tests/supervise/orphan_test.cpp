// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/orphan.hpp"

#include "core/os/file.hpp"
#include "support/child_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace gputest::supervise {
namespace {

/// The files of this process below /dev.
std::string devices_open() {
  std::string open;
  const os::Descriptor files{::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    names.push_back(file.path().filename());
  }
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
  const os::Descriptor inherited{::open("/dev/zero", O_RDONLY)}; // NOLINT(android-cloexec-open)
  const os::Descriptor first{::fcntl(inherited.number(), F_DUPFD_CLOEXEC, 50)};
  const os::Descriptor kept{::fcntl(inherited.number(), F_DUPFD_CLOEXEC, first.number() + 5)};
  const os::Descriptor last{::fcntl(inherited.number(), F_DUPFD_CLOEXEC, kept.number() + 1)};
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
} // namespace gputest::supervise
