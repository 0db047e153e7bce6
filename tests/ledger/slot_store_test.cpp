#include "ledger/slot_store.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/private_mount.hpp"
#include "support/use_up_descriptors.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

namespace gputest::ledger {
namespace {

namespace fs = std::filesystem;

using tests::end_of;
using tests::in_child;
using tests::message_of;
using tests::start_child;

constexpr Layout layout{3, 4096, 256, 32};

struct Record {
  std::array<std::uint64_t, 32> words{};
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator{folder}) {
    names.push_back(entry.path().filename());
  }
  return names;
}

class SlotStoreTest : public ::testing::Test {
protected:
  // Another user has to get through it to the store.
  SlotStoreTest() { fs::permissions(parent_.path(), fs::perms{0755}); }

  [[nodiscard]] std::string folder() const { return parent_.path() + "/of/gputest"; }
  [[nodiscard]] std::string path() const { return folder() + "/store"; }
  [[nodiscard]] SlotStore open() const { return SlotStore{folder(), "store", layout}; }
  void make() const { static_cast<void>(open()); }

  /// What is said of a store that cannot be opened.
  [[nodiscard]] std::string message() const {
    try {
      make();
      return "opened";
    } catch (const LedgerError& error) {
      return error.what();
    }
  }

  tests::PrivateFolder parent_;
};

TEST_F(SlotStoreTest, keeps_records_and_rows_apart_and_for_others) {
  SlotStore store = open();
  Record first;
  first.words.fill(1);
  Record last;
  last.words.fill(2);
  Record row;
  row.words.fill(3);
  store.write(0, first);
  store.write(31, last);
  store.write_row(15, row);
  const SlotStore again = open();
  EXPECT_EQ(again.slots(), 32U);
  EXPECT_EQ(again.read<Record>(0).words, first.words);
  EXPECT_EQ(again.read<Record>(1).words, Record{}.words);
  EXPECT_EQ(again.read<Record>(31).words, last.words);
  EXPECT_EQ(again.read_row<Record>(15).words, row.words);
  EXPECT_EQ(again.read_row<Record>(14).words, Record{}.words);
}

TEST_F(SlotStoreTest, gives_the_first_slot_that_is_free_and_whose_bell_nobody_has) {
  SlotStore store = open();
  const auto any = [](std::size_t) { return true; };
  const auto first = store.take(any);
  EXPECT_EQ(first.slot, 0U);
  EXPECT_EQ(store.take([](std::size_t slot) { return slot != 1; }).slot, 2U) << "the first has an owner";
  std::vector<SlotStore::Taken> others;
  while (others.size() < 31) {
    others.push_back(store.take(any));
  }
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(store.take(any)); }),
            "all 32 places of " + path() + " are taken by running processes; run fewer GPU tests at once (ctest -j)");
}

TEST_F(SlotStoreTest, uses_no_more_slots_than_it_has_whatever_its_file_says) {
  SlotStore store = open();
  const auto taken = store.take([](std::size_t slot) { return slot == 2; });
  EXPECT_EQ(taken.slot, 2U);
  EXPECT_EQ(store.used_slots(), 3U);
  constexpr std::size_t used_slots_offset = 2048;
  constexpr std::uint32_t many = UINT32_MAX;
  system::SharedFile{path() + "/ledger"}.write(used_slots_offset, &many, sizeof many);
  EXPECT_EQ(store.used_slots(), 32U);
}

