// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/messages.hpp"

#include "core/os/process.hpp"

#include <gputest/bytes.hpp>

#include <algorithm>
#include <array>
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
  case policy::Stage::idle:
    return "an idle worker with a context of " + to_string(Bytes{claim.overhead_bytes});
  case policy::Stage::holding:
    return claim.exclusive ? "the whole device"
                           : to_string(Bytes{claim.lease_bytes}) + (claim.medium_lock ? " and the medium lock" : "");
  }
  return "";
}

bool is_stopped(const ledger::Record& entry) { return os::is_stopped(static_cast<pid_t>(entry.pid), entry.start_time); }

constexpr std::size_t max_named = 4;

/// With `excess` bytes beyond its claim.
std::string describe(const ledger::Record& entry, std::uint64_t excess) {
  const auto held = std::chrono::system_clock::now() - entry.since;
  std::string text = entry.who + " (pid " + std::to_string(entry.pid) + ", " + claim_text(entry.claim) + ", for " +
                     short_duration(std::chrono::duration_cast<std::chrono::seconds>(held));
  if (excess > 0) {
    text += "; it holds " + to_string(Bytes{excess}) +
            (entry.claim.stage == policy::Stage::holding ? " beyond its lease" : " without a lease");
  }
  if (!entry.alive) {
    text += "; it has ended, and the device has not shown its memory free yet";
  } else if (is_stopped(entry)) {
    text += "; it is stopped, kill -CONT lets it go on";
  }
  return text + ")";
}

} // namespace

std::string short_duration(std::chrono::seconds duration) {
  const auto seconds = std::max<std::chrono::seconds::rep>(duration.count(), 0);
  if (seconds < 120) {
    return std::to_string(seconds) + " s";
  }
  return seconds < 7200 ? std::to_string(seconds / 60) + " min" : std::to_string(seconds / 3600) + " h";
}

std::string describe(const ledger::Record& entry) { return describe(entry, 0); }

std::string describe_overheads(const ledger::Blocked& blocked) {
  auto others = blocked.blockers;
  std::stable_sort(others.begin(), others.end(), [](const ledger::Record& a, const ledger::Record& b) {
    return a.claim.overhead_bytes > b.claim.overhead_bytes;
  });
  std::string text = "this process " + to_string(Bytes{blocked.own_overhead_bytes});
  for (std::size_t i = 0; i < std::min(others.size(), max_named); ++i) {
    text += ", " + others[i].who + " (pid " + std::to_string(others[i].pid) + ") " +
            to_string(Bytes{others[i].claim.overhead_bytes});
  }
  return text + (others.size() > max_named ? " and " + std::to_string(others.size() - max_named) + " more" : "");
}

std::string describe(const ledger::Blocked& blocked) {
  // The cause first: those that have more than they claimed; then, as the ledger names them, those ahead in the queue,
  // and the holders of what these wait for. Contexts come last.
  auto excesses = blocked.excesses;
  std::stable_sort(excesses.begin(), excesses.end(),
                   [](const ledger::Excess& a, const ledger::Excess& b) { return a.bytes > b.bytes; });
  std::vector<std::string> named;
  for (const auto& excess : excesses) {
    named.push_back(describe(excess.holder, excess.bytes));
  }
  auto blockers = blocked.blockers;
  std::stable_partition(blockers.begin(), blockers.end(), [](const ledger::Record& entry) {
    return entry.claim.stage != policy::Stage::inside && entry.claim.stage != policy::Stage::idle;
  });
  for (const auto& blocker : blockers) {
    if (std::none_of(excesses.begin(), excesses.end(),
                     [&](const ledger::Excess& excess) { return is_same(excess.holder, blocker); })) {
      named.push_back(describe(blocker));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(named.size(), max_named); ++i) {
    text += (i == 0 ? "" : ", ") + named[i];
  }
  if (named.size() > max_named) {
    text += " and " + std::to_string(named.size() - max_named) + " more";
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

void tell_peak(Bytes peak) {
  std::array<char, 160> text{};
  constexpr double mebibyte = 1 << 20U;
  std::snprintf(text.data(), text.size(),
                "<CTestMeasurement type=\"numeric/double\" name=\"gputest_peak_mib\">%.3f</CTestMeasurement>\n",
                static_cast<double>(peak.count()) / mebibyte);
  std::fflush(stdout);
  std::fputs(text.data(), stdout);
  std::fflush(stdout);
}

} // namespace gputest::session
