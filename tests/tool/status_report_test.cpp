// SPDX-License-Identifier: BSD-3-Clause
#include "tool/status_report.hpp"

#include "core/ledger/ledger_view.hpp"
#include "tool/json_text.hpp"

#include <gputest/bytes.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gputest::tool {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;
using ledger::Record;
using policy::Stage;

const auto now = std::chrono::system_clock::time_point{1'700'000'000s};

std::string name_of_user(std::uint32_t uid) { return uid == 0 ? "root" : "user" + std::to_string(uid); }

constexpr std::int64_t stopped_pid = 777;
constexpr std::int64_t ended_pid = 888;
constexpr std::int64_t ending_pid = 999;

os::ProcessState state_of(pid_t pid) {
  return pid == stopped_pid  ? os::ProcessState::stopped
         : pid == ended_pid  ? os::ProcessState::ended
         : pid == ending_pid ? os::ProcessState::ending
                             : os::ProcessState::running;
}

Record entry_of(Stage stage, std::uint64_t ticket, const std::string& who) {
  Record entry;
  entry.claim.stage = stage;
  entry.claim.ticket = ticket;
  entry.claim.overhead_bytes = (512_MiB).count();
  entry.claim.devices = stage == Stage::entering ? 0 : 1;
  entry.claim.wanted = stage == Stage::waiting || stage == Stage::holding ? 1 : 0;
  entry.claim.lease_bytes = entry.claim.wanted != 0 ? (3_GiB).count() : 0;
  entry.pid = 100 + static_cast<std::int64_t>(ticket);
  entry.who = who;
  entry.since = now - 12s;
  return entry;
}

ledger::LedgerView view_of(std::vector<Record> entries) {
  ledger::LedgerView view;
  view.folder = "/folder";
  view.exists = true;
  view.uuids = {"GPU-aaaaaaaa-1111-2222-3333-444444444444", "SIM-1"};
  view.entries = std::move(entries);
  for (const auto& entry : view.entries) {
    view.states.push_back(state_of(static_cast<pid_t>(entry.pid)));
  }
  return view;
}

StatusReport status_of(std::vector<Record> entries) {
  return make_status(view_of(std::move(entries)), now, name_of_user);
}

ClaimKind kind_of(const Record& entry) { return status_of({entry}).processes.at(0).kind; }

} // namespace

TEST(StatusReport, distinguishes_the_kinds_of_claims) {
  EXPECT_EQ(kind_of(entry_of(Stage::entering, 1, "t")), ClaimKind::waiting_to_enter);
  EXPECT_EQ(kind_of(entry_of(Stage::inside, 1, "t")), ClaimKind::context);
  EXPECT_EQ(kind_of(entry_of(Stage::idle, 1, "t")), ClaimKind::idle_worker);
  EXPECT_EQ(kind_of(entry_of(Stage::waiting, 1, "t")), ClaimKind::waiting_for_memory);
  auto holder = entry_of(Stage::holding, 1, "t");
  EXPECT_EQ(kind_of(holder), ClaimKind::lease);
  holder.claim.medium_lock = true;
  EXPECT_EQ(kind_of(holder), ClaimKind::medium_lock);
  holder.claim.exclusive = true;
  EXPECT_EQ(kind_of(holder), ClaimKind::exclusive);
  holder.alive = false;
  EXPECT_EQ(kind_of(holder), ClaimKind::ended);
}

TEST(StatusReport, lists_holders_first_and_waiting_processes_in_the_order_of_their_tickets) {
  const auto report = status_of({entry_of(Stage::waiting, 9, "late"), entry_of(Stage::waiting, 4, "early"),
                                 entry_of(Stage::entering, 2, "outside"), entry_of(Stage::inside, 7, "idle"),
                                 entry_of(Stage::holding, 8, "holder")});
  std::vector<std::string> names;
  for (const auto& process : report.processes) {
    names.push_back(process.who);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"holder", "idle", "early", "late", "outside"}));
}

