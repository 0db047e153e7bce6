// SPDX-License-Identifier: BSD-3-Clause
// What another user of the machine can do to this one's tests: nothing, or a clear error. `victim` is root, `attacker`
// is nobody, both members of the shared folder's group; `member` is a third user.
//
// clang-format off
// | attack | outcome |
// | --- | --- |
// | private folder: look into it, or take its name | nothing to see; the victim uses another name |
// | a link, a file, a device or a FIFO of another in the place of a wake-up FIFO | nothing is written, nobody is woken |
// | own part of the shared folder truncated, garbage, replaced, closed by chmod | an error for all that names part and owner |
// | a lease (F_SETLEASE) kept on a file of its own part | an error at once for those that open it, which names part and owner |
// | own part removed | the attacker's claims are off the ledger; its memory is an external process's |
// | own part removed and made anew, again and again | nothing; each time its claims are new ones |
// | claims forged in its own part | others wait for it, by name, until their wait limit |
// | another's part made first, or anything put beside | an error for its user that names the attacker; for others nothing |
// | the mutex held | an error within 5 s that names the holder; `gputest status` names it at once |
// | the mutex, or another's part, removed, replaced or truncated | refused by the kernel |
// | another's FIFOs locked or kept open in any way | nothing: ends are seen, slots are taken |
// | another's wake-up FIFO emptied | the victim may wait until its wait limit |
// | thousands of entries in the shared folder | an error that says who has to remove them |
// | immutable files | an error that says which |
// clang-format on

#include "core/ledger/ledger_test.hpp"
#include "core/ledger/stored_record.hpp"
#include "core/os/user_folder.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_mount.hpp"
#include "support/shared_folder.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <vector>

