// SPDX-License-Identifier: BSD-3-Clause
#include "backend/tree_usage.hpp"

#include "platform/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

namespace gputest::backend {

namespace {

constexpr std::size_t max_devices = 16;
constexpr std::size_t max_members = 1024;
constexpr std::size_t max_reason = 120;

using Uuid = std::array<char, 48>;

struct Device {
  std::atomic<std::uint32_t> state; ///< 0: free, 1: being named, 2: named
  Uuid uuid;
  std::atomic<std::uint64_t> peak;
};

struct Member {
  std::atomic<std::int64_t> pid; ///< 0: nobody; of a process that has left: negative
  std::atomic<std::uint64_t> start_time;
  std::array<std::atomic<std::uint64_t>, max_devices> bytes;
};

void raise(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  auto seen = most.load();
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

} // namespace

/// Zero pages are a valid one. Written by several processes at once, so it has only what needs no lock.
struct SharedTree {
  std::array<Device, max_devices> devices;
  std::atomic<std::uint64_t> used_members; ///< those from here on are free
  std::array<Member, max_members> members;
  std::atomic<std::uint32_t> has_reason; ///< 1: `reason` is being written, 2: it is
  std::array<char, max_reason> reason;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

namespace {

SharedTree& tree_in(const platform::SharedPages& pages) { return *static_cast<SharedTree*>(pages.data()); }

/// The digits of a UUID, without what is before them.
Uuid digits_of(const std::string& uuid) {
  constexpr std::size_t digits = 36;
  Uuid copy{};
  const auto from = uuid.size() > digits ? uuid.size() - digits : 0;
  uuid.copy(copy.data(), copy.size() - 1, from);
  return copy;
}

/// The row of a device; made if there is none. nullopt: they are used up.
std::optional<std::size_t> row_of(SharedTree& tree, const Uuid& uuid) {
  for (std::size_t row = 0; row < max_devices;) {
    auto& device = tree.devices.at(row);
    std::uint32_t state = 0;
    if (device.state.compare_exchange_strong(state, 1)) {
      device.uuid = uuid;
      device.state = 2;
      return row;
    }
    if (state == 2) { // else another process is naming it, which takes a few instructions
      if (device.uuid == uuid) {
        return row;
      }
      ++row;
    }
  }
  return std::nullopt;
}

std::uint64_t sum_of(const SharedTree& tree, std::size_t row) {
  std::uint64_t sum = 0;
  for (std::size_t slot = 0; slot < std::min<std::uint64_t>(tree.used_members, max_members); ++slot) {
    sum += tree.members.at(slot).bytes.at(row);
  }
  return sum;
}

void clear(Member& member) {
  for (auto& bytes : member.bytes) {
    bytes = 0;
  }
}

void forget_dead(SharedTree& tree) {
  for (std::size_t slot = 0; slot < std::min<std::uint64_t>(tree.used_members, max_members); ++slot) {
    auto& member = tree.members.at(slot);
    auto pid = member.pid.load();
    if (pid > 0 && platform::start_time_of(static_cast<pid_t>(pid)) != std::optional{member.start_time.load()} &&
        member.pid.compare_exchange_strong(pid, -pid)) {
      clear(member);
    }
  }
}

} // namespace

TreeUsage::TreeUsage() : pages_{sizeof(SharedTree)}, tree_{&tree_in(pages_)} {}

std::vector<TreeUsage::Peak> TreeUsage::peaks() const {
  std::vector<Peak> peaks;
  for (const auto& device : tree_->devices) {
    if (device.state == 2 && device.peak > 0) {
      peaks.push_back({device.uuid.data(), Bytes{device.peak}});
    }
  }
  return peaks;
}

std::vector<std::int64_t> TreeUsage::members() const {
  std::vector<std::int64_t> pids;
  for (const auto& member : tree_->members) {
    if (const auto pid = member.pid.load(); pid != 0) {
      pids.push_back(pid < 0 ? -pid : pid);
    }
  }
  return pids;
}

std::string TreeUsage::why_not_exact() const { return tree_->has_reason == 2 ? tree_->reason.data() : ""; }

void TreeUsage::forget_dead() { gputest::backend::forget_dead(*tree_); }

std::unique_ptr<TreeMember> TreeMember::join(const std::string& path) {
  auto pages = platform::SharedPages::open(path, sizeof(SharedTree));
  if (!pages) {
    return nullptr;
  }
  auto& tree = tree_in(*pages);
  forget_dead(tree); // a process that follows another has not run beside it
  const auto slot = tree.used_members.fetch_add(1);
  if (slot >= max_members) {
    return nullptr; // the launcher sees in the device's list that somebody was not metered
  }
  auto& member = tree.members.at(slot);
  const auto pid = platform::own_pid();
  member.start_time = platform::start_time_of(pid).value_or(0);
  member.pid = pid;
  return std::unique_ptr<TreeMember>{new TreeMember{std::move(*pages), slot}};
}

TreeMember::TreeMember(platform::SharedPages pages, std::size_t slot)
    : pages_{std::move(pages)}, tree_{&tree_in(pages_)}, slot_{slot} {}

TreeMember::~TreeMember() {
  if (is_own()) {
    auto& member = tree_->members.at(slot_);
    clear(member);
    member.pid = -member.pid;
  }
}

bool TreeMember::is_own() const { return tree_->members.at(slot_).pid == platform::own_pid(); }

void TreeMember::allocated(const std::string& uuid, std::uint64_t bytes) noexcept {
  if (const auto row = is_own() ? row_of(*tree_, digits_of(uuid)) : std::nullopt) {
    auto& own = tree_->members.at(slot_).bytes.at(*row);
    const bool more = bytes > own;
    own = bytes;
    if (more) {
      raise(tree_->devices.at(*row).peak, sum_of(*tree_, *row));
    }
  }
}

void TreeMember::cannot_be_metered(const std::string& why) noexcept {
  std::uint32_t none = 0;
  if (is_own() && tree_->has_reason.compare_exchange_strong(none, 1)) {
    why.copy(tree_->reason.data(), max_reason - 1);
    tree_->has_reason = 2;
  }
}

} // namespace gputest::backend
