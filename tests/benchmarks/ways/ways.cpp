// SPDX-License-Identifier: BSD-3-Clause
#include "device_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#ifdef WAYS_CASES
#include <gputest/gputest.hpp>
#endif

// Built with gputest::main, and with GoogleTest's own main: one test, which an entry's environment describes. And with
// WAYS_CASES, a file in which each test of a suite is a case of one executable.
namespace {

using Clock = std::chrono::steady_clock;

const auto process_start = Clock::now();

struct Work {
  std::string name;
  std::uint64_t mib;
  std::chrono::milliseconds on_gpu;
  std::chrono::milliseconds on_host;
};

void work_on_the_host(const Work& work) {
  std::this_thread::sleep_for(work.on_host / 2); // the same on any number of cores
}

/// Tells `run` when the process began, when the test did, when it had its memory, and when it had given it back.
void write_line(const Work& work, Clock::time_point test, Clock::time_point held, Clock::time_point freed) {
  const char* path = std::getenv("WAYS_LOG");
  if (path == nullptr) {
    return;
  }
  std::ostringstream line;
  line << work.name << ' ' << work.mib;
  for (const auto time : {process_start, test, held, freed, Clock::now()}) {
    line << ' ' << std::chrono::duration<double>(time.time_since_epoch()).count();
  }
  std::ofstream{path, std::ios::app} << line.str() + "\n" << std::flush;
}

void run(const Work& work) {
  const auto test = Clock::now();
  work_on_the_host(work);
  auto held = Clock::now();
  if (work.mib != 0) {
    DeviceBuffer buffer{gputest::Bytes{work.mib << 20U}};
    held = Clock::now();
    EXPECT_EQ(buffer.exercise(work.on_gpu), 0U);
  }
  const auto freed = Clock::now();
  work_on_the_host(work);
  write_line(work, test, held, freed);
}

#ifdef WAYS_CASES
struct Host : gputest::HostTest {};
#include WAYS_CASES
#else
std::uint64_t number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::stoull(text);
}

TEST(Way, works) {
  const char* const name = std::getenv("WAYS_NAME");
  run({name == nullptr ? "" : name, number("WAYS_MIB"), std::chrono::milliseconds{number("WAYS_GPU_MS")},
       std::chrono::milliseconds{number("WAYS_HOST_MS")}});
}
#endif

} // namespace