namespace gputest::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class HostileUser : public LedgerTest {
protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can be several users";
    }
    fs::permissions(folder_.path(), fs::perms{0755});
    fs::permissions(probe_file(), fs::perms{0666});
    make_shared_folder(folder());
  }

  [[nodiscard]] std::string part_of(uid_t user) const { return folder() + "/ledger-4." + std::to_string(user); }

  [[nodiscard]] std::unique_ptr<ledger::Ledger> open() const {
    auto opened = std::make_unique<ledger::Ledger>(folder(), std::make_shared<SharedProbe>(probe_file()));
    static_cast<void>(opened->devices().bit_of(SharedProbe::uuid(0)));
    return opened;
  }

  /// Does something as the attacker; whether it could.
  static bool attack(const std::function<bool()>& act) {
    return in_child([&] {
             become_member(nobody);
             return act() ? 0 : 1;
           }) == 0;
  }

  /// The attacker enters, and leases so many bytes or waits for them; until it is killed.
  [[nodiscard]] pid_t start_attacker(std::uint64_t bytes, bool waits = false) const {
    std::array<int, 2> progress{};
    if (::pipe(progress.data()) != 0) {
      return -1;
    }
    const pid_t child = start_child([&] {
      become_member(nobody);
      const auto opened = open();
      ledger::Patience patience;
      patience.notice_after = std::chrono::milliseconds{0};
      patience.on_wait = [&](const auto&) { static_cast<void>(!::write(progress[1], "w", 1)); };
      static_cast<void>(opened->enter({"attacker", 1, 1, 10, 60, false}, {}));
      static_cast<void>(opened->lease({"attacker", 1, bytes, false, false}, patience));
      static_cast<void>(!::write(progress[1], "h", 1));
      ::pause();
      return 0;
    });
    char said = 0;
    EXPECT_EQ(::read(progress[0], &said, 1), 1);
    EXPECT_EQ(said, waits ? 'w' : 'h');
    ::close(progress[0]);
    ::close(progress[1]);
    return child;
  }

  /// Runs `body` in a child that has a file system of its own at `path`; skips where that is not allowed.
  static void in_private_tmpfs(const std::string& path, const std::string& options, const std::function<void()>& body) {
    const int status = in_child([&] {
      if (!mount_private_tmpfs(path, options)) {
        return may_not_mount;
      }
      body();
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
    if (status == may_not_mount) {
      GTEST_SKIP() << "this user may not mount a file system";
    }
    EXPECT_EQ(status, 0);
  }

  static void end(pid_t child) {
    ::kill(child, SIGKILL);
    end_of(child);
  }

  /// What a member who is neither of the two gets as an answer when it asks for a lease.
  [[nodiscard]] std::string answer_to_a_member() const {
    const std::string file = folder_.path() + "/answer";
    std::ofstream answer{file};
    in_child([&] {
      become_member(another_member);
      answer << message_of<LedgerError>([&] {
        const auto opened = open();
        ledger::Patience at_once;
        at_once.may_wait = false;
        static_cast<void>(opened->enter({"member", 1, 1, 10, 60, false}, at_once));
      }) << std::flush;
      return 0;
    });
    std::ifstream said{file};
    return {std::istreambuf_iterator<char>{said}, {}};
  }

  /// A file of the victim's that nobody else may write to.
  [[nodiscard]] std::string precious() const {
    std::string path = folder_.path() + "/precious";
    folder_.write("precious", "", 0600);
    return path;
  }
};

TEST_F(HostileUser, that_puts_something_else_in_the_place_of_its_fifo_has_nothing_written_into_it) {
  const std::string target = precious();
  auto victim = start_inside("victim");
  victim.ask("lease victim 1 60");
  const pid_t attacker = start_attacker(60, true);
  const std::string fifo = part_of(nobody) + "/wake.0";
  const auto put = [&](const std::function<void()>& make) {
    return attack([&] {
      fs::remove(fifo);
      make();
      return true;
    });
  };
  ASSERT_TRUE(put([&] { fs::create_symlink(target, fifo); }));
  EXPECT_EQ(victim.ask("release"), "released");
  EXPECT_EQ(fs::file_size(target), 0U);
  EXPECT_EQ(victim.ask("intact"), "intact") << "and loses nothing by it";
  for (const auto& make : std::vector<std::function<void()>>{
           [&] { std::ofstream{fifo} << ""; }, [&] { fs::create_symlink("/dev/zero", fifo); },
           [&] { fs::create_directory(fifo); }, [&] { fs::create_symlink(part_of(0) + "/wake.0", fifo); }, [] {}}) {
    ASSERT_TRUE(put(make));
    EXPECT_EQ(victim.ask("overhead 11"), "overhead");
    EXPECT_EQ(victim.ask("overhead 10"), "overhead");
    EXPECT_EQ(victim.ask("intact"), "intact");
  }
  end(attacker);
}

TEST_F(HostileUser, that_damages_its_own_part_is_named_in_an_error_and_crashes_nobody) {
  auto victim = start_inside("victim");
  const pid_t attacker = start_attacker(60);
  const std::string file = part_of(nobody) + "/ledger";
  const std::string remedy = "; nobody or an administrator has to remove it, or set GPUTEST_DIR to another folder";
  const auto size = fs::file_size(file);
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "would wait for attacker");

  ASSERT_TRUE(attack([&] { return ::truncate(file.c_str(), 0) == 0; }));
  EXPECT_THAT(victim.ask("lease victim 1 60 try"), StartsWith("error: " + file + " is damaged: it ends after 0 bytes"));
  EXPECT_THAT(answer_to_a_member(), StartsWith(file + " is empty, and this gputest reads"));

  ASSERT_TRUE(attack([&] { return ::truncate(file.c_str(), static_cast<off_t>(size)) == 0; }));
  EXPECT_THAT(victim.ask("lease victim 1 60 try"), StartsWith("error: " + file + " is damaged: it says that 0 slots"));
  EXPECT_THAT(answer_to_a_member(), StartsWith(file + " is no ledger, or overwritten"));
  EXPECT_EQ(victim.ask("intact"), "intact");
  end(attacker);

  fs::remove_all(part_of(nobody));
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "granted 1") << "as soon as it is removed";
}

