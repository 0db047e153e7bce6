// SPDX-License-Identifier: BSD-3-Clause
#include "metering/cupti_api.hpp"

namespace gputest::metering::cupti {

bool Functions::bind(const os::SharedLibrary& library) {
  return library.bind(subscribe, "cuptiSubscribe") && library.bind(unsubscribe, "cuptiUnsubscribe") &&
         library.bind(enable_callback, "cuptiEnableCallback") && library.bind(device_of_context, "cuptiGetDeviceId") &&
         library.bind(error_name, "cuptiGetResultString");
}

bool DriverFunctions::bind(const os::SharedLibrary& library) {
  library.bind(graph_memory, "cuDeviceGetGraphMemAttribute");
  library.bind(set_graph_memory, "cuDeviceSetGraphMemAttribute");
  return library.bind(device_count, "cuDeviceGetCount") && library.bind(primary_state, "cuDevicePrimaryCtxGetState") &&
         library.bind(is_capturing, "cuStreamIsCapturing") &&
         library.bind(is_capturing_ptsz, "cuStreamIsCapturing_ptsz") &&
         library.bind(pointer_attribute, "cuPointerGetAttribute");
}

} // namespace gputest::metering::cupti
