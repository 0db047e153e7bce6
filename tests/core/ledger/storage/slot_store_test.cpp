// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/slot_store.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/private_mount.hpp"
#include "support/refuse_call.hpp"
#include "support/shared_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace gputest::os {

namespace {

namespace fs = std::filesystem;

using tests::end_of;
using tests::in_child;
using tests::message_of;
using tests::start_child;

constexpr Layout layout{3, 4096, 256, 32};

struct StoredRecord {
  std::array<std::uint64_t, 31> words{};
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

/// Replaces a word of a file, and returns what it was.
std::uint32_t put_word(const std::string& file, std::size_t offset, std::uint32_t word) {
  const Descriptor opened{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
  std::uint32_t before = 0;
  EXPECT_EQ(::pread(opened.number(), &before, sizeof before, static_cast<off_t>(offset)), 4);
  EXPECT_EQ(::pwrite(opened.number(), &word, sizeof word, static_cast<off_t>(offset)), 4);
  return before;
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
  StoredRecord first;
  first.words.fill(1);
  StoredRecord last;
  last.words.fill(2);
  StoredRecord row;
  row.words.fill(3);
  store.write(0, first);
  store.write(31, last);
  store.write_row(15, row);
  const SlotStore again = open();
  EXPECT_EQ(again.slots(), 32U);
  EXPECT_EQ(again.read<StoredRecord>(0).words, first.words);
  EXPECT_EQ(again.read<StoredRecord>(1).words, StoredRecord{}.words);
  EXPECT_EQ(again.read<StoredRecord>(31).words, last.words);
  EXPECT_EQ(again.read_row<StoredRecord>(15).words, row.words);
  EXPECT_EQ(again.read_row<StoredRecord>(14).words, StoredRecord{}.words);
}

TEST_F(SlotStoreTest, is_made_where_the_file_system_cannot_rename_without_replacing) {
  const int status = in_child([&] {
    if (!tests::refuse_call(SYS_renameat2, 4, RENAME_NOREPLACE, EINVAL) ||
        ::renameat2(AT_FDCWD, "/a", AT_FDCWD, "/b", RENAME_NOREPLACE) == 0 || errno != EINVAL) {
      return 2;
    }
    SlotStore store = open();
    store.write(3, StoredRecord{{7}});
    return 0;
  });
  EXPECT_EQ(status, 0);
  auto names = names_in(path());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"ledger", "mutex"}));
  EXPECT_EQ(names_in(folder()), std::vector<std::string>{"store"});
  EXPECT_EQ(mode_of(path()), 0700U);
  EXPECT_EQ(open().read<StoredRecord>(3).words[0], 7U);
}

TEST_F(SlotStoreTest, gives_the_first_slot_that_is_free_and_whose_fifo_nobody_has) {
  SlotStore store = open();
  const auto any = [](std::size_t) { return true; };
  const auto first = store.take(any);
  EXPECT_EQ(first.slot, 0U);
  EXPECT_EQ(store.take([](std::size_t slot) { return slot != 1; }).slot, 2U) << "the first has an owner";
  std::vector<SlotStore::TakenSlot> others;
  while (others.size() < 31) {
    others.push_back(store.take(any));
  }
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(store.take(any)); }),
            "all 32 places of " + path() + " are taken by running processes; run fewer GPU tests at once (ctest -j)");
  std::size_t seen = 0;
  store.for_each<StoredRecord>([&](std::size_t, const StoredRecord&) { ++seen; });
  EXPECT_EQ(seen, 32U);
}

TEST_F(SlotStoreTest, in_a_private_folder_has_no_parts_of_other_users) {
  SlotStore store = open();
  fs::create_directory(folder() + "/store.54321");
  EXPECT_TRUE(::geteuid() != 0 || ::chown((folder() + "/store.54321").c_str(), 54321, 54321) == 0);
  std::size_t seen = 0;
  store.for_each<StoredRecord>([&](std::size_t, const StoredRecord&) { ++seen; });
  EXPECT_EQ(seen, 0U);
}

