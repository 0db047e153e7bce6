// SPDX-License-Identifier: BSD-3-Clause
#include "workers/served_cases.hpp"

#include "core/os/environment.hpp"
#include "support/ctest_run.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

TEST(ServedCases, leave_what_a_killed_supervisor_with_the_same_pid_had_written) {
  const tests::PrivateFolder folder;
  MeetingPlace place;
  place.key_folder = Descriptor{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const auto left = unconfirmed + std::to_string(::getpid());
  std::ofstream{folder.path() + "/" + left} << "Lost.end\n";
  ServedCases served{place, {}, Mps::none};
  WorkerMessage job;
  job.texts = {"Plain.a"};
  ASSERT_TRUE(served.add(job));
  EXPECT_EQ(read_from(served.file(), 0), "Plain.a\n");
  served.end_was_seen();
  EXPECT_EQ(contents_of(place.key_folder, left), "Lost.end\n");
}

TEST(ServedCases, fail_nobody_if_there_is_no_time_to_run_all_of_them_once_more) {
  for (const int seconds : {0, 1}) {
    const tests::PrivateFolder folder;
    tests::CTestRun run;
    EXPECT_EQ(tests::in_child([&] {
                for (const auto& [name, value] : run.environment()) {
                  os::set_variable(name.c_str(), value);
                }
                MeetingPlace place;
                place.key_folder = Descriptor{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
                const auto until = Clock::now().time_since_epoch() + std::chrono::seconds{seconds};
                write_milliseconds(place.key_folder, "end", std::chrono::duration_cast<milliseconds>(until));
                TestCase test;
                test.command = {CASES};
                ServedCases served{place, test, Mps::none};
                WorkerMessage job;
                job.code = 1'000'000;
                job.texts = {"Plain.takes_five_seconds"};
                const bool is_added = served.add(job);
                served.run_again(false);
                return is_added ? 0 : 1;
              }),
              0);
    const os::Descriptor seen{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    EXPECT_EQ(contents_of(seen, "failures"), "");
    EXPECT_THAT(contents_of(seen, "remarks"),
                testing::HasSubstr("of 1 case that had passed in a worker, "
                                   "Plain.takes_five_seconds last, some had no time to run "
                                   "once more"));
    for (const auto& name : names_in(seen)) {
      EXPECT_NE(name.rfind(unconfirmed, 0), 0U) << name;
    }
  }
}

} // namespace
} // namespace gputest::workers