TEST_F(HostileUser, that_writes_garbage_over_its_record_is_named_in_an_error) {
  auto victim = start_inside("victim");
  const pid_t attacker = start_attacker(60);
  const std::string file = part_of(nobody) + "/ledger";
  constexpr off_t record = 4096 + ledger::ledger_layout.table_bytes + ledger::stored_record_bytes;
  ASSERT_TRUE(attack([&] {
    const int opened = ::open(file.c_str(), O_WRONLY);
    return ::pwrite(opened, "garbage!", 8, record + 80) == 8;
  }));
  EXPECT_EQ(victim.ask("lease victim 1 60 try"),
            "error: " + file +
                " is damaged: record 0 has not been written by any gputest; nobody or an administrator "
                "has to remove it, or set GPUTEST_DIR to another folder");
  end(attacker);
}

TEST_F(HostileUser, that_replaces_its_files_or_closes_its_part_makes_nobody_hang) {
  const pid_t attacker = start_attacker(60);
  end(attacker);
  const std::string file = part_of(nobody) + "/ledger";
  const auto put = [&](const std::function<void()>& make) {
    EXPECT_TRUE(attack([&] {
      fs::remove(file);
      make();
      return true;
    }));
    return answer_to_a_member();
  };
  EXPECT_THAT(put([&] { ASSERT_EQ(::mkfifo(file.c_str(), 0666), 0); }),
              StartsWith(file + " is a FIFO, and must be a regular file"));
  EXPECT_THAT(put([&] { fs::create_symlink("/dev/zero", file); }),
              StartsWith(file + " is a symbolic link to /dev/zero, and must be a regular file"));
  EXPECT_THAT(put([&] { fs::create_directory(file); }), StartsWith(file + " is a folder, and must be a regular file"));
  EXPECT_EQ(put([] {}), "done") << "a part that is not complete is nobody's";
  ASSERT_TRUE(attack([&] { return ::chmod(part_of(nobody).c_str(), 0700) == 0; }));
  EXPECT_THAT(answer_to_a_member(), StartsWith("cannot open the folder " + part_of(nobody) + ": Permission denied"));
}

TEST_F(HostileUser, that_removes_its_part_is_off_the_ledger) {
  auto victim = start_inside("victim");
  const pid_t attacker = start_attacker(60);
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "would wait for attacker");
  ASSERT_TRUE(attack([&] { return fs::remove_all(part_of(nobody)) > 0; }));
  devices_.device(0).external_bytes = 70; // which is what its memory then is
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "would wait for external processes");
  devices_.device(0).external_bytes = 0;
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "granted 1");
  end(attacker);
}

TEST_F(HostileUser, that_forges_claims_makes_others_wait_for_it_by_name_and_not_longer_than_they_may) {
  auto victim = start_inside("victim");
  const pid_t attacker = start_attacker(10);
  ASSERT_TRUE(attack([&] {
    os::SlotStore store{folder(), ledger::ledger_name, ledger::ledger_layout};
    auto record = store.read<ledger::StoredRecord>(0);
    record.lease_bytes = UINT64_MAX;
    record.overhead_bytes = UINT64_MAX;
    record.ticket = UINT64_MAX;
    record.devices = UINT64_MAX; // of which its table has one
    record.uid = 0;
    store.write(0, record);
    return true;
  }));
  EXPECT_EQ(victim.ask("lease victim 1 1 at-once"), "timed out for attacker");
  for (const auto& entry : look().records()) {
    EXPECT_EQ(entry.uid, entry.who == "attacker" ? nobody : 0U) << "whatever its record says";
  }
  end(attacker);
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "granted 1");
}

