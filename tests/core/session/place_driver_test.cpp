// SPDX-License-Identifier: BSD-3-Clause
// Where a process is placed by what NVML and the CUDA driver show. Runs against the fake drivers of tests/support.
#include "core/session/gate.hpp"

#include "support/fake_cuda_test.hpp"
#include "support/private_folder.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <vector>

namespace gputest::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace gputest::literals;

class Placing : public tests::FakeCudaTest {
protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(FakeCudaTest::SetUp());
    cuda_->initialised = false;
  }

  Outcome enter(const std::string& nvml, int gpus = 1) {
    Request request;
    request.gpus = gpus;
    return enter(nvml, std::vector<Request>{request});
  }

  Outcome enter(const std::string& nvml, const std::vector<Request>& requests) {
    show(nvml);
    Settings settings = settings_from_environment();
    Entry entry;
    settings.folder = folder_.path();
    entry.request = requests.front();
    gate_.emplace(settings, entry, "suite");
    Plan plan;
    plan.requests = requests;
    return gate_->enter(plan, Gate::Role::command);
  }

  /// This process's claim on the ledger.
  [[nodiscard]] policy::Claim claim() const { return ledger::Ledger{folder_.path(), nullptr}.records().at(0).claim; }

  static void show(const std::string& nvml) { setenv("FAKE_NVML", nvml.c_str(), 1); }

  /// This process as it is listed on every device, with so many MiB.
  static std::string listed(int mebibytes) {
    return " compute=" + std::to_string(getpid()) + ":" + std::to_string(std::uint64_t{1048576} * mebibytes);
  }

  Outcome acquire(int gpus) {
    Request request;
    request.gpus = gpus;
    return gate_->lease(request, "Sort.Keys").outcome;
  }

  static std::string visible() { return std::getenv("CUDA_VISIBLE_DEVICES"); }

  tests::PrivateFolder folder_;
  std::optional<Gate> gate_;
};

TEST_F(Placing, is_on_one_mig_slice_by_its_uuid) {
  EXPECT_EQ(enter("gpus=1 slices=3").kind, Outcome::Kind::granted);
  EXPECT_EQ(visible(), "MIG-fake-0");
}

TEST_F(Placing, has_no_two_mig_slices_and_says_why) {
  EXPECT_EQ(enter("gpus=1 slices=3", 2).kind, Outcome::Kind::granted);
  EXPECT_EQ(visible(), "MIG-fake-0");
  EXPECT_TRUE(ledger::Ledger(folder_.path(), nullptr).records().empty()) << "no test can run";
  const auto outcome = acquire(2);
  EXPECT_EQ(outcome.kind, Outcome::Kind::skip);
  EXPECT_EQ(outcome.reason, "suite: Sort.Keys needs 2 GPUs and may use 1 (MIG-fake-0); of the devices that it may use "
                            "3 are MIG slices and 0 are whole GPUs; CUDA gives a process one MIG slice and no device "
                            "beside it, so several devices can only be whole GPUs. Run it where it may use more "
                            "('gputest devices' shows which there are), or ask for fewer: gpus(n) in GPUTEST_NEEDS, "
                            "GPUS in gpu_add_test() or gpu_discover_tests()");
  EXPECT_EQ(acquire(1).kind, Outcome::Kind::granted);
}

TEST_F(Placing, takes_whole_gpus_for_several_devices) {
  EXPECT_EQ(enter("gpus=3 slices=2", 2).kind, Outcome::Kind::granted);
  EXPECT_EQ(visible(), "GPU-fake-1,GPU-fake-2");
  EXPECT_EQ(acquire(2).kind, Outcome::Kind::granted);
}

TEST_F(Placing, announces_and_leases_half_of_the_smallest_device_for_medium) {
  ASSERT_EQ(enter("gpus=2 gib=80,40", std::vector<Request>{MemoryClass::medium}).kind, Outcome::Kind::granted);
  EXPECT_EQ(visible(), "GPU-fake-0") << "which has more room";
  EXPECT_EQ(Bytes{claim().largest_bytes}, 20_GiB);
  ASSERT_EQ(gate_->lease(MemoryClass::medium, "Sort.Keys").outcome.kind, Outcome::Kind::granted);
  EXPECT_EQ(Bytes{claim().lease_bytes}, 20_GiB);
}

