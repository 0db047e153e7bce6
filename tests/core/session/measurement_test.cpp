// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/measurement.hpp"

#include "core/session/messages.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gputest::session {
namespace {

using namespace literals;
using devices::AllocationKind;
using devices::DeviceUsage;
using devices::Evidence;
using devices::Usage;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

DeviceUsage of_device(int device, Bytes peak) {
  DeviceUsage usage;
  usage.device = device;
  usage.peak = peak;
  return usage;
}

DeviceUsage that_leaves(int device, const std::vector<Bytes>& left) {
  DeviceUsage usage;
  usage.device = device;
  for (const Bytes bytes : left) {
    usage.left.push_back({AllocationKind::device, "cudaMalloc", bytes, 1});
  }
  return usage;
}

/// A test that has leased 100 MiB of each of two devices.
class Measurement : public ::testing::Test {
protected:
  Measurement() {
    usage_.evidence = Evidence::exact;
    allowance_.who = "entry: Sort.Keys";
    allowance_.test = "Sort.Keys";
    allowance_.leased = {100_MiB, 100_MiB};
    allowance_.request = Request{100_MiB};
    allowance_.request.gpus = 2;
  }

  std::string short_text() { return overuse_in(usage_, allowance_).short_text; }
  std::string text() { return overuse_in(usage_, allowance_).text; }