TEST(StatusReport, calls_a_worker_without_work_idle) {
  EXPECT_EQ(to_text(status_of({entry_of(Stage::idle, 1, "first")})),
            "PID  USER  TEST   CLAIM        DEVICES       CONTEXT  MEMORY   FOR\n"
            "101  root  first  idle worker  GPU-aaaaaaaa  512 MiB       -  12 s\n"
            "ledger: /folder (private to one user)\n");
}

TEST(StatusReport, leaves_out_processes_that_only_have_a_slot) {
  auto stopped = entry_of(Stage::holding, 2, "second");
  stopped.pid = stopped_pid;
  const auto report = status_of({entry_of(Stage::outside, 1, "t"), stopped, entry_of(Stage::outside, 3, "t")});
  ASSERT_EQ(report.processes.size(), 1U);
  EXPECT_EQ(report.processes[0].who, "second");
  EXPECT_EQ(to_string(report.processes[0].owner), "stopped") << "the state of this one";
  EXPECT_TRUE(status_of({entry_of(Stage::outside, 1, "t")}).processes.empty());
}

TEST(StatusReport, is_a_table_for_people) {
  auto waits_to_enter = entry_of(Stage::entering, 3, "third");
  waits_to_enter.claim.candidates = 3;
  waits_to_enter.claim.largest_bytes = (1_GiB).count();
  waits_to_enter.uid = 7;
  waits_to_enter.since = now - 3min;
  auto whole = entry_of(Stage::waiting, 2, "second");
  whole.claim.exclusive = true;
  EXPECT_EQ(to_text(status_of(
                {waits_to_enter, whole, entry_of(Stage::holding, 1, "first"), entry_of(Stage::inside, 4, "fourth")})),
            "PID  USER   TEST    CLAIM               DEVICES                  CONTEXT        MEMORY    FOR\n"
            "101  root   first   lease               GPU-aaaaaaaa             512 MiB         3 GiB   12 s\n"
            "104  root   fourth  context             GPU-aaaaaaaa             512 MiB             -   12 s\n"
            "102  root   second  waiting for memory  GPU-aaaaaaaa             512 MiB  whole device   12 s\n"
            "103  user7  third   waiting to enter    1 of GPU-aaaaaaaa,SIM-1  512 MiB         1 GiB  3 min\n"
            "ledger: /folder (private to one user)\n");
}

TEST(StatusReport, of_a_process_that_waits_to_enter_has_what_it_asks_for) {
  auto waits = entry_of(Stage::entering, 3, "third");
  waits.claim.candidates = 3;
  waits.claim.devices = 2;
  waits.claim.gpus = 2;
  waits.claim.largest_bytes = (1_GiB).count();
  waits.claim.lease_bytes = (9_GiB).count();
  waits.claim.medium_lock = true;
  auto json = to_json(status_of({waits}))["processes"][0];
  EXPECT_EQ(json["claim"], "waiting_to_enter");
  EXPECT_EQ(json["device_uuids"].size(), 2U);
  EXPECT_EQ(json["gpus"], 2);
  EXPECT_EQ(json["memory_bytes"], (1_GiB).count());
  EXPECT_EQ(json["whole_devices"], false);
  EXPECT_EQ(json["medium_lock"], false);
  EXPECT_NE(to_text(status_of({waits})).find("  GPU-aaaaaaaa,SIM-1  512 MiB   1 GiB  "), std::string::npos)
      << "it needs all that it may get: " << to_text(status_of({waits}));
  waits.claim.whole_devices = true;
  EXPECT_EQ(to_json(status_of({waits}))["processes"][0]["whole_devices"], true);
  EXPECT_NE(to_text(status_of({waits})).find("whole device"), std::string::npos);
}

TEST(StatusReport, of_a_lease_has_its_devices_and_how_it_has_them) {
  auto holder = entry_of(Stage::holding, 1, "first");
  holder.claim.devices = 3;
  holder.claim.wanted = 2;
  holder.claim.medium_lock = true;
  auto json = to_json(status_of({holder}))["processes"][0];
  EXPECT_EQ(json["claim"], "medium_lock");
  EXPECT_EQ(json["device_uuids"], nlohmann::ordered_json::parse(R"(["SIM-1"])"));
  EXPECT_EQ(json["gpus"], 1);
  EXPECT_EQ(json["medium_lock"], true);
  EXPECT_EQ(json["whole_devices"], false);
  holder.claim.medium_lock = false;
  holder.claim.exclusive = true;
  json = to_json(status_of({holder}))["processes"][0];
  EXPECT_EQ(json["claim"], "exclusive");
  EXPECT_EQ(json["medium_lock"], false);
  EXPECT_EQ(json["whole_devices"], true);
}