// NVML's memory includes 512 MiB that the driver keeps, and a context takes 768 MiB.
TEST_F(Placing, announces_the_largest_request_that_fits_beside_its_context_and_none_that_never_does) {
  const Bytes most = 80_GiB - 512_MiB - 768_MiB;
  ASSERT_EQ(enter("gpus=1", std::vector<Request>{most, MemoryClass::small}).kind, Outcome::Kind::granted);
  EXPECT_EQ(Bytes{claim().largest_bytes}, most);
  EXPECT_EQ(gate_->lease(most, "Sort.Keys").outcome.kind, Outcome::Kind::granted);
  gate_.reset();
  unsetenv("GPUTEST_LEASE_OF");

  const Bytes more = most + 1_B;
  ASSERT_EQ(enter("gpus=1", std::vector<Request>{more, MemoryClass::small}).kind, Outcome::Kind::granted);
  EXPECT_EQ(Bytes{claim().largest_bytes}, 256_MiB);
  EXPECT_EQ(gate_->foresee(more, "Sort.Keys").kind, Outcome::Kind::skip);
  EXPECT_EQ(gate_->lease(MemoryClass::small, "Sort.Keys").outcome.kind, Outcome::Kind::granted) << "that one can run";
}

TEST_F(Placing, shows_the_largest_of_its_devices_where_no_test_can_run_and_enters_for_what_can) {
  Request request = 100_GiB;
  ASSERT_EQ(enter("gpus=4 gib=40,80,60,80", std::vector<Request>{request}).kind, Outcome::Kind::granted);
  EXPECT_EQ(visible(), "GPU-fake-1");
  unsetenv("CUDA_VISIBLE_DEVICES");
  request.gpus = 3;
  ASSERT_EQ(enter("gpus=4 gib=40,80,60,80", std::vector<Request>{request}).kind, Outcome::Kind::granted);
  EXPECT_EQ(visible(), "GPU-fake-1,GPU-fake-2,GPU-fake-3");
  EXPECT_TRUE(ledger::Ledger(folder_.path(), nullptr).records().empty());
  EXPECT_EQ(gate_->lease(request, "Sort.Keys").outcome.kind, Outcome::Kind::skip);
  EXPECT_TRUE(ledger::Ledger(folder_.path(), nullptr).records().empty());
  ASSERT_EQ(gate_->lease(MemoryClass::small, "Sort.Values").outcome.kind, Outcome::Kind::granted);
  EXPECT_EQ(claim().stage, policy::Stage::holding);
  gate_->release();
  ASSERT_EQ(gate_->lease(MemoryClass::small, "Sort.Values").outcome.kind, Outcome::Kind::granted) << "it enters once";
  EXPECT_EQ(visible(), "GPU-fake-1,GPU-fake-2,GPU-fake-3");
}

TEST_F(Placing, gets_what_only_the_larger_of_its_devices_can_hold_without_waiting) {
  Request on_two = MemoryClass::small;
  on_two.gpus = 2;
  const std::vector<Request> requests{60_GiB, on_two};
  ASSERT_EQ(enter("gpus=2 gib=80,40", requests).kind, Outcome::Kind::granted);
  EXPECT_EQ(gate_->lease(60_GiB, "Sort.Keys").outcome.kind, Outcome::Kind::granted);
  gate_->release();
  show("gpus=2 gib=80,40 used=32212254720"); // 30 GiB
  const auto outcome = gate_->lease(60_GiB, "Sort.Keys").outcome;
  EXPECT_EQ(outcome.kind, Outcome::Kind::fail);
  EXPECT_THAT(outcome.reason, HasSubstr("Sort.Keys needs 60 GiB, which is not free now"));
  EXPECT_THAT(outcome.reason, HasSubstr("waits only for what each of them can hold; the smallest has 39.5 GiB"));
}

TEST_F(Placing, puts_an_estimate_on_a_device_that_can_hold_it_and_refuses_none) {
  const auto estimated = [](Bytes bytes) {
    Request request = bytes;
    request.memory_by = SaidBy::estimate;
    return std::vector<Request>{request};
  };
  ASSERT_EQ(enter("gpus=2 gib=40,80", estimated(60_GiB)).kind, Outcome::Kind::granted);
  EXPECT_EQ(visible(), "GPU-fake-1");
  gate_.reset();
  unsetenv("GPUTEST_LEASE_OF");
  unsetenv("CUDA_VISIBLE_DEVICES");

  ASSERT_EQ(enter("gpus=2 gib=40,80", estimated(1024_GiB)).kind, Outcome::Kind::granted);
  EXPECT_EQ(claim().candidates, claim().devices) << "a whole device is the larger one, whatever others have of it";
  EXPECT_EQ(visible(), "GPU-fake-1");
  gate_.reset();
  unsetenv("GPUTEST_LEASE_OF");

  setenv("CUDA_VISIBLE_DEVICES", "GPU-fake-0", 1);
  ASSERT_EQ(enter("gpus=2 gib=40,80", estimated(60_GiB)).kind, Outcome::Kind::granted);
  EXPECT_EQ(gate_->lease(gate_->entry().request, "Sort.Keys").outcome.kind, Outcome::Kind::granted)
      << "the larger device is not this process's";
  EXPECT_TRUE(claim().exclusive);
}

