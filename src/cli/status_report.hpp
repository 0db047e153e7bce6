#pragma once

#include "system/process.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputest::cli {

struct LedgerView;

/// What a process is to the others. In this order they are listed.
enum class ClaimKind {
  exclusive,          ///< holds whole devices
  seat,               ///< holds memory and the devices' medium seats
  lease,              ///< holds memory
  context,            ///< is on its devices, between tests
  ended,              ///< has ended, and its memory is not back yet
  waiting_for_memory, ///< is on its devices, and waits
  waiting_to_enter,   ///< waits for a device with room for one more process
};

/// What becomes of the process whose claim it is.
enum class Owner {
  running,
  stopped,  ///< SIGSTOP, Ctrl-Z, a debugger: it keeps what it has, and does not go on by itself
  children, ///< it has ended, but children it forked run, and keep what it had
  ended     ///< it has ended, and the device has not shown its memory free yet
};

/// One process, as `gputest status` shows it. Bytes are per device.
struct ProcessReport {
  ClaimKind kind = ClaimKind::context;
  Owner owner = Owner::running;
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
  std::string user;
  std::string who;                 ///< its test, or its command
  std::vector<std::string> uuids;  ///< the devices it has; of one that waits to enter: those it may be given
  unsigned gpus = 1;               ///< how many of them it asks for or has
  std::uint64_t context_bytes = 0; ///< what it takes, or will take, without a test
  std::uint64_t memory_bytes = 0;  ///< what its test holds or waits for
  bool whole_devices = false;      ///< it holds, or waits for, whole devices
  bool medium_seat = false;        ///< likewise for the medium seat
  std::uint64_t ticket = 0;        ///< order of arrival; the smaller one is served first
  std::chrono::system_clock::time_point since;
};

/// What `gputest status` tells.
struct StatusReport {
  std::string folder;
  bool exists = false; ///< whether anybody has used this ledger yet
  std::chrono::system_clock::time_point now;
  std::vector<ProcessReport> processes; ///< holders first, then those who wait, by ticket
};

/// `exclusive`, `waiting_for_memory` and so on, as in JSON.
[[nodiscard]] std::string_view to_string(ClaimKind kind);

/// `running`, `stopped` and so on, as in JSON.
[[nodiscard]] std::string_view to_string(Owner owner);

/// Sorts out what is on the ledger. `name_of_user` turns a uid into a name, and `state_of` tells of a pid.
[[nodiscard]] StatusReport make_status(const std::string& folder, const LedgerView& view,
                                       std::chrono::system_clock::time_point now,
                                       std::string (*name_of_user)(std::uint32_t uid),
                                       system::ProcessState (*state_of)(pid_t pid));

/// For people: a table, or one line that says `nobody`.
[[nodiscard]] std::string to_text(const StatusReport& report);

/// For machines; `gputest status --help` documents the keys.
[[nodiscard]] nlohmann::ordered_json to_json(const StatusReport& report);

} // namespace gputest::cli
