#include "session/messages.hpp"

#include "platform/process.hpp"

#include <gputest/bytes.hpp>

#include <algorithm>
#include <cstdio>

namespace gputest::session {

namespace {

std::string claim_text(const policy::Claim& claim) {
  switch (claim.stage) {
  case policy::Stage::outside:
    return "nothing";
  case policy::Stage::entering:
    return "waiting for a device";
  case policy::Stage::inside:
    return "a context of " + to_string(Bytes{claim.overhead_bytes});
  case policy::Stage::waiting:
    return claim.exclusive ? "waiting for the whole device" : "waiting for " + to_string(Bytes{claim.lease_bytes});
  case policy::Stage::holding:
    return claim.exclusive ? "the whole device"
                           : to_string(Bytes{claim.lease_bytes}) + (claim.medium_lock ? " and the medium lock" : "");
  }
  return "";
}

bool is_stopped(const ledger::Record& entry) {
  return platform::state_of(static_cast<pid_t>(entry.pid)) == platform::ProcessState::stopped;
}

} // namespace

std::string short_duration(std::chrono::seconds duration) {
  const auto seconds = std::max<std::chrono::seconds::rep>(duration.count(), 0);
  if (seconds < 120) {
    return std::to_string(seconds) + " s";
  }
  return seconds < 7200 ? std::to_string(seconds / 60) + " min" : std::to_string(seconds / 3600) + " h";
}

std::string describe(const ledger::Record& entry) {
  const auto held = std::chrono::system_clock::now() - entry.since;
  return entry.who + " (pid " + std::to_string(entry.pid) + ", " + claim_text(entry.claim) + ", for " +
         short_duration(std::chrono::duration_cast<std::chrono::seconds>(held)) +
         (entry.alive ? (is_stopped(entry) ? "; it is stopped, kill -CONT lets it go on)" : ")")
                      : "; it has ended, and the device has not shown its memory free yet)");
}

std::string describe(const ledger::Blocked& blocked) {
  constexpr std::size_t most_named = 4;
  // The cause first: the ledger names those ahead in the queue before the holders of what these wait for. Contexts come
  // last.
  auto blockers = blocked.blockers;
  std::stable_partition(blockers.begin(), blockers.end(),
                        [](const ledger::Record& entry) { return entry.claim.stage != policy::Stage::inside; });
  std::string text;
  for (std::size_t i = 0; i < std::min(blockers.size(), most_named); ++i) {
    text += (i == 0 ? "" : ", ") + describe(blockers[i]);
  }
  if (blockers.size() > most_named) {
    text += " and " + std::to_string(blockers.size() - most_named) + " more";
  }
  if (blocked.external) {
    text += text.empty() ? "" : ", and ";
    text +=
        "programs that are not on this ledger: without gputest, or in a container without its folder (nvidia-smi shows "
        "them)";
  }
  return text.empty() ? "nobody" : text;
}

std::string describe(const std::vector<Device>& devices) {
  std::string text;
  for (const auto& device : devices) {
    text += (text.empty() ? "" : ", ") + device.uuid;
  }
  return text;
}

void tell(const std::string& text) {
  const std::string line = "gputest: " + text + "\n";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

} // namespace gputest::session