TEST_F(SlotStoreTest, shows_all_slots_that_have_had_an_owner_when_an_earlier_one_is_taken_again) {
  SlotStore store = open();
  const auto any = [](std::size_t) { return true; };
  std::optional<SlotStore::TakenSlot> first = store.take(any);
  const auto second = store.take(any);
  first.reset();
  EXPECT_EQ(store.take(any).slot, 0U);
  std::vector<std::size_t> seen;
  store.for_each<StoredRecord>([&](std::size_t slot, const StoredRecord&) { seen.push_back(slot); });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1}));
}

TEST_F(SlotStoreTest, shows_the_records_of_few_slots_and_of_all) {
  SlotStore store = open();
  SlotStore other = open();
  std::vector<SlotStore::TakenSlot> taken;
  for (std::uint64_t slot = 0; slot < store.slots(); ++slot) {
    StoredRecord record;
    record.words.fill(slot);
    taken.push_back(store.take([&](std::size_t each) { return each == slot; }));
    store.write(slot, record);
    std::vector<std::uint64_t> seen;
    other.for_each<StoredRecord>([&](std::size_t, const StoredRecord& each) { seen.push_back(each.words.front()); });
    ASSERT_EQ(seen.size(), slot + 1);
    EXPECT_EQ(seen.front(), 0U);
    EXPECT_EQ(seen.back(), slot);
  }
}

TEST_F(SlotStoreTest, whose_record_row_or_count_is_not_what_a_gputest_wrote_is_an_error_that_says_where) {
  SlotStore store = open();
  store.write_row(3, StoredRecord{{9}});
  ASSERT_EQ(store.take([](std::size_t slot) { return slot == 2; }).slot, 2U);
  store.write(1, StoredRecord{{7}});
  std::size_t seen = 0;
  const auto look = [&] {
    return message_of<LedgerError>([&] { store.for_each<StoredRecord>([&](std::size_t, const auto&) { ++seen; }); });
  };
  EXPECT_EQ(look(), "done");
  EXPECT_EQ(seen, 3U) << "slots up to the last that had an owner";
  const std::string repair =
      "; when no GPU test is running, remove the ledger's folder, or set GPUTEST_DIR to another one";
  const std::string file = path() + "/ledger";
  constexpr std::size_t used = 4096 + 4096;
  constexpr std::size_t records = used + 256;
  const auto with_word = [&](std::size_t offset, std::uint32_t word, auto what) {
    const auto before = put_word(file, offset, word);
    const std::string said = what();
    put_word(file, offset, before);
    return said;
  };
  const std::string begin = path() + "/ledger is damaged: ";
  for (const std::size_t byte : {0U, 100U, 252U}) {
    EXPECT_EQ(with_word(records + 256 + byte, 77, look),
              begin + "record 1 has not been written by any gputest" + repair);
    EXPECT_EQ(with_word(records + byte, 77, look), begin + "record 0 has not been written by any gputest" + repair)
        << "nor is what is in a free slot nobody's";
  }
  EXPECT_EQ(with_word(used, 1, look), begin + "it says that 1 slots are used" + repair);
  EXPECT_EQ(with_word(used, UINT32_MAX, look), begin + "it says that 4294967295 slots are used" + repair);
  const auto with_count = [&](std::uint32_t count) {
    return with_word(used, count, [&] { return with_word(used + 4, ~count, look); });
  };
  EXPECT_EQ(with_count(33), begin + "it says that 33 slots are used" + repair);
  const auto row = [&] { return message_of<LedgerError>([&] { static_cast<void>(store.read_row<StoredRecord>(3)); }); };
  EXPECT_EQ(with_word(4096 + 3 * 256, 8, row),
            begin + "what is at byte 4864 has not been written by any gputest" + repair);
  EXPECT_EQ(look(), "done");
  EXPECT_EQ(store.read<StoredRecord>(1).words[0], 7U);
  std::filesystem::resize_file(path() + "/ledger", records + 256);
  EXPECT_EQ(look(), begin + "it ends after 8704 bytes, and has to have " + std::to_string(used + 17 * 256) +
                        " at least" + repair);
}

