// SPDX-License-Identifier: BSD-3-Clause
#include "tool/commands.hpp"

#include "core/ledger/ledger_view.hpp"
#include "core/os/host.hpp"
#include "tool/status_report.hpp"
#include "tool/table.hpp"

#include <gputest/settings.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>

namespace gputest::tool {

namespace {

constexpr const char* status_help = R"(Claims:
  lease               holds memory for a test
  medium lock         holds memory for a medium test without a size; one such test at a time runs on a device
  exclusive           holds a whole device, or is alone on it
  context             has a context on a device, but no lease: it is between two tests
  idle worker         has a context on a device and no work; it exits as soon as another process waits for its memory
  ended               has exited; its memory counts until the device shows it free
  waiting for memory  has a context on a device, and waits for the memory of a test
  waiting to enter    waits for a device with room for one more process
A claim can have a remark:
  stopped             the process is stopped (Ctrl-Z, SIGSTOP). It keeps what it holds; if it waits, later processes pass it
  ending              the process is exiting, and gives up its claim in a moment
  kept by a child     the process has exited, but a child that it forked has not; or it runs in another container

Below the table is which processes gputest has started again, and why; those of other users are not shown there.

MEMORY is '-' for a process that has no lease and asks for none. FOR is the time since the claim began. Processes that wait for
memory are listed in the order of arrival, and after them those that wait to enter, in theirs. A test that ctest holds back
while others of its size run has no process yet, and is not listed. The ledger is read without its mutex, so lines may show different moments. The last line is the ledger's folder.

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  folder       of the ledger
  shared       true: a ledger of a group of users; false: of one user
  exists       false: no process has used it yet
  caveat       the process that keeps the ledger's mutex locked, so that nothing changes; empty if none does
  now_unix_ms  time of this report
  processes    list of objects, holders first:
    pid, uid, user, who (the test, or the command)
    claim (as above, with _ for blanks), owner (running, stopped, children, ending, ended)
    attempt (2 or 3 if gputest has started the entry again, else 1), attempt_because (the reason; empty if not known)
    ticket (order of arrival; the smaller one came first)
    device_uuids (of a process that waits to enter: those that it may get), gpus (how many of them)
    context_bytes, memory_bytes (held or asked for), both per device
    whole_devices, medium_lock
    since_unix_ms, for_ms
)";

} // namespace

void add_status(CommandLine& line) {
  const auto json = std::make_shared<bool>(false);
  line.add({"status", "Show which processes hold GPU memory, and which wait for it"}, status_help + exit_codes(),
           [json](const auto& /*words*/) {
             const auto view = ledger::look_at_ledger(settings_from_environment());
             const auto status = make_status(view, std::chrono::system_clock::now(), {os::user_name, os::variable_of});
             fmt::print("{}", *json ? json_text(status) : to_text(status));
             return ExitCode::done;
           })
      .add_flag("--json", *json, "print JSON, for programs");
}

} // namespace gputest::tool
