// SPDX-License-Identifier: BSD-3-Clause
#include "backend/tree_usage.hpp"

#include "platform/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace gputest::backend {

namespace {

constexpr std::size_t max_devices = 16;
constexpr std::size_t max_members = 1024;
constexpr std::size_t max_reason = 120;

using Uuid = std::array<char, 48>;

void raise(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  auto seen = most.load();
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

} // namespace

/// Zero pages are a valid one. Written by several processes at once, so it has only what needs no lock.
struct SharedTree {
  struct Device {
    std::atomic<std::uint32_t> state; ///< 0: free, 1: being named, 2: named
    Uuid uuid;
    std::atomic<std::uint64_t> peak;
  };

  struct Member {
    std::atomic<std::int64_t> pid; ///< 0: nobody; of a process that has left: negative
    std::atomic<std::uint64_t> start_time;
    std::atomic<std::uint64_t> program; ///< another one after an exec()
    std::array<std::atomic<std::uint64_t>, max_devices> bytes;
  };

  std::array<Device, max_devices> devices;
  std::atomic<std::uint64_t> used_members; ///< those from here on are free
  std::array<Member, max_members> members;
  std::atomic<std::uint32_t> has_reason; ///< 1: `reason` is being written, 2: it is
  std::array<char, max_reason> reason;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

namespace {

SharedTree& tree_in(const platform::SharedPages& pages) { return *static_cast<SharedTree*>(pages.data()); }

Uuid digits_of(const std::string& uuid) {
  Uuid copy{};
  uuid_digits(uuid).copy(copy.data(), copy.size() - 1);
  return copy;
}

/// The row of a device; made if there is none. nullopt: they are used up.
std::optional<std::size_t> row_of(SharedTree& tree, const Uuid& uuid) {
  // A process may be killed while it names a row; then the row is skipped.
  constexpr int max_looks = 1'000'000;
  int looks = 0;
  for (std::size_t row = 0; row < max_devices;) {
    auto& device = tree.devices.at(row);
    std::uint32_t state = 0;
    if (device.state.compare_exchange_strong(state, 1)) {
      device.uuid = uuid;
      device.state = 2;
      return row;
    }
    if (state == 2 && device.uuid == uuid) {
      return row;
    }
    if (state == 2 || ++looks > max_looks) { // else another process is naming it, which takes a few instructions
      ++row;
    }
  }
  return std::nullopt;
}

std::size_t used(const SharedTree& tree) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(tree.used_members, max_members));
}

void set_reason(SharedTree& tree, const std::string& why) {
  std::uint32_t none = 0;
  if (tree.has_reason.compare_exchange_strong(none, 1)) {
    why.copy(tree.reason.data(), max_reason - 1);
    tree.has_reason = 2;
  }
}

bool is_own(const SharedTree::Member& member) {
  return member.pid == platform::own_pid() && member.program == platform::program_number();
}

std::uint64_t sum_of(const SharedTree& tree, std::size_t row) {
  std::uint64_t sum = 0;
  for (std::size_t slot = 0; slot < used(tree); ++slot) {
    sum += tree.members.at(slot).bytes.at(row);
  }
  return sum;
}

void clear(SharedTree::Member& member) {
  for (auto& bytes : member.bytes) {
    bytes = 0;
  }
}

/// Whether the process has ended, or has become another program. One that nobody has waited for has ended, too.
bool is_gone(const SharedTree::Member& member, std::int64_t pid) {
  const auto number = static_cast<pid_t>(pid);
  if (number == platform::own_pid()) {
    return member.program != platform::program_number();
  }
  return platform::start_time_of(number) != std::optional{member.start_time.load()} ||
         platform::state_of(number) == platform::ProcessState::ended;
}

void forget_dead(SharedTree& tree) {
  for (std::size_t slot = 0; slot < used(tree); ++slot) {
    auto& member = tree.members.at(slot);
    auto pid = member.pid.load();
    if (pid > 0 && is_gone(member, pid) && member.pid.compare_exchange_strong(pid, -pid)) {
      clear(member);
    }
  }
}

bool has_member(const SharedTree& tree) {
  return std::any_of(tree.members.begin(), tree.members.begin() + static_cast<std::ptrdiff_t>(used(tree)), is_own);
}

} // namespace

std::string uuid_digits(const std::string& uuid) {
  constexpr std::size_t digits = 36;
  return uuid.substr(uuid.size() > digits ? uuid.size() - digits : 0);
}

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
  if (has_member(tree)) {
    return nullptr;
  }
  forget_dead(tree); // a process that follows another has not run beside it
  const auto slot = tree.used_members.fetch_add(1);
  if (slot >= max_members) {
    set_reason(tree, "the command has more than " + std::to_string(max_members) + " processes");
    return nullptr;
  }
  auto& member = tree.members.at(slot);
  const auto pid = platform::own_pid();
  member.start_time = platform::start_time_of(pid).value_or(0);
  member.program = platform::program_number();
  member.pid = pid;
  return std::unique_ptr<TreeMember>{new TreeMember{std::move(*pages), slot}};
}

bool TreeMember::has_joined(const std::string& path) {
  const auto pages = platform::SharedPages::open(path, sizeof(SharedTree));
  return pages && has_member(tree_in(*pages));
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

bool TreeMember::is_own() const { return backend::is_own(tree_->members.at(slot_)); }

void TreeMember::allocated(const std::string& uuid, std::uint64_t bytes) noexcept try {
  if (!is_own()) {
    return;
  }
  const auto row = row_of(*tree_, digits_of(uuid));
  if (!row) {
    set_reason(*tree_, "the command uses more than " + std::to_string(max_devices) + " devices");
    return;
  }
  auto& own = tree_->members.at(slot_).bytes.at(*row);
  const bool more = bytes > own;
  own = bytes;
  auto& peak = tree_->devices.at(*row).peak;
  auto sum = sum_of(*tree_, *row);
  if (more && sum > peak && sum > bytes) {
    forget_dead(*tree_); // an ended process does not count beside what was allocated after its end
    sum = sum_of(*tree_, *row);
  }
  if (more) {
    raise(peak, sum);
  }
} catch (const std::exception&) { // no memory for a text: the launcher sees a process that did not tell
}

void TreeMember::cannot_be_metered(const std::string& why) noexcept {
  if (is_own()) {
    set_reason(*tree_, why);
  }
}

} // namespace gputest::backend
