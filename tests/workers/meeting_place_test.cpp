// SPDX-License-Identifier: BSD-3-Clause
#include "workers/meeting_place.hpp"

#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "supervise/orphan.hpp"

#include "support/child_text.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"
#include "support/private_mount.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

TEST(PresenceLock, are_all_counted_whoever_was_first) {
  const tests::PrivateFolder path;
  const Descriptor folder{::open(path.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  EXPECT_EQ(count_present(folder, "cases"), 0U);
  // With larger and smaller pids than those that were there before.
  std::array<int, 2> end{};
  ASSERT_EQ(::pipe(end.data()), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    std::array<int, 2> marked{};
    ASSERT_EQ(::pipe(marked.data()), 0);
    children.push_back(::fork());
    if (children.back() == 0) {
      ::close(end[1]);
      const PresenceLock mark{folder, "cases"};
      ::close(marked[1]);
      char none = 0;
      static_cast<void>(::read(end[0], &none, 1) == 0);
      std::_Exit(EXIT_SUCCESS);
    }
    ::close(marked[1]);
    char none = 0;
    EXPECT_EQ(::read(marked[0], &none, 1), 0); // it has closed it
    ::close(marked[0]);
    EXPECT_EQ(count_present(folder, "cases"), children.size());
  }
  {
    const PresenceLock own{folder, "cases"};
    EXPECT_EQ(count_present(folder, "cases"), 4U);
    own.set(false);
    EXPECT_EQ(count_present(folder, "cases"), 3U);
  }
  ::close(end[1]);
  for (const pid_t child : children) {
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(count_present(folder, "cases"), 0U);
}

TEST(NoteOfAnEnd, says_if_there_is_no_room_to_write_it) {
  const tests::PrivateFolder path;
  const Descriptor folder{::open(path.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  ASSERT_TRUE(write_file(folder, "executable", "/bin/sort_tests"));
  EXPECT_TRUE(note_end(folder, false, "its output\n", "ended by a signal"));
  EXPECT_EQ(contents_of(folder, "failures"),
            "its output\ngputest: failed: a process of /bin/sort_tests ended by a signal\n");
  EXPECT_TRUE(note_end(folder, true, "", "ended"));
  EXPECT_EQ(contents_of(folder, "notes"), "gputest: shared error: a process of /bin/sort_tests ended\n");
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    ::signal(SIGXFSZ, SIG_IGN);
    const bool is_noted = note_end(folder, false, "", "ended again");
    write_file(folder, "end", "");
    std::_Exit(is_noted || write_file(folder, "executable", "none") ? EXIT_FAILURE : EXIT_SUCCESS);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "a file that was not written is told";
  EXPECT_TRUE(is_there(folder, "end"));
  EXPECT_EQ(contents_of(folder, "executable"), "/bin/sort_tests");
}

TEST(MeetingPlace, says_why_its_folder_cannot_be_made) {
  if (!os::find_ctest()) {
    GTEST_SKIP() << "it is one of a ctest";
  }
  for (const bool is_full : {false, true}) {
    const int seen = tests::in_child([&] {
      os::remove_variable("GPUTEST_DIR");
      if (!tests::mount_private_tmpfs("/tmp", is_full ? "nr_inodes=3,mode=1777" : "size=4m,mode=1777") ||
          (!is_full && ::mount("gputest", "/tmp", "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0)) {
        return tests::may_not_mount;
      }
      const auto problem = open_meeting_place("any").problem;
      const std::string reason = is_full ? "No space left on device" : "Read-only file system";
      return problem.find(" cannot be made: " + reason) == std::string::npos ? 1 : 0;
    });
    if (seen == tests::may_not_mount) {
      GTEST_SKIP() << "this user may not mount a file system";
    }
    EXPECT_EQ(seen, 0) << is_full;
  }
}

TEST(MeetingPlace, of_a_user_is_one_that_nobody_else_can_reach) {
  const tests::PrivateFolder path;
  const Descriptor above{::open(path.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  for (const auto& [name, mode, is_own] :
       {std::tuple{"own", 0700, true}, {"of_its_group", 0710, false}, {"of_all", 0701, false}}) {
    path.make_folder(name);
    ASSERT_EQ(::chmod((path.path() + "/" + name).c_str(), mode), 0);
    EXPECT_EQ(static_cast<bool>(open_own_folder(above.number(), name)), is_own) << name;
  }
  ASSERT_EQ(::symlink("own", (path.path() + "/link").c_str()), 0);
  EXPECT_FALSE(open_own_folder(above.number(), "link"));
  path.write("file", "", 0600);
  EXPECT_FALSE(open_own_folder(above.number(), "file"));
  EXPECT_FALSE(open_own_folder(above.number(), "missing"));
  // In a folder of its own nobody else has made one, whatever its mode is.
  EXPECT_TRUE(open_folder(above.number(), "of_all"));
  for (const char* const other : {"link", "file", "missing"}) {
    EXPECT_FALSE(open_folder(above.number(), other));
  }
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((path.path() + "/own").c_str(), 4242, 4242), 0);
    EXPECT_FALSE(open_own_folder(above.number(), "own"));
  }
}

TEST(MeetingPlace, has_what_its_processes_need_whatever_their_umask) {
  const tests::PrivateFolder path;
  const Descriptor above{::open(path.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const mode_t usual = ::umask(0277);
  const auto folder = make_folder(above.number(), "run");
  const bool is_written = write_file(folder, "executable", "/bin/sort_tests") && note_end(folder, false, "", "ended") &&
                          open_lock_file(folder, "start");
  EXPECT_EQ(::umask(usual), 0277U);
  EXPECT_TRUE(is_written);
  for (const auto& [name, mode] :
       {std::pair{".", 0700U}, {"executable", 0600U}, {"failures", 0600U}, {"start", 0600U}}) {
    struct stat status {};
    EXPECT_EQ(::fstatat(folder.number(), name, &status, 0), 0) << name;
    EXPECT_EQ(status.st_mode & 07777U, mode) << name;
  }
}

TEST(MeetingPlace, has_the_last_number_that_was_written) {
  const tests::PrivateFolder path;
  const Descriptor folder{::open(path.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  EXPECT_EQ(milliseconds_in(folder, "earned"), milliseconds{0});
  for (const milliseconds number : {milliseconds{-123'456}, milliseconds{7}, milliseconds::min(), milliseconds{0}}) {
    write_milliseconds(folder, "earned", number);
    EXPECT_EQ(milliseconds_in(folder, "earned"), number);
  }
}

TEST(MeetingPlace, is_none_where_no_ctest_is_above) {
  tests::TextPipe pipe;
  if (supervise::become_an_orphan({pipe.writing_end()}) == supervise::Orphaning::in_orphan) {
    while (::getppid() == ::getsid(0)) { // until its parent, the leader of its session, has ended
    }
    const auto run = open_meeting_place("worker_key");
    pipe.write(run.ctest ? "ctest"
                         : run.problem + (run.run_folder || run.key_folder ? ", and it has made folders" : ""));
    std::_Exit(EXIT_SUCCESS);
  }
  const auto text = pipe.read();
  if (text == "ctest") {
    GTEST_SKIP() << "ctest is what adopts processes here, such as process 1 of a container";
  }
  EXPECT_EQ(text, "CTest has not started it");
}

} // namespace
} // namespace gputest::workers