TEST_F(SlotStoreTest, larger_than_this_process_may_write_is_an_error_and_no_signal) {
  const auto said_with_limit = [&](auto make_ready) {
    return in_child([&] {
      make_ready();
      const rlimit limit{100, 100};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      return message().find(" needs 16640 bytes, and this process may write files of 100 bytes only (ulimit -f)") !=
                     std::string::npos
                 ? 0
                 : 1;
    });
  };
  EXPECT_EQ(said_with_limit([] {}), 0);
  EXPECT_EQ(said_with_limit([&] { make(); }), 0);
  SlotStore store = open();
  EXPECT_EQ(in_child([&] {
              const rlimit limit{0, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              store.write(0, StoredRecord{{7}});
              rlimit left{};
              ::getrlimit(RLIMIT_FSIZE, &left);
              return left.rlim_cur == 0 ? 0 : 1;
            }),
            0)
      << "a test has left it";
  EXPECT_EQ(in_child([&] {
              const rlimit limit{8448, 8448};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const auto said = message_of<LedgerError>([&] { store.write(0, StoredRecord{{7}}); });
              return said == "cannot write " + path() + "/ledger: File too large" ? 0 : 1;
            }),
            0);
}

TEST_F(SlotStoreTest, belongs_to_this_user_alone_with_any_umask) {
  fs::create_directory(parent_.path() + "/of");
  fs::permissions(parent_.path() + "/of", fs::perms{0755});
  ASSERT_EQ(in_child([&] {
              ::umask(0);
              SlotStore store = open();
              const auto taken = store.take([](std::size_t) { return true; });
              return ::umask(0) == 0 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(mode_of(folder()), 0700U);
  EXPECT_EQ(mode_of(path()), 0700U);
  EXPECT_EQ(mode_of(path() + "/mutex"), 0600U);
  EXPECT_EQ(mode_of(path() + "/ledger"), 0600U);
  EXPECT_EQ(mode_of(path() + "/alive.0"), 0600U);
  EXPECT_EQ(open().wake_fifo(0).mode, 0600U);
}

TEST_F(SlotStoreTest, made_by_a_process_with_any_umask_can_be_used_by_later_ones) {
  fs::permissions(parent_.path(), fs::perms{0777});
  for (const mode_t mask : {0277U, 0777U}) {
    for (const bool killed : {false, true}) { // while it made the folder
      const std::string own = parent_.path() + "/" + std::to_string(mask) + (killed ? "-killed/a" : "/a");
      const auto use = [&](mode_t umask) {
        return in_child([&] {
          tests::become_nobody();
          ::umask(umask);
          if (killed && umask == mask) {
            LedgerFolder made{own};
            ::mkdir((own + "/beginning.store").c_str(), 0700);
            return 0;
          }
          SlotStore store{own, "store", Layout{3, 4096, 256, 4}};
          const std::lock_guard guard{store.mutex()};
          return store.take([](std::size_t) { return true; }).liveness ? 0 : 1;
        });
      };
      EXPECT_EQ(use(mask), 0) << own;
      EXPECT_EQ(use(022), 0) << own;
      EXPECT_EQ(mode_of(own), 0700U);
    }
  }
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
      auto sum = store.read<StoredRecord>(0);
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
  EXPECT_EQ((SlotStore{folder(), "store", takes_a_while}.read<StoredRecord>(0)).words[0], count)
      << "each has added one to the same store";
}

TEST_F(SlotStoreTest, is_made_where_a_builder_was_killed_and_leaves_nothing_of_it) {
  fs::create_directories(path());
  fs::permissions(folder(), fs::perms{0700});
  fs::create_directory(folder() + "/beginning.other");
  static_cast<void>(SlotStore{folder(), "other", layout});
  EXPECT_FALSE(fs::exists(folder() + "/beginning.other"));
  std::ofstream{path() + "/beginning"} << "of a builder that was killed, and longer than a whole ledger is"
                                       << std::string(100000, '.');
  static_cast<void>(open().take([](std::size_t) { return true; }));
  auto names = names_in(path());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"alive.0", "ledger", "mutex"}));
}

TEST_F(SlotStoreTest, parts_that_were_removed_as_old_files_are_made_again) {
  make();
  fs::remove(path() + "/ledger");
  EXPECT_EQ(message(), "opened");
  fs::remove(path() + "/mutex");
  EXPECT_EQ(message(), "opened");
  SlotStore store = open();
  const auto taken = store.take([](std::size_t) { return true; });
  fs::remove(path() + "/alive.0");
  EXPECT_FALSE(LivenessWatch{store.liveness_fifo(0)}.owner_lives());
  EXPECT_EQ(store.take([](std::size_t) { return true; }).slot, 0U);
}

TEST_F(SlotStoreTest, keeps_its_folder_locked_so_that_it_is_not_removed_as_old) {
  const SlotStore store = open();
  const Descriptor sweeper{::open(folder().c_str(), O_RDONLY | O_DIRECTORY)}; // as systemd-tmpfiles looks
  EXPECT_NE(::flock(sweeper.number(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(SlotStoreTest, that_is_damaged_or_of_another_version_is_refused_with_what_to_do) {
  const std::string advice = ", and this gputest reads layout version 3 only; when no GPU test is running, remove the "
                             "ledger's folder, or set GPUTEST_DIR to another one";
  const std::string other = "no ledger, or overwritten by a program that wrote to a descriptor of gputest's";
  make();
  const std::string file = path() + "/ledger";
  const auto with_word = [&](std::size_t offset, std::uint32_t word) {
    const auto before = put_word(file, offset, word);
    std::string said = message();
    put_word(file, offset, before);
    return said;
  };
  const std::string wrong_sizes = file + " is damaged (its sizes are not those of its version)" + advice;
  EXPECT_EQ(message(), "opened");
  EXPECT_EQ(with_word(0, 0), file + " is " + other + advice);
  EXPECT_EQ(with_word(8, 4), file + " is layout version 4" + advice);
  EXPECT_EQ(with_word(12, 8192), wrong_sizes) << "bytes of the table";
  EXPECT_EQ(with_word(16, 128), wrong_sizes) << "bytes of a record";
  EXPECT_EQ(with_word(20, 64), wrong_sizes) << "slots";
  EXPECT_EQ(message(), "opened");
  constexpr std::size_t right = 4096 + 4096 + 33 * 256;
  for (const std::size_t wrong : {right - 1, right + 1, std::size_t{32}}) {
    fs::resize_file(file, wrong);
    EXPECT_EQ(message(), file + " is damaged (" + std::to_string(wrong) + " bytes in place of " +
                             std::to_string(right) + ")" + advice);
  }
  fs::resize_file(file, 4);
  EXPECT_EQ(message(), file + " is " + other + advice);
  fs::resize_file(file, 0);
  EXPECT_EQ(message(), file + " is empty" + advice);
}

TEST_F(SlotStoreTest, that_is_removed_while_it_is_used_says_so) {
  const SlotStore store = open();
  store.require_in_place();
  const auto said = [&] { return message_of<LedgerError>([&] { store.require_in_place(); }); };
  const std::string what_to_do = " while this process used it, so that nobody knows of everybody; let all GPU tests "
                                 "end, and start them again. A ledger needs no cleaning up: what is in it of dead "
                                 "processes is not counted";
  const auto renamed = [&](const std::string& what) {
    fs::rename(what, what + "-old");
    std::string said_then = said();
    fs::rename(what + "-old", what);
    store.require_in_place();
    return said_then;
  };
  for (const std::string& what : {folder(), path(), path() + "/ledger"}) {
    EXPECT_EQ(renamed(what), "the ledger " + path() + " was renamed" +
                                 (fs::path{what}.filename() == "ledger" ? " and made anew" : "") + what_to_do);
  }
  {
    const SlotStore without_mutex = open();
    fs::remove(path() + "/mutex");
    EXPECT_EQ(message_of<LedgerError>([&] { without_mutex.require_in_place(); }),
              "the ledger " + path() + " was removed and made anew" + what_to_do);
  }
  fs::remove_all(folder());
  EXPECT_EQ(said(), "the ledger " + path() + " was removed" + what_to_do);
  make();
  EXPECT_EQ(said(), "the ledger " + path() + " was removed and made anew" + what_to_do);
}

/// A store in a shared folder: this process is root's, and has children of other users. They write their uid into the
/// record of their first slot.
class SharedSlotStore : public SlotStoreTest {
protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can be two users";
    }
    tests::make_shared_folder(shared_);
  }

  [[nodiscard]] std::string part_of(uid_t user) const { return shared_ + "/store." + std::to_string(user); }

  /// Makes that user's part.
  void join(uid_t user) const {
    EXPECT_EQ(in_child([&] {
                ::umask(0);
                tests::become_member(user);
                SlotStore own{shared_, "store", few_};
                const std::lock_guard guard{own.mutex()};
                const auto taken = own.take([](std::size_t) { return true; });
                own.write(0, StoredRecord{{user}});
                return own.owner_of(0) == user ? 0 : 1;
              }),
              0);
  }

  /// Sets the time at which the folder has changed last.
  void set_time(std::time_t seconds) const {
    const std::array<timespec, 2> times{timespec{seconds, 0}, timespec{seconds, 0}};
    EXPECT_EQ(::utimensat(AT_FDCWD, shared_.c_str(), times.data(), 0), 0);
  }

  /// Slots and what is in them.
  static std::map<std::size_t, std::uint64_t> look(SlotStore& store) {
    const std::lock_guard guard{store.mutex()};
    std::map<std::size_t, std::uint64_t> seen;
    store.for_each<StoredRecord>([&](std::size_t slot, const StoredRecord& record) { seen[slot] = record.words[0]; });
    return seen;
  }

  using Seen = std::map<std::size_t, std::uint64_t>;

  static constexpr Layout few_{3, 4096, 256, 4};
  std::string shared_ = parent_.path() + "/shared";
};

TEST_F(SharedSlotStore, numbers_the_slots_of_others_behind_its_own_and_never_anew) {
  SlotStore store{shared_, "store", few_};
  EXPECT_EQ(look(store), Seen{});
  join(54321);
  EXPECT_EQ(look(store), (Seen{{4, 54321}}));
  join(54322);
  EXPECT_EQ(look(store), (Seen{{4, 54321}, {8, 54322}}));
  EXPECT_EQ(store.owner_of(4), 54321U);
  EXPECT_EQ(store.owner_of(11), 54322U);
  EXPECT_EQ(store.owner_of(3), 0U);
  EXPECT_EQ(store.part_index(7), 1U);
  EXPECT_EQ(store.part_index(8), 2U);
  EXPECT_EQ(store.read<StoredRecord>(8).words[0], 54322U);
  EXPECT_EQ(store.read<StoredRecord>(9).words[0], 0U);
  fs::remove_all(part_of(54321));
  EXPECT_EQ(look(store), (Seen{{8, 54322}}));
  EXPECT_FALSE(store.has_part(1));
  EXPECT_TRUE(store.has_part(2));
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(store.owner_of(4)); }),
            "the ledger of a user in " + shared_ + " was removed just now");
  EXPECT_EQ(store.wake_fifo(4).path, FileAt::nothing().path);
  EXPECT_EQ(store.liveness_fifo(4).path, FileAt::nothing().path);
  join(54321);
  EXPECT_EQ(look(store), (Seen{{8, 54322}, {12, 54321}})) << "another part of the same user";
  fs::rename(part_of(54321), shared_ + "/other");
  join(54321);
  EXPECT_EQ(look(store), (Seen{{8, 54322}, {16, 54321}})) << "though nobody has seen that it was gone";
}