TEST_F(SlotStoreTest, is_open_to_every_user_whatever_the_umask_of_who_made_it) {
  fs::create_directory(parent_.path() + "/of");
  fs::permissions(parent_.path() + "/of", fs::perms{0755});
  ASSERT_EQ(in_child([&] {
              ::umask(077);
              make();
              return ::umask(077) == 077 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(mode_of(folder()), 01777U);
  EXPECT_EQ(mode_of(path()), 0755U);
  EXPECT_EQ(mode_of(path() + "/mutex"), 0666U);
  EXPECT_EQ(mode_of(path() + "/ledger"), 0666U);
  EXPECT_EQ(mode_of(path() + "/bell.0"), 0666U);
  EXPECT_EQ(mode_of(path() + "/bell.31"), 0666U);
  EXPECT_EQ(in_child([&] {
              tests::become_nobody();
              SlotStore store = open();
              const std::lock_guard guard{store.mutex()};
              store.write(5, Record{{7}});
              return system::Bell::take(store.bell(5)) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(open().read<Record>(5).words[0], 7U);
}

TEST_F(SlotStoreTest, made_by_many_at_once_is_one) {
  // All start when the pipe is closed.
  std::array<int, 2> start{};
  ASSERT_EQ(::pipe(start.data()), 0);
  std::vector<pid_t> children;
  constexpr std::size_t count = 24;
  constexpr Layout takes_a_while{3, 4096, 256, 1024};
  for (std::size_t child = 0; child < count; ++child) {
    children.push_back(start_child([&] {
      ::close(start[1]);
      char nothing = 0;
      static_cast<void>(!::read(start[0], &nothing, 1));
      SlotStore store{folder(), "store", takes_a_while};
      const std::lock_guard guard{store.mutex()};
      auto sum = store.read<Record>(0);
      ++sum.words[0];
      store.write(0, sum);
      return 0;
    }));
  }
  ::close(start[0]);
  ::close(start[1]);
  for (const pid_t child : children) {
    EXPECT_EQ(end_of(child), 0);
  }
  EXPECT_EQ(names_in(folder()), std::vector<std::string>{"store"});
  EXPECT_EQ((SlotStore{folder(), "store", takes_a_while}.read<Record>(0)).words[0], count)
      << "each has added one to the same store";
}

TEST_F(SlotStoreTest, is_made_where_a_builder_was_killed_and_leaves_nothing_of_it) {
  fs::create_directories(folder() + "/.building-abcdef");
  fs::create_directories(folder() + "/else");
  make();
  auto names = names_in(folder());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"else", "store"}));
}

TEST_F(SlotStoreTest, is_made_beside_what_a_killed_builder_of_another_user_has_left) {
  if (::getuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  fs::permissions(parent_.path(), fs::perms{0755});
  fs::create_directories(folder() + "/.building-0");
  fs::permissions(parent_.path() + "/of", fs::perms{0755});
  fs::permissions(folder(), fs::perms{01777});
  ASSERT_EQ(in_child([&] {
              tests::become_nobody();
              make();
              return 0;
            }),
            0);
  auto names = names_in(folder());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{".building-0", "store"}));
}

TEST_F(SlotStoreTest, of_another_version_is_another_store_beside_it) {
  constexpr Layout next{4, 8192, 512, 16};
  struct NextRecord {
    std::array<std::uint64_t, 64> words{};
  };
  SlotStore store = open();
  SlotStore newer{folder(), "store-4", next};
  store.write(1, Record{{1}});
  newer.write(1, NextRecord{{4}});
  EXPECT_EQ(open().read<Record>(1).words[0], 1U);
  EXPECT_EQ((SlotStore{folder(), "store-4", next}.read<NextRecord>(1).words[0]), 4U);
  EXPECT_TRUE(system::Bell::take(store.bell(0)));
  EXPECT_TRUE(system::Bell::take(newer.bell(0)));
}

TEST_F(SlotStoreTest, that_is_damaged_or_of_another_version_is_refused_with_what_to_do) {
  const std::string advice = ", and this gputest reads layout version 3 only; when no GPU test is running, remove that "
                             "folder, or set GPUTEST_DIR to another one";
  make();
  const std::string file = path() + "/ledger";
  system::SharedFile ledger{file};
  const auto with_word = [&](std::size_t offset, std::uint32_t word) {
    std::uint32_t before = 0;
    std::memcpy(&before, ledger.data() + offset, sizeof before);
    ledger.write(offset, &word, sizeof word);
    std::string said = message();
    ledger.write(offset, &before, sizeof before);
    return said;
  };
  const std::string wrong_sizes = file + " is damaged (its sizes are not those of its version)" + advice;
  EXPECT_EQ(message(), "opened");
  EXPECT_EQ(with_word(0, 0), file + " is something else" + advice);
  EXPECT_EQ(with_word(8, 4), file + " is layout version 4" + advice);
  EXPECT_EQ(with_word(12, 8192), wrong_sizes) << "bytes of the table";
  EXPECT_EQ(with_word(16, 128), wrong_sizes) << "bytes of a record";
  EXPECT_EQ(with_word(20, 64), wrong_sizes) << "slots";
  EXPECT_EQ(message(), "opened");
  constexpr std::size_t right = 4096 + 4096 + 32 * 256;
  const std::string wrong_size = " bytes in place of 16384)" + std::string{advice};
  for (const std::size_t wrong : {right - 1, right + 1, std::size_t{32}}) {
    fs::resize_file(file, wrong);
    EXPECT_EQ(message(), std::string{file}.append(" is damaged (").append(std::to_string(wrong)).append(wrong_size));
  }
  fs::resize_file(file, 4);
  EXPECT_EQ(message(), file + " is something else" + advice);
  fs::resize_file(file, 0);
  EXPECT_EQ(message(), file +
                           " is empty; when no GPU test is running, remove the ledger's folder, or set GPUTEST_DIR to "
                           "another one");
}

TEST_F(SlotStoreTest, that_lacks_a_part_or_has_another_thing_in_its_place_is_refused_with_what_to_do) {
  const auto with = [&](const std::string& part, auto put) {
    make();
    fs::remove_all(path() + part);
    put(path() + part);
    const std::string said = message();
    fs::remove_all(path());
    const std::string begin = path() + part + " is ";
    const std::string end =
        "; when no GPU test is running, remove the ledger's folder, or set GPUTEST_DIR to another one";
    EXPECT_EQ(said.substr(0, begin.size()), begin);
    EXPECT_EQ(said.substr(std::max(said.size(), end.size()) - end.size()), end) << said;
    return said.substr(begin.size(), said.size() - std::min(said.size(), begin.size() + end.size()));
  };
  const auto nothing = [](const std::string& /*part*/) {};
  const auto put_folder = [](const std::string& part) { fs::create_directory(part); };
  const auto put_file = [](const std::string& part) { std::ofstream{part} << "text"; };
  const auto put_fifo = [](const std::string& part) { system::Bell::create(part); };
  const auto put_link = [](const std::string& part) { fs::create_symlink("nowhere", part); };
  EXPECT_EQ(with("/mutex", nothing), "missing, and must be a regular file");
  EXPECT_EQ(with("/mutex", put_folder), "a folder, and must be a regular file");
  EXPECT_EQ(with("/mutex", put_fifo), "a FIFO, and must be a regular file");
  EXPECT_EQ(with("/ledger", nothing), "missing, and must be a regular file");
  EXPECT_EQ(with("/ledger", put_folder), "a folder, and must be a regular file");
  EXPECT_EQ(with("/ledger", put_link),
            "a symbolic link to nowhere (No such file or directory), and must be a regular file");
  EXPECT_EQ(with("/bell.0", nothing), "missing, and must be a FIFO");
  EXPECT_EQ(with("/bell.31", put_file), "a regular file, and must be a FIFO");
  EXPECT_EQ(with("", put_file), "a regular file, and must be a folder");
}

TEST_F(SlotStoreTest, that_is_removed_while_it_is_used_says_so) {
  const SlotStore store = open();
  store.require_in_place();
  const auto said = [&] { return message_of<LedgerError>([&] { store.require_in_place(); }); };
  const std::string what_to_do = " while this process used it, so that nobody knows of everybody; let all GPU tests "
                                 "end, and start them again. A ledger needs no cleaning up: what is in it of dead "
                                 "processes is not counted";
  fs::remove_all(folder());
  EXPECT_EQ(said(), "the ledger " + path() + " was removed" + what_to_do);
  make();
  EXPECT_EQ(said(), "the ledger " + path() + " was removed and made anew" + what_to_do);
}

/// A store's place in which something is wrong that only a child can have, or that only nobody in particular sees.
class SlotStorePlace : public SlotStoreTest {
protected:
  SlotStorePlace() { fs::create_directories(folder()); }

  /// Has a child check what is said of the store, after it has made ready; skips where it may not do that.
  template <class Prepare>
  void expect_said_after(Prepare prepare, const std::string& begin, const std::string& end) const {
    const int status = in_child([&] {
      if (!prepare()) {
        return tests::may_not_mount;
      }
      const std::string said = message();
      EXPECT_EQ(said.substr(0, begin.size()), begin);
      EXPECT_EQ(said.substr(std::max(said.size(), end.size()) - end.size()), end) << said;
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
    if (status == tests::may_not_mount) {
      GTEST_SKIP() << "this user may not mount a file system";
    }
    EXPECT_EQ(status, 0);
  }

  [[nodiscard]] bool mount(const std::string& options) const {
    return tests::mount_private_tmpfs(folder(), options + ",mode=1777");
  }

  const std::string elsewhere_ =
      "; set GPUTEST_DIR to a folder on a local file system that every user of the GPUs can write to";
};

TEST_F(SlotStorePlace, without_room_is_an_error_that_leaves_nothing_behind) {
  expect_said_after([&] { return mount("size=8k"); }, "cannot allocate 16384 bytes for " + folder() + "/.building-",
                    "/ledger: No space left on device (df and df -i show what is full)" + elsewhere_);
  expect_said_after(
      [&] {
        const bool mounted = mount("size=8k");
        static_cast<void>(message());
        EXPECT_TRUE(fs::is_empty(folder()));
        return mounted;
      },
      "cannot allocate ", elsewhere_);
}

TEST_F(SlotStorePlace, without_inodes_is_an_error) {
  expect_said_after([&] { return mount("size=1m,nr_inodes=20"); }, "cannot create " + folder() + "/.building-",
                    ": No space left on device (df and df -i show what is full)" + elsewhere_);
  expect_said_after([&] { return mount("size=1m,nr_inodes=1"); },
                    "cannot make a folder in " + folder() + ": No space left on device (df and df -i", elsewhere_);
}

TEST_F(SlotStorePlace, that_is_read_only_is_an_error) {
  expect_said_after([&] { return mount("size=1m") && tests::make_read_only(folder()); },
                    "cannot make a folder in " + folder() + ": Read-only file system", elsewhere_);
  expect_said_after(
      [&] {
        const bool mounted = mount("size=1m");
        make();
        return mounted && tests::make_read_only(folder());
      },
      "cannot read and write " + path() + "/mutex: Read-only file system", elsewhere_);
  expect_said_after(
      [&] {
        fs::remove(folder());
        const bool mounted = tests::mount_private_tmpfs(parent_.path() + "/of", "size=1m");
        return mounted && tests::make_read_only(parent_.path() + "/of");
      },
      "cannot make the folder " + folder() + ": Read-only file system", elsewhere_);
}

TEST_F(SlotStorePlace, that_others_may_not_write_to_is_an_error) {
  const auto as_nobody = [] {
    tests::become_nobody();
    return true;
  };
  fs::permissions(folder(), fs::perms{0555});
  expect_said_after(as_nobody, "cannot make a folder in " + folder() + ": Permission denied", elsewhere_);
  fs::permissions(folder(), fs::perms{0700});
  expect_said_after(as_nobody, "cannot open and lock the folder " + folder() + ": Permission denied", elsewhere_);
  fs::permissions(folder(), fs::perms{01777});
  make();
  fs::permissions(path() + "/mutex", fs::perms{0600});
  expect_said_after(as_nobody, "cannot read and write " + path() + "/mutex: Permission denied", elsewhere_);
  fs::remove_all(folder());
  fs::permissions(parent_.path() + "/of", fs::perms{0555});
  expect_said_after(as_nobody, "cannot make the folder " + folder() + ": Permission denied", elsewhere_);
}

TEST_F(SlotStorePlace, that_is_no_folder_is_an_error_that_says_what_it_is) {
  fs::remove(folder());
  std::ofstream{folder()} << "text";
  EXPECT_EQ(message(), folder() + " is not a folder, but a regular file" + elsewhere_);
  fs::remove(folder());
  fs::create_symlink("/nowhere", folder());
  EXPECT_EQ(message(),
            folder() + " is not a folder, but a symbolic link to /nowhere (No such file or directory)" + elsewhere_);
  fs::remove(folder());
  fs::remove(parent_.path() + "/of");
  std::ofstream{parent_.path() + "/of"} << "text";
  EXPECT_EQ(message(), "cannot make the folder " + parent_.path() + "/of: Not a directory" + elsewhere_);
}

TEST_F(SlotStorePlace, where_its_name_is_a_link_to_nowhere_is_an_error) {
  fs::create_symlink("nowhere", path());
  EXPECT_EQ(message(), "cannot rename a new ledger to " + path() + ": Not a directory" + elsewhere_);
}

TEST_F(SlotStorePlace, without_a_descriptor_left_is_an_error) {
  make();
  for (const std::size_t left : {0U, 1U}) {
    expect_said_after(
        [&] {
          tests::use_up_descriptors(left);
          return true;
        },
        "cannot ",
        ": Too many open files (this process has all 256 open that it may have; close some, or raise the "
        "limit: ulimit -n)");
  }
}

} // namespace
} // namespace gputest::ledger
