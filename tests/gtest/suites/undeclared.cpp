// SPDX-License-Identifier: BSD-3-Clause
// Tests that declare nothing, and take more than the 256 MiB that gputest estimates.

#include "core/devices/simulated/simulated.hpp"
#include "stop_at.hpp"

#include <gputest/error.hpp>
#include <gputest/gputest.hpp>
#include <gputest/memory_resource.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace gputest::literals;
using gputest::SimulatedBuffer;

/// Which attempt this is, for the test that drives this suite.
std::string attempt() {
  const char* const number = std::getenv("GPUTEST_ATTEMPT"); // NOLINT(concurrency-mt-unsafe)
  return number == nullptr ? "1" : number;
}

/// As in a main() of its own, before gputest's listener is there.
const bool has_checked = [] {
  EXPECT_FALSE(attempt() == "1" && std::getenv("FAILS_BEFORE_THE_TESTS") != nullptr); // NOLINT(concurrency-mt-unsafe)
  return true;
}();

/// As in MPI_Finalize(), when its tests have ended.
const struct Lingering {
  ~Lingering() {
    if (attempt() == "1" && std::getenv("LINGERS") != nullptr) { // NOLINT(concurrency-mt-unsafe)
      std::cout << "@beside" << std::endl;
      ::pause();
    }
  }
} lingering;

TEST(Undeclared, small) { const SimulatedBuffer a{200_MiB}; }

TEST(Undeclared, much) {
  std::cout << "attempt " << attempt() << ", before" << std::endl;
  const SimulatedBuffer a{2_GiB};
  std::cout << "attempt " << attempt() << ", after" << std::endl;
}

TEST(Undeclared, much_by_a_resource) {
  gputest::memory_resource resource;
  void* const memory = resource.allocate((2_GiB).count());
  resource.deallocate(memory, (2_GiB).count());
}

TEST(Undeclared, third_of_what_is_free_after_1_gib) {
  const SimulatedBuffer a{1_GiB};
  const auto free = gputest::devices::simulated_process().free_bytes(0);
  const SimulatedBuffer b{gputest::Bytes{free.count() / 3}};
}

TEST(Undeclared, three_quarters_of_what_is_free) {
  const auto free = gputest::devices::simulated_process().free_bytes(0);
  const SimulatedBuffer a{gputest::Bytes{free.count() / 4 * 3}};
}

TEST(Undeclared, more_and_more) {
  std::vector<SimulatedBuffer> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(1_GiB);
    std::cout << "attempt " << attempt() << ", has " << i + 1 << " GiB" << std::endl;
  }
}

TEST(Undeclared, in_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 20; ++j) {
        const SimulatedBuffer a{128_MiB};
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST(Undeclared, failed_before) {
  EXPECT_NE(attempt(), "1");
  const SimulatedBuffer a{2_GiB};
}

TEST(Undeclared, failed_before_in_an_earlier_test) { EXPECT_NE(attempt(), "1"); }
TEST(Undeclared, much_after_an_earlier_test) { const SimulatedBuffer a{2_GiB}; }

/// More than any device has, which the device itself refuses.
TEST(Undeclared, runs_out_on_purpose) { EXPECT_THROW((SimulatedBuffer{1024_GiB}), gputest::OutOfMemory); }

TEST(Undeclared, takes_all_there_is) {
  std::vector<SimulatedBuffer> all;
  EXPECT_THROW(
      {
        for (;;) {
          all.emplace_back(256_MiB);
        }
      },
      gputest::OutOfMemory);
  std::cout << "attempt " << attempt() << ", had " << all.size() / 4 << " GiB" << std::endl;
}

TEST(Undeclared, in_a_forked_process) {
  const pid_t child = ::fork();
  if (child == 0) {
    const SimulatedBuffer a{512_MiB};
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Undeclared, much_with_a_process) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    for (;;) {
      ::pause();
    }
  }
  std::cout << "child " << child << std::endl;
  const SimulatedBuffer a{2_GiB};
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

/// Of several processes of one entry.
TEST(Undeclared, fails_and_goes_on) {
  EXPECT_NE(attempt(), "1");
  std::cout << "@beside" << std::endl;
  while (attempt() == "1") {
    ::pause();
  }
}
TEST(Undeclared, goes_on) {
  if (attempt() != "1" || ::fork() != 0) {
    std::cout << "@beside" << std::endl;
  }
  while (attempt() == "1") {
    ::pause();
  }
}
TEST(Undeclared, crashes) {
  if (attempt() == "1") {
    ::raise(SIGKILL);
  }
}

TEST(Undeclared, stops) {
  std::cout << "attempt " << attempt() << std::endl;
  stop_at("before");
  const SimulatedBuffer a{2_GiB};
  stop_at("after");
}

TEST(Undeclared, fails_late) {
  stop_at("leased");
  try {
    const SimulatedBuffer a{2_GiB};
  } catch (const gputest::OutOfMemory&) {
    stop_at("refused");
    throw;
  }
}

TEST(Undeclared, fails_after_it_had_all) {
  std::vector<SimulatedBuffer> all;
  EXPECT_THROW(
      {
        for (;;) {
          all.emplace_back(1_MiB);
        }
      },
      gputest::OutOfMemory);
  all.clear();
  EXPECT_NE(attempt(), "1") << "of what it says about 'out of memory'";
}

/// Takes memory in SetUpTestSuite(), without a lease: as many MiB as SET_UP says.
class SetUp : public testing::Test {
public:
  static void SetUpTestSuite() {
    stop_at("set-up");
    std::cout << "attempt " << attempt() << ", sets up" << std::endl;
    data_ = std::make_unique<SimulatedBuffer>(gputest::parse_bytes(std::getenv("SET_UP"))); // NOLINT
    stop_at("set up");
  }
  static void TearDownTestSuite() { data_.reset(); }

private:
  static std::unique_ptr<SimulatedBuffer> data_;
};
std::unique_ptr<SimulatedBuffer> SetUp::data_;
TEST_F(SetUp, shares_data) { stop_at("body"); }

GPUTEST_NEEDS(Neighbour, keeps_to_its_lease, 3_GiB);
TEST(Neighbour, keeps_to_its_lease) {
  stop_at("leased");
  EXPECT_THROW(SimulatedBuffer{1024_GiB}, gputest::OutOfMemory) << "on purpose";
  const SimulatedBuffer a{3_GiB};
}
GPUTEST_NEEDS(Neighbour, exceeds_its_lease, 2560_MiB);
TEST(Neighbour, exceeds_its_lease) {
  stop_at("leased");
  const SimulatedBuffer a{3_GiB};
}
GPUTEST_NEEDS(Neighbour, keeps_to_its_lease_and_fails, 3_GiB);
TEST(Neighbour, keeps_to_its_lease_and_fails) {
  stop_at("leased");
  ADD_FAILURE() << "of its own";
  const SimulatedBuffer a{3_GiB};
}
GPUTEST_NEEDS(Neighbour, declares_too_little, small);
TEST(Neighbour, declares_too_little) {
  stop_at("before");
  const SimulatedBuffer a{2_GiB};
  stop_at("after");
}

GPUTEST_NEEDS(Declared, too_little, small);
TEST(Declared, too_little) { const SimulatedBuffer a{512_MiB}; }
struct SmallFixture : gputest::SmallTest {};
TEST_F(SmallFixture, too_little) { const SimulatedBuffer a{512_MiB}; }

} // namespace