TEST(StatusReport, of_a_process_without_a_lease_has_the_devices_of_its_contexts_and_no_memory) {
  for (const auto stage : {Stage::inside, Stage::idle}) {
    auto entry = entry_of(stage, 1, "first");
    entry.claim.devices = 3;
    entry.claim.lease_bytes = (3_GiB).count(); // of its last test
    entry.claim.exclusive = true;
    entry.claim.medium_lock = true;
    const auto json = to_json(status_of({entry}))["processes"][0];
    EXPECT_EQ(json["claim"], stage == Stage::idle ? "idle_worker" : "context");
    EXPECT_EQ(json["gpus"], 2);
    EXPECT_EQ(json["memory_bytes"], 0);
    EXPECT_EQ(json["whole_devices"], false);
    EXPECT_EQ(json["medium_lock"], false);
  }
}

TEST(StatusReport, says_first_who_keeps_the_mutex) {
  auto view = view_of({entry_of(Stage::holding, 1, "first")});
  view.caveat = "the mutex is held";
  EXPECT_EQ(to_text(make_status(view, now, name_of_user)).find("the mutex is held\nPID  "), 0U);
  EXPECT_EQ(to_json(make_status(view, now, name_of_user))["caveat"], "the mutex is held");
  view.entries.clear();
  EXPECT_EQ(to_text(make_status(view, now, name_of_user)),
            "the mutex is held\nnobody\nledger: /folder (private to one user)\n");
}

TEST(StatusReport, shows_a_process_that_has_exited_before_it_had_a_claim) {
  auto ended = entry_of(Stage::outside, 1, "t");
  ended.alive = false;
  ASSERT_EQ(status_of({ended}).processes.size(), 1U);
  EXPECT_EQ(to_string(status_of({ended}).processes[0].kind), "ended");
}

TEST(StatusReport, shortens_the_uuid_of_a_gpu_and_no_shorter_name) {
  auto view = view_of({entry_of(Stage::holding, 1, "first")});
  const auto shown = [&](const std::string& uuid) {
    view.uuids[0] = uuid;
    const auto text = to_text(make_status(view, now, name_of_user));
    const auto begin = text.find("lease  ", text.find('\n')) + 7;
    return text.substr(begin, text.find(' ', begin) - begin);
  };
  EXPECT_EQ(shown("SIM-10x16384MiB-1234-678"), "SIM-10x16384MiB-1234-678");
  EXPECT_EQ(shown("SIM-10x16384MiB-1234-6789"), "SIM-10x16384");
}

TEST(StatusReport, marks_stopped_processes_claims_kept_by_a_child_and_ended_processes) {
  auto stopped = entry_of(Stage::holding, 1, "first");
  stopped.pid = stopped_pid;
  auto parent = entry_of(Stage::holding, 2, "second");
  parent.pid = ended_pid;
  auto ended = entry_of(Stage::inside, 3, "third");
  ended.pid = ended_pid;
  ended.alive = false;
  auto ended_and_reused = ended;
  ended_and_reused.pid = stopped_pid;
  EXPECT_EQ(to_text(status_of({stopped, parent, ended, ended_and_reused})),
            "PID  USER  TEST    CLAIM                       DEVICES       CONTEXT  MEMORY   FOR\n"
            "777  root  first   lease, stopped              GPU-aaaaaaaa  512 MiB   3 GiB  12 s\n"
            "888  root  second  lease, kept by a child      GPU-aaaaaaaa  512 MiB   3 GiB  12 s\n"
            "777  root  third   ended, memory not yet back  GPU-aaaaaaaa  512 MiB       -  12 s\n"
            "888  root  third   ended, memory not yet back  GPU-aaaaaaaa  512 MiB       -  12 s\n"
            "ledger: /folder (private to one user)\n");
  const auto json = to_json(status_of({stopped, parent, ended}));
  EXPECT_EQ(json["processes"][0]["owner"], "stopped");
  EXPECT_EQ(json["processes"][1]["owner"], "children");
  EXPECT_EQ(json["processes"][2]["owner"], "ended");
}

