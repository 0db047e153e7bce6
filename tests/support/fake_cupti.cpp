// SPDX-License-Identifier: BSD-3-Clause
// A libcupti without a driver. FAKE_CUPTI is the number that cuptiSubscribe() answers with; the test itself calls the
// callback, as the driver would.
#include "backend/cuda/cupti_api.hpp"

#include <cstdlib>

namespace {

namespace cupti = gputest::backend::cupti;

cupti::Callback callback = nullptr;
void* callback_data = nullptr;
int subscriber = 0;

} // namespace

extern "C" {

cupti::Result cuptiSubscribe(cupti::Subscriber* handle, cupti::Callback function, void* data) {
  const char* const answer = std::getenv("FAKE_CUPTI");
  if (answer != nullptr) {
    return std::atoi(answer);
  }
  *handle = &subscriber;
  callback = function;
  callback_data = data;
  return cupti::success;
}

cupti::Result cuptiUnsubscribe(cupti::Subscriber /*handle*/) { return cupti::success; }

cupti::Result cuptiEnableCallback(std::uint32_t /*enable*/, cupti::Subscriber /*handle*/, cupti::Domain /*domain*/,
                                  cupti::CallbackId /*id*/) {
  return cupti::success;
}

cupti::Result cuptiGetDeviceId(gputest::backend::cuda::Context /*context*/, std::uint32_t* device) {
  *device = 0;
  return cupti::success;
}

cupti::Result cuptiGetResultString(cupti::Result /*result*/, const char** name) {
  *name = "CUPTI_ERROR_OF_THE_FAKE";
  return cupti::success;
}

/// For the test.
void fake_cupti_call(cupti::Domain domain, cupti::CallbackId id, const void* data) {
  callback(callback_data, domain, id, data);
}

} // extern "C"
