// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputest::ledger {
struct LedgerView;
}

namespace gputest::tool {

/// The state of a process's claim. Reports list claims in this order.
enum class ClaimKind {
  exclusive,          ///< holds whole devices
  medium_lock,        ///< holds memory and the devices' medium locks
  lease,              ///< holds memory
  context,            ///< has its contexts, between tests
  idle_worker,        ///< has its contexts, and ends as soon as it keeps another process waiting
  ended,              ///< has exited, and its memory is not free yet
  waiting_for_memory, ///< has its contexts, and waits
  waiting_to_enter,   ///< waits for a device with room for one more process
};

/// The state of the process that has the claim.
enum class Owner {
  running,
  stopped,  ///< SIGSTOP, Ctrl-Z, a debugger: it keeps what it has until it is continued
  children, ///< it has exited, but children that it forked keep what it had
  ending,   ///< its first thread has exited, and its other threads are exiting
  ended     ///< it has exited, and the device has not shown its memory free yet
};

/// One process, as `gputest status` shows it. Bytes are per device.
struct ProcessReport {
  ClaimKind kind = ClaimKind::context;
  Owner owner = Owner::running;
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
  std::string user;
  std::string who;                 ///< its test, or its command
  std::vector<std::string> uuids;  ///< the devices it has; if it waits to enter, those that it may get
  unsigned gpus = 1;               ///< how many of them it asks for or has
  std::uint64_t context_bytes = 0; ///< what it takes, or will take, without a test
  std::uint64_t memory_bytes = 0;  ///< what its test holds or waits for
  bool whole_devices = false;      ///< it holds, or waits for, whole devices
  bool medium_lock = false;        ///< likewise for the medium lock
  std::uint64_t ticket = 0;        ///< order of arrival; the smaller one came first
  std::chrono::system_clock::time_point since;
};

/// What `gputest status` prints.
struct StatusReport {
  std::string folder;  ///< of the ledger
  bool shared = false; ///< whether it is the ledger of a group of users, and not of one user
  bool exists = false; ///< whether a process has used this ledger yet
  std::string caveat;  ///< who keeps the ledger's mutex; empty: nobody
  std::chrono::system_clock::time_point now;
  std::vector<ProcessReport> processes; ///< holders first, then waiting processes, by ticket
};

/// `exclusive`, `waiting_for_memory` and so on, as in JSON.
[[nodiscard]] std::string_view to_string(ClaimKind kind);

/// `running`, `stopped` and so on, as in JSON.
[[nodiscard]] std::string_view to_string(Owner owner);

/// Makes the report from the ledger's contents. `name_of_user` turns a uid into a name.
[[nodiscard]] StatusReport make_status(const ledger::LedgerView& view, std::chrono::system_clock::time_point now,
                                       std::string (*name_of_user)(std::uint32_t uid));

/// For people: a table, or one line that says `nobody`; and a line that says where the ledger is.
[[nodiscard]] std::string to_text(const StatusReport& report);

/// For machines; `gputest status --help` documents the keys.
[[nodiscard]] nlohmann::ordered_json to_json(const StatusReport& report);

} // namespace gputest::tool
