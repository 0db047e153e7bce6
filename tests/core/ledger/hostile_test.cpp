// SPDX-License-Identifier: BSD-3-Clause
#include "ledger_test.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

/// Tests with errors that reach what is gputest's, and machines that have run out of something.
class HostileTest : public LedgerTest {
protected:
  [[nodiscard]] std::string store() const { return folder() + "/ledger-4"; }

  /// What is said of a descriptor that was closed; `name` is of the file it was for.
  [[nodiscard]] std::string lost(const std::string& name) const {
    return ", which gputest keeps open for " + store() + "/" + name + ", was closed by something else in this process";
  }

  /// A file of the test's own, empty.
  [[nodiscard]] std::string file() const {
    std::string path = folder_.path() + "/file";
    std::ofstream{path}.close();
    return path;
  }
};

TEST_F(HostileTest,
       a_process_that_closes_all_descriptors_gets_an_error_and_its_memory_counts_until_the_device_shows_it_free) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  devices_.device(0).keeps_memory_of_the_dead = true;
  EXPECT_EQ(a.ask("intact"), "intact");
  EXPECT_EQ(a.ask("close-all"), "closed all");
  EXPECT_THAT(a.ask("intact"), HasSubstr(lost("alive.0")));
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_THAT(a.ask("lease a 1 10"), HasSubstr(lost("mutex")));
  EXPECT_THAT(a.ask("overhead 20"), HasSubstr(lost("mutex")));
  EXPECT_EQ(stage_of("a"), "ended holding");
  EXPECT_EQ(stage_of("b"), "waiting");
  auto c = start();
  EXPECT_EQ(c.ask("enter c 1 1 10 60 at-once"), "granted 1");
  EXPECT_EQ(c.ask("lease c 1 60 at-once"), "timed out for a(ended) b");
  a.end();
  devices_.device(0).keeps_memory_of_the_dead = false;
  EXPECT_EQ(b.answer(), "granted 1");
}

TEST_F(HostileTest, a_process_that_loses_its_fifo_does_not_write_to_a_slot_that_another_has_taken) {
  auto a = start_inside("a");
  a.ask("lease a 1 20");
  EXPECT_EQ(a.ask("close alive.0"), "closed 1");
  auto b = start_inside("b");
  EXPECT_THAT(b.ask("credential"), ::testing::StartsWith(std::to_string(::geteuid()) + ":0:")) << "b has a's place";
  b.ask("lease b 1 60");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_THAT(a.ask("overhead 90"), HasSubstr(lost("alive.0")));
  EXPECT_THAT(a.ask("lease a 1 20"), HasSubstr(lost("alive.0")));
  EXPECT_THAT(a.ask("intact"), HasSubstr(lost("alive.0")));
  const auto entries = look().records();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].who, "b");
  EXPECT_EQ(entries[0].claim.lease_bytes, 60U);
  EXPECT_EQ(entries[0].claim.overhead_bytes, 10U);
}

TEST_F(HostileTest, whose_fifo_is_a_pipe_of_its_own_now_keeps_what_is_in_that_pipe) {
  auto a = start_inside("a");
  const std::string pipe = folder_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const os::WakeFifo own{pipe};
  EXPECT_EQ(a.ask("replace wake.0 " + pipe), "replaced 1");
  os::notify(pipe);
  EXPECT_THAT(a.ask("lease a 1 20"), HasSubstr(lost("wake.0") + ", and is another file's now"));
  char said = 0;
  EXPECT_EQ(::read(own.number(), &said, 1), 1);
}

TEST_F(HostileTest, whose_ledger_is_a_file_of_its_own_now_writes_nothing_there) {
  auto a = start_inside("a");
  a.ask("lease a 1 20");
  const std::string own = file();
  EXPECT_EQ(a.ask("replace ledger " + own), "replaced 1");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_THAT(a.ask("overhead 20"), HasSubstr(lost("ledger") + ", and is another file's now"));
  EXPECT_THAT(a.ask("lease a 1 20"), HasSubstr("ledger"));
  EXPECT_THAT(a.ask("intact"), HasSubstr(lost("ledger") + ", and is another file's now"));
  EXPECT_EQ(std::filesystem::file_size(own), 0U);
  EXPECT_EQ(stage_of("a"), "ended holding") << "what it last could say, until the device shows its memory back";
  a.end();
  EXPECT_EQ(std::filesystem::file_size(own), 0U);
  EXPECT_EQ(start_inside("b").ask("lease b 1 60"), "granted 1");
}

TEST_F(HostileTest, whose_mutex_is_a_file_of_its_own_now_changes_nothing_without_it) {
  auto a = start_inside("a");
  a.ask("lease a 1 20");
  EXPECT_EQ(a.ask("replace mutex " + file()), "replaced 1");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_THAT(a.ask("lease a 1 20"), HasSubstr(lost("mutex") + ", and is another file's now"));
  EXPECT_EQ(stage_of("a"), "ended holding");
  a.end();
  EXPECT_EQ(start_inside("b").ask("lease b 1 60"), "granted 1");
}