TEST_F(SharedSlotStore, has_its_own_part_once_it_takes_a_slot) {
  SlotStore store{shared_, "store", few_};
  const std::string not_made = "the ledger " + part_of(0) + " is not made yet";
  EXPECT_FALSE(store.has_part(0));
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(store.read<StoredRecord>(0)); }), not_made);
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(store.read_row<StoredRecord>(0)); }), not_made);
  EXPECT_FALSE(fs::exists(part_of(0))) << "nor does a look make it";
  store.require_in_place();
  store.require_intact();
  join(54321);
  const std::lock_guard guard{store.mutex()};
  EXPECT_EQ(store.take([](std::size_t) { return true; }).slot, 0U);
  EXPECT_TRUE(store.has_part(0));
  EXPECT_EQ(store.path(), part_of(0));
  store.mutex().unlock();
  EXPECT_EQ(look(store), (Seen{{0, 0}, {4, 54321}})) << "and is not another one's, too";
  store.mutex().lock();
  fs::remove(part_of(0) + "/ledger");
  EXPECT_NE(
      message_of<LedgerError>([&] { store.require_in_place(); }).find(part_of(0) + " was removed and made anew while"),
      std::string::npos);
}

TEST_F(SharedSlotStore, is_made_in_a_folder_that_is_as_the_installed_configuration_makes_it) {
  fs::remove_all(shared_);
  const std::string prefix = "/run/gputest";
  std::ifstream configuration{GPUTEST_TMPFILES};
  std::string line;
  while (std::getline(configuration, line)) {
    std::istringstream fields{line};
    std::string kind;
    std::string path;
    std::string mode;
    std::string user;
    std::string group;
    fields >> kind >> path >> mode >> user >> group;
    if (kind == "#") {
      continue;
    }
    ASSERT_EQ(path.substr(0, prefix.size()), prefix);
    EXPECT_EQ(user, "root");
    EXPECT_EQ(group, "gputest");
    const std::string made = shared_ + path.substr(prefix.size());
    if (kind == "d") {
      fs::create_directory(made);
    } else {
      std::ofstream{made}.close();
    }
    ASSERT_EQ(::chown(made.c_str(), 0, tests::members), 0);
    ASSERT_EQ(::chmod(made.c_str(), static_cast<mode_t>(std::stoul(mode, nullptr, 8))), 0);
  }
  join(54321);
  join(54322);
  SlotStore store{shared_, "store", few_};
  EXPECT_EQ(look(store).size(), 2U);
}