TEST(StatusReport, does_not_call_a_process_that_is_ending_one_that_left_its_claim_to_a_child) {
  auto ending = entry_of(Stage::holding, 1, "first");
  ending.pid = ending_pid;
  EXPECT_EQ(to_text(status_of({ending})), "PID  USER  TEST   CLAIM          DEVICES       CONTEXT  MEMORY   FOR\n"
                                          "999  root  first  lease, ending  GPU-aaaaaaaa  512 MiB   3 GiB  12 s\n"
                                          "ledger: /folder (private to one user)\n");
  EXPECT_EQ(to_json(status_of({ending}))["processes"][0]["owner"], "ending");
}

TEST(StatusReport, shows_no_bytes_as_such_and_no_lease_as_a_dash) {
  auto holder = entry_of(Stage::holding, 1, "first");
  holder.claim.lease_bytes = 0;
  holder.claim.overhead_bytes = 0;
  EXPECT_EQ(to_text(status_of({holder, entry_of(Stage::inside, 2, "second")})),
            "PID  USER  TEST    CLAIM    DEVICES       CONTEXT  MEMORY   FOR\n"
            "101  root  first   lease    GPU-aaaaaaaa      0 B     0 B  12 s\n"
            "102  root  second  context  GPU-aaaaaaaa  512 MiB       -  12 s\n"
            "ledger: /folder (private to one user)\n");
}

TEST(StatusReport, says_nobody_and_whether_anybody_ever_was_there) {
  EXPECT_EQ(to_text(status_of({})), "nobody\nledger: /folder (private to one user)\n");
  ledger::LedgerView view;
  view.folder = "/folder";
  EXPECT_EQ(to_text(make_status(view, now, name_of_user)), "nobody (no process has used the ledger in /folder yet)\n");
  view.exists = true;
  view.shared = true;
  EXPECT_EQ(to_text(make_status(view, now, name_of_user)), "nobody\nledger: /folder (shared by a group of users)\n");
  EXPECT_EQ(to_json(make_status(view, now, name_of_user))["shared"], true);
}

TEST(StatusReport, is_an_object_with_units_in_its_keys_for_machines) {
  const auto expected = nlohmann::ordered_json::parse(R"({
    "version": 1,
    "folder": "/folder",
    "shared": false,
    "exists": true,
    "caveat": "",
    "now_unix_ms": 1700000000000,
    "processes": [
      {"pid": 101, "uid": 0, "user": "root", "who": "first", "claim": "lease", "owner": "running",
       "device_uuids": ["GPU-aaaaaaaa-1111-2222-3333-444444444444"], "gpus": 1, "context_bytes": 536870912,
       "memory_bytes": 3221225472, "whole_devices": false, "medium_lock": false, "ticket": 1,
       "since_unix_ms": 1699999988000, "for_ms": 12000}
    ]
  })");
  EXPECT_EQ(to_json(status_of({entry_of(Stage::holding, 1, "first")})).dump(2), expected.dump(2));
}

TEST(StatusReport, has_no_time_before_now_where_the_clock_was_set_back) {
  auto entry = entry_of(Stage::holding, 1, "first");
  entry.since = now + 12s;
  EXPECT_EQ(to_json(status_of({entry}))["processes"][0]["for_ms"], 0);
}

TEST(StatusReport, stays_json_whatever_bytes_a_name_has) {
  const auto text = json_text(to_json(status_of({entry_of(Stage::holding, 1, "bad \xFF name")})));
  EXPECT_EQ(nlohmann::json::parse(text)["processes"][0]["who"], "bad \xEF\xBF\xBD name");
}

} // namespace gputest::tool
