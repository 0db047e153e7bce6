// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/growth.hpp"

#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/policy/verdict.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"

#include <gputest/test_run.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace gputest::session {

Growth::Growth(Place& place, devices::Meter& meter, devices::ThisProcess& process, Allowance allowance, bool may_end)
    : ledger_{&place.ledger()}, meter_{meter}, process_{process},
      allowance_{std::move(allowance)}, largest_{place.largest_for_a_test()}, total_{place.largest_total()},
      may_end_{may_end}, leased_{allowance_.leased.front()}, pid_{os::own_pid()} {}

void Growth::limit() {
  meter_.ask_beyond({std::vector<Bytes>(allowance_.leased.size(), leased_), total_},
                    [growth = shared_from_this()](const devices::Usage& usage) { growth->ask(usage); });
}

Bytes Growth::leased() {
  const std::lock_guard guard{mutex_};
  return leased_;
}

void Growth::end() {
  const std::lock_guard guard{mutex_};
  ledger_ = nullptr;
  meter_.ask_beyond({}, {});
}

void Growth::ask(const devices::Usage& usage) try {
  if (pid_ != os::own_pid()) {
    return;
  }
  const std::lock_guard guard{mutex_};
  const Bytes needed = needed_for(usage);
  if (ledger_ == nullptr || needed <= leased_ + granularity_of_drivers || leased_ >= largest_) {
    return;
  }
  Bytes wanted = std::min(policy::estimate_for(needed), largest_);
  if (!ledger_->grow(wanted.count())) {
    wanted = std::min(needed, largest_);
    if (!ledger_->grow(wanted.count())) {
      return stop_before(needed, possible_in(usage, total_));
    }
  }
  leased_ = wanted;
  gputest::detail::TestRun::of_process().note_lease(wanted);
  runlog::write("grow", runlog::JsonObject{}.number("bytes", wanted.count()), allowance_.test);
  limit();
} catch (const std::exception& error) { // of the ledger
  fail_before_allocation(error.what());
}

/// Others may hold what it would take.
void Growth::fail_before_allocation(const std::string& why) const {
  auto& run = gputest::detail::TestRun::of_process();
  const auto text = allowance_.who +
                    " has an estimated lease, which has to grow before the test allocates more, and the "
                    "ledger cannot be asked: " +
                    why;
  if (may_end_ && run.is_watched()) {
    process_.synchronize_and_trim();
    run.end_as_failure("failed: " + text);
    run.failed_by_gputest(text); // of a program with a Session of its own, which cannot be stopped
  }
  tell(text + ". It goes on: tests of other processes may run out of memory");
}

/// What the test would have of the device of which it has most: managed memory may exceed a device.
Bytes Growth::needed_for(const devices::Usage& usage) const {
  Bytes needed;
  for (const auto& device : usage.devices) {
    if (static_cast<std::size_t>(device.device) >= allowance_.leased.size()) {
      continue; // of which it has no lease that could grow
    }
    needed = std::max(needed, device.peak);
  }
  return needed;
}

/// Kernels end first, because a client of MPS that ends while they run takes those of other clients with it.
void Growth::stop_before(Bytes needed, Bytes possible) {
  auto& run = gputest::detail::TestRun::of_process();
  if (may_end_ && run.is_watched()) {
    process_.synchronize_and_trim();
    run.run_again({policy::StopCause::small_lease, leased_, needed, {}, possible});
  }
}

} // namespace gputest::session
