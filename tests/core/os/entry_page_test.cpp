// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/entry_page.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace gputest::os {
namespace {

TEST(EntryPages, have_what_processes_told_that_have_ended_whatever_they_closed) {
  const EntryPage page;
  EXPECT_EQ(tests::in_child([&] {
              const auto own = EntryPage::open(page.path());
              for (int file = 3; file < 100; ++file) {
                ::close(file);
              }
              own->begin();
              own->begin();
              own->set_running("first");
              own->set_running(std::string(5000, 'x'));
              own->set_running("second");
              own->end(EntryPage::End::skipped);
              own->end(EntryPage::End::nothing_ran);
              own->refuse("why");
              own->refuse("another reason");
              return 0;
            }),
            0);
  const auto report = page.report();
  EXPECT_EQ(report.begun, 2U);
  EXPECT_EQ(report.ended, 2U);
  EXPECT_EQ(report.skipped, 1U);
  EXPECT_EQ(report.nothing_ran, 1U);
  EXPECT_EQ(report.refused, "why");
  EXPECT_EQ(report.running, "second");
}

TEST(EntryPages, are_none_under_a_path_that_is_another_file) {
  EXPECT_EQ(EntryPage::open("/proc/self/fd/100000"), nullptr);
  EXPECT_EQ(EntryPage::open("/dev/null"), nullptr);
  const Descriptor smaller{::memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  ASSERT_EQ(::ftruncate(smaller.number(), 1), 0);
  ASSERT_EQ(::fcntl(smaller.number(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(EntryPage::open("/proc/self/fd/" + std::to_string(smaller.number())), nullptr) << "of another version";
}

TEST(EntryPages, count_the_time_in_which_anybody_waits) {
  const EntryPage page;
  EXPECT_EQ(page.waited().count(), 0);
  set_entry_page_of_process(EntryPage::open(page.path()));
  const auto begun = std::chrono::steady_clock::now();
  std::optional<NotCounted> first{std::in_place};
  std::optional<NotCounted> second{std::in_place};
  set_entry_page_of_process(nullptr); // the next case's: these two still wait for this one
  first.reset();
  const auto one_waits = page.waited();
  EXPECT_GT(page.waited(), one_waits);
  second.reset();
  const auto nobody_waits = page.waited();
  EXPECT_GT(nobody_waits, one_waits);
  EXPECT_LE(nobody_waits, std::chrono::steady_clock::now() - begun);
  EXPECT_EQ(page.waited(), nobody_waits);
  const NotCounted of_no_entry;
  EXPECT_EQ(page.waited(), nobody_waits);
}

TEST(EntryPages, do_not_count_the_time_since_a_waiting_process_was_killed) {
  const EntryPage page;
  const auto wait_and_be_killed = [&] {
    set_entry_page_of_process(EntryPage::open(page.path()));
    const NotCounted waits;
    ::raise(SIGKILL);
    return 0;
  };
  EXPECT_EQ(tests::in_child(wait_and_be_killed), -SIGKILL);
  EXPECT_EQ(tests::in_child(wait_and_be_killed), -SIGKILL);
  const auto seen = page.waited();
  EXPECT_GT(seen.count(), 0);
  EXPECT_EQ(page.waited(), seen) << "nobody waits";
  set_entry_page_of_process(EntryPage::open(page.path()));
  {
    const NotCounted waits;
    EXPECT_GT(page.waited(), seen) << "a later process";
  }
  set_entry_page_of_process(nullptr);
}

} // namespace
} // namespace gputest::os
