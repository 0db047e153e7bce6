// SPDX-License-Identifier: BSD-3-Clause
// Which devices a process is placed on by what they can do. Runs against the fake drivers of tests/support.
#include "core/session/gate.hpp"

#include "support/private_folder.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace gputest::session {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string gpu(int index) { return "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(index); }

class CapableDevicesTest : public ::testing::Test {
protected:
  CapableDevicesTest() { unsetenv("CUDA_VISIBLE_DEVICES"); }
  ~CapableDevicesTest() override {
    for (const char* name : {"FAKE_NVML", "FAKE_CUDA", "CUDA_VISIBLE_DEVICES", "GPUTEST_LEASE_OF"}) {
      unsetenv(name);
    }
  }

  /// Enters with an entry and with tests that require this, on a machine of three GPUs.
  Outcome enter(const std::string& nvml, const std::string& entry, const std::string& tests = "", int gpus = 1) {
    unsetenv("CUDA_VISIBLE_DEVICES"); // which an earlier session has set
    setenv("FAKE_NVML", ("gpus=3 long_uuids=1 " + nvml).c_str(), 1);
    Settings settings = settings_from_environment();
    Entry of_ctest;
    settings.folder = folder_.path();
    settings.forbid_skip = forbid_skip_;
    settings.require_gpu = require_gpu_;
    of_ctest.request.capabilities = parse_capabilities(entry);
    of_ctest.request.gpus = gpus;
    gate_.emplace(settings, of_ctest, "suite");
    Plan plan;
    plan.requests = {of_ctest.request};
    plan.capabilities = parse_capabilities(tests);
    return gate_->enter(plan, Gate::Role::command);
  }

  Outcome acquire(const std::string& capabilities, int gpus = 1) {
    Request request;
    request.capabilities = parse_capabilities(capabilities);
    request.gpus = gpus;
    return gate_->lease(request, "Sort.Keys").outcome;
  }

  /// UUIDs of the chosen devices.
  [[nodiscard]] std::vector<std::string> chosen() const {
    std::vector<std::string> uuids;
    for (const auto& device : gate_->place().chosen().devices) {
      uuids.push_back(device.uuid);
    }
    return uuids;
  }

  tests::PrivateFolder folder_;
  std::optional<Gate> gate_;
  ForbidSkip forbid_skip_ = ForbidSkip::no;
  bool require_gpu_ = false;
};

using Uuids = std::vector<std::string>;

TEST_F(CapableDevicesTest, are_those_that_have_what_the_entry_requires) {
  EXPECT_EQ(enter("sm=75,80,90", "sm_90").kind, Outcome::Kind::granted);
  EXPECT_EQ(chosen(), Uuids{gpu(2)});
  EXPECT_EQ(acquire("sm_90").kind, Outcome::Kind::granted);
}

TEST_F(CapableDevicesTest, are_any_where_none_has_all_and_the_tests_are_skipped_one_by_one) {
  EXPECT_EQ(enter("sm=75,75,75", "", "sm_80").kind, Outcome::Kind::granted);
  const auto outcome = acquire("sm_80");
  EXPECT_EQ(outcome.kind, Outcome::Kind::skip);
  EXPECT_EQ(outcome.reason, "suite: Sort.Keys requires what its devices do not have: asked sm_80; " + gpu(0) +
                                " (Fake GPU) has sm_75. Run it where there is such a device; 'gputest devices' shows "
                                "what each has");
  EXPECT_EQ(acquire("sm_75").kind, Outcome::Kind::granted);
}

TEST_F(CapableDevicesTest, that_none_has_for_the_entry_skip_all_of_it_before_it_waits_for_anybody) {
  const auto outcome = enter("sm=75,75,75", "sm_80");
  EXPECT_EQ(outcome.kind, Outcome::Kind::skip);
  EXPECT_THAT(outcome.reason, StartsWith("suite requires what its devices do not have: asked sm_80; " + gpu(0)));
  EXPECT_THAT(outcome.reason, HasSubstr(gpu(2) + " (Fake GPU) has sm_75. Run it"));
  require_gpu_ = true;
  EXPECT_EQ(enter("sm=75,75,75", "sm_80").kind, Outcome::Kind::skip) << "there are GPUs";
  for (const auto forbidden : {ForbidSkip::machine, ForbidSkip::all}) {
    forbid_skip_ = forbidden;
    EXPECT_EQ(enter("sm=75,75,75", "sm_80").kind, Outcome::Kind::fail);
    EXPECT_EQ(enter("sm=75,75,75", "", "sm_80").kind, Outcome::Kind::granted);
    EXPECT_EQ(acquire("sm_80").kind, Outcome::Kind::fail);
  }
}

TEST_F(CapableDevicesTest, reach_one_another_where_that_is_required) {
  setenv("FAKE_CUDA", "peers=02", 1);
  EXPECT_EQ(enter("", "peer_access", "", 2).kind, Outcome::Kind::granted);
  EXPECT_EQ(chosen(), (Uuids{gpu(0), gpu(2)}));
  EXPECT_EQ(acquire("peer_access", 2).kind, Outcome::Kind::granted);
  setenv("FAKE_CUDA", "peers=1", 1);
  EXPECT_EQ(enter("", "peer_access", "", 2).kind, Outcome::Kind::granted);
  const auto outcome = acquire("peer_access", 2);
  EXPECT_EQ(outcome.kind, Outcome::Kind::skip);
  EXPECT_THAT(outcome.reason, HasSubstr("asked peer_access; between GPU-"));
}

TEST_F(CapableDevicesTest, have_free_what_external_processes_leave) {
  EXPECT_THAT(enter("used=21474836480 compute=1:21474836480", "free_memory=60GiB").reason,
              HasSubstr("(Fake GPU) has free_memory of 59.5 GiB"));
  EXPECT_EQ(enter("used=21474836480 compute=1:21474836480", "free_memory=59GiB").kind, Outcome::Kind::granted);
}

TEST_F(CapableDevicesTest, that_are_not_known_are_missing_with_the_reason) {
  setenv("FAKE_CUDA", "init=100", 1);
  EXPECT_THAT(enter("", "memory_pools").reason,
              HasSubstr("has memory_pools unknown (cuInit() answers CUDA_ERROR_NO_DEVICE (100))"));
}

TEST_F(CapableDevicesTest, are_none_that_let_no_process_in) {
  const auto outcome = enter("mode=2", "");
  EXPECT_EQ(outcome.kind, Outcome::Kind::skip);
  EXPECT_THAT(outcome.reason, StartsWith("no GPU: " + gpu(0) +
                                         " (Fake GPU) cannot be used: its compute mode is PROHIBITED, so no process "
                                         "may use it"));
  EXPECT_THAT(outcome.reason, HasSubstr("; " + gpu(1) + " (Fake GPU) cannot be used: "));
  EXPECT_THAT(outcome.reason, HasSubstr("; " + gpu(2) + " (Fake GPU) cannot be used: "));
  require_gpu_ = true;
  EXPECT_EQ(enter("mode=2", "").kind, Outcome::Kind::fail) << "that is no GPU at all";
}

} // namespace
} // namespace gputest::session
