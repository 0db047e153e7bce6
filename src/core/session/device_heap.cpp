// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/device_heap.hpp"

#include "core/policy/memory_request.hpp"

#include <gputest/error.hpp>

#include <algorithm>

namespace gputest::session {

namespace {

std::string set_heap(devices::ThisProcess& process, int device, Bytes heap) {
  try {
    return process.set_heap(device, heap);
  } catch (const Error& error) {
    return error.what();
  }
}

} // namespace

Bytes DeviceHeap::cost() const { return size_ > Bytes{} ? policy::heap_cost(size_) : Bytes{}; }

std::string DeviceHeap::prepare(Bytes heap, const std::vector<Device>& devices, int gpus, const std::string& who) {
  const auto asked = who + " asks for a device heap of " + to_string(heap);
  if (heap > size_ && devices_set_ > 0) {
    return asked + ", and its process has set one of " + to_string(size_) +
           ", which cannot change any more. Run it in an entry of its own: "
           "gpu_add_test(... COMMAND <executable> --gtest_filter=<tests> HEAP <size>)";
  }
  size_ = std::max(size_, heap);
  for (; size_ > Bytes{} && devices_set_ < gpus; ++devices_set_) {
    const auto error = set_heap(*process_, devices_set_, size_);
    if (!error.empty()) {
      return heap == Bytes{} ? ""
                             : asked + ", and " + to_string(size_) + " cannot be set on " +
                                   devices[static_cast<std::size_t>(devices_set_)].uuid + ": " + error +
                                   ". It must be set before the first kernel that uses malloc() runs: leave it to HEAP "
                                   "alone, and run the test in an entry of its own if others of its process use such "
                                   "kernels";
    }
  }
  return {};
}

} // namespace gputest::session
