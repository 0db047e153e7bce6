// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_cupti.cpp and fake_cuda_graphs.cpp, which the executable's run path names.
#include "metering/cuda_meter.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/os/shared_library.hpp"
#include "core/settings/settings.hpp"
#include "metering/cupti_api.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>
#include <string>

#include <unistd.h>

namespace gputest::metering {
namespace {

class CuptiMeterTest : public ::testing::Test {
protected:
  ~CuptiMeterTest() override {
    unsetenv("FAKE_CUPTI");
    unsetenv("FAKE_CUPTI_ENABLE");
    unsetenv("FAKE_GRAPHS");
  }

  static void call(cupti::Domain domain, cupti::CallbackId id, const void* data) {
    auto library = os::SharedLibrary::if_loaded("libcupti.so.13");
    ASSERT_TRUE(library);
    void (*call)(cupti::Domain, cupti::CallbackId, const void*) = nullptr;
    ASSERT_TRUE(library->bind(call, "fake_cupti_call"));
    call(domain, id, data);
  }

  /// A call of the driver that has been left, without an error.
  static void call_driver(cupti::Call function, const void* parameters) {
    const devices::cuda::Result result = devices::cuda::success;
    cupti::CallData data{};
    data.site = cupti::entered + 1;
    data.parameters = parameters;
    data.return_value = &result;
    data.context = &context;
    call(cupti::driver_api, static_cast<cupti::CallbackId>(function), &data);
  }

  static void allocate(devices::cuda::DevicePointer pointer, std::size_t bytes) {
    const cupti::AllocParameters parameters{&pointer, bytes};
    call_driver(cupti::Call::cuMemAlloc_v2, &parameters);
  }

  static int subscribers() {
    auto library = os::SharedLibrary::if_loaded("libcupti.so.13");
    int (*count)() = nullptr;
    return library && library->bind(count, "fake_cupti_subscribers") ? count() : -1;
  }

  static int context;
  std::string why_ = "left from before";
};

int CuptiMeterTest::context = 0;

TEST_F(CuptiMeterTest, is_exact_and_forgets_what_a_context_takes_with_it) {
  const auto meter = open_cupti_meter("", why_);
  ASSERT_NE(meter, nullptr) << why_;
  meter->begin();
  allocate(1, 300);
  const cupti::ResourceData ending{&context};
  call(cupti::resource, cupti::context_destroyed, &ending);
  const auto usage = meter->end();
  EXPECT_EQ(usage.evidence, devices::Evidence::exact);
  ASSERT_EQ(usage.devices.size(), 1U);
  EXPECT_EQ(usage.devices[0].peak, Bytes{300});
  EXPECT_TRUE(usage.devices[0].left.empty());
}

TEST_F(CuptiMeterTest, counts_what_graphs_have_used_since_the_period_began_if_it_is_more_than_the_rest) {
  const auto meter = open_cupti_meter("", why_);
  ASSERT_NE(meter, nullptr) << why_;
  setenv("FAKE_GRAPHS", "1000", 1);
  meter->begin();
  allocate(1, 300);
  setenv("FAKE_GRAPHS", "5000", 1);
  const auto usage = meter->end();
  ASSERT_EQ(usage.devices.size(), 1U);
  EXPECT_EQ(usage.devices[0].peak, Bytes{4000});
  EXPECT_EQ(usage.devices[0].at_peak.at(devices::AllocationKind::pool), Bytes{4000});
}

TEST_F(CuptiMeterTest, knows_nothing_after_an_array_of_a_format_that_it_does_not_know) {
  const auto meter = open_cupti_meter("", why_);
  ASSERT_NE(meter, nullptr) << why_;
  meter->begin();
  void* array = &context;
  const cupti::ArrayDescriptor planar{1024, 512, 0xb0, 3};
  const cupti::ArrayCreateParameters parameters{&array, &planar};
  call_driver(cupti::Call::cuArrayCreate_v2, &parameters);
  const auto usage = meter->end();
  EXPECT_EQ(usage.evidence, devices::Evidence::unknown);
  EXPECT_THAT(usage.because, testing::HasSubstr("format"));
}

TEST_F(CuptiMeterTest, leaves_cupti_to_others_when_it_ends_or_cannot_be_used) {
  const auto stays_loaded = os::SharedLibrary::open("libcupti.so.13", why_);
  ASSERT_TRUE(stays_loaded) << why_;
  {
    const auto meter = open_cupti_meter("", why_);
    ASSERT_NE(meter, nullptr) << why_;
    EXPECT_EQ(subscribers(), 1);
  }
  EXPECT_EQ(subscribers(), 0);
  setenv("FAKE_CUPTI_ENABLE", "15", 1);
  EXPECT_EQ(open_cupti_meter("", why_), nullptr);
  EXPECT_NE(why_.find("libcupti.so.13 answers CUPTI_ERROR_OF_THE_FAKE (15)"), std::string::npos) << why_;
  EXPECT_EQ(subscribers(), 0);
}

TEST_F(CuptiMeterTest, is_the_one_that_the_setting_asks_for) {
  auto& off = devices::cuda_process().meter(MeterSetting::off);
  off.begin();
  EXPECT_EQ(off.end().because, "GPUTEST_METER=off");
  EXPECT_EQ(&off, &devices::cuda_process().meter(MeterSetting::off));
  auto& sampled = devices::cuda_process().meter(MeterSetting::sampled);
  EXPECT_FALSE(sampled.sees_allocations());
  sampled.begin();
  EXPECT_THAT(sampled.end().because, testing::StartsWith("GPUTEST_METER=sampled"));
}

TEST_F(CuptiMeterTest, says_that_another_tool_uses_cupti) {
  setenv("FAKE_CUPTI", "39", 1);
  EXPECT_EQ(open_cupti_meter("", why_), nullptr);
  EXPECT_EQ(why_, "another tool uses CUPTI: a profiler, compute-sanitizer, or the program itself");
}

TEST_F(CuptiMeterTest, leaves_cupti_to_a_tool_that_is_attached) {
  Settings settings;
  settings.profiler = "/opt/profiler/libinjection.so";
  settings::set_for_process(settings);
  auto& meter = devices::cuda_process().meter(MeterSetting::automatic);
  EXPECT_FALSE(meter.sees_allocations());
  meter.begin();
  EXPECT_THAT(meter.end().because, testing::StartsWith("another tool may need CUPTI (CUDA_INJECTION64_PATH=/opt/"));
}

} // namespace
} // namespace gputest::metering
