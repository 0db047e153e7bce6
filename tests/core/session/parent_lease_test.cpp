// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Processes under a lease of 3 GiB of two of three devices.
class ParentLease : public SuiteTest {
protected:
  ParentLease() {
    set("GPUTEST_DEVICES", "simulated:3x4GiB,context=256MiB");
    set("GPUTEST_GPUS", "2");
    holder_.emplace(start_holder());
    set("GPUTEST_LEASE_OF", ledger::credential_of(entries().at(0)));
    set("GPUTEST_MEMORY", "3GiB"); // what the launcher's entry says
  }

  void be_rank(int local_rank, int local_size) {
    set("OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(local_rank));
    set("OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(local_size));
  }

  [[nodiscard]] static std::string device(int index) { return "SIM-3x4096MiB-" + std::to_string(index); }

  std::optional<ChildProcess> holder_;
};

TEST_F(ParentLease, allows_its_own_devices_and_no_others) {
  EXPECT_THAT(run("pinned", {"--gtest_filter=Visible.*"}).out,
              HasSubstr("the test sees " + device(0) + "," + device(1) + "\n"));
  set("CUDA_VISIBLE_DEVICES", "2,1");
  set("GPUTEST_GPUS", "1");
  EXPECT_THAT(run("pinned", {"--gtest_filter=Visible.*"}).out, HasSubstr("the test sees " + device(1) + "\n"));
  EXPECT_EQ(entries().size(), 1U);
}

TEST_F(ParentLease, is_what_a_test_may_take_that_says_no_size_itself) {
  set("GPUTEST_MEMORY", "small");
  set("GPUTEST_GPUS", "1");
  const auto reports = reports_of("meter", "Over.much:Over.annotated");
  EXPECT_EQ(reports.at("Over.much").overuse, "");
  EXPECT_EQ(reports.at("Over.annotated").overuse, "128 MiB of 64 MiB");
}

TEST_F(ParentLease, fails_a_process_that_was_left_none_of_its_devices) {
  set("CUDA_VISIBLE_DEVICES", "2");
  const Ended ended = run("pinned", {"--gtest_filter=Visible.*"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("this process runs under the lease of annotated: Medium.with_bytes (pid " +
                                   std::to_string(holder_->pid())));
  EXPECT_THAT(ended.out, HasSubstr(" on " + device(0) + ", " + device(1) +
                                   ", and CUDA_VISIBLE_DEVICES='2' leaves it none of these devices"));
}

TEST_F(ParentLease, is_named_to_a_test_of_it_that_runs_out_of_memory_with_what_to_do) {
  const auto said = [&] {
    return reports_of("overuse", "Plain.says_out_of_memory").at("Plain.says_out_of_memory").out_of_memory;
  };
  const std::string shared =
      ". All processes under the lease of annotated: Medium.with_bytes (pid " + std::to_string(holder_->pid());
  const auto text = said();
  EXPECT_THAT(text, HasSubstr(shared));
  EXPECT_THAT(text,
              HasSubstr(") share its memory, and do not wait for each other. If other tests ran there at the same "
                        "time, run them without that lease, so that each takes its own: no gputest run before "
                        "ctest, and MEMORY none in gpu_add_test() for an entry that runs ctest. No process is"));
  EXPECT_THAT(text, Not(HasSubstr("Other leases there"))) << "it is named once";
  be_rank(0, 2);
  EXPECT_THAT(said(), Not(HasSubstr(shared))) << "what ranks take is added up";
}

TEST_F(ParentLease, without_the_medium_lock_fails_what_needs_it) {
  set("GPUTEST_MEMORY", "small");
  const auto reports = reports_of("annotated", "Medium.says_nothing");
  EXPECT_THAT(reports.at("Medium.says_nothing").failures,
              HasSubstr(", and asks for 2 x medium; make that lease larger: gputest run --gpus 2 --memory medium"));
}

TEST_F(ParentLease, gives_each_rank_a_device_in_turn) {
  for (int rank = 0; rank < 5; ++rank) {
    be_rank(rank, 5);
    const Ended ended = run("pinned", {"--gtest_filter=Visible.*"});
    EXPECT_EQ(ended.exit_code, 0) << ended.out;
    EXPECT_THAT(ended.out, HasSubstr("the test sees " + device(rank % 2) + "\n")) << rank;
  }
  EXPECT_EQ(entries().size(), 1U) << "no rank takes a lease of its own";
}

TEST_F(ParentLease, shares_its_lease_among_the_ranks_of_a_device_with_their_contexts) {
  be_rank(3, 4);
  const auto reports = reports_of("annotated", "NoFixture.says_nothing");
  const auto& report = reports.at("NoFixture.says_nothing");
  EXPECT_EQ(report.failures, "");
  EXPECT_EQ(report.memory, "1.38 GiB") << "(3 GiB - a second context of 256 MiB) / 2";
  EXPECT_EQ(report.devices, device(1));
}

TEST_F(ParentLease, of_ranks_is_as_a_whole_what_one_may_take_that_says_nothing_itself) {
  be_rank(0, 4);
  EXPECT_THAT(run("overuse", {"--gtest_filter=Plain.takes_half"}).err, Not(HasSubstr("took"))) << "others take less";
  EXPECT_THAT(run("overuse", {"--gtest_filter=Plain.takes_nearly_all"}).err,
              HasSubstr("took 3.62 GiB, and its lease is 3 GiB"));
}

TEST_F(ParentLease, of_a_whole_device_is_shared_without_what_its_holder_takes_by_itself) {
  holder_->finish();
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=256MiB");
  set("GPUTEST_GPUS", "1");
  set("GPUTEST_MEMORY", "large");
  set("GPUTEST_LEASE_OF", "");
  auto whole = start("classes", {"--gtest_filter=Large.first"});
  whole.wait_for_out("@constructor");
  set("GPUTEST_LEASE_OF", ledger::credential_of(entries().at(0)));
  be_rank(0, 2);
  const auto reports = reports_of("annotated", "NoFixture.says_nothing");
  EXPECT_EQ(reports.at("NoFixture.says_nothing").failures, "");
  EXPECT_EQ(reports.at("NoFixture.says_nothing").memory, "1.75 GiB") << "(4 GiB - two contexts of 256 MiB) / 2";
}

TEST_F(ParentLease, fails_a_rank_that_asks_for_more_than_its_share_with_what_to_write) {
  be_rank(0, 4);
  const auto reports = reports_of("annotated", "Large.with_bytes:NoFixture.with_bytes");
  const auto& failures = reports.at("Large.with_bytes").failures;
  EXPECT_THAT(failures, HasSubstr("this process is an MPI rank (OMPI_COMM_WORLD_LOCAL_RANK=0 of 4) under the lease of "
                                  "annotated: Medium.with_bytes"));
  EXPECT_THAT(failures, HasSubstr("and asks for large with 1.5 GiB. Up to 2 ranks share each of its 2 devices, which "
                                  "with the contexts of the others is 3.25 GiB of a device, and the lease has 3 GiB. "
                                  "Write MEMORY 3328MiB in gpu_add_test() (gputest run --memory 3328MiB), or GPUS 4"));
  EXPECT_EQ(reports.at("NoFixture.with_bytes").failures, "") << "1 GiB each";
}

TEST_F(ParentLease, of_a_rank_is_not_shared_with_the_others) {
  holder_->finish();
  be_rank(1, 4);
  set("GPUTEST_LEASE_OF", "");
  auto rank = start_holder();
  for (const auto& entry : entries()) {
    set("GPUTEST_LEASE_OF", ledger::credential_of(entry));
  }
  const auto reports = reports_of("annotated", "NoFixture.says_nothing");
  EXPECT_EQ(reports.at("NoFixture.says_nothing").memory, "2 x 3 GiB");
}

TEST_F(ParentLease, is_what_ranks_lack_that_do_not_wait) {
  set("GPUTEST_LEASE_OF", "");
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=0");
  set("GPUTEST_GPUS", "1");
  auto other = start_holder();
  be_rank(1, 2);
  const Ended ended = run("annotated", {"--gtest_filter=Medium.with_bytes"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("annotated: Medium.with_bytes is an MPI rank (OMPI_COMM_WORLD_LOCAL_RANK=1 of 2) "
                                   "that takes memory by itself, and does not wait for 3 GiB"));
  EXPECT_THAT(ended.out, HasSubstr("In its way: annotated: Medium.with_bytes (pid " + std::to_string(other.pid())));
  EXPECT_THAT(ended.out, HasSubstr("gputest run --gpus <n> --memory <bytes> -- mpirun ..."));
  EXPECT_EQ(other.finish().exit_code, 0);
  EXPECT_EQ(run("annotated", {"--gtest_filter=Medium.with_bytes"}).exit_code, 0) << "there is room";
}

} // namespace
} // namespace gputest::tests
