// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/overhead.hpp"

#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/session/messages.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <utility>

namespace gputest::session {

namespace {

constexpr std::uint64_t smallest_piece = std::uint64_t{2} << 20U;
constexpr std::chrono::seconds longest_unmeasured{1};

/// If a context seems to take more, it is probably a leak.
constexpr Bytes max_believable_context{std::uint64_t{2} << 30U};

/// Less than that is not a context: a device shows some MiB if it is visible to a context on another device (4 MiB,
/// H200).
constexpr Bytes smallest_context{std::uint64_t{16} << 20U};

std::string set_heap(devices::ThisProcess& process, int device, Bytes heap) {
  try {
    return process.set_heap(device, heap);
  } catch (const Error& error) {
    return error.what();
  }
}

} // namespace

void Overhead::expect(Bytes usual, Bytes learnt, Bytes heap) {
  heap_ = heap > Bytes{};
  learnt_ = learnt <= max_believable_context ? learnt : Bytes{};
  expected_ = (learnt_ > Bytes{} ? learnt_ : usual) + heap;
  bytes_ = expected_;
}

bool Overhead::is_due(const devices::DeviceStateAfterSync& after_sync, Bytes managed, Clock::time_point now) const {
  if (after_sync.free_bytes.size() != free_bytes_.size() || managed != managed_) {
    return true;
  }
  for (std::size_t i = 0; i < free_bytes_.size(); ++i) {
    if (after_sync.free_bytes[i] + smallest_piece <= free_bytes_[i]) {
      return true;
    }
  }
  return after_sync.has_context && now - measured_at_ >= longest_unmeasured;
}

void Overhead::measured(const devices::DeviceStateAfterSync& after_sync, Bytes listed, Bytes managed,
                        Clock::time_point now) {
  free_bytes_ = after_sync.free_bytes;
  managed_ = managed;
  measured_at_ = now;
  to_learn_ = {};
  if (listed == Bytes{}) { // it has no context any more, or the driver lists no processes
    bytes_ = expected_ + managed;
    return;
  }
  bytes_ = std::max(listed, heap_ ? expected_ : learnt_) + managed;
  if (!heap_ && managed == Bytes{} && listed <= max_believable_context) {
    to_learn_ = listed;
  }
}

OwnContexts::OwnContexts(std::shared_ptr<const devices::DeviceList> machine, const devices::ThisProcess& process)
    : machine_{std::move(machine)}, process_{&process}, begun_before_{process.in_use()} {
  if (!begun_before_) {
    const auto listed = all();
    listed_for_others_.insert(listed.begin(), listed.end());
  }
}

std::optional<Bytes> OwnContexts::on(std::size_t index) const {
  const auto use = machine_->memory(index);
  if (!use.processes || listed_for_others_.count(index) != 0) {
    return std::nullopt;
  }
  const auto own = std::find_if(use.processes->begin(), use.processes->end(),
                                [](const devices::ProcessMemory& process) { return process.pid == os::own_pid(); });
  if (own == use.processes->end()) {
    return std::nullopt;
  }
  return Bytes{own->used_bytes.value_or(0)};
}

std::vector<std::size_t> OwnContexts::all() const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
    if (on(i)) {
      indices.push_back(i);
    }
  }
  return indices;
}

std::vector<std::string> OwnContexts::strays(const std::vector<std::size_t>& given, const std::string& who) {
  if (sees_only_given_ || !process_->in_use()) {
    return {};
  }
  std::vector<Device> own;
  std::vector<std::string> uuids;
  for (const std::size_t index : given) {
    own.push_back(machine_->devices()[index]);
    uuids.push_back(own.back().uuid);
  }
  sees_only_given_ = process_->sees_only(uuids); // what a process sees is fixed when it begins to use devices
  if (sees_only_given_) {
    return {};
  }
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
    if (found_strays_.count(i) != 0 || std::find(given.begin(), given.end(), i) != given.end()) {
      continue;
    }
    const auto context = on(i);
    const bool is_known = context && *context > Bytes{};
    if (!context || (is_known && *context < smallest_context)) {
      continue;
    }
    found_strays_.insert(i);
    const auto& device = machine_->devices()[i];
    problems.push_back(
        who + " leaves this process a context on a device that was not given to it: " +
        (is_known ? std::to_string(context->count() >> 20U) + " MiB" : "of unknown size") + " on " + device.uuid +
        " (" + device.name + "), where the tests of others count on that memory. It was given " + describe(own) +
        ". Use only the devices that are visible to it, leave CUDA_VISIBLE_DEVICES as gputest has set it, and ask for "
        "more devices with GPUS" +
        advised(Advice::in_cmake) +
        "; if CUDA is used before the tests start, let the launcher choose: LAUNCHER on, or gputest run");
  }
  return problems;
}

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
