// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/ledger_folder.hpp"

#include "core/os/user_folder.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/shared_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::os {
namespace {

TEST(PrivateFolder, of_a_setting_is_the_folder_unless_that_is_shared) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  const tests::PrivateFolder parent;
  const std::string shared = parent.path() + "/shared";
  tests::make_shared_folder(shared);
  const auto own = user_folder();
  EXPECT_EQ(private_folder(shared), own) << "what is not for others has no place there";
  EXPECT_EQ(private_folder(parent.path()), parent.path());
  EXPECT_EQ(private_folder(parent.path() + "/not_made_yet"), parent.path() + "/not_made_yet");
  EXPECT_EQ(private_folder(""), own);
}

namespace fs = std::filesystem;

using tests::in_child;
using tests::message_of;

class LedgerFolderTest : public ::testing::Test {
protected:
  /// Makes the folder with this mode, and returns what is said of it.
  [[nodiscard]] std::string said_with_mode(mode_t mode) const {
    fs::create_directories(path_);
    EXPECT_EQ(::chmod(path_.c_str(), mode), 0);
    return message_of<LedgerError>([&] { const LedgerFolder folder{path_}; });
  }

  tests::PrivateFolder parent_;
  std::string path_ = parent_.path() + "/a/b";
};

TEST_F(LedgerFolderTest, is_made_for_this_user_alone_with_the_folders_that_it_is_in) {
  const LedgerFolder folder{path_};
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(folder.path(), path_);
  EXPECT_FALSE(folder.is_shared());
  EXPECT_EQ(FileIdentity::of(folder.number())->inode, FileIdentity::at(path_)->inode);
  const LedgerFolder again{path_};
  EXPECT_EQ(FileIdentity::of(again.number())->inode, FileIdentity::at(path_)->inode);
  const auto file = folder.at("name", 7, 0640);
  EXPECT_EQ(file.path, path_ + "/name");
  EXPECT_EQ(file.folder, folder.number());
  EXPECT_EQ(file.owner, 7U);
  EXPECT_EQ(file.mode, 0640U);
}

TEST_F(LedgerFolderTest, is_the_same_with_a_slash_behind_it_or_a_path_from_the_working_directory) {
  const LedgerFolder folder{path_ + "/"};
  EXPECT_TRUE(fs::is_directory(path_));
  EXPECT_FALSE(folder.is_gone());
  EXPECT_EQ(in_child([&] {
              fs::current_path(path_);
              const LedgerFolder here{"here"};
              return fs::is_directory(path_ + "/here") && !here.is_gone() ? 0 : 1;
            }),
            0);
  fs::remove_all(path_);
  EXPECT_TRUE(folder.is_gone());
}

TEST_F(LedgerFolderTest, in_which_others_can_change_something_is_not_used) {
  for (const mode_t mode : {0700U, 0755U, 0750U}) {
    EXPECT_EQ(said_with_mode(mode), "done");
  }
  for (const auto& [mode, octal] : std::map<mode_t, std::string>{{0720, "0720"}, {0702, "0702"}, {0777, "0777"}}) {
    EXPECT_EQ(said_with_mode(mode),
              path_ + " has the mode " + octal +
                  ", with which others can change what is in it: it is not used. Look what others have put there, and "
                  "chmod it to 0700; or set GPUTEST_DIR to another folder");
  }
}

TEST_F(LedgerFolderTest, that_its_owner_cannot_use_is_refused_with_the_mode_that_it_needs) {
  for (const auto& [mode, octal] : std::map<mode_t, std::string>{{0000, "0000"}, {0300, "0300"}, {0500, "0500"}}) {
    EXPECT_EQ(said_with_mode(mode), path_ + " has the mode " + octal +
                                        ", with which its owner cannot use it; chmod it to 0700, or set GPUTEST_DIR to "
                                        "another folder");
  }
}

