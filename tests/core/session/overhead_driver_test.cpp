// SPDX-License-Identifier: BSD-3-Clause
// What a process takes by itself: when it is measured, and what others are told of it. Runs against the fake drivers of
// tests/support.
#include "core/session/overhead.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/session/gate.hpp"
#include "metering/cuda_meter.hpp"
#include "support/fake_cuda_test.hpp"
#include "support/private_folder.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace gputest::session {
namespace {

using namespace gputest::literals;
using std::chrono::milliseconds;

/// The end of a test after which the devices have so much free.
devices::DeviceStateAfterSync with_free(std::vector<Bytes> free) {
  devices::DeviceStateAfterSync settled;
  settled.has_context = !free.empty();
  for (const Bytes bytes : free) {
    settled.free_bytes.push_back(bytes.count());
  }
  return settled;
}

class OverheadTest : public ::testing::Test {
protected:
  [[nodiscard]] bool is_due(const std::vector<Bytes>& free, Bytes managed = {}, milliseconds later = {}) const {
    return overhead_.is_due(with_free(free), managed, then_ + later);
  }

  Overhead overhead_;
  Overhead::Clock::time_point then_ = Overhead::Clock::now();
};

TEST_F(OverheadTest, is_measured_when_something_has_changed_and_else_once_a_second) {
  EXPECT_TRUE(is_due({10_GiB}));
  const std::vector<Bytes> before{10_GiB, 10_GiB};
  overhead_.measured(with_free(before), 520_MiB, 1_B, then_);
  EXPECT_FALSE(is_due(before, 1_B));
  EXPECT_TRUE(is_due({10_GiB}, 1_B)) << "a context has gone";
  EXPECT_TRUE(is_due({10_GiB, 10_GiB, 10_GiB}, 1_B)) << "one has come";
  EXPECT_FALSE(is_due({11_GiB, 10_GiB - 1_MiB}, 1_B));
  EXPECT_TRUE(is_due({10_GiB, 10_GiB - 2_MiB}, 1_B));
  EXPECT_TRUE(is_due(before, 2_B)) << "managed memory is left";
  EXPECT_TRUE(is_due(before)) << "and no more";
  EXPECT_FALSE(is_due({20_GiB, 20_GiB}, 1_B, milliseconds{999}));
  EXPECT_TRUE(is_due({20_GiB, 20_GiB}, 1_B, milliseconds{1000})) << "whatever others hide";
}

TEST_F(OverheadTest, is_what_is_usual_until_it_is_known) {
  overhead_.expect(768_MiB, 0_B, 0_B);
  EXPECT_EQ(overhead_.bytes(), 768_MiB);
  overhead_.measured(with_free({10_GiB}), 520_MiB, 0_B, then_);
  EXPECT_EQ(overhead_.bytes(), 520_MiB);
  overhead_.measured(with_free({9_GiB}), 1544_MiB, 0_B, then_);
  EXPECT_EQ(overhead_.bytes(), 1544_MiB) << "a leak counts";
  overhead_.measured(with_free({10_GiB}), 520_MiB, 0_B, then_);
  EXPECT_EQ(overhead_.bytes(), 520_MiB) << "as long as it is there";
}

TEST_F(OverheadTest, is_no_less_than_what_earlier_processes_of_the_executable_came_to) {
  overhead_.expect(768_MiB, 656_MiB, 0_B);
  EXPECT_EQ(overhead_.bytes(), 656_MiB);
  overhead_.measured(with_free({10_GiB}), 520_MiB, 0_B, then_);
  EXPECT_EQ(overhead_.bytes(), 656_MiB);
  overhead_.measured(with_free({10_GiB}), 700_MiB, 0_B, then_);
  EXPECT_EQ(overhead_.bytes(), 700_MiB);
}

TEST_F(OverheadTest, is_what_is_expected_where_nobody_can_tell) {
  overhead_.expect(768_MiB, 0_B, 0_B);
  overhead_.measured(with_free({10_GiB}), 0_B, 1_GiB, then_);
  EXPECT_EQ(overhead_.bytes(), 1792_MiB);
  EXPECT_EQ(overhead_.to_learn(), 0_B);
}

TEST_F(OverheadTest, with_a_heap_is_no_less_than_expected_and_nothing_to_learn_from) {
  overhead_.expect(768_MiB, 0_B, 258_MiB);
  overhead_.measured(with_free({10_GiB}), 520_MiB, 0_B, then_);
  EXPECT_EQ(overhead_.bytes(), 1026_MiB) << "the heap is taken when a kernel uses it";
  EXPECT_EQ(overhead_.to_learn(), 0_B);
}

/// A process that runs tests on one GPU, with its NVML and CUDA.
class AfterATest : public tests::FakeCudaTest {
protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(FakeCudaTest::SetUp());
    cuda_->initialised = false;
    cuda_->devices = 1;
    device(0).total_bytes = (80_GiB).count();
  }

