#include "session/session.hpp"

#include "system/cuda_driver.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gputest::session {

namespace {

/// A context that takes more is a leak as likely as not, and must not be what every later process is charged.
constexpr Bytes most_believable_context{std::uint64_t{2} << 30U};

} // namespace

Session::Session(policy::Settings settings, std::string program)
    : settings_{std::move(settings)}, answers_{settings_, std::move(program)} {}

Session::~Session() { release(); }

std::string Session::release(Bytes managed) noexcept {
  if (!holds_ && !cover_) {
    return {};
  }
  const auto settled = system::settle_cuda();
  if (holds_) {
    measure_overhead(managed);
    ledger_->release();
    holds_ = false;
  }
  return settled.error;
}

/// Puts what the process still has of its devices on the ledger: its context, and what its tests have not freed.
void Session::measure_overhead(Bytes managed) {
  try {
    Bytes kept;
    for (const std::size_t index : indices_) {
      kept = std::max(kept, contexts_->used(index));
    }
    const auto devices = std::accumulate(bits_.begin(), bits_.end(), policy::DeviceMask{0}, std::bit_or<>{});
    const Bytes unlisted = machine_->devices().front().simulated ? Bytes{} : managed;
    ledger_->set_overhead((std::max(kept, Bytes{least_overhead_}) + unlisted).count());
    // What every later process is charged as its context must not hold this one's heap.
    if (heap_.cost() == Bytes{} && kept.count() > ledger_->devices().overhead_bytes(devices) &&
        kept <= most_believable_context) {
      ledger_->devices().remember_overhead(devices, kept.count());
    }
  } catch (const LedgerError&) { // NOLINT(bugprone-empty-catch)
    // The ledger then counts the usual overhead, as it did before.
  }
}

std::vector<std::string> Session::stray_contexts(const std::string& who) {
  if (entered_.kind != Outcome::Kind::granted) {
    return {};
  }
  return strays_.look(*contexts_, *machine_, indices_, who);
}

std::string Session::loss() const {
  try {
    if (ledger_) {
      ledger_->require_intact();
    }
    return {};
  } catch (const LedgerError& error) {
    return error.what();
  }
}

void Session::hand_over() {
  if (!cover_) {
    ledger_->inherit_across_exec();
  }
  holds_ = false; // what comes after exec() keeps it
}

} // namespace gputest::session
