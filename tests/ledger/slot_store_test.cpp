#include "ledger/slot_store.hpp"

#include "support/in_child.hpp"
#include "support/private_folder.hpp"

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
    const std::string said = message();
    ledger.write(offset, &before, sizeof before);
    return said;
  };
  EXPECT_EQ(message(), "opened");
  EXPECT_EQ(with_word(0, 0), file + " is something else" + advice);
  EXPECT_EQ(with_word(8, 4), file + " is layout version 4" + advice);
  EXPECT_EQ(with_word(12, 8192), file + " is damaged" + advice) << "bytes of the table";
  EXPECT_EQ(with_word(16, 128), file + " is damaged" + advice) << "bytes of a record";
  EXPECT_EQ(with_word(20, 64), file + " is damaged" + advice) << "slots";
  EXPECT_EQ(message(), "opened");
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_EQ(message(), file + " is damaged" + advice);
  fs::resize_file(file, 4);
  EXPECT_EQ(message(), file + " is something else" + advice);
}

TEST_F(SlotStoreTest, that_is_empty_or_lacks_a_file_is_refused) {
  make();
  fs::resize_file(path() + "/ledger", 0);
  EXPECT_EQ(message().find("cannot map " + path() + "/ledger: "), 0U) << message();
  fs::remove(path() + "/ledger");
  EXPECT_EQ(message().find("cannot map " + path() + "/ledger: "), 0U) << message();
  fs::remove(path() + "/mutex");
  EXPECT_EQ(message(), "cannot open the lock file " + path() + "/mutex: No such file or directory");
}

TEST_F(SlotStoreTest, that_cannot_be_made_says_what_to_do) {
  const std::string advice =
      "; set GPUTEST_DIR to a folder on a local file system that every user of the GPUs can write to";
  fs::create_directories(folder());
  fs::permissions(folder(), fs::perms{0555});
  const auto says = [&](const std::string& expected) {
    return in_child([&] {
      tests::become_nobody();
      const std::string said = message();
      EXPECT_EQ(said, expected);
      return said == expected ? 0 : 1;
    });
  };
  EXPECT_EQ(says("cannot make a folder in " + folder() + ": Permission denied" + advice), 0);
  fs::permissions(folder(), fs::perms{0777});
  std::ofstream{folder() + "/file"} << "text";
  fs::create_directory_symlink(folder() + "/file", folder() + "/store");
  EXPECT_EQ(message().find("cannot open the lock file "), 0U) << message();
  fs::remove_all(folder());
  fs::permissions(parent_.path() + "/of", fs::perms{0555});
  EXPECT_EQ(says("cannot make the folder " + folder() + ": Permission denied" + advice), 0);
}

} // namespace
} // namespace gputest::ledger