TEST_F(Placing, keeps_what_cuda_has_if_that_was_initialised_before) {
  cuda_->initialised = true;
  setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
  EXPECT_EQ(enter("gpus=2").kind, Outcome::Kind::granted);
  EXPECT_EQ(gate_->place().chosen().devices.at(0).uuid, "GPU-fake-1")
      << "it has no context yet, and will use the first it sees";
  EXPECT_EQ(gate_->place().chosen().devices.size(), 1U);
}

TEST_F(Placing, claims_every_device_with_a_context_of_this_process) {
  cuda_->initialised = true;
  EXPECT_EQ(enter("gpus=2" + listed(528)).kind, Outcome::Kind::granted);
  EXPECT_EQ(gate_->place().chosen().devices.size(), 2U);
  EXPECT_THAT(gate_->examine("Sort.Keys").problems, IsEmpty());
}

TEST_F(Placing, finds_a_stray_context_once) {
  EXPECT_EQ(enter("gpus=2").kind, Outcome::Kind::granted);
  cuda_->initialised = true;
  show("gpus=2" + listed(4));
  EXPECT_THAT(gate_->examine("Sort.Keys").problems, IsEmpty());
  show("gpus=2" + listed(528));
  EXPECT_THAT(gate_->examine("Sort.Keys").problems,
              ElementsAre(HasSubstr("not given to it: 528 MiB on GPU-fake-1 (Fake GPU)")));
  EXPECT_THAT(gate_->examine("Sort.Values").problems, IsEmpty());
}

TEST_F(Placing, takes_a_pid_that_was_listed_before_for_one_of_another_namespace) {
  EXPECT_EQ(enter("gpus=2" + listed(528)).kind, Outcome::Kind::granted);
  cuda_->initialised = true;
  EXPECT_EQ(gate_->place().chosen().devices.size(), 1U);
  EXPECT_THAT(gate_->examine("Sort.Keys").problems, IsEmpty());
}

TEST_F(Placing, under_a_lease_has_its_devices_and_not_the_limit_of_the_leases_holder) {
  setenv("GPUTEST_DEVICE_MEMORY", "20GiB", 1);
  ASSERT_EQ(enter("gpus=3", 2).kind, Outcome::Kind::granted);
  unsetenv("GPUTEST_DEVICE_MEMORY");
  ASSERT_EQ(acquire(2).kind, Outcome::Kind::granted);
  Settings settings = settings_from_environment();
  settings.folder = folder_.path();
  Gate below{settings, Entry{}, "below"};
  const auto outcome = below.enter({}, Gate::Role::command);
  ASSERT_EQ(outcome.kind, Outcome::Kind::granted) << outcome.reason;
  ASSERT_EQ(below.place().chosen().devices.size(), 2U);
  EXPECT_EQ(below.place().chosen().devices[1].uuid, "GPU-fake-1");
  EXPECT_EQ(below.place().chosen().devices[1].name, "Fake GPU");
  EXPECT_EQ(below.place().chosen().devices[1].total, Bytes{80ULL << 30U})
      << "all of it: the setting is the holder's alone";
  settings.device_memory = Bytes{10ULL << 30U};
  Gate limited{settings, Entry{}, "limited"};
  ASSERT_EQ(limited.enter({}, Gate::Role::command).kind, Outcome::Kind::granted);
  EXPECT_EQ(limited.place().chosen().devices[0].total, Bytes{10ULL << 30U});
}

TEST_F(Placing, under_a_lease_that_ends_is_as_without_one) {
  ASSERT_EQ(enter("gpus=2").kind, Outcome::Kind::granted);
  const std::string holder = std::getenv("GPUTEST_LEASE_OF");
  gate_.reset();
  setenv("GPUTEST_LEASE_OF", holder.c_str(), 1);
  ASSERT_EQ(enter("gpus=2").kind, Outcome::Kind::granted);
  EXPECT_NE(holder, std::getenv("GPUTEST_LEASE_OF")) << "it is on the ledger itself";
}

} // namespace
} // namespace gputest::session
