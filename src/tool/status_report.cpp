// SPDX-License-Identifier: BSD-3-Clause
#include "tool/status_report.hpp"

#include "core/ledger/ledger_view.hpp"
#include "core/session/messages.hpp"
#include "tool/json_text.hpp"
#include "tool/table.hpp"

#include <gputest/bytes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

namespace gputest::tool {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

ClaimKind kind_of(const ledger::Record& entry) {
  if (!entry.alive) {
    return ClaimKind::ended;
  }
  switch (entry.claim.stage) {
  case policy::Stage::entering:
    return ClaimKind::waiting_to_enter;
  case policy::Stage::waiting:
    return ClaimKind::waiting_for_memory;
  case policy::Stage::holding:
    return entry.claim.exclusive     ? ClaimKind::exclusive
           : entry.claim.medium_lock ? ClaimKind::medium_lock
                                     : ClaimKind::lease;
  case policy::Stage::idle:
    return ClaimKind::idle_worker;
  case policy::Stage::outside:
  case policy::Stage::inside:
    break;
  }
  return ClaimKind::context;
}

ProcessReport make_process(const ledger::LedgerView& view, const ledger::Record& entry) {
  const policy::Claim& claim = entry.claim;
  ProcessReport process;
  process.kind = kind_of(entry);
  process.pid = entry.pid;
  process.uid = entry.uid;
  process.who = entry.who;
  process.context_bytes = claim.overhead_bytes;
  process.ticket = claim.ticket;
  process.since = entry.since;
  if (claim.stage == policy::Stage::entering) {
    process.uuids = uuids_in(view, claim.candidates);
    process.gpus = claim.gpus;
    process.memory_bytes = claim.largest_bytes;
    process.whole_devices = claim.whole_devices;
    return process;
  }
  const bool has_lease = claim.stage == policy::Stage::waiting || claim.stage == policy::Stage::holding;
  process.uuids = uuids_in(view, has_lease ? claim.wanted : claim.devices);
  process.gpus = static_cast<unsigned>(process.uuids.size());
  process.memory_bytes = has_lease ? claim.lease_bytes : 0;
  process.whole_devices = has_lease && claim.exclusive;
  process.medium_lock = has_lease && claim.medium_lock;
  return process;
}

Owner owner_of(const ledger::Record& entry, os::ProcessState state) {
  if (!entry.alive) {
    return Owner::ended;
  }
  // Its wake-up FIFO shows that it is alive; its children keep that FIFO as well.
  switch (state) {
  case os::ProcessState::ended:
    return Owner::children;
  case os::ProcessState::ending:
    return Owner::ending;
  case os::ProcessState::stopped:
    return Owner::stopped;
  case os::ProcessState::running:
    break;
  }
  return Owner::running;
}

std::string words(const ProcessReport& process) {
  if (process.kind == ClaimKind::ended) {
    return "ended, memory not yet back";
  }
  std::string text{to_string(process.kind)};
  std::replace(text.begin(), text.end(), '_', ' ');
  switch (process.owner) {
  case Owner::stopped:
    return text + ", stopped";
  case Owner::children:
    return text + ", kept by a child";
  case Owner::ending:
    return text + ", ending";
  case Owner::running:
  case Owner::ended:
    break;
  }
  return text;
}

/// A GPU's UUID has 40 characters. Its first 8 digits are enough here; `gputest devices` shows all.
std::string short_uuid(const std::string& uuid) {
  constexpr std::size_t prefix = 12;
  return uuid.size() <= 2 * prefix ? uuid : uuid.substr(0, prefix);
}

std::string devices_text(const ProcessReport& process) {
  std::string text;
  for (const auto& uuid : process.uuids) {
    text += (text.empty() ? "" : ",") + short_uuid(uuid);
  }
  return process.kind == ClaimKind::waiting_to_enter && process.uuids.size() > process.gpus
             ? fmt::format("{} of {}", process.gpus, text)
             : text;
}

std::string memory_text(const ProcessReport& process) {
  if (process.whole_devices) {
    return "whole device";
  }
  return process.kind == ClaimKind::context || process.kind == ClaimKind::idle_worker ||
                 process.kind == ClaimKind::ended
             ? "-"
             : to_string(Bytes{process.memory_bytes});
}

std::int64_t unix_ms(std::chrono::system_clock::time_point time) {
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

} // namespace

std::string_view to_string(ClaimKind kind) {
  switch (kind) {
  case ClaimKind::exclusive:
    return "exclusive";
  case ClaimKind::medium_lock:
    return "medium_lock";
  case ClaimKind::lease:
    return "lease";
  case ClaimKind::context:
    return "context";
  case ClaimKind::idle_worker:
    return "idle_worker";
  case ClaimKind::ended:
    return "ended";
  case ClaimKind::waiting_for_memory:
    return "waiting_for_memory";
  case ClaimKind::waiting_to_enter:
    return "waiting_to_enter";
  }
  return "unknown";
}

std::string_view to_string(Owner owner) {
  switch (owner) {
  case Owner::running:
    return "running";
  case Owner::stopped:
    return "stopped";
  case Owner::children:
    return "children";
  case Owner::ending:
    return "ending";
  case Owner::ended:
    return "ended";
  }
  return "unknown";
}

StatusReport make_status(const ledger::LedgerView& view, std::chrono::system_clock::time_point now,
                         std::string (*name_of_user)(std::uint32_t uid)) {
  StatusReport report;
  report.folder = view.folder;
  report.shared = view.shared;
  report.exists = view.exists;
  report.caveat = view.caveat;
  report.now = now;
  for (std::size_t i = 0; i < view.entries.size(); ++i) {
    const auto& entry = view.entries[i];
    if (entry.alive && entry.claim.stage == policy::Stage::outside) {
      continue; // it has a slot but no claim yet
    }
    report.processes.push_back(make_process(view, entry));
    report.processes.back().user = name_of_user(entry.uid);
    report.processes.back().owner = owner_of(entry, view.states[i]);
  }
  std::sort(report.processes.begin(), report.processes.end(), [](const ProcessReport& a, const ProcessReport& b) {
    return std::tie(a.kind, a.ticket, a.pid) < std::tie(b.kind, b.ticket, b.pid);
  });
  return report;
}

std::string to_text(const StatusReport& report) {
  if (!report.exists) {
    return fmt::format("nobody (no process has used the ledger in {} yet)\n", report.folder);
  }
  const std::string ledger = fmt::format("ledger: {} ({})\n", report.folder,
                                         report.shared ? "shared by a group of users" : "private to one user");
  const std::string caveat = report.caveat.empty() ? "" : report.caveat + "\n";
  if (report.processes.empty()) {
    return caveat + "nobody\n" + ledger;
  }
  Table table{{{"PID", Align::right},
               {"USER"},
               {"TEST"},
               {"CLAIM"},
               {"DEVICES"},
               {"CONTEXT", Align::right},
               {"MEMORY", Align::right},
               {"FOR", Align::right}}};
  for (const auto& process : report.processes) {
    table.add_row({std::to_string(process.pid), process.user, process.who, words(process), devices_text(process),
                   to_string(Bytes{process.context_bytes}), memory_text(process),
                   session::short_duration(duration_cast<std::chrono::seconds>(report.now - process.since))});
  }
  return caveat + table.to_string() + ledger;
}

nlohmann::ordered_json to_json(const StatusReport& report) {
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const auto& process : report.processes) {
    processes.push_back({{"pid", process.pid},
                         {"uid", process.uid},
                         {"user", process.user},
                         {"who", process.who},
                         {"claim", to_string(process.kind)},
                         {"owner", to_string(process.owner)},
                         {"device_uuids", process.uuids},
                         {"gpus", process.gpus},
                         {"context_bytes", process.context_bytes},
                         {"memory_bytes", process.memory_bytes},
                         {"whole_devices", process.whole_devices},
                         {"medium_lock", process.medium_lock},
                         {"ticket", process.ticket},
                         {"since_unix_ms", unix_ms(process.since)},
                         {"for_ms", std::max<std::int64_t>(0, unix_ms(report.now) - unix_ms(process.since))}});
  }
  return {{"version", json_version}, {"folder", report.folder}, {"shared", report.shared},
          {"exists", report.exists}, {"caveat", report.caveat}, {"now_unix_ms", unix_ms(report.now)},
          {"processes", processes}};
}

} // namespace gputest::tool