TEST_F(LedgerFolderTest, is_locked_only_if_nobody_else_can_open_it) {
  const auto others_may_lock = [&](mode_t mode) {
    EXPECT_EQ(said_with_mode(mode), "done");
    LedgerFolder folder{path_};
    folder.lock();
    const Descriptor other{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return ::flock(other.number(), LOCK_EX | LOCK_NB) == 0;
  };
  for (const mode_t mode : {0700U, 0711U}) {
    EXPECT_FALSE(others_may_lock(mode)) << std::oct << mode;
  }
  for (const mode_t mode : {0755U, 0740U, 0704U}) {
    EXPECT_TRUE(others_may_lock(mode)) << std::oct << mode;
  }
}

TEST_F(LedgerFolderTest, locked_by_another_process_is_opened_at_once_and_an_error_that_names_it_for_who_uses_it) {
  ASSERT_EQ(said_with_mode(0700), "done");
  const pid_t holder = tests::start_keeper([&] {
    Descriptor held{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (::flock(held.number(), LOCK_EX | LOCK_NB) != 0) {
      throw std::runtime_error{"this user can lock its folder"};
    }
    return held;
  });
  LedgerFolder folder{path_};
  EXPECT_FALSE(has_store(path_, "store"));
  const auto said = message_of<LedgerError>([&] { folder.lock(); });
  EXPECT_EQ(said.find("cannot share the folder " + path_ +
                      ": another process has locked it for itself alone (flock) for 5 s: process " +
                      std::to_string(holder) + " ("),
            0U)
      << said;
  ::kill(holder, SIGKILL);
  tests::end_of(holder);
  folder.lock();
}

TEST_F(LedgerFolderTest, that_is_something_else_is_not_used) {
  fs::create_directories(fs::path{path_}.parent_path());
  std::ofstream{path_} << "text";
  const auto said = [](const std::string& path) {
    return message_of<LedgerError>([&] { const LedgerFolder folder{path}; });
  };
  const std::string what_to_do = ": it is not used; remove it, or set GPUTEST_DIR to a folder of your own";
  EXPECT_EQ(said(path_), path_ + " is not a folder, but a regular file" + what_to_do);
  EXPECT_EQ(said(path_ + "/c"),
            "cannot make the folder " + path_ +
                ": Not a directory; set GPUTEST_DIR to a folder of your own on a local file system");
  fs::remove(path_);
  fs::create_directory(path_ + "-other");
  fs::create_symlink(path_ + "-other", path_);
  EXPECT_EQ(said(path_), path_ + " is not a folder, but a symbolic link to " + path_ + "-other" + what_to_do);
}

TEST_F(LedgerFolderTest, of_another_user_is_not_used_and_said_to_be_the_other_ones) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  fs::permissions(parent_.path(), fs::perms{0755});
  EXPECT_EQ(said_with_mode(0700), "done");
  EXPECT_EQ(in_child([&] {
              tests::become_nobody();
              const auto said = message_of<LedgerError>([&] { const LedgerFolder folder{path_}; });
              return said.find(path_ + " belongs to root (uid 0), and not to nobody (uid 65534): it is not used. An "
                                       "administrator can remove it; or set GPUTEST_DIR to a folder of your own") == 0
                         ? 0
                         : 1;
            }),
            0);
}

TEST_F(LedgerFolderTest, of_a_user_but_root_is_never_a_shared_one) {
  fs::permissions(parent_.path(), fs::perms{0755});
  fs::create_directories(path_);
  EXPECT_TRUE(::geteuid() != 0 || ::chown(path_.c_str(), 65534, 65534) == 0);
  EXPECT_EQ(::chmod(path_.c_str(), 03700), 0);
  EXPECT_EQ(in_child([&] {
              tests::become_nobody();
              return LedgerFolder{path_}.is_shared() ? 1 : 0;
            }),
            0);
}

TEST_F(LedgerFolderTest, that_is_shared_must_have_the_mode_of_one_and_is_not_locked) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  const std::string shared = parent_.path() + "/shared";
  tests::make_shared_folder(shared);
  const LedgerFolder folder{shared};
  EXPECT_TRUE(folder.is_shared());
  const Descriptor other{::open(shared.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  EXPECT_EQ(::flock(other.number(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(said_with_mode(02755), "done") << "root's own, below a folder of a group";
  for (const auto& [mode, octal] : std::map<mode_t, std::string>{{01700, "1700"}, {02770, "2770"}, {03777, "3777"}}) {
    EXPECT_EQ(said_with_mode(mode),
              path_ + " has the mode " + octal +
                  ", and a shared one must have 3770 (docs/guides/shared-machines.md): it is not "
                  "used. For a ledger of your own, set GPUTEST_DIR to a folder that you own, and type chmod "
                  "00700 for it");
  }
}

TEST_F(LedgerFolderTest, has_a_store_if_one_is_there_and_makes_none_to_see_it) {
  EXPECT_FALSE(has_store(path_, "store"));
  EXPECT_FALSE(fs::exists(fs::path{path_}.parent_path()));
  EXPECT_EQ(said_with_mode(0700), "done");
  EXPECT_FALSE(has_store(path_, "store"));
  fs::create_directory(path_ + "/other");
  EXPECT_FALSE(has_store(path_, "store"));
  fs::create_directory(path_ + "/store");
  EXPECT_TRUE(has_store(path_, "store"));
  if (::geteuid() == 0) {
    tests::make_shared_folder(parent_.path() + "/shared");
    EXPECT_TRUE(has_store(parent_.path() + "/shared", "store")) << "others may have one";
  }
}

TEST_F(LedgerFolderTest, that_cannot_be_looked_into_is_an_error_and_not_one_without_a_store) {
  parent_.write("file", "", 0600);
  const std::string path = parent_.path() + "/file/folder";
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(has_store(path, "store")); }),
            "cannot look into the ledger's folder '" + path +
                "': Not a directory; it has to be readable for this user, or give another one in GPUTEST_DIR");
}

TEST(LedgerFolderPath, is_the_setting_else_for_simulated_devices_this_users_own) {
  EXPECT_EQ(ledger_folder("/a", "simulated:1x1GiB"), "/a");
  EXPECT_EQ(ledger_folder("", "simulated:1x1GiB"), user_folder());
}

TEST(LedgerFolders, know_file_systems_of_other_machines_by_their_types) {
  for (const std::uint32_t type :
       std::vector<std::uint32_t>{NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CODA_SUPER_MAGIC, V9FS_MAGIC, 0x65735546}) {
    EXPECT_NE(network_file_system(type), "") << std::hex << type;
  }
  for (const std::uint32_t type :
       std::vector<std::uint32_t>{TMPFS_MAGIC, EXT4_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, 0x2FC12FC1 /* ZFS */}) {
    EXPECT_EQ(network_file_system(type), "") << std::hex << type;
  }
}

} // namespace
} // namespace gputest::os
