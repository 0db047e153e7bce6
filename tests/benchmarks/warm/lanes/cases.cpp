// SPDX-License-Identifier: BSD-3-Clause
// Cases of LANES_CASE_MS milliseconds. The first one of a process starts the device, which takes 300 ms, as with CUDA:
// for 120 of them no other process can start one. With LANES_START=none it takes no time. LANES_FOLDER has what the
// processes share: a lock, and a byte for each start.
#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

using std::chrono::milliseconds;

void start_device() {
  const std::string folder = std::getenv("LANES_FOLDER");
  if (std::getenv("LANES_START") == nullptr) {
    const int lock = ::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ::flock(lock, LOCK_EX);
    std::this_thread::sleep_for(milliseconds{120});
    ::close(lock);
    std::this_thread::sleep_for(milliseconds{180});
  }
  const int starts = ::open((folder + "/starts").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  EXPECT_EQ(::write(starts, ".", 1), 1);
  ::close(starts);
}

class Case : public gputest::SmallTest, public testing::WithParamInterface<int> {};

TEST_P(Case, works) {
  const gputest::SimulatedBuffer buffer{gputest::parse_bytes("1MiB")};
  static const bool is_started = (start_device(), true);
  EXPECT_TRUE(is_started);
  std::this_thread::sleep_for(milliseconds{std::atoi(std::getenv("LANES_CASE_MS"))});
}

INSTANTIATE_TEST_SUITE_P(All, Case, testing::Range(0, CASES));

} // namespace
