// SPDX-License-Identifier: BSD-3-Clause
#include "device_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

// Built twice: with gputest::main, and with GoogleTest's own main.
namespace {

using Clock = std::chrono::steady_clock;

const auto process_start = Clock::now();

std::uint64_t number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::stoull(text);
}

void work_on_the_host() {
  std::this_thread::sleep_for(std::chrono::milliseconds{number("WAYS_HOST_MS") / 2}); // the same on any number of cores
}

/// Tells `run` when the process began, when the test did, when it had its memory, and when it had given it back.
void write_line(Clock::time_point test, Clock::time_point held, Clock::time_point freed) {
  const char* path = std::getenv("WAYS_LOG");
  if (path == nullptr) {
    return;
  }
  std::ostringstream line;
  line << std::getenv("WAYS_NAME") << ' ' << number("WAYS_MIB");
  for (const auto time : {process_start, test, held, freed, Clock::now()}) {
    line << ' ' << std::chrono::duration<double>(time.time_since_epoch()).count();
  }
  std::ofstream{path, std::ios::app} << line.str() + "\n" << std::flush;
}

TEST(Way, works) {
  const auto test = Clock::now();
  work_on_the_host();
  auto held = Clock::now();
  if (const auto mib = number("WAYS_MIB"); mib != 0) {
    DeviceBuffer buffer{gputest::Bytes{mib << 20U}};
    held = Clock::now();
    EXPECT_EQ(buffer.exercise(std::chrono::milliseconds{number("WAYS_GPU_MS")}), 0U);
  }
  const auto freed = Clock::now();
  work_on_the_host();
  write_line(test, held, freed);
}

} // namespace
