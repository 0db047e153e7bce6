// SPDX-License-Identifier: BSD-3-Clause
#include "ledger_test.hpp"

#include "support/in_child.hpp"
#include "support/private_mount.hpp"
#include "support/shared_folder.hpp"

#include <filesystem>

namespace gputest::tests {
namespace {

namespace fs = std::filesystem;

/// Other users and other containers on one machine.
class MachineTest : public LedgerTest {
protected:
  MachineTest() {
    fs::permissions(folder_.path(), fs::perms{0755});
    fs::permissions(probe_file(), fs::perms{0666});
  }

  /// For a child, which has an object of its own.
  [[nodiscard]] std::unique_ptr<ledger::Ledger> open() const {
    return std::make_unique<ledger::Ledger>(folder(), std::make_shared<SharedProbe>(probe_file()));
  }

  static ledger::Result enter(ledger::Ledger& ledger, const std::string& who) {
    return ledger.enter({who, 1, 1, 10, 60, false}, {});
  }
};

TEST_F(MachineTest, two_users_share_one_ledger_and_wake_each_other_whatever_their_umask) {
  if (::getuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  make_shared_folder(folder());
  ::umask(077);
  ASSERT_EQ(in_child([&] {
              static_cast<void>(open());
              return 0;
            }),
            0)
      << "root makes it";
  std::array<int, 2> steps{};
  ASSERT_EQ(::pipe(steps.data()), 0);
  auto a = start_inside("a");
  a.ask("lease a 1 60");
  const pid_t nobody = start_child([&] {
    become_nobody();
    const auto opened = open();
    ledger::Ledger& ledger = *opened;
    static_cast<void>(ledger.devices().bit_of("another device, so that the numbers differ"));
    const auto device = ledger.devices().bit_of(SharedProbe::uuid(0));
    ledger::Patience patience;
    patience.notice_after = std::chrono::milliseconds{0};
    patience.on_wait = [&](const ledger::Blocked& blocked) {
      static_cast<void>(!::write(steps[1], blocked.blockers.at(0).who.c_str(), 1));
    };
    if (ledger.enter({"nobody", device, 1, 10, 60, false}, {}).kind != ledger::Result::Kind::granted ||
        ledger.lease({"nobody", device, 60, false, false}, patience).kind != ledger::Result::Kind::granted) {
      return 1;
    }
    char go_on = 0;
    static_cast<void>(!::write(steps[1], "!", 1));
    while (go_on == 0) { // holds until root waits for it
      for (const auto& entry : ledger.records()) {
        go_on = entry.who == "a" && entry.claim.stage == policy::Stage::waiting ? '!' : go_on;
      }
    }
    ledger.release();
    ::pause();
    return 0;
  });
  char said = 0;
  ASSERT_EQ(::read(steps[0], &said, 1), 1);
  EXPECT_EQ(said, 'a') << "nobody waits for root";
  a.ask("release");
  ASSERT_EQ(::read(steps[0], &said, 1), 1);
  EXPECT_EQ(said, '!') << "root has woken nobody";
  EXPECT_EQ(a.ask("lease a 1 60"), "waits for nobody");
  EXPECT_EQ(a.answer(), "granted 1") << "nobody has woken root";
  ::kill(nobody, SIGKILL);
  EXPECT_EQ(end_of(nobody), -SIGKILL);
  ::close(steps[0]);
  ::close(steps[1]);
  ::umask(022);
}

TEST_F(MachineTest, a_process_that_sees_another_folder_has_another_ledger_and_is_an_external_process_here) {
  auto a = start_inside("a");
  // Another mount namespace, as PrivateTmp or a container without the folder.
  if (in_child([&] { return mount_private_tmpfs(folder(), "size=4m,mode=0700") ? 0 : may_not_mount; }) != 0) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  const pid_t contained = start_keeper([&]() -> std::unique_ptr<ledger::Ledger> {
    if (!mount_private_tmpfs(folder(), "size=4m,mode=0700")) {
      throw std::runtime_error{"it could be mounted before"};
    }
    auto ledger = open();
    static_cast<void>(ledger->devices().bit_of(SharedProbe::uuid(0)));
    if (!ledger->records().empty() || enter(*ledger, "contained").kind != ledger::Result::Kind::granted) {
      throw std::runtime_error{"it sees who is outside"};
    }
    return ledger;
  });
  EXPECT_EQ(stage_of("contained"), "outside");
  devices_.device(0).external_bytes = 50; // so the driver shows what it allocates
  EXPECT_EQ(a.ask("lease a 1 60"), "waits for external processes");
  ::kill(contained, SIGKILL);
  EXPECT_EQ(end_of(contained), -SIGKILL);
  devices_.device(0).external_bytes = 0;
  EXPECT_EQ(a.answer(), "granted 1");
}

} // namespace
} // namespace gputest::tests
