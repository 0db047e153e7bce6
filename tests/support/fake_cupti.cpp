// SPDX-License-Identifier: BSD-3-Clause
// A libcupti without a driver. FAKE_CUPTI is the number that cuptiSubscribe() answers with, and FAKE_CUPTI_ENABLE that
// of cuptiEnableCallback(); the test itself calls the callback, as the driver would. A callback that is not enabled is
// not called. A context is a pointer to the number of its device.
#include "metering/cupti_api.hpp"

#include <cstdlib>
#include <set>
#include <utility>

namespace {

namespace cupti = gputest::metering::cupti;

cupti::Callback callback = nullptr;
void* callback_data = nullptr;
int subscriber = 0;
int subscribers = 0;
std::set<std::pair<gputest::metering::cupti::Domain, gputest::metering::cupti::CallbackId>> enabled;

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
  ++subscribers;
  enabled.clear();
  return cupti::success;
}

cupti::Result cuptiUnsubscribe(cupti::Subscriber /*handle*/) {
  --subscribers;
  return cupti::success;
}

cupti::Result cuptiEnableCallback(std::uint32_t enable, cupti::Subscriber handle, cupti::Domain domain,
                                  cupti::CallbackId id) {
  const char* const answer = std::getenv("FAKE_CUPTI_ENABLE");
  if (answer != nullptr) {
    return std::atoi(answer);
  }
  if (enable != 0 && handle == &subscriber) {
    enabled.emplace(domain, id);
  }
  return cupti::success;
}

cupti::Result cuptiGetDeviceId(gputest::devices::cuda::Context context, std::uint32_t* device) {
  *device = static_cast<std::uint32_t>(*static_cast<const int*>(context));
  return cupti::success;
}

cupti::Result cuptiGetResultString(cupti::Result /*result*/, const char** name) {
  *name = "CUPTI_ERROR_OF_THE_FAKE";
  return cupti::success;
}

/// For the test.
void fake_cupti_call(cupti::Domain domain, cupti::CallbackId id, const void* data) {
  if (enabled.count({domain, id}) != 0) {
    callback(callback_data, domain, id, data);
  }
}

/// How many have subscribed and not unsubscribed.
int fake_cupti_subscribers() { return subscribers; }

} // extern "C"