TEST_F(SharedSlotStore, lets_members_read_a_part_and_write_to_nothing_but_wake_up_fifos) {
  join(54321);
  EXPECT_EQ(mode_of(part_of(54321)), 02750U);
  EXPECT_EQ(mode_of(part_of(54321) + "/ledger"), 0640U);
  EXPECT_EQ(mode_of(part_of(54321) + "/alive.0"), 0640U);
  SlotStore store{shared_, "store", few_};
  EXPECT_EQ(look(store).size(), 1U);
  const auto wake = store.wake_fifo(6);
  EXPECT_EQ(wake.path, part_of(54321) + "/wake.2");
  EXPECT_EQ(wake.mode, 0660U);
  EXPECT_EQ(wake.owner, 54321U);
  const auto alive = store.liveness_fifo(6);
  EXPECT_EQ(alive.path, part_of(54321) + "/alive.2");
  EXPECT_EQ(alive.mode, 0640U);
  EXPECT_EQ(alive.owner, 54321U);
}

TEST_F(SharedSlotStore, sees_no_part_in_what_has_not_its_name_owner_and_type) {
  const auto put = [&](const std::string& name, uid_t owner, bool folder = true) {
    const std::string path = shared_ + "/" + name;
    if (folder) {
      fs::create_directory(path);
      fs::permissions(path, fs::perms::owner_all); // of which there is nothing in it
    } else {
      std::ofstream{path} << "text";
    }
    ASSERT_EQ(::chown(path.c_str(), owner, tests::members), 0);
  };
  join(54321);
  SlotStore store{shared_, "store", few_};
  EXPECT_EQ(look(store), (Seen{{4, 54321}}));
  fs::rename(part_of(54321), shared_ + "/store.054321");
  put("store.54322x", 54322);
  put("store.", 54322);
  put("store.-1", 54322);
  put("other.54322", 54322);
  put("store.54323", 54322);
  put("store.54324", 54324, false);
  EXPECT_EQ(look(store), Seen{});
  fs::rename(shared_ + "/store.054321", part_of(54321));
  EXPECT_EQ(look(store), (Seen{{8, 54321}}));
}

