// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/orphan.hpp"

#include "core/os/file.hpp"
#include "support/child_text.hpp"
#include "support/in_child.hpp"
#include "support/private_mount.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
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

TEST(Orphan, keeps_no_stream_of_its_caller_where_there_is_no_dev_null) {
  tests::TextPipe pipe;
  const int ended = tests::in_child([&] {
    if (!tests::mount_private_tmpfs("/dev", "")) {
      return tests::may_not_mount;
    }
    for (int stream = 0; stream <= STDERR_FILENO; ++stream) {
      ::dup2(pipe.writing_end(), stream);
    }
    const auto made = become_an_orphan({pipe.writing_end()});
    if (made == Orphaning::in_orphan) {
      for (int stream = 0; stream <= STDERR_FILENO; ++stream) {
        struct stat file {};
        pipe.write(::fstat(stream, &file) != 0 ? "closed " : S_ISFIFO(file.st_mode) ? "kept " : "other ");
      }
    }
    return made == Orphaning::failed ? 1 : 0;
  });
  if (ended == tests::may_not_mount) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(pipe.read(), "other other other ");
}

} // namespace
} // namespace gputest::supervise