  void enter(Bytes heap = {}) {
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("GPUTEST_LEASE_OF");
    show(0_B);
    Settings settings = settings_from_environment();
    settings.folder = folder_.path();
    Entry entry;
    entry.request.heap = heap;
    gate_.emplace(settings, entry, "suite", [this] { return now_; });
    Plan plan;
    plan.requests = {entry.request};
    ASSERT_EQ(gate_->enter(plan, Gate::Role::command).kind, Outcome::Kind::granted);
  }

  /// What the device shows of this process from now on; and of the device to CUDA.
  void use(Bytes bytes) {
    cuda_->initialised = true;
    device(0).active = true;
    device(0).used_bytes = bytes.count();
    show(bytes);
  }

  static void show(Bytes bytes) {
    setenv("FAKE_NVML",
           ("compute=" + std::to_string(getpid()) + ":" + std::to_string(bytes.count()) +
            " used=" + std::to_string(bytes.count()))
               .c_str(),
           1);
    if (bytes == 0_B) {
      setenv("FAKE_NVML", "gpus=1", 1);
    }
  }

  void run_test() {
    lists_before_ = lists();
    ASSERT_EQ(gate_->lease(Request{MemoryClass::small}, "Sort.Keys").outcome.kind, Outcome::Kind::granted);
    gate_->release();
    EXPECT_THAT(gate_->examine("Sort.Keys").problems, testing::IsEmpty());
  }

  /// How often NVML was asked for a list of processes.
  static int lists() {
    void* const nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NOLOAD);
    const int count = reinterpret_cast<int (*)()>(dlsym(nvml, "fake_nvml_lists"))();
    dlclose(nvml);
    return count;
  }

  [[nodiscard]] int lists_of_the_test() const { return lists() - lists_before_; }

  /// What is on the ledger for this process, and what one of the same executable is expected to take.
  Bytes counted() {
    ledger::Ledger ledger{folder_.path(), nullptr};
    return Bytes{ledger.records().at(0).claim.overhead_bytes};
  }

  tests::PrivateFolder folder_;
  std::optional<Gate> gate_;
  Overhead::Clock::time_point now_ = Overhead::Clock::now();
  int lists_before_ = 0;
};

TEST_F(AfterATest, that_leaves_nothing_the_list_of_processes_is_asked_for_once_a_second) {
  enter();
  use(520_MiB);
  run_test();
  EXPECT_EQ(counted(), 520_MiB);
  now_ += milliseconds{999};
  for (int i = 0; i < 100; ++i) {
    run_test();
    EXPECT_EQ(lists_of_the_test(), 0);
  }
  EXPECT_EQ(device(0).synchronized, 101);
  now_ += milliseconds{1};
  run_test();
  EXPECT_GT(lists_of_the_test(), 0) << "a measurement is a second old at most";
}