// Times of files go on in steps of some milliseconds. Here one step lasts from before the first look to after the
// second; a time in the future, because a folder that has not changed for a second is not looked through again.
TEST_F(SharedSlotStore, sees_a_user_that_joins_without_a_change_of_the_folders_time) {
  const std::time_t step = ::time(nullptr) + 3600;
  SlotStore store{shared_, "store", few_};
  set_time(step);
  EXPECT_EQ(look(store), Seen{});
  join(54321);
  set_time(step);
  EXPECT_EQ(look(store), (Seen{{4, 54321}}));
}

TEST_F(SharedSlotStore, sees_a_part_that_was_just_being_made_though_the_folder_does_not_change) {
  join(54321);
  fs::rename(part_of(54321) + "/ledger", part_of(54321) + "/beginning");
  SlotStore store{shared_, "store", few_};
  set_time(1000); // long ago
  EXPECT_EQ(look(store), Seen{});
  EXPECT_FALSE(store.has_part(1));
  fs::rename(part_of(54321) + "/beginning", part_of(54321) + "/ledger");
  EXPECT_EQ(look(store), (Seen{{4, 54321}}));
}

TEST_F(SharedSlotStore, has_256_users_at_most) {
  join(54321);
  SlotStore store{shared_, "store", few_};
  constexpr uid_t first = 60000;
  const auto add = [&](uid_t user) {
    fs::copy(part_of(54321), part_of(user), fs::copy_options::recursive);
    fs::permissions(part_of(user), fs::perms{02750});
    for (const std::string& file : {part_of(user), part_of(user) + "/ledger"}) {
      ASSERT_EQ(::chown(file.c_str(), user, tests::members), 0);
    }
  };
  fs::remove(part_of(54321) + "/alive.0");
  for (uid_t user = first; user < first + 254; ++user) { // with 54321 and this one 256
    add(user);
  }
  EXPECT_EQ(look(store).size(), 255U);
  add(first + 254);
  EXPECT_EQ(message_of<LedgerError>([&] { look(store); }),
            shared_ + " has ledgers of more than 256 users; an administrator has to remove those that nobody needs, or "
                      "use several shared folders (GPUTEST_DIR)");
  fs::remove_all(part_of(first));
  EXPECT_EQ(look(store).size(), 255U);
}

