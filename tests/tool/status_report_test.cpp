// SPDX-License-Identifier: BSD-3-Clause
#include "tool/status_report.hpp"

#include "core/ledger/ledger_view.hpp"
#include "tool/table.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace gputest::tool {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;
using ledger::Record;
using policy::Stage;

const auto now = std::chrono::system_clock::time_point{1'700'000'000s};

std::string name_of_user(std::uint32_t uid) { return uid == 0 ? "root" : "user" + std::to_string(uid); }

constexpr std::int64_t again_pid = 666;

std::optional<std::string> variable_of(pid_t pid, const std::string& name) {
  return pid != again_pid            ? std::nullopt
         : name == "GPUTEST_ATTEMPT" ? std::optional<std::string>{"3"}
                                     : "it needs\n9 GiB";
}

const People people{name_of_user, variable_of};

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
  view.records = std::move(entries);
  for (const auto& entry : view.records) {
    view.states.push_back(state_of(static_cast<pid_t>(entry.pid)));
  }
  return view;
}

nlohmann::ordered_json status_of(std::vector<Record> entries) {
  return make_status(view_of(std::move(entries)), now, people);
}

std::string claim_of(const Record& entry) { return status_of({entry})["processes"].at(0)["claim"]; }

} // namespace

TEST(StatusReport, distinguishes_the_kinds_of_claims) {
  EXPECT_EQ(claim_of(entry_of(Stage::entering, 1, "t")), "waiting_to_enter");
  EXPECT_EQ(claim_of(entry_of(Stage::inside, 1, "t")), "context");
  EXPECT_EQ(claim_of(entry_of(Stage::idle, 1, "t")), "idle_worker");
  EXPECT_EQ(claim_of(entry_of(Stage::waiting, 1, "t")), "waiting_for_memory");
  auto holder = entry_of(Stage::holding, 1, "t");
  EXPECT_EQ(claim_of(holder), "lease");
  holder.claim.medium_lock = true;
  EXPECT_EQ(claim_of(holder), "medium_lock");
  holder.claim.exclusive = true;
  EXPECT_EQ(claim_of(holder), "exclusive");
  holder.alive = false;
  EXPECT_EQ(claim_of(holder), "ended");
  auto without_claim = entry_of(Stage::outside, 1, "t");
  EXPECT_TRUE(status_of({without_claim})["processes"].empty()) << "it has only a slot";
  without_claim.alive = false;
  EXPECT_EQ(claim_of(without_claim), "ended");
}

TEST(StatusReport, is_a_table_for_people) {
  auto waits_to_enter = entry_of(Stage::entering, 3, "third");
  waits_to_enter.claim.candidates = 3;
  waits_to_enter.claim.largest_bytes = (1_GiB).count();
  waits_to_enter.uid = 7;
  waits_to_enter.since = now - 3min;
  auto whole = entry_of(Stage::waiting, 2, "second");
  whole.claim.exclusive = true;
  EXPECT_EQ(to_text(status_of({waits_to_enter, entry_of(Stage::waiting, 5, "fifth"), whole,
                               entry_of(Stage::holding, 1, "first"), entry_of(Stage::inside, 4, "fourth")})),
            "PID  USER   TEST    CLAIM               DEVICES                  CONTEXT        MEMORY    FOR\n"
            "101  root   first   lease               GPU-aaaaaaaa             512 MiB         3 GiB   12 s\n"
            "104  root   fourth  context             GPU-aaaaaaaa             512 MiB             -   12 s\n"
            "102  root   second  waiting for memory  GPU-aaaaaaaa             512 MiB  whole device   12 s\n"
            "105  root   fifth   waiting for memory  GPU-aaaaaaaa             512 MiB         3 GiB   12 s\n"
            "103  user7  third   waiting to enter    1 of GPU-aaaaaaaa,SIM-1  512 MiB         1 GiB  3 min\n"
            "ledger: /folder (private to one user)\n");
}

TEST(StatusReport, has_the_devices_and_the_memory_that_the_claim_is_for) {
  auto entry = entry_of(Stage::entering, 1, "first");
  entry.claim.candidates = 3;
  entry.claim.devices = 3;
  entry.claim.wanted = 2;
  entry.claim.gpus = 2;
  entry.claim.largest_bytes = (1_GiB).count();
  entry.claim.lease_bytes = (9_GiB).count();
  entry.claim.exclusive = entry.claim.medium_lock = true;
  const auto shown = [&](Stage stage) {
    entry.claim.stage = stage;
    const auto process = status_of({entry})["processes"][0];
    return nlohmann::json{process["device_uuids"].size(), process["gpus"], process["memory_bytes"],
                          process["whole_devices"], process["medium_lock"]};
  };
  EXPECT_EQ(shown(Stage::entering), (nlohmann::json{2, 2, (1_GiB).count(), false, false}));
  EXPECT_THAT(to_text(status_of({entry})), testing::HasSubstr("  GPU-aaaaaaaa,SIM-1  512 MiB   1 GiB  "))
      << "it needs all that it may get";
  entry.claim.whole_devices = true;
  EXPECT_EQ(shown(Stage::entering), (nlohmann::json{2, 2, (1_GiB).count(), true, false}));
  EXPECT_EQ(shown(Stage::waiting), (nlohmann::json{1, 1, (9_GiB).count(), true, true}));
  EXPECT_EQ(shown(Stage::holding), (nlohmann::json{1, 1, (9_GiB).count(), true, true}));
  for (const auto stage : {Stage::inside, Stage::idle}) { // what is left is of the last test
    EXPECT_EQ(shown(stage), (nlohmann::json{2, 2, 0, false, false}));
  }
}

