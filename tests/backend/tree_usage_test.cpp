// SPDX-License-Identifier: BSD-3-Clause
#include "backend/tree_usage.hpp"

#include "platform/process.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <functional>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::backend {
namespace {

using namespace gputest::literals;

constexpr const char* digits = "11111111-2222-3333-4444-555555555555";
const std::string uuid = std::string{"GPU-"} + digits;
const std::string other_uuid = "GPU-99999999-2222-3333-4444-555555555555";

/// A member of the tree in a process of its own. It takes a step when it is told to, and says when it is done.
class OtherProcess {
public:
  OtherProcess(const std::string& path, const std::function<void(TreeMember&)>& act) {
    EXPECT_EQ(pipe(said_.data()), 0);
    EXPECT_EQ(pipe(told_.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      {
        const auto member = TreeMember::join(path);
        act(*member);
        say();
        wait();
      }
      _exit(0);
    }
    char byte = 0;
    EXPECT_EQ(read(said_[0], &byte, 1), 1);
  }

  void end() {
    EXPECT_EQ(write(told_[1], "x", 1), 1);
    waitpid(pid_, nullptr, 0);
  }

  void be_killed() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

private:
  void say() const { static_cast<void>(write(said_[1], "x", 1) == 1); }
  void wait() const {
    char byte = 0;
    static_cast<void>(read(told_[0], &byte, 1) == 1);
  }

  std::array<int, 2> said_{};
  std::array<int, 2> told_{};
  pid_t pid_ = 0;
};

Bytes peak_of(const TreeUsage& usage) {
  for (const auto& peak : usage.peaks()) {
    if (peak.uuid == digits) {
      return peak.bytes;
    }
  }
  return {};
}

TEST(TreeUsage, is_the_most_that_all_processes_have_at_one_time) {
  TreeUsage usage;
  const auto take = [](TreeMember& member) { member.allocated(uuid, (3_GiB).count()); };
  OtherProcess first{usage.path(), take};
  OtherProcess second{usage.path(), take};
  EXPECT_EQ(peak_of(usage), 6_GiB);
  first.end();
  OtherProcess third{usage.path(), take};
  EXPECT_EQ(peak_of(usage), 6_GiB);
  second.end();
  third.end();
}

TEST(TreeUsage, keeps_devices_apart) {
  TreeUsage usage;
  OtherProcess process{usage.path(), [](TreeMember& member) {
                         member.allocated(uuid, 10);
                         member.allocated(other_uuid, 20);
                         member.allocated(uuid, 5);
                       }};
  process.end();
  EXPECT_EQ(usage.peaks().size(), 2U);
  EXPECT_EQ(peak_of(usage), Bytes{10});
}

TEST(TreeUsage, does_not_count_a_killed_process_beside_the_next) {
  TreeUsage usage;
  OtherProcess killed{usage.path(), [](TreeMember& member) { member.allocated(uuid, 10); }};
  killed.be_killed();
  OtherProcess next{usage.path(), [](TreeMember& member) { member.allocated(uuid, 8); }};
  EXPECT_EQ(peak_of(usage), Bytes{10});
  next.end();
}

TEST(TreeUsage, forgets_a_killed_process_when_it_is_told_to) {
  TreeUsage usage;
  OtherProcess living{usage.path(), [](TreeMember& /*member*/) {}};
  OtherProcess killed{usage.path(), [](TreeMember& member) { member.allocated(uuid, 10); }};
  killed.be_killed();
  usage.forget_dead();
  living.end();
  OtherProcess next{usage.path(), [](TreeMember& member) { member.allocated(uuid, 8); }};
  EXPECT_EQ(peak_of(usage), Bytes{10});
  next.end();
}

TEST(TreeUsage, does_not_count_a_process_that_has_ended_beside_what_is_allocated_after_its_end) {
  TreeUsage usage;
  OtherProcess living{usage.path(), [&](TreeMember& member) {
                        const pid_t child = fork();
                        if (child == 0) {
                          const auto own = TreeMember::join(usage.path());
                          own->allocated(uuid, 10);
                          _exit(0); // without leaving
                        }
                        siginfo_t ended{};
                        waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT); // a zombie
                        member.allocated(uuid, 8);
                        waitpid(child, nullptr, 0);
                      }};
  EXPECT_EQ(peak_of(usage), Bytes{10});
  living.end();
}

TEST(TreeUsage, has_each_program_of_a_process_once) {
  TreeUsage usage;
  OtherProcess process{usage.path(), [&](TreeMember& member) {
                         member.allocated(uuid, TreeMember::has_joined(usage.path()) ? 1 : 1000);
                         if (TreeMember::join(usage.path()) != nullptr) {
                           member.allocated(uuid, 2000);
                         }
                       }};
  EXPECT_EQ(peak_of(usage), Bytes{1});
  EXPECT_FALSE(TreeMember::has_joined(usage.path())) << "that is another process";
  process.end();
}

TEST(TreeUsage, does_not_forget_the_living) {
  TreeUsage usage;
  OtherProcess living{usage.path(), [](TreeMember& member) { member.allocated(uuid, 10); }};
  usage.forget_dead();
  OtherProcess next{usage.path(), [](TreeMember& member) { member.allocated(uuid, 8); }};
  EXPECT_EQ(peak_of(usage), Bytes{18});
  living.end();
  next.end();
}

TEST(TreeUsage, knows_who_was_a_member) {
  TreeUsage usage;
  OtherProcess process{usage.path(), [](TreeMember& /*member*/) {}};
  EXPECT_EQ(usage.members(), std::vector<std::int64_t>{process.pid()});
  process.end();
  EXPECT_EQ(usage.members(), std::vector<std::int64_t>{process.pid()});
}

TEST(TreeUsage, keeps_the_first_reason_why_something_is_not_known) {
  TreeUsage usage;
  EXPECT_EQ(usage.why_not_exact(), "");
  OtherProcess first{usage.path(), [](TreeMember& member) { member.cannot_be_metered("no CUPTI"); }};
  OtherProcess second{usage.path(), [](TreeMember& member) { member.cannot_be_metered("a profiler"); }};
  EXPECT_EQ(usage.why_not_exact(), "no CUPTI");
  first.end();
  second.end();
}

TEST(TreeUsage, leaves_a_member_alone_when_its_forked_child_ends) {
  TreeUsage usage;
  OtherProcess process{usage.path(), [](TreeMember& member) {
                         member.allocated(uuid, 10);
                         const pid_t child = fork();
                         if (child == 0) {
                           member.allocated(uuid, 1000);
                           member.~TreeMember();
                           _exit(0);
                         }
                         waitpid(child, nullptr, 0);
                       }};
  EXPECT_EQ(peak_of(usage), Bytes{10});
  OtherProcess next{usage.path(), [](TreeMember& member) { member.allocated(uuid, 8); }};
  EXPECT_EQ(peak_of(usage), Bytes{18});
  process.end();
  next.end();
}

TEST(TreeMember, is_none_where_the_path_leads_to_something_else) {
  EXPECT_EQ(TreeMember::join("/proc/self/exe"), nullptr);
  EXPECT_EQ(TreeMember::join("/dev/null"), nullptr);
  EXPECT_EQ(TreeMember::join("/nowhere"), nullptr);
}

} // namespace
} // namespace gputest::backend
