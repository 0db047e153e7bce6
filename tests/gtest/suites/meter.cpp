// SPDX-License-Identifier: BSD-3-Clause
// Tests that take as much as they say, more, and leave some of it.

#include <gputest/gputest.hpp>
#include <gputest/memory_resource.hpp>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace gputest::literals;
using gputest::SimulatedBuffer;

/// What nothing frees before the process ends.
std::vector<SimulatedBuffer>& kept() {
  static auto& all = *new std::vector<SimulatedBuffer>;
  return all;
}

GPUTEST_NEEDS(Peak, several, 512_MiB);
TEST(Peak, several) {
  const SimulatedBuffer a{100_MiB};
  { const SimulatedBuffer b{200_MiB}; }
  const SimulatedBuffer c{150_MiB};
}
TEST(Peak, none) {}
TEST(Processes, that_the_kernel_waits_for) {
  const auto handler = std::signal(SIGCHLD, SIG_IGN);
  if (::fork() == 0) {
    const SimulatedBuffer a{2_GiB};
    ::_exit(0);
  }
  ::wait(nullptr);
  std::signal(SIGCHLD, handler);
}
TEST(Processes, of_a_test) { EXPECT_EQ(std::system("true"), 0); } // NOLINT(cert-env33-c,concurrency-mt-unsafe)
GPUTEST_NEEDS(Peak, by_a_resource, 512_MiB);
TEST(Peak, by_a_resource) {
  gputest::memory_resource resource;
  void* const memory = resource.allocate((300_MiB).count());
  resource.deallocate(memory, (300_MiB).count());
}

GPUTEST_NEEDS(Over, by_granularity, 256_MiB);
TEST(Over, by_granularity) { const SimulatedBuffer a{258_MiB}; }
TEST(Over, by_more) {
  const SimulatedBuffer a{128_MiB};
  const SimulatedBuffer b{64_MiB};
  const SimulatedBuffer c{66_MiB};
  const SimulatedBuffer d{1_B};
}
TEST(Over, after_it) { const SimulatedBuffer a{256_MiB}; }
GPUTEST_NEEDS(Over, whole, large);
TEST(Over, much) { const SimulatedBuffer a{1_GiB}; }
GPUTEST_NEEDS(Over, two_devices, gpus(2));
GPUTEST_NEEDS(Over, annotated, 64_MiB, keeps(16_MiB));
TEST(Over, annotated) { const SimulatedBuffer a{128_MiB}; }
TEST(Over, runs_out) {
  const SimulatedBuffer a{200_MiB};
  try {
    const SimulatedBuffer b{4_GiB};
  } catch (const gputest::OutOfMemory& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(Over, runs_out_after_it_had_more) {
  { const SimulatedBuffer a{400_MiB}; }
  const SimulatedBuffer b{100_MiB};
  ADD_FAILURE() << "out of memory";
}
GPUTEST_NEEDS(Over, runs_out_without_bytes, gpus(2));
TEST(Over, runs_out_without_bytes) {
  const SimulatedBuffer a{10_MiB};
  const SimulatedBuffer b{20_MiB, 1};
  ADD_FAILURE() << "out of memory";
}

TEST(Leak, some) {
  kept().emplace_back(16_MiB);
  kept().emplace_back(16_MiB);
}
TEST(Leak, after_it) {}
TEST(Leak, frees_what_another_left) { kept().clear(); }
GPUTEST_NEEDS(Leak, allowed, keeps(32_MiB));
TEST(Leak, allowed) { kept().emplace_back(32_MiB); }
GPUTEST_NEEDS(Leak, replaced, keeps(32_MiB));
TEST(Leak, replaced) {
  kept().clear();
  kept().emplace_back(32_MiB);
}
// What they leave hides every later failure that is reported as usual.
void hide_failures(testing::ScopedFakeTestPartResultReporter::InterceptMode threads) {
  static auto& hidden = *new testing::TestPartResultArray;
  static auto* const fake = new testing::ScopedFakeTestPartResultReporter{threads, &hidden}; // never deleted
  static_cast<void>(fake);
}
GPUTEST_NEEDS(HidesAll, then_leaks, small);
TEST(HidesAll, then_leaks) {
  hide_failures(testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS);
  kept().emplace_back(32_MiB);
}
GPUTEST_NEEDS(HidesAll, then_too_much, 1_TiB);
TEST(HidesAll, then_too_much) { const SimulatedBuffer a{64_MiB}; }
TEST(HidesOwn, then_leaks) {
  hide_failures(testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD);
  kept().emplace_back(32_MiB);
}

TEST(Peak, sees_no_property_before_its_own) {
  const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
  EXPECT_EQ(test.result()->test_property_count(), 0);
}

class LeakTogether : public testing::Test {};
GPUTEST_SUITE_NEEDS(LeakTogether, keeps(32_MiB));
TEST_F(LeakTogether, first) { kept().emplace_back(32_MiB); }
TEST_F(LeakTogether, second) {}
TEST_F(LeakTogether, third) { kept().emplace_back(1_MiB); }
GPUTEST_NEEDS(Leak, more_than_allowed, keeps(32_MiB));
TEST(Leak, more_than_allowed) { kept().emplace_back(33_MiB); }
TEST(Leak, of_a_resource) {
  gputest::memory_resource resource;
  static_cast<void>(resource.allocate((8_MiB).count()));
}

class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, takes_before_its_lease) {
  const SimulatedBuffer a{64_MiB};
  GPUTEST_LEASE(gpu, 128_MiB);
  const SimulatedBuffer b{128_MiB};
}
TEST_F(Scoped, takes_after_its_lease) {
  { GPUTEST_LEASE(gpu, 128_MiB); }
  const SimulatedBuffer a{64_MiB};
}
TEST_F(Scoped, runs_out_without_a_lease) { FAIL() << "out of memory"; }
TEST_F(Scoped, takes_without_a_lease) { const SimulatedBuffer a{64_MiB}; }
TEST_F(Scoped, keeps_within_its_lease) {
  GPUTEST_LEASE(gpu, 128_MiB);
  const SimulatedBuffer a{128_MiB};
}
TEST_F(Scoped, takes_next_to_nothing) { const SimulatedBuffer a{2_MiB}; }

class Host : public gputest::HostTest {};
TEST_F(Host, takes_some) { const SimulatedBuffer a{64_MiB}; }
TEST_F(Host, takes_none) {}
/// A suite with one lease for all.
class Shared : public testing::Test {
public:
  static void SetUpTestSuite() { data_.emplace(256_MiB); }
  static void TearDownTestSuite() {
    if (std::getenv("FORGET") == nullptr) { // NOLINT(concurrency-mt-unsafe)
      data_.reset();
    } else {
      kept().push_back(std::move(*data_));
    }
  }

private:
  static inline std::optional<SimulatedBuffer> data_;
};
GPUTEST_SUITE_NEEDS(Shared, 512_MiB, suite_lease);
TEST_F(Shared, adds_some) { const SimulatedBuffer a{256_MiB}; }
TEST_F(Shared, adds_too_much) { const SimulatedBuffer a{300_MiB}; }
TEST_F(Shared, is_not_blamed) { const SimulatedBuffer a{1_MiB}; }

} // namespace