TEST(StatusReport, says_first_who_keeps_the_mutex) {
  auto view = view_of({entry_of(Stage::holding, 1, "first")});
  view.caveat = "the mutex is held";
  EXPECT_EQ(to_text(make_status(view, now, people)).find("the mutex is held\nPID  "), 0U);
  EXPECT_EQ(make_status(view, now, people)["caveat"], "the mutex is held");
  view.records.clear();
  EXPECT_EQ(to_text(make_status(view, now, people)),
            "the mutex is held\nno processes on the ledger\nledger: /folder (private to one user)\n");
}

TEST(StatusReport, marks_stopped_processes_claims_kept_by_a_child_and_ended_processes) {
  const auto with_pid = [](Stage stage, std::uint64_t ticket, std::int64_t pid) {
    auto entry = entry_of(stage, ticket, "test");
    entry.pid = pid;
    return entry;
  };
  auto ended = with_pid(Stage::inside, 4, ended_pid);
  ended.alive = false;
  const auto status = status_of({with_pid(Stage::holding, 1, stopped_pid), with_pid(Stage::holding, 2, ended_pid),
                                 with_pid(Stage::holding, 3, ending_pid), ended, entry_of(Stage::idle, 5, "test")});
  EXPECT_EQ(to_text(status),
            "PID  USER  TEST  CLAIM                       DEVICES       CONTEXT  MEMORY   FOR\n"
            "777  root  test  lease, stopped              GPU-aaaaaaaa  512 MiB   3 GiB  12 s\n"
            "888  root  test  lease, kept by a child      GPU-aaaaaaaa  512 MiB   3 GiB  12 s\n"
            "999  root  test  lease, ending               GPU-aaaaaaaa  512 MiB   3 GiB  12 s\n"
            "105  root  test  idle worker                 GPU-aaaaaaaa  512 MiB       -  12 s\n"
            "888  root  test  ended, memory not yet back  GPU-aaaaaaaa  512 MiB       -  12 s\n"
            "no process waits; tests that ctest holds back while others of their size run are not listed\n"
            "ledger: /folder (private to one user)\n");
  std::vector<std::string> owners;
  for (const auto& process : status["processes"]) {
    owners.push_back(process["owner"]);
  }
  EXPECT_EQ(owners, (std::vector<std::string>{"stopped", "children", "ending", "running", "ended"}));
}

TEST(StatusReport, has_the_memory_of_an_ended_process_that_counts_until_it_is_free) {
  auto ended = entry_of(Stage::holding, 1, "test");
  ended.alive = false;
  EXPECT_THAT(to_text(status_of({ended})), testing::HasSubstr("not yet back  GPU-aaaaaaaa  512 MiB   3 GiB  12 s\n"));
}

TEST(StatusReport, says_which_processes_run_again_and_why) {
  auto again = entry_of(Stage::waiting, 2, "second");
  again.pid = again_pid;
  const auto status = status_of({entry_of(Stage::holding, 1, "first"), again});
  EXPECT_EQ(status["processes"][1]["attempt"], 3);
  const auto text = to_text(status);
  EXPECT_NE(text.find("\n666 is in attempt 3: it needs?9 GiB\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("is in attempt"), text.rfind("is in attempt"));
  auto view = view_of({again});
  view.states = {os::ProcessState::ended}; // the pid is another process's here
  EXPECT_EQ(make_status(view, now, people)["processes"][0]["attempt"], 1);
}

TEST(StatusReport, says_nobody_and_whether_anybody_ever_was_there) {
  EXPECT_EQ(to_text(status_of({})), "no processes on the ledger\nledger: /folder (private to one user)\n");
  ledger::LedgerView view;
  view.folder = "/folder";
  EXPECT_EQ(to_text(make_status(view, now, people)), "no processes on the ledger (none has used /folder yet)\n");
  view.exists = true;
  view.shared = true;
  EXPECT_EQ(to_text(make_status(view, now, people)),
            "no processes on the ledger\nledger: /folder (shared by a group of users)\n");
  EXPECT_EQ(make_status(view, now, people)["shared"], true);
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
      {"pid": 101, "uid": 0, "user": "root", "who": "first", "claim": "lease", "owner": "running", "attempt": 1,
       "attempt_because": "",
       "device_uuids": ["GPU-aaaaaaaa-1111-2222-3333-444444444444"], "gpus": 1, "context_bytes": 536870912,
       "memory_bytes": 3221225472, "whole_devices": false, "medium_lock": false, "ticket": 1,
       "since_unix_ms": 1699999988000, "for_ms": 12000}
    ]
  })");
  EXPECT_EQ(status_of({entry_of(Stage::holding, 1, "first")}).dump(2), expected.dump(2));
}

TEST(StatusReport, stays_json_whatever_bytes_a_name_has) {
  const auto text = json_text(status_of({entry_of(Stage::holding, 1, "bad \xFF name")}));
  EXPECT_EQ(nlohmann::json::parse(text)["processes"][0]["who"], "bad \xEF\xBF\xBD name");
}

} // namespace gputest::tool