TEST_F(HostileUser, that_makes_anothers_part_first_is_named_to_that_one_and_ignored_by_others) {
  ASSERT_TRUE(attack([&] { return ::mkdir(part_of(0).c_str(), 0777) == 0; }));
  EXPECT_EQ(answer_to_a_member(), "done");
  EXPECT_THAT(
      message_of<LedgerError>([&] { static_cast<void>(open()); }),
      StartsWith(part_of(0) + " belongs to nobody (uid 65534), and must belong to root (uid 0): it is not used"));
}

TEST_F(HostileUser, that_takes_the_name_of_anothers_part_is_named_whatever_it_has_put_there) {
  const std::string part = part_of(another_member);
  const std::string beginning = folder() + "/beginning." + fs::path{part}.filename().string();
  for (const std::string& name : {part, beginning}) {
    const std::vector<std::function<bool()>> ways{
        [&] { return ::mkdir(name.c_str(), 0700) == 0; }, [&] { return ::mkdir(name.c_str(), 0777) == 0; },
        [&] { return ::mkfifo(name.c_str(), 0600) == 0; }, [&] { return ::symlink("/tmp", name.c_str()) == 0; },
        [&] { return ::open(name.c_str(), O_CREAT | O_WRONLY, 0600) >= 0; }};
    for (const auto& way : ways) {
      ASSERT_TRUE(attack(way));
      const std::string said = answer_to_a_member();
      EXPECT_THAT(said, StartsWith(name + " belongs to nobody (uid 65534), and must belong to "));
      EXPECT_THAT(said, HasSubstr("it is not used; nobody or an administrator has to remove it, or set GPUTEST_DIR to "
                                  "another folder"));
      fs::remove_all(name);
    }
  }
  EXPECT_EQ(answer_to_a_member(), "done");
}

TEST_F(HostileUser, that_leaves_thousands_of_files_in_the_shared_folder_is_an_error_that_says_so) {
  ASSERT_TRUE(attack([&] {
    for (int i = 0; i < 4200; ++i) {
      std::ofstream{folder() + "/" + std::to_string(i)};
    }
    return true;
  }));
  const std::string said = answer_to_a_member();
  EXPECT_THAT(said, StartsWith(folder() + " has more than 4096 entries, and a shared ledger needs one a user, called "
                                          "ledger-4.<uid>. Of those that are no ledger, 409"));
  const std::string command =
      "find " + folder() + " -mindepth 1 -maxdepth 1 -uid 65534 ! -name ledger-4.65534 -exec rm -r {} +";
  EXPECT_THAT(said, HasSubstr(" belong to nobody (uid 65534). nobody or an administrator can remove them: " + command));
  EXPECT_TRUE(attack([&] { return std::system(command.c_str()) == 0; })); // NOLINT(*-env33-c, *-mt-unsafe)
  EXPECT_EQ(answer_to_a_member(), "done");
}

TEST_F(HostileUser, cannot_remove_replace_or_damage_the_mutex_or_what_belongs_to_another) {
  auto victim = start_inside("victim");
  victim.ask("lease victim 1 60");
  EXPECT_FALSE(attack([&] { return ::unlink((folder() + "/mutex").c_str()) == 0; }));
  EXPECT_FALSE(attack([&] { return ::rename((folder() + "/mutex").c_str(), (folder() + "/m").c_str()) == 0; }));
  EXPECT_FALSE(attack([&] { return ::chmod((folder() + "/mutex").c_str(), 0) == 0; }));
  EXPECT_FALSE(attack([&] { return ::rename(part_of(0).c_str(), (folder() + "/x").c_str()) == 0; }));
  EXPECT_FALSE(attack([&] { return ::truncate((part_of(0) + "/ledger").c_str(), 0) == 0; }));
  EXPECT_FALSE(attack([&] { return ::open((part_of(0) + "/ledger").c_str(), O_RDWR) >= 0; }));
  EXPECT_FALSE(attack([&] { return ::unlink((part_of(0) + "/wake.0").c_str()) == 0; }));
  EXPECT_FALSE(attack([&] { return ::mkfifo((part_of(0) + "/alive.9").c_str(), 0666) == 0; }));
  EXPECT_TRUE(attack([&] { return ::truncate((folder() + "/mutex").c_str(), 0) == 0; })) << "it is empty anyway";
  EXPECT_EQ(victim.ask("release"), "released");
  EXPECT_EQ(victim.ask("lease victim 1 60"), "granted 1");
}

