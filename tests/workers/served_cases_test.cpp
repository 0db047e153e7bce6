// SPDX-License-Identifier: BSD-3-Clause
#include "workers/served_cases.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

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

} // namespace
} // namespace gputest::workers
