// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/account.hpp"

#include "core/policy/lease_limit.hpp"
#include "core/session/messages.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace gputest::session {

std::unique_lock<os::Mutex> Account::lock() {
  std::unique_lock guard{mutex_};
  if (mutex_.was_locked_at_fork()) { // half-written, and of the parent's memory
    new (&held_) decltype(held_);
    new (&places_) decltype(places_);
  }
  return guard;
}

void Account::guard() {
  const auto guard = lock();
  guarded_ = true;
}

void Account::open(LeaseLimits limits) {
  const auto guard = lock();
  limits_ = std::move(limits);
  ++lease_;
  held_.clear();
}

Closing Account::close() noexcept {
  const auto guard = lock();
  if (!std::exchange(limits_, std::nullopt)) {
    return {};
  }
  const auto lease = lease_++;
  held_.clear();
  std::map<int, std::map<MemoryKind, devices::Allocations>> left;
  std::map<int, Bytes> managed;
  for (const auto& [pointer, held] : places_) {
    const auto& allocation = held.allocation;
    if (allocation.kind == MemoryKind::managed) {
      managed[allocation.device] += allocation.bytes;
    }
    if (held.lease == lease) {
      auto& of_kind = left[allocation.device][allocation.kind];
      of_kind.kind = devices::allocation_kind_of(allocation.kind);
      of_kind.function = "memory_resource";
      of_kind.bytes += allocation.bytes;
      ++of_kind.count;
    }
  }
  Closing closing;
  for (const auto& [device, of_device] : left) {
    auto& usage = closing.left.emplace_back();
    usage.device = device;
    for (const auto& [kind, allocations] : of_device) {
      usage.left.push_back(allocations);
    }
  }
  for (const auto& [device, bytes] : managed) {
    closing.managed = std::max(closing.managed, bytes);
  }
  return closing;
}

unsigned Account::reserve(const Allocation& allocation) {
  const auto guard = lock();
  Bytes& held = held_[allocation.device];
  if (limits_) {
    const auto index = static_cast<std::size_t>(allocation.device);
    const Bytes leased = index < limits_->leased.size() ? limits_->leased[index] : Bytes{};
    if (held + allocation.bytes > leased) {
      throw LeaseExceeded{policy::beyond_lease({limits_->test, allocation.device, allocation.bytes, held, leased,
                                                static_cast<int>(limits_->leased.size()), limits_->largest},
                                               advice_notation())};
    }
  } else if (guarded_) {
    throw LeaseExceeded{policy::without_lease(allocation.device, allocation.bytes, advice_notation())};
  }
  held += allocation.bytes;
  return lease_;
}

void Account::cancel(const Allocation& allocation, unsigned lease) noexcept {
  const auto guard = lock();
  give_back({allocation, lease});
}

void Account::add(void* pointer, const Allocation& allocation, unsigned lease) {
  const auto guard = lock();
  places_[pointer] = {allocation, lease};
}

std::optional<Allocation> Account::remove(void* pointer) noexcept {
  const auto guard = lock();
  const auto place = places_.find(pointer);
  if (place == places_.end()) {
    return std::nullopt;
  }
  const Held held = place->second;
  places_.erase(place);
  give_back(held);
  return held.allocation;
}

/// With the mutex.
void Account::give_back(const Held& held) noexcept {
  const auto of_device = held_.find(held.allocation.device);
  if (held.lease == lease_ && of_device != held_.end()) {
    of_device->second -= held.allocation.bytes;
  }
}

} // namespace gputest::session