TEST_F(HostileUser, that_locks_or_keeps_open_anothers_fifos_hides_no_end_and_takes_no_slot) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  const pid_t attacker = start_keeper([&] {
    become_member(nobody);
    std::vector<os::Descriptor> fifos;
    for (const auto& entry : fs::directory_iterator{part_of(0)}) {
      if (!entry.is_fifo()) {
        continue;
      }
      os::Descriptor fifo{::open(entry.path().c_str(), O_RDWR | O_NONBLOCK)};
      if (!fifo) {
        fifo = os::Descriptor{::open(entry.path().c_str(), O_RDONLY | O_NONBLOCK)};
      }
      struct flock whole {};
      whole.l_type = F_RDLCK;
      if (::flock(fifo.number(), LOCK_EX | LOCK_NB) != 0 || ::fcntl(fifo.number(), F_SETLK, &whole) != 0) {
        throw std::runtime_error{"a member of the group can read and lock " + entry.path().string()};
      }
      fifos.push_back(std::move(fifo));
    }
    if (fifos.size() != 4) {
      throw std::runtime_error{"two slots have two FIFOs each"};
    }
    return fifos;
  });
  a.kill();
  EXPECT_EQ(b.answer(), "granted 1");
  auto c = start_inside("c");
  EXPECT_THAT(c.ask("credential"), StartsWith("0:0:")) << "a's slot";
  b.ask("release");
  EXPECT_EQ(c.ask("lease c 1 60"), "granted 1");
  end(attacker);
}

TEST_F(HostileUser, cannot_open_anothers_liveness_fifo_for_writing) {
  auto victim = start_inside("victim");
  const std::string fifo = part_of(0) + "/alive.0";
  EXPECT_FALSE(attack([&] { return ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK) >= 0; }));
  EXPECT_FALSE(attack([&] { return ::open(fifo.c_str(), O_RDWR | O_NONBLOCK) >= 0; }));
  EXPECT_FALSE(attack([&] {
    const os::Descriptor read{::open(fifo.c_str(), O_RDONLY | O_NONBLOCK)};
    return ::open(("/proc/self/fd/" + std::to_string(read.number())).c_str(), O_RDWR | O_NONBLOCK) >= 0;
  }));
  EXPECT_TRUE(attack([&] { return ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK) >= 0; })) << "which all have to";
}

TEST_F(HostileUser, that_makes_its_part_anew_again_and_again_keeps_nobody_out) {
  auto victim = start_inside("victim");
  const std::string part = part_of(nobody);
  const std::string other = folder() + "/other";
  end(start_attacker(10));
  ASSERT_TRUE(attack([&] { return ::rename(part.c_str(), other.c_str()) == 0; }));
  end(start_attacker(10));
  constexpr int more_than_users = 300;
  for (int i = 0; i < more_than_users; ++i) {
    // The attacker may do that, as above; each time it is another part.
    ASSERT_EQ(::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE), 0);
    ASSERT_EQ(message_of<LedgerError>([&] { static_cast<void>(look().records()); }), "done");
  }
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "granted 1");
}