TEST_F(HostileTest, a_waiter_without_a_descriptor_left_fails_and_the_others_go_on) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("use-up-descriptors"), "used up");
  EXPECT_THAT(b.ask("lease b 1 60"), HasSubstr("Too many open files (this process has all 256 open that it may have; "
                                               "close some, or raise the limit: ulimit -n)"));
  EXPECT_EQ(stage_of("b"), "inside") << "and has left the queue";
  EXPECT_EQ(c.ask("lease c 1 60"), "waits for a");
  a.ask("release");
  EXPECT_EQ(c.answer(), "granted 1");
  EXPECT_EQ(b.ask("intact"), "intact");
}

TEST_F(HostileTest, a_waiter_with_descriptors_for_some_of_its_blockers_only_fails_and_the_others_go_on) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 30");
  b.ask("lease b 1 30");
  EXPECT_EQ(c.ask("use-up-descriptors 1"), "used up");
  EXPECT_EQ(c.ask("lease c 1 60"), "waits for a b");
  EXPECT_THAT(c.answer(), HasSubstr("cannot watch " + store() + "/alive.1: Too many open files"));
  EXPECT_EQ(stage_of("c"), "inside");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(a.ask("lease a 1 40"), "granted 1");
}

TEST_F(HostileTest, giving_back_without_a_descriptor_left_still_wakes_the_next) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_EQ(a.ask("use-up-descriptors"), "used up");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(b.answer(), "granted 1");
  EXPECT_EQ(a.ask("intact"), "intact");
}

TEST_F(HostileTest, a_process_that_cannot_wake_the_next_gives_up_its_slot_so_that_the_next_detects_it) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  std::filesystem::remove(store() + "/wake.1");
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_EQ(b.answer(), "granted 1");
  const std::string why = "this process has lost its place on the ledger: cannot wake the owner of " + store() +
                          "/wake.1: No such file or directory";
  EXPECT_EQ(a.ask("intact"), "intact") << "what ran until now is not at fault for who waited";
  EXPECT_EQ(a.ask("lease a 1 10"), "error: " + why);
}

TEST_F(HostileTest, if_the_folder_is_removed_its_processes_get_an_error_and_no_lease) {
  auto [a, b, c] = start_all_inside("a", "b", "c");
  a.ask("lease a 1 60");
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  std::filesystem::remove_all(folder());
  EXPECT_THAT(c.ask("lease c 1 60"),
              HasSubstr("error: the ledger " + store() + " was removed while this process used it"));
  EXPECT_EQ(a.ask("release"), "released");
  EXPECT_THAT(b.answer(), HasSubstr("error: the ledger " + store() + " was removed while this process used it"));
  auto d = start_inside("d");
  EXPECT_EQ(d.ask("lease d 1 60"), "granted 1");
  EXPECT_THAT(c.ask("lease c 1 1"),
              HasSubstr("error: the ledger " + store() + " was removed and made anew while this process used it"));
}

TEST_F(HostileTest, if_the_folder_is_renamed_its_processes_get_an_error_and_no_lease) {
  auto [a, b] = start_all_inside("a", "b");
  a.ask("lease a 1 60");
  std::filesystem::rename(folder(), folder() + "-old");
  const std::string renamed = "error: the ledger " + store() + " was renamed";
  EXPECT_EQ(b.ask("lease b 1 60"), "waits for a");
  EXPECT_THAT(b.answer(), HasSubstr(renamed + " while this process used it"));
  EXPECT_EQ(a.ask("release"), "released");
  auto c = start_inside("c");
  EXPECT_EQ(c.ask("lease c 1 60"), "granted 1");
  EXPECT_THAT(a.ask("lease a 1 20"), HasSubstr(renamed + " and made anew while this process used it"))
      << "though there is room in the old one";
}

TEST_F(HostileTest, a_process_whose_liveness_fifo_is_renamed_or_replaced_gets_an_error_and_no_lease) {
  auto a = start_inside("a");
  const std::string fifo = store() + "/alive.0";
  std::filesystem::rename(fifo, store() + "/elsewhere");
  EXPECT_THAT(a.ask("lease a 1 60"),
              HasSubstr("error: " + fifo + " was removed or renamed while this process used it"));
  auto b = start_inside("b");
  EXPECT_EQ(b.ask("lease b 1 60"), "granted 1");
  EXPECT_THAT(a.ask("lease a 1 10"), HasSubstr("error: " + fifo + " was replaced while this process used it"));
}

} // namespace
} // namespace gputest::tests
