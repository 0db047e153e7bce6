// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/device_heap.hpp"

#include "core/policy/heap_cost.hpp"

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

std::string cannot_be_set(Bytes heap, const Device& device, const std::string& who, const std::string& error) {
  std::string text = who + " asks for a device heap of " + to_string(heap);
  text += ", and it cannot be set on " + device.uuid;
  text += ": " + error;
  return text + ". It must be set before the first kernel that uses malloc() runs: leave it to HEAP alone, and run the "
                "test in an entry of its own if others of its process use such kernels";
}

} // namespace

void DeviceHeap::expect(const std::vector<Bytes>& heaps) {
  for (const Bytes heap : heaps) {
    if (heap > Bytes{} && std::find(expected_.begin(), expected_.end(), heap) == expected_.end()) {
      expected_.push_back(heap);
    }
  }
}

Bytes DeviceHeap::cost() const {
  return expected_.empty() ? Bytes{} : policy::heap_cost(*std::max_element(expected_.begin(), expected_.end()));
}

std::string DeviceHeap::prepare(Bytes heap, const std::vector<Device>& devices, int gpus, const std::string& who) {
  const bool asked = heap > Bytes{};
  if (!asked && expected_.size() == 1) {
    heap = expected_.front();
  }
  if (heap == Bytes{}) {
    return {};
  }
  if (devices_set_ > 0 && heap != size_) {
    return asked ? is_set_already(heap, who) : "";
  }
  for (; devices_set_ < gpus; ++devices_set_) {
    const Device& device = devices[static_cast<std::size_t>(devices_set_)];
    const std::string error = set_heap(*process_, devices_set_, heap);
    if (!error.empty()) {
      return asked ? cannot_be_set(heap, device, who, error) : "";
    }
    size_ = heap;
    set_for_ = set_for_.empty() ? who : set_for_;
  }
  return {};
}

std::string DeviceHeap::is_set_already(Bytes heap, const std::string& who) const {
  std::string text = who + " asks for a device heap of " + to_string(heap);
  text += ", and in this process " + set_for_ + " has set one of " + to_string(size_);
  return text + ", which cannot change any more. Give them one size, or run each in an entry of its own: "
                "gpu_add_test(... COMMAND <executable> --gtest_filter=<tests> HEAP <size>)";
}

} // namespace gputest::session