TEST_F(HostileUser, that_keeps_a_lease_on_its_own_file_is_named_in_an_error) {
  auto victim = start_inside("victim");
  end(start_attacker(10));
  const std::string file = part_of(nobody) + "/ledger";
  ASSERT_TRUE(fs::exists(file));
  if (!attack([&] {
        const os::Descriptor opened{::open(file.c_str(), O_RDWR)};
        return ::fcntl(opened.number(), F_SETLEASE, F_WRLCK) == 0;
      })) {
    GTEST_SKIP() << "the file system has no leases (F_SETLEASE)";
  }
  const pid_t attacker = start_keeper([&] {
    become_member(nobody);
    ::signal(SIGIO, SIG_IGN); // NOLINT(*-no-int-to-ptr): sent to it when somebody opens the file
    os::Descriptor opened{::open(file.c_str(), O_RDWR)};
    if (::fcntl(opened.number(), F_SETLEASE, F_WRLCK) != 0) {
      throw std::runtime_error{"a user can keep a lease on its own file"};
    }
    return opened;
  });
  const std::string said =
      "cannot read " + file +
      ": Resource temporarily unavailable: a process of its owner's keeps a file lease on it (fcntl "
      "F_SETLEASE); nobody or an administrator has to remove it, or set GPUTEST_DIR to another "
      "folder";
  EXPECT_EQ(answer_to_a_member(), said);
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "error: " + said);
  end(attacker);
  EXPECT_EQ(victim.ask("lease victim 1 60 try"), "granted 1");
}

TEST_F(HostileUser, that_empties_anothers_fifo_can_make_it_wait_no_longer_than_it_may) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60 for-a-while"), "waits for a");
  ASSERT_TRUE(attack([&] {
    const os::Descriptor fifo{::open((part_of(0) + "/wake.1").c_str(), O_RDWR | O_NONBLOCK)};
    std::array<char, 64> notifies{};
    static_cast<void>(!::read(fifo.number(), notifies.data(), notifies.size()));
    return static_cast<bool>(fifo);
  }));
  EXPECT_EQ(b.answer(), "timed out for a");
}

TEST_F(HostileUser, is_seen_by_a_member_who_has_no_part_of_the_ledger_yet) {
  auto holder = start_inside("holder");
  holder.ask("lease holder 1 60");
  EXPECT_TRUE(attack([&] {
    const auto contents = ledger::Ledger{folder(), std::make_shared<SharedProbe>(probe_file())}.contents();
    return contents.records.size() == 1 && contents.records[0].who == "holder";
  }));
  EXPECT_FALSE(fs::exists(part_of(nobody))) << "who only looks makes nothing";
}

TEST_F(HostileUser, that_keeps_the_mutex_is_named_in_an_error_within_its_bound) {
  auto victim = start_inside("victim");
  victim.ask("lease victim 1 60");
  static_cast<void>(look());
  const pid_t attacker = start_keeper([&] {
    become_member(nobody);
    os::Descriptor mutex{::open((folder() + "/mutex").c_str(), O_RDWR)};
    struct flock whole {};
    whole.l_type = F_WRLCK;
    if (!mutex || ::fcntl(mutex.number(), F_SETLK, &whole) != 0) {
      throw std::runtime_error{"a member of the group can lock it"};
    }
    return mutex;
  });
  const std::string said = "cannot lock " + folder() + "/mutex within 5 s, which is needed for microseconds: process " +
                           std::to_string(attacker) + " (";
  victim.say("release");
  EXPECT_EQ(victim.answer(), "released");
  const auto contents = look().contents();
  const std::string caveat = "the ledger's mutex is locked all the time, so that no test gets memory or gives it back: "
                             "process " +
                             std::to_string(attacker) + " (";
  EXPECT_THAT(contents.caveat, StartsWith(caveat));
  ASSERT_EQ(contents.records.size(), 1U);
  EXPECT_EQ(contents.records[0].who, "victim");
#ifdef GPUTEST_CLI
  ChildProcess status{{GPUTEST_CLI, "status"}, {{"GPUTEST_DIR", folder()}, {"GPUTEST_DEVICES", "none"}}};
  status.wait_for_out(caveat);
  EXPECT_EQ(status.finish().exit_code, 0);
  ChildProcess run{{GPUTEST_CLI, "run", "--", "true"},
                   {{"GPUTEST_DIR", folder()}, {"GPUTEST_DEVICES", "simulated:1x1GiB"}}};
  EXPECT_EQ(run.finish().exit_code, 70);
#endif
  EXPECT_THAT(victim.ask("lease victim 1 60"), StartsWith("error: " + said));
  end(attacker);
  EXPECT_EQ(victim.ask("lease victim 1 60"), "granted 1") << "and what could not be released was released now";
}