  Usage usage_;
  Allowance allowance_;
};

TEST_F(Measurement, has_the_largest_peak_of_all_devices) {
  EXPECT_EQ(peak_in(usage_, allowance_), 0_B);
  usage_.devices = {of_device(0, 10_MiB), of_device(1, 30_MiB), of_device(2, 20_MiB)};
  EXPECT_EQ(peak_in(usage_, allowance_), 30_MiB);
  allowance_.context = 15_MiB;
  EXPECT_EQ(peak_in(usage_, allowance_), 30_MiB) << "the context is in no figure";
  usage_.devices[1].with_context = true;
  EXPECT_EQ(peak_in(usage_, allowance_), 20_MiB) << "of device 2";
}

TEST_F(Measurement, has_what_may_be_taken_by_a_test_that_asks_what_is_free_where_all_is) {
  usage_.devices = {of_device(0, 10_MiB), of_device(1, 30_MiB)};
  EXPECT_EQ(possible_in(usage_, 160_MiB), 0_B);
  usage_.devices[1].reported_free = 80_MiB;
  EXPECT_EQ(possible_in(usage_, 160_MiB), 60_MiB);
  usage_.devices[1].reported_free = 20_MiB; // it had taken 10 MiB before
  EXPECT_EQ(possible_in(usage_, 160_MiB), 160_MiB);
}

TEST_F(Measurement, tolerates_the_granularity_of_drivers_on_each_device) {
  usage_.devices = {of_device(0, 102_MiB), of_device(1, 102_MiB)};
  EXPECT_EQ(short_text(), "");
  EXPECT_EQ(text(), "");
  usage_.devices[1].peak = 102_MiB + 1_B;
  EXPECT_THAT(short_text(), testing::EndsWith(" of 100 MiB"));
  EXPECT_THAT(text(), HasSubstr(" of device 1, and its lease is 100 MiB: "));
  usage_.devices[0].peak = 104_MiB;
  EXPECT_THAT(text(), StartsWith("entry: Sort.Keys took 104 MiB, and its lease is 100 MiB: ")) << "which has more";
}

TEST_F(Measurement, knows_nothing_where_nothing_was_measured_or_all_was_leased) {
  usage_.devices = {of_device(0, 1_GiB)};
  EXPECT_NE(short_text(), "");
  allowance_.whole_devices = true;
  EXPECT_EQ(short_text(), "");
  allowance_.whole_devices = false;
  usage_.evidence = Evidence::unknown;
  EXPECT_EQ(short_text(), "");
}

TEST_F(Measurement, tolerates_in_samples_what_contexts_grow_by) {
  usage_.evidence = Evidence::sampled;
  allowance_.context = 700_MiB;
  usage_.devices = {of_device(0, 612_MiB)};
  EXPECT_EQ(short_text(), "");
  usage_.devices[0].peak = 614_MiB;
  EXPECT_EQ(short_text(), "at least 614 MiB of 100 MiB");
  EXPECT_THAT(text(), StartsWith("entry: Sort.Keys took at least 614 MiB, and its lease is 100 MiB: "));
  EXPECT_THAT(text(), HasSubstr(" The device was asked from time to time. Declare what it needs: "));
  usage_.devices[0].with_context = true;
  EXPECT_EQ(short_text(), "") << "all of it may be the context";
  usage_.devices[0].peak = 1400_MiB;
  EXPECT_EQ(short_text(), "at least 700 MiB of 100 MiB");
}

TEST_F(Measurement, says_what_a_peak_is_made_of) {
  usage_.devices = {of_device(0, 300_MiB)};
  EXPECT_THAT(text(), HasSubstr("may run out of memory. Declare what it needs: ")) << "that is not known";
  usage_.devices[0].at_peak = {
      {AllocationKind::device, 100_MiB}, {AllocationKind::pool, 150_MiB}, {AllocationKind::managed, 50_MiB}};
  EXPECT_THAT(text(), HasSubstr("memory. At the peak: device memory 100 MiB, pool memory 150 MiB, managed memory 50 "
                                "MiB. Declare"));
}

TEST_F(Measurement, advises_more_devices_where_one_was_used_that_is_not_leased) {
  usage_.devices = {of_device(0, 100_MiB), of_device(2, 64_MiB)};
  EXPECT_EQ(short_text(), "64 MiB of 0 B");
  EXPECT_THAT(text(), StartsWith("entry: Sort.Keys took 64 MiB of device 2, and its lease is of the first 2: "));
  EXPECT_THAT(text(), HasSubstr("Ask for 3: gpus(3) in GPUTEST_NEEDS, or GPUS 3 in gpu_add_test()"));
  write_advice_in(detail::Notation::tags);
  EXPECT_THAT(text(), HasSubstr("Ask for 3: the tag [gpus:3], or GPUS 3 in gpu_add_test()"));
  write_advice_in(detail::Notation::annotations);
  allowance_.test = ""; // as of a command
  EXPECT_THAT(text(), HasSubstr("Ask for 3: GPUS 3 in gpu_add_test()"));
}

TEST_F(Measurement, finds_what_was_taken_without_a_lease) {
  const auto found = [&] { return unleased_use_in(usage_, "entry: Sort.Keys", "Sort.Keys"); };
  EXPECT_EQ(found().text, "");
  usage_.devices = {of_device(0, 2_MiB), of_device(1, 1_MiB)};
  EXPECT_EQ(found().text, "") << "drivers hand out pieces of 2 MiB";
  usage_.devices[1].peak = 3_MiB;
  EXPECT_EQ(found().short_text, "3 MiB of 0 B");
  EXPECT_THAT(found().text, StartsWith("entry: Sort.Keys took 3 MiB of device 1 without a lease: "));
  usage_.devices[0].peak = 4_MiB;
  EXPECT_THAT(found().text, StartsWith("entry: Sort.Keys took 4 MiB without a lease: "));
  usage_.evidence = Evidence::sampled;
  EXPECT_EQ(found().text, "");
  EXPECT_EQ(found().short_text, "");
}

TEST_F(Measurement, names_what_is_left_of_each_device) {
  EXPECT_EQ(leak_in({}, allowance_), "");
  EXPECT_EQ(leak_in({of_device(0, 1_GiB)}, allowance_), "") << "all of it was freed";
  auto second = that_leaves(1, {1_MiB, 2_MiB, 3_MiB, 4_MiB});
  second.left[1].kind = AllocationKind::pool;
  second.left[2].kind = AllocationKind::managed;
  const auto text = leak_in({that_leaves(0, {5_MiB}), second}, allowance_);
  EXPECT_THAT(text, StartsWith("entry: Sort.Keys ends with 5 MiB of device 0 still allocated: device memory by "
                               "cudaMalloc: 5 MiB; and with 10 MiB of device 1 still allocated: device memory by "
                               "cudaMalloc: 1 MiB, pool memory by cudaMalloc: 2 MiB, managed memory by cudaMalloc: 3 "
                               "MiB and more. It counts as"));
  EXPECT_THAT(text, HasSubstr("Free it before the test ends. "));
  EXPECT_THAT(text, HasSubstr("keeps(10_MiB)")) << "as much as of the device with most";
  EXPECT_EQ(left_of(second), 10_MiB);
  second.left.pop_back();
  EXPECT_THAT(leak_in({second}, allowance_), Not(HasSubstr("and more"))) << "three are named";
}

TEST_F(Measurement, takes_a_refusal_of_what_was_possible_for_what_the_test_had_wanted) {
  auto usage = of_device(0, 1_GiB);
  EXPECT_EQ(wanted_of(usage, 14_GiB), Bytes{});
  usage.refused = {3_GiB, 8_GiB, 17_GiB};
  usage.wanted = 17_GiB;
  EXPECT_EQ(wanted_of(usage, 14_GiB), 8_GiB) << "the other one was asked for on purpose";
  EXPECT_EQ(wanted_of(usage, 8_GiB), 8_GiB);
  EXPECT_EQ(wanted_of(usage, 2_GiB), 17_GiB);
}

TEST_F(Measurement, adds_what_earlier_periods_have_left_for_which_the_same_was_said) {
  allowance_.keeps = 4_MiB;
  allowance_.request.keeps = 4_MiB;
  allowance_.periods = {3, 5};
  auto first = that_leaves(0, {2_MiB});
  first.kept = {{3, 1_MiB}, {4, 1_GiB}, {5, 1_MiB}};
  EXPECT_EQ(leak_in({first}, allowance_), "") << "period 4 was another test's";
  first.kept[5] = 2_MiB;
  auto second = that_leaves(1, {1_MiB});
  second.kept = {{3, 6_MiB}};
  const auto text = leak_in({first, second}, allowance_);
  EXPECT_THAT(text, StartsWith("entry: Sort.Keys ends with 2 MiB of device 0 still allocated: "));
  EXPECT_THAT(text, HasSubstr("; and with 1 MiB of device 1 still allocated: "));
  EXPECT_THAT(text, HasSubstr(". It may keep 4 MiB. What may be kept in sum has 3 MiB of earlier tests in it already, "
                              "and of device 1 6 MiB of earlier tests in it already. It counts as"));
  EXPECT_THAT(text, HasSubstr("keeps(7_MiB)")) << "with what is there already";
  second.left.clear();
  EXPECT_EQ(leak_in({second}, allowance_), "") << "the test itself has left nothing there";
}

} // namespace
} // namespace gputest::session