TEST_F(AfterATest, what_it_has_left_is_counted_at_once) {
  enter();
  use(520_MiB);
  run_test();
  use(522_MiB);
  run_test();
  EXPECT_EQ(counted(), 522_MiB);
}

TEST_F(AfterATest, what_a_process_took_is_what_the_next_of_its_executable_enters_with) {
  enter();
  EXPECT_EQ(counted(), 768_MiB) << "what is usual";
  use(520_MiB);
  run_test();
  cuda_->initialised = false;
  device(0).active = false;
  enter();
  EXPECT_EQ(counted(), 520_MiB);
}

TEST_F(AfterATest, what_others_took_of_the_device_is_what_a_new_executable_enters_with_if_it_is_more_than_usual) {
  enter();
  const auto enter_after = [&](Bytes of_others) {
    {
      ledger::Ledger ledger{folder_.path(), nullptr};
      ledger.devices().remember(4711, 1, of_others.count());
    }
    enter();
    return counted();
  };
  EXPECT_EQ(enter_after(520_MiB), 768_MiB);
  EXPECT_EQ(enter_after(900_MiB), 900_MiB);
}

TEST_F(AfterATest, memory_that_was_taken_without_a_lease_is_looked_for_until_it_is_free) {
  enter();
  use(2_GiB);
  testing::internal::CaptureStderr();
  gate_->count_unleased("Sort::SetUpTestSuite()");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("gputest: Sort::SetUpTestSuite() took 1.25 GiB without a lease: "));
  EXPECT_EQ(counted(), 2_GiB);
  use(520_MiB); // of which the free memory of the device alone tells nothing
  gate_->count_unleased("Sort::TearDownTestSuite()");
  EXPECT_EQ(counted(), 520_MiB);
}

TEST_F(AfterATest, that_leaves_more_than_a_context_grows_by_that_is_said) {
  enter();
  const auto said_of = [&](Bytes has_now, Bytes keeps) {
    Request request{4_GiB};
    request.keeps = keeps;
    EXPECT_EQ(gate_->lease(request, "Sort.Keys").outcome.kind, Outcome::Kind::granted);
    use(has_now);
    testing::internal::CaptureStderr();
    gate_->release();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said_of(768_MiB + 512_MiB, 0_B), testing::Not(testing::HasSubstr("ends with")));
  EXPECT_THAT(said_of(1280_MiB + 513_MiB, 0_B),
              testing::HasSubstr("Sort.Keys ends with at least 513 MiB more of its device in use by its process than "
                                 "when it began, which is more than a context grows by. Free it"));
  EXPECT_THAT(said_of(1793_MiB + 612_MiB, 100_MiB), testing::Not(testing::HasSubstr("ends with")));
}

TEST_F(AfterATest, samples_are_of_the_devices_that_the_process_sees) {
  const auto of_this_process = " compute=" + std::to_string(getpid()) + ":" + std::to_string((520_MiB).count());
  cuda_->initialised = true;
  setenv("CUDA_VISIBLE_DEVICES", "GPU-fake-1,GPU-fake-0", 1);
  setenv("FAKE_NVML", "gpus=3", 1);
  const auto meter = metering::open_nvml_meter("asked for");
  meter->begin();
  setenv("FAKE_NVML", ("gpus=3 lost=2" + of_this_process).c_str(), 1);
  auto usage = meter->so_far();
  EXPECT_EQ(usage.evidence, devices::Evidence::sampled);
  ASSERT_EQ(usage.devices.size(), 2U);
  EXPECT_EQ(usage.devices[1].device, 1);
  EXPECT_EQ(usage.devices[1].peak, 520_MiB);
  static_cast<void>(meter->end());
  setenv("FAKE_NVML", ("gpus=3 lost=0" + of_this_process).c_str(), 1);
  meter->begin();
  EXPECT_EQ(meter->end().evidence, devices::Evidence::unknown) << "one of them cannot be asked";
}

} // namespace
} // namespace gputest::session