TEST_F(HostileUser, cannot_reach_a_private_folder_nor_keep_this_user_from_having_one) {
  const std::string mine = folder_.path() + "/private";
  static_cast<void>(ledger::Ledger{mine, std::make_shared<SharedProbe>(probe_file())});
  EXPECT_FALSE(attack([&] { return ::open(mine.c_str(), O_RDONLY) >= 0; }));
  EXPECT_FALSE(attack([&] { return ::open((mine + "/ledger-4/mutex").c_str(), O_RDWR) >= 0; }));
  in_private_tmpfs("/tmp", "size=8m,mode=1777", [] {
    const auto own_folder = [] { return os::ledger_folder("", "simulated:1x1GiB"); };
    const std::string usual = "/tmp/gputest-0";
    EXPECT_EQ(own_folder(), usual);
    const auto made_first = [&](const std::function<bool()>& make) {
      EXPECT_TRUE(attack(make));
      const auto instead = own_folder();
      EXPECT_EQ(message_of<LedgerError>([&] { os::LedgerFolder{instead}; }), "done");
      EXPECT_EQ(fs::status(instead).permissions(), fs::perms::owner_all);
      for (const std::string& place : {usual, std::string{"/tmp/elsewhere"}}) {
        EXPECT_TRUE(!fs::is_directory(fs::symlink_status(place)) || fs::is_empty(place)) << "written into " << place;
        fs::remove_all(place);
      }
      EXPECT_EQ(own_folder(), instead) << "as other processes use it";
      fs::remove(instead);
      return instead;
    };
    EXPECT_EQ(made_first([&] { return ::mkdir(usual.c_str(), 0777) == 0; }), usual + ".1");
    EXPECT_EQ(made_first([&] {
                return ::mkdir("/tmp/elsewhere", 0777) == 0 && ::symlink("/tmp/elsewhere", usual.c_str()) == 0;
              }),
              usual + ".1");
    EXPECT_EQ(made_first([&] { return ::mkfifo(usual.c_str(), 0666) == 0; }), usual + ".1");
    EXPECT_EQ(made_first([&] {
                bool all = ::mkdir(usual.c_str(), 0777) == 0;
                for (int number = 0; number < 2000; ++number) {
                  all &= ::mkdir((usual + "." + std::to_string(number)).c_str(), 0777) == 0;
                }
                return all && ::mkdir((usual + ".02000").c_str(), 0777) == 0;
              }),
              usual + ".2000");
    fs::create_directory(usual + ".1999.d");
    EXPECT_EQ(own_folder(), usual) << "nobody has it any more";
    EXPECT_EQ(::mkdir(usual.c_str(), 0700), 0);
    EXPECT_EQ(::chmod(usual.c_str(), 0755), 0);
    EXPECT_THAT(message_of<LedgerError>([&] { os::LedgerFolder{own_folder()}; }),
                StartsWith("/tmp/gputest-0 has the mode 0755, with which others can reach what is in it"));
  });
}

