// SPDX-License-Identifier: BSD-3-Clause
#include "tool/status_report.hpp"

#include "core/ledger/ledger_view.hpp"
#include "core/session/messages.hpp"
#include "tool/table.hpp"

#include <gputest/bytes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace gputest::tool {

namespace {

using Document = nlohmann::ordered_json;

/// The states of a process's claim, in the order of reports.
constexpr std::array claims{"exclusive", "medium_lock",        "lease",           "context", "idle_worker",
                            "ended",     "waiting_for_memory", "waiting_to_enter"};

std::string claim_of(const ledger::Record& record) {
  const auto& claim = record.claim;
  if (!record.alive) {
    return "ended";
  }
  switch (claim.stage) {
  case policy::Stage::entering:
    return "waiting_to_enter";
  case policy::Stage::waiting:
    return "waiting_for_memory";
  case policy::Stage::holding:
    return claim.exclusive ? "exclusive" : claim.medium_lock ? "medium_lock" : "lease";
  case policy::Stage::idle:
    return "idle_worker";
  case policy::Stage::outside:
  case policy::Stage::inside:
    break;
  }
  return "context";
}

const char* owner_of(const ledger::Record& record, os::ProcessState state) {
  if (!record.alive) {
    return "ended";
  }
  // Its liveness FIFO shows that it is alive; its children keep that FIFO as well.
  switch (state) {
  case os::ProcessState::ended:
    return "children";
  case os::ProcessState::ending:
    return "ending";
  case os::ProcessState::stopped:
    return "stopped";
  case os::ProcessState::running:
    break;
  }
  return "running";
}

std::int64_t unix_ms(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

Document make_process(const ledger::LedgerView& view, const ledger::Record& record, os::ProcessState state,
                      const People& people, std::chrono::system_clock::time_point now) {
  const policy::Claim& claim = record.claim;
  const bool enters = claim.stage == policy::Stage::entering;
  const bool has_lease = claim.stage == policy::Stage::waiting || claim.stage == policy::Stage::holding;
  const bool is_here = record.alive && state != os::ProcessState::ended; // else its pid may be another process's
  const auto of_process = [&](const char* variable) {
    const auto value = is_here ? people.variable_of(static_cast<pid_t>(record.pid), variable) : std::nullopt;
    return printable(value.value_or(""));
  };
  const auto attempt = of_process("GPUTEST_ATTEMPT");
  const auto uuids = uuids_in(view, enters ? claim.candidates : has_lease ? claim.wanted : claim.devices);
  return {{"pid", record.pid},
          {"uid", record.uid},
          {"user", people.name_of_user(record.uid)},
          {"who", record.who},
          {"claim", claim_of(record)},
          {"owner", owner_of(record, state)},
          {"attempt", attempt == "2"   ? 2
                      : attempt == "3" ? 3
                                       : 1},
          {"attempt_because", of_process("GPUTEST_ATTEMPT_BECAUSE")},
          {"device_uuids", uuids},
          {"gpus", enters ? claim.gpus : uuids.size()},
          {"context_bytes", claim.overhead_bytes},
          {"memory_bytes", enters      ? claim.largest_bytes
                           : has_lease ? claim.lease_bytes
                                       : 0},
          {"whole_devices", enters ? claim.whole_devices : has_lease && claim.exclusive},
          {"medium_lock", has_lease && claim.medium_lock},
          {"ticket", claim.ticket},
          {"since_unix_ms", unix_ms(record.since)},
          {"for_ms", std::max<std::int64_t>(0, unix_ms(now) - unix_ms(record.since))}};
}

std::string claim_text(const Document& process) {
  auto text = process["claim"].get<std::string>();
  if (text == "ended") {
    return "ended, memory not yet back";
  }
  std::replace(text.begin(), text.end(), '_', ' ');
  const auto owner = process["owner"].get<std::string>();
  return text + (owner == "running" ? "" : owner == "children" ? ", kept by a child" : ", " + owner);
}

/// A GPU's UUID has 40 characters. Its first 8 digits are enough here; `gputest devices` shows all.
std::string short_uuid(const std::string& uuid) {
  constexpr std::size_t prefix = 12;
  return uuid.size() <= 2 * prefix ? uuid : uuid.substr(0, prefix);
}

std::string devices_text(const Document& process) {
  std::string text;
  for (const auto& uuid : process["device_uuids"]) {
    text += (text.empty() ? "" : ",") + short_uuid(uuid.get<std::string>());
  }
  const auto gpus = process["gpus"].get<std::size_t>();
  return process["claim"] == "waiting_to_enter" && process["device_uuids"].size() > gpus
             ? fmt::format("{} of {}", gpus, text)
             : text;
}

std::string claimed_memory(const Document& process) {
  if (process["whole_devices"].get<bool>()) {
    return "whole device";
  }
  const Bytes memory{process["memory_bytes"].get<std::uint64_t>()};
  return memory == Bytes{} ? "-" : to_string(memory);
}

} // namespace

nlohmann::ordered_json make_status(const ledger::LedgerView& view, std::chrono::system_clock::time_point now,
                                   const People& people) {
  std::vector<std::tuple<std::ptrdiff_t, std::uint64_t, std::int64_t, Document>> processes;
  for (std::size_t i = 0; i < view.records.size(); ++i) {
    const auto& entry = view.records[i];
    if (entry.alive && entry.claim.stage == policy::Stage::outside) {
      continue; // it has a slot but no claim yet
    }
    const auto place = std::find(claims.begin(), claims.end(), claim_of(entry)) - claims.begin();
    processes.emplace_back(place, entry.claim.ticket, entry.pid,
                           make_process(view, entry, view.states[i], people, now));
  }
  std::sort(processes.begin(), processes.end());
  Document list = Document::array();
  for (auto& process : processes) {
    list.push_back(std::move(std::get<Document>(process)));
  }
  return {{"version", json_version}, {"folder", view.folder},       {"shared", view.shared}, {"exists", view.exists},
          {"caveat", view.caveat},   {"now_unix_ms", unix_ms(now)}, {"processes", list}};
}

std::string to_text(const nlohmann::ordered_json& status) {
  const auto folder = status["folder"].get<std::string>();
  if (!status["exists"].get<bool>()) {
    return fmt::format("no processes on the ledger (none has used {} yet)\n", folder);
  }
  const std::string ledger = fmt::format(
      "ledger: {} ({})\n", folder, status["shared"].get<bool>() ? "shared by a group of users" : "private to one user");
  const auto caveat = status["caveat"].get<std::string>();
  const auto before = caveat.empty() ? "" : caveat + "\n";
  if (status["processes"].empty()) {
    return before + "no processes on the ledger\n" + ledger;
  }
  Table table{{{"PID", Align::right},
               {"USER"},
               {"TEST"},
               {"CLAIM"},
               {"DEVICES"},
               {"CONTEXT", Align::right},
               {"MEMORY", Align::right},
               {"FOR", Align::right}}};
  std::string attempts;
  for (const auto& process : status["processes"]) {
    if (const auto attempt = process["attempt"].get<int>(); attempt > 1) {
      attempts += fmt::format("{} is in attempt {}: {}\n", process["pid"].dump(), attempt,
                              process["attempt_because"].get<std::string>());
    }
    table.add_row({process["pid"].dump(), process["user"].get<std::string>(), process["who"].get<std::string>(),
                   claim_text(process), devices_text(process),
                   to_string(Bytes{process["context_bytes"].get<std::uint64_t>()}), claimed_memory(process),
                   session::short_duration(std::chrono::seconds{process["for_ms"].get<std::int64_t>() / 1000})});
  }
  const bool waits = status["processes"].back()["claim"].get<std::string>().rfind("waiting", 0) == 0; // the last line
  return before + table.to_string() + attempts +
         (waits ? ""
                : "no process waits; tests that ctest holds back while others of their size run are not listed\n") +
         ledger;
}

} // namespace gputest::tool