TEST_F(SlotStoreTest, without_room_is_an_error) {
  fs::create_directories(folder());
  fs::permissions(folder(), fs::perms{0700});
  const int status = in_child([&] {
    if (!tests::mount_private_tmpfs(folder(), "size=8k,mode=700")) {
      return tests::may_not_mount;
    }
    EXPECT_EQ(message(), "cannot allocate 16640 bytes for " + path() +
                             "/beginning: No space left on device (df and df -i show what is full)");
    return HasFailure() ? 1 : 0;
  });
  if (status == tests::may_not_mount) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  EXPECT_EQ(status, 0);
}

class LivenessWatchesTest : public ::testing::Test {
protected:
  std::optional<SlotStore::TakenSlot> take() {
    const std::lock_guard guard{store_.mutex()};
    return store_.take([](std::size_t) { return true; });
  }

  tests::PrivateFolder parent_;
  SlotStore store_{parent_.path() + "/gputest", "store", Layout{1, 4096, 256, 16}};
};

// A FIFO that was opened without an owner never hangs up.
TEST_F(LivenessWatchesTest, that_have_found_a_slot_without_an_owner_look_at_its_next_owner_anew) {
  auto owner = take();
  const std::vector<std::size_t> slots{owner->slot};
  owner.reset();

  LivenessWatches watches{store_};
  EXPECT_EQ(watches.watch(slots), slots);
  owner = take();
  ASSERT_EQ(owner->slot, slots.front());
  EXPECT_EQ(watches.watch(slots), std::vector<std::size_t>{});
  owner.reset();
  EXPECT_EQ(watches.ended_among(slots), slots);
  EXPECT_EQ(watches.watch(slots), std::vector<std::size_t>{}) << "watched while its owner lived: it hangs up";
}

TEST_F(LivenessWatchesTest, report_a_slot_without_an_owner_each_time) {
  auto owner = take();
  const std::vector<std::size_t> slots{owner->slot};
  owner.reset();
  LivenessWatches watches{store_};
  EXPECT_EQ(watches.watch(slots), slots);
  EXPECT_EQ(watches.watch(slots), slots);
}

} // namespace

} // namespace gputest::os
