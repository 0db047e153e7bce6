// SPDX-License-Identifier: BSD-3-Clause
#include "metering/cuda_meter.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>

namespace gputest::metering {
namespace {

using namespace literals;

/// Devices whose figures are given out by hand.
class SampledMeterTest : public ::testing::Test {
protected:
  using Figures = std::vector<std::optional<Bytes>>;

  void show(Figures figures) {
    const std::lock_guard guard{mutex_};
    figures_ = std::move(figures);
  }

  /// Shows the figures until the meter's own thread has seen them.
  void let_the_thread_see(Figures figures) {
    std::unique_lock lock{mutex_};
    figures_ = std::move(figures);
    const auto seen = samples_of_thread_;
    sampled_.wait(lock, [&] { return samples_of_thread_ > seen + 1; }); // the first of them is noted then
  }

  Figures answer() {
    const std::lock_guard guard{mutex_};
    if (std::this_thread::get_id() != test_) {
      ++samples_of_thread_;
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      blocks_signals_ = sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGPROF) == 1;
      sampled_.notify_all();
    }
    return figures_;
  }

  std::mutex mutex_;
  std::condition_variable sampled_;
  Figures figures_{Bytes{}};
  int samples_of_thread_ = 0;
  bool blocks_signals_ = false;
  bool in_use_ = true;
  std::thread::id test_ = std::this_thread::get_id();
  std::unique_ptr<devices::Meter> meter_ =
      make_sampled_meter([this] { return answer(); }, [this] { return in_use_; }, "a test");
};

TEST_F(SampledMeterTest, sees_what_is_gone_when_the_period_ends) {
  show({600_MiB, 500_MiB});
  meter_->begin();
  let_the_thread_see({1600_MiB, 500_MiB});
  show({700_MiB, 500_MiB});
  const auto usage = meter_->end();
  EXPECT_EQ(usage.evidence, devices::Evidence::sampled);
  EXPECT_EQ(usage.because, "a test");
  ASSERT_EQ(usage.devices.size(), 1U);
  EXPECT_EQ(usage.devices[0].device, 0);
  EXPECT_EQ(usage.devices[0].peak, 1000_MiB);
  EXPECT_FALSE(usage.devices[0].with_context);
  EXPECT_TRUE(blocks_signals_);
}

TEST_F(SampledMeterTest, says_that_a_context_is_in_the_figure) {
  meter_->begin();
  show({900_MiB});
  EXPECT_EQ(meter_->so_far().devices.at(0).peak, 900_MiB);
  const auto usage = meter_->end();
  EXPECT_TRUE(usage.devices.at(0).with_context);
}

TEST_F(SampledMeterTest, asks_nothing_outside_of_periods) {
  meter_->begin();
  let_the_thread_see({1_MiB});
  static_cast<void>(meter_->end());
  const int samples = samples_of_thread_; // the thread has ended
  EXPECT_EQ(meter_->so_far().evidence, devices::Evidence::unknown);
  EXPECT_EQ(samples_of_thread_, samples);
  meter_->begin();
  let_the_thread_see({2_MiB});
  EXPECT_EQ(meter_->end().devices.at(0).peak, 1_MiB);
}

TEST_F(SampledMeterTest, knows_nothing_where_the_device_does_not_list_the_process) {
  meter_->begin();
  EXPECT_EQ(meter_->end().evidence, devices::Evidence::unknown) << "another pid namespace";
  in_use_ = false;
  meter_->begin();
  const auto usage = meter_->end();
  EXPECT_EQ(usage.evidence, devices::Evidence::sampled) << "it has used no device";
  EXPECT_TRUE(usage.devices.empty());
  in_use_ = true;
  show({3_MiB, std::nullopt}); // one of the devices gives no figure
  meter_->begin();
  const auto of_one = meter_->end();
  EXPECT_EQ(of_one.evidence, devices::Evidence::unknown);
  EXPECT_EQ(of_one.because, "a test, and what the device says of this process cannot be had");
}

TEST_F(SampledMeterTest, knows_nothing_in_a_forked_process_and_ends_there) {
  show({600_MiB});
  meter_->begin();
  EXPECT_EQ(tests::in_child([&] { return meter_->end().evidence == devices::Evidence::unknown ? 0 : 1; }), 0);
  show({601_MiB});
  EXPECT_EQ(meter_->end().devices.at(0).peak, 1_MiB);
}

} // namespace
} // namespace gputest::metering
