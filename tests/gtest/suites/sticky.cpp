// SPDX-License-Identifier: BSD-3-Clause
// Tests that leave CUDA unusable, by the fake driver of tests/support. One is run at a time, with those after it.

#include "stop_at.hpp"
#include "support/fake_cuda.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <iostream>

#include <dlfcn.h>

namespace {

using namespace gputest::literals;

/// Leaves what an illegal address in a kernel leaves: a context that answers every call with an error.
void break_cuda() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW); // stays loaded, as by the CUDA runtime
  auto& cuda = *reinterpret_cast<gputest::tests::FakeCuda* (*)()>(dlsym(library, "fake_cuda"))();
  cuda.initialised = true;
  cuda.device[0].active = true;
  cuda.device[0].synchronize_result = 700; // CUDA_ERROR_ILLEGAL_ADDRESS
}

TEST(Plain, breaks_cuda) { break_cuda(); }

class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, breaks_cuda) {
  GPUTEST_LEASE(gpu, gputest::MemoryClass::small);
  break_cuda();
}

class Shared : public testing::Test {};
GPUTEST_SUITE_NEEDS(Shared, 1_GiB, suite_lease);
TEST_F(Shared, breaks_cuda) { break_cuda(); }
TEST_F(Shared, comes_after) { std::cout << "@never" << std::endl; }

class AtItsEnd : public testing::Test {
protected:
  static void TearDownTestSuite() { break_cuda(); }
};
GPUTEST_SUITE_NEEDS(AtItsEnd, 1_GiB, suite_lease);
TEST_F(AtItsEnd, passes) {}

class InSetUp : public testing::Test {
protected:
  static void SetUpTestSuite() { break_cuda(); }
};
TEST_F(InSetUp, comes_after) { std::cout << "@never" << std::endl; }

class InTearDown : public testing::Test {
protected:
  static void TearDownTestSuite() { break_cuda(); }
};
TEST_F(InTearDown, passes) {}

class Then : public testing::Test {
protected:
  static void SetUpTestSuite() { std::cout << "@never" << std::endl; }
};
TEST_F(Then, comes_another) { std::cout << "@never" << std::endl; }

TEST(Holding, a_lease) { stop_at("body"); }

} // namespace