TEST_F(HostileUser, shares_its_id_with_users_whom_a_namespace_does_not_know_and_no_folder) {
  in_private_tmpfs("/tmp", "size=8m,mode=1777", [] {
    EXPECT_EQ(::mkdir("/tmp/gputest-65534", 0700), 0);
    const int status = in_child([] {
      become_member(another_member);
      if (::unshare(CLONE_NEWUSER) != 0) {
        return 2;
      }
      const auto own = os::user_folder();
      os::LedgerFolder{own};
      return own == "/tmp/gputest-65534.1" && os::user_folder() == own ? 0 : 1;
    });
    if (status == 2) {
      GTEST_SKIP() << "this user may not make a user namespace";
    }
    EXPECT_EQ(status, 0);
  });
}

TEST_F(HostileUser, gets_the_shared_folder_of_the_machine_only_where_it_is_sound_and_it_is_a_member) {
  in_private_tmpfs("/run", "size=8m,mode=755", [] {
    const auto folder_for = [](uid_t user, gid_t group, const std::string& expected) {
      return in_child([&] {
               if (::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 || ::setuid(user) != 0) {
                 return 2;
               }
               return os::ledger_folder("", "all") == expected ? 0 : 1;
             }) == 0;
    };
    EXPECT_TRUE(folder_for(nobody, members, "/tmp/gputest-65534")) << "there is none";
    make_shared_folder("/run/gputest");
    EXPECT_TRUE(folder_for(nobody, members, "/run/gputest"));
    EXPECT_TRUE(folder_for(nobody, 12345, "/tmp/gputest-65534")) << "not a member";
    EXPECT_EQ(os::ledger_folder("", "simulated:1x1GiB"), "/tmp/gputest-0");
    EXPECT_EQ(os::ledger_folder("/a", "all"), "/a");
    EXPECT_EQ(os::private_folder("/run/gputest"), "/tmp/gputest-0");
    const auto said = [] { return message_of<LedgerError>([] { static_cast<void>(os::ledger_folder("", "all")); }); };
    EXPECT_EQ(::chmod("/run/gputest", 01777), 0);
    EXPECT_THAT(said(), StartsWith("/run/gputest, where this machine's shared ledger is, has the mode 1777, and a "
                                   "shared one must have 3770"));
    EXPECT_EQ(::chmod("/run/gputest", 0755), 0);
    EXPECT_THAT(said(), HasSubstr("must belong to root and have the mode 3770 (it has 0755, and belongs to root)"));
    EXPECT_EQ(::chmod("/run/gputest", 03770), 0);
    EXPECT_EQ(::unlink("/run/gputest/mutex"), 0);
    EXPECT_THAT(message_of<LedgerError>([] {
                  os::SlotStore{"/run/gputest", ledger::ledger_name, ledger::ledger_layout};
                }),
                StartsWith("cannot open the lock file /run/gputest/mutex: No such file or directory; in a shared "
                           "folder it is a regular file of root's with the mode 0660"));
  });
}

TEST_F(HostileUser, that_makes_a_file_immutable_is_an_error_that_says_which) {
  const std::string mine = fs::temp_directory_path() / ("gputest-immutable-" + std::to_string(::getpid()));
  auto opened = std::make_unique<ledger::Ledger>(mine, std::make_shared<SharedProbe>(probe_file()));
  const os::Descriptor file{::open((mine + "/ledger-4/ledger").c_str(), O_RDONLY)};
  const auto set = [&](bool immutable) {
    int flags = immutable ? FS_IMMUTABLE_FL : 0;
    return ::ioctl(file.number(), FS_IOC_SETFLAGS, &flags) == 0;
  };
  const bool could = set(true);
  const auto said = message_of<LedgerError>([&] { ledger::Ledger{mine, std::make_shared<SharedProbe>(probe_file())}; });
  set(false);
  opened.reset();
  fs::remove_all(mine);
  if (!could) {
    GTEST_SKIP() << "the file system has no immutable files, or root may not make them";
  }
  EXPECT_THAT(said, StartsWith("cannot read and write " + mine + "/ledger-4/ledger: Operation not permitted"));
}

} // namespace
} // namespace gputest::tests
