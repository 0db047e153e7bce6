// SPDX-License-Identifier: BSD-3-Clause
// Tests that close what is not theirs, or let nothing be opened, before others in the same process. One is run at a
// time, with those after it.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace {

constexpr int most = 1024;

/// Before gputest can choose a device.
const bool uses_devices_early = [] {
  if (std::getenv("USE_DEVICES_EARLY") != nullptr) { // NOLINT(concurrency-mt-unsafe)
    const gputest::SimulatedBuffer buffer{gputest::parse_bytes("1MiB")};
  }
  return true;
}();

/// Closes the descriptors of files with this name.
void close_those_of(const std::string& name) {
  for (int number = 3; number < most; ++number) {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), error);
    if (!error && path.parent_path().filename() == "ledger-4" && path.filename() == name) {
      ::close(number);
    }
  }
}

TEST(Closes, all) {
  for (int number = 3; number < most; ++number) {
    ::close(number);
  }
}

TEST(Closes, mutex) { close_those_of("mutex"); }

TEST(Closes, ledger) { close_those_of("ledger"); }

TEST(Closes, fifo) { close_those_of("alive.0"); }

TEST(Lowers, limit) {
  stop_at("body");
  const rlimit none{};
  ::setrlimit(RLIMIT_NOFILE, &none);
}

class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, closes_mutex_under_a_lease) {
  GPUTEST_LEASE(gpu, gputest::MemoryClass::small);
  close_those_of("mutex");
}
TEST_F(Scoped, closes_mutex_without_a_lease) { close_those_of("mutex"); }

TEST(Then, comes_another) {}

} // namespace
