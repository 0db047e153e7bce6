// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/memory_resource.hpp>

#include "core/devices/device_list.hpp"
#include "core/os/mutex.hpp"
#include "core/policy/request.hpp"
#include "core/session/account.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace gputest {

using session::Account;
using session::Allocation;

namespace {

/// Whose memory this is.
devices::ThisProcess& process() {
  static auto& process = devices::this_process(settings::of_process());
  return process;
}

void tell_once(const std::string& text) {
  static os::Mutex mutex;
  static std::set<std::string>& printed = *new std::set<std::string>; // NOLINT(cppcoreguidelines-owning-memory)
  const std::lock_guard guard{mutex};
  if (printed.insert(text).second) {
    session::tell(text);
  }
}

MemoryKind choose(int device, std::optional<MemoryKind> of_test) {
  const auto setting = settings::of_process().memory_resource;
  const auto choice = policy::choose_memory_kind(of_test, setting, process().has_pools(device), device);
  tell_once("memory_resource: " + std::string{to_string(choice.kind)} + " (" + choice.because + ")");
  return choice.kind;
}

MemoryKind require_managed(int device) {
  if (!process().has_managed_memory(device)) {
    throw InvalidSetting{"managed memory was asked for, and device " + std::to_string(device) +
                         " has none (CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY is 0); use gputest::memory_resource"};
  }
  return MemoryKind::managed;
}

void check_alignment(std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > detail::Resource::max_alignment) {
    throw InvalidSetting{"an alignment of " + std::to_string(alignment) +
                         " was asked of a memory resource; it is a power of two up to " +
                         std::to_string(detail::Resource::max_alignment)};
  }
}

/// Pages without room move between host and device until the device seems dead, so the driver must not be asked.
void check_room(const Allocation& allocation) {
  const Bytes free = process().free_bytes(allocation.device);
  if (allocation.bytes > free) {
    throw OutOfMemory{to_string(allocation.bytes) + " of managed memory were asked of device " +
                      std::to_string(allocation.device) + ", which has " + to_string(free) +
                      " free: managed memory does not spread over devices but spills to the host, which can hang a "
                      "device. Ask for less, or for several devices with GPUS and distribute the data over them"};
  }
}

void* allocate(const Allocation& allocation, std::size_t alignment, StreamHandle stream, bool wait) {
  check_alignment(alignment);
  if (allocation.bytes == Bytes{}) {
    return nullptr;
  }
  auto& account = Account::instance();
  const auto lease = account.reserve(allocation);
  void* pointer = nullptr;
  try {
    if (allocation.kind == MemoryKind::managed) {
      check_room(allocation);
    }
    pointer = process().allocate(allocation.kind, allocation.device, allocation.bytes, stream, wait);
    account.add(pointer, allocation, lease);
  } catch (...) {
    if (pointer != nullptr) {
      process().free(allocation.kind, allocation.device, pointer, allocation.bytes, stream);
    }
    account.cancel(allocation, lease);
    throw;
  }
  return pointer;
}

void deallocate(void* pointer, StreamHandle stream) noexcept {
  if (pointer == nullptr) {
    return;
  }
  try {
    // Before the driver frees it: another thread may get the same address the moment it is free.
    const auto allocation = Account::instance().remove(pointer);
    if (!allocation) {
      session::tell("memory was given back to a memory resource that did not come from one, or was given back before; "
                    "it is left alone");
      return;
    }
    const auto error = process().free(allocation->kind, allocation->device, pointer, allocation->bytes, stream);
    if (!error.empty()) {
      session::tell(to_string(allocation->bytes) + " of device " + std::to_string(allocation->device) +
                    " could not be freed: " + error);
    }
  } catch (const std::exception& error) {
    session::tell(error.what());
  }
}

} // namespace

namespace detail {

void* Resource::allocate(std::size_t bytes, std::size_t alignment) {
  return gputest::allocate({kind_, device_, Bytes{bytes}}, alignment, {}, true);
}

void* Resource::allocate_async(std::size_t bytes, std::size_t alignment, StreamHandle stream) {
  return gputest::allocate({kind_, device_, Bytes{bytes}}, alignment, stream, false);
}

void Resource::deallocate(void* pointer, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept {
  gputest::deallocate(pointer, {});
}

void Resource::deallocate_async(void* pointer, std::size_t /*bytes*/, std::size_t /*alignment*/,
                                StreamHandle stream) noexcept {
  gputest::deallocate(pointer, stream);
}

} // namespace detail

memory_resource::memory_resource(int device) : Resource{device, choose(device, std::nullopt)} {}

memory_resource::memory_resource(int device, MemoryKind kind) : Resource{device, choose(device, kind)} {}

managed_memory_resource::managed_memory_resource(int device) : Resource{device, require_managed(device)} {}

} // namespace gputest
