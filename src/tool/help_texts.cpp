// SPDX-License-Identifier: BSD-3-Clause
#include "tool/help_texts.hpp"

#include "core/settings/settings_table.hpp"
#include "tool/exit_codes.hpp"

#include <fmt/format.h>

namespace gputest::tool {

namespace {

constexpr auto main_examples = R"(Examples:
  gputest devices                            what GPUs there are, and how much of them is free
  gputest status                             which processes hold memory, and which wait
  gputest plan --test-dir build -j16         how long the suite would take, and what bounds it
  gputest report --test-dir build            a page about the last run
  gputest run --memory 3GiB -- ./solver_test --fast
  GPUTEST_DEVICES=simulated:2x16GiB gputest devices
'gputest COMMAND --help' describes one command.
)";

constexpr auto other_variables =
    R"(Options of simulated devices: memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch,
tcc, wddm, mig; each of these also with the prefix no_; sm_<n> (90), context=<size> (512MiB), return=<n>ms,
exclusive_process, prohibited, lost, integrated, no_process_list.
A variable that begins with GPUTEST_ and is none of these is an error.
gputest uses only GPUs that CUDA_VISIBLE_DEVICES allows, and sets it (to UUIDs) for the commands that it starts.
)";

std::string settings() {
  return "\nSettings (environment variables; options take precedence):\n" + settings::settings_reference() +
         other_variables;
}

constexpr auto run_text =
    R"(Waits until the memory is free, then replaces itself with COMMAND (exec). A later request never delays an earlier one.
The process stays the same, so signals, ctest's time limit and the exit status reach it directly. In an entry of
gpu_add_test() COMMAND is a child, signals are passed on, and a 0 or 77 that gputest did not confirm becomes 1. CUDA_VISIBLE_DEVICES
names the command's GPUs, by UUID, and no others. The memory is given to other processes only after the last process
that COMMAND started has ended.

Everything after '--' is the command, unchanged. Without '--' the command begins at the first word that is not an
option. If the command uses gputest itself, or calls 'gputest run', it runs under this lease and takes no other.

With --if-gpu a command that uses no GPU starts at once, without a lease. So does one that only lists its tests
(--gtest_list_tests and the like), one that is linked with gputest and leases for itself, and every command where there is
no GPU. A command uses a GPU if it, or a library that it is linked with, has code for GPUs, needs the library of CUDA or
OpenCL, or loads libraries and names CUDA's. Scripts, interpreters, and programs that load libraries or start others are
taken to use one. GPUTEST_USES_GPU=yes or no says what cannot be seen.

Examples:
  cmake -S . -B build '-DCMAKE_TEST_LAUNCHER=gputest;run;--if-gpu'    a project that does not know gputest
  gputest run -- python3 -m pytest tests/gpu
  gputest run --memory 3GiB -- ./solver_test --memory 7       the second --memory is solver_test's
  gputest run --memory large --large wait -- ./all_of_it
  gputest run --memory 2GiB --gpus 2 --name halo -- mpirun -n 2 ./halo
)";

constexpr auto devices_footer =
    R"(Reads the devices from the driver's management library, and asks the driver itself what each GPU can do (about 100
ms per GPU). It creates no CUDA context and takes no device memory.

Columns:
  IN USE         by all processes, without what the driver keeps for itself
  ON LEDGER      contexts and tests of the processes in the ledger, and the number of these processes
  EXTERNAL       used by processes that are not in this ledger: without gputest, or in a container without its folder
  FREE FOR NEXT  what a test could lease now without waiting, without its context; 0 B also if others wait ahead of it
  VISIBLE        no: CUDA_VISIBLE_DEVICES, or the list of a Slurm job, hides it from tests
Below the table: what each GPU can do ('?': not known, '-': does not apply), which processes use it, and what is unusual
about it. MEMORY '8 GiB of 140 GiB' means that GPUTEST_DEVICE_MEMORY makes gputest decide as on a GPU with 8 GiB.

--resource-spec writes resource-spec-<pid>.json into FOLDER, for the ctest with that pid that runs gputest, and prints CMake
code. It does nothing if ctest has, or may have, a resource spec file of the user's, or if GPUTEST_SCHEDULING=ledger.

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  origin       what kind of devices these are: the driver's version, or simulated
  why_none     why there are no devices; empty if there are some
  left_out     why some GPUs are not in the list; empty if all are
  restriction  what decides which devices are visible, such as CUDA_VISIBLE_DEVICES='0'
  devices      list of objects:
    index, uuid, name, simulated, mig_slice, visible, why_unusable (empty if it can be used)
    total_bytes, reserved_bytes (the driver's own), used_bytes
    limit_bytes (what decisions use; less than total_bytes under GPUTEST_DEVICE_MEMORY)
    ledger_processes, ledger_context_bytes, ledger_leased_bytes
    external_bytes, free_for_next_bytes
    sm (90 for 9.0), memory_pools, managed_memory, concurrent_managed_access, cooperative_launch: null if not known
    peer_uuids (devices whose memory it can reach, null if not known), driver_model, compute_mode
    shares_host_memory, lists_processes
    users (null if the driver lists none): list of pid, used_bytes (null if not known), who (empty: an external process)
    notes (what is unusual about it): list of sentences
)";

constexpr auto status_text = R"(Claims:
  lease               holds memory for a test
  medium lock         holds memory for a test, and the device's medium lock
  exclusive           holds a whole device
  context             has a context on a device, between two tests; only the context counts
  idle worker         has a context on a device and no work; it exits as soon as another process waits for its memory
  ended               has exited; its memory counts until the device shows it free
  waiting for memory  is on its device and waits for a test's memory
  waiting to enter    waits for a device with room for one more process
'stopped': the process is stopped (Ctrl-Z, SIGSTOP, a debugger); it keeps what it holds until it continues or exits, and
those behind it pass it if it waits.
'ending': the process is exiting; it gives up its claim in a moment. 'kept by a child': the process has exited before a
child that it forked, or it runs in another container. MEMORY is '-' for a process that has no lease and asks for none.
FOR is the time since the claim began. Waiting processes are listed in the order of arrival. The ledger is read without its
mutex, so lines may be of different moments. The last line names the ledger's folder. A private ledger has the processes of one user, a shared one those of a group.

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  folder       of the ledger
  shared       true: a ledger of a group of users; false: of one user
  exists       false: no process has used it yet
  caveat       which process keeps the ledger's mutex locked, so that nothing changes; empty if none does
  now_unix_ms  when this was true
  processes    list of objects, holders first:
    pid, uid, user, who (the test, or the command)
    claim (as above, with _ for blanks), owner (running, stopped, children, ending, ended)
    ticket (order of arrival; the smaller one came first)
    device_uuids (of a process that waits to enter: those that it may get), gpus (how many of them)
    context_bytes, memory_bytes (held or asked for), both per device
    whole_devices, medium_lock
    since_unix_ms, for_ms
)";

constexpr auto plan_text =
    R"text(Asks ctest for its tests, and takes their times from the run logs (Testing/gputest) and from ctest's CTestCostData.txt.
Then it plays the suite: ctest's order of tests, its -j, RUN_SERIAL, RESOURCE_LOCK, PROCESSORS,
DEPENDS and fixtures, and the ledger's own decisions on memory. No test is started. The GPUs are those of this machine, with what
is free of them now, or those of --devices, which takes the same options as GPUTEST_DEVICES (8x80GiB,context=600MiB).

An entry asks for what its tests were granted in the last run, else for what CMake says. Its time is that of the last run that has it,
without waits: starting CUDA is slower beside others that start it, so times of a run at -j1 serve any other -j. --times takes one run log alone.
--ledger-alone is for a suite that ctest does not schedule by memory: a test waits as one of ctest's jobs.

Splitting: each test is in exactly one shard. Tests that come after one another (DEPENDS, fixtures) stay together. A clean-up of a
fixture that no test sets up is in each shard that has a test of that fixture, because ctest runs it there in any case.
A split depends on the tests, --shards and --times alone, and on nothing that a run leaves: all shards need the same log, or none, with
which all tests count alike. They print the fingerprint of the split; --fingerprint refuses another one.

Examples:
  gputest plan --test-dir build -j16
  gputest plan --test-dir build -j64 --devices 8x80GiB -- -L gpu
  gputest plan --test-dir build --shards 4
  gputest plan --times kept.jsonl --shards "$CI_NODE_TOTAL" --shard "$CI_NODE_INDEX" > tests.txt && ctest --tests-from-file tests.txt   (CMake 3.29)
  ctest -I "$(gputest plan --shards 4 --shard 2 --numbers)"   (any CMake)

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  with --shards:
    fingerprint  the same for the same split
    shards       list of objects: shard (from 1), work_s (sum of the times of those that run), predicted_s, not_run
               (how many would not run here), tests (names)
  else:
    jobs, tests, measured (how many of them have a time)
    predicted_s, waiting_s (sum of the time in which ctest's jobs wait for memory)
    bounds     list of objects, largest first: kind (longest_test, jobs, memory, contexts), s, test (of longest_test:
               the longest of those that run one after another)
    runs       list of objects: name, why_not (why it would not run, else empty), start_s, admitted_s (it has its memory),
               end_s, devices (their indices)
)text";

constexpr auto report_text =
    R"text(Reads the newest run log, and writes one HTML page that needs nothing else, and no network: the sums, what held the run back, a
time line of each device with leases, their use and the tests that waited, skipped tests with reasons, the slowest waits
and who caused them, what tests leased beside what was measured of them, and the earlier runs of the folder.

--trace writes Chrome's trace events, which https://ui.perfetto.dev shows: a thread for each of ctest's places, and a counter
for the memory of each device.

CMake 4.3 and newer call it after each ctest, with the name of an index file that is not needed here, if CMakeLists.txt has
  cmake_instrumentation(API_VERSION 1 DATA_VERSION 1 HOOKS postCTest CALLBACK gputest report --test-dir "${CMAKE_BINARY_DIR}")

Examples:
  gputest report --test-dir build
  gputest report --log build/Testing/gputest --output report.html --trace trace.json
)text";

constexpr auto classify_text =
    R"text(Takes all run logs of the folder together, and compares the most that each test used with what it declares:
  over     it used more. What it declares has to be raised, or others run out of memory
  under    it used at most half of what it declares, rounded up. Less lets more tests run at once
  unknown  nothing was measured, or only lower bounds (samples, what was measured beside memory that an earlier test of the
           process had left, tests that did not pass, other builds of the executable): never a reason to declare less
A size that is too small becomes the most that was measured on any device, in whole MiB, as the failing test's own message says.
One that is far too large becomes a twentieth more than that, rounded up to 64 MiB, from 2 GiB on to 256 MiB, and from 16 GiB on to
1 GiB. What tests declare is that of their newest run.
--check takes only that newest run, and only of executables that have not been built anew since.

Below the table are the changes, with file and line. --patch prints them as a diff for 'git apply', and writes no file; run it in the
folder of the sources. On stderr it says how many changes the diff has, and which are not in it, and why. It changes the one literal size
of the GPUTEST_NEEDS (or GPUTEST_SUITE_NEEDS with suite_lease), or behind the MEMORY of the gpu_add_test(), that the size came from. A
test without an annotation of its memory gets a line GPUTEST_NEEDS(Suite, Test, size) above it, once for all its instances. A size is
lowered only if all tests that it is for were measured exactly, and passed; in a header it never is.

Examples:
  gputest classify --test-dir build
  gputest classify --test-dir build --check                   in continuous integration, after ctest
  gputest classify --test-dir build --patch | git apply       then build, and run ctest again

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  planned_s, planned_with_edits_s   how long the newest run's GPU tests would take, see 'gputest plan --help'
  tests        list of objects: name, entry, test, verdict, class, declared_bytes (null: it declares a class), leased_bytes,
               measured_bytes (by device model), exact, runs (in which it was measured), advised_bytes (null: nothing to change, or
               more than any device has)
  edits        list of objects: name, file, line, before (empty: `after` is a new line above it), after (empty: it is not
               changed), why_not (why it is not in the patch; empty: it is)
)text";

constexpr auto isolate_text =
    R"text(Runs the tests that ctest selects three times: each in a process of its own (GPUTEST_ISOLATION=process), in workers in ctest's order,
and in workers in a random order. Prints each test whose result is not the same in all of them and, where it knows one, a command that
shows why: of a test that fails after others, and of one that passes only after others. It says "depends on" only of what it has
repeated: a test that failed in a process of its own runs there twice more, one at a time. ctest runs apart from DIR, so its last log stays as it is.

Only cases of gpu_discover_tests(... ISOLATION worker) run in workers. What other tests do shows whether they are stable.

Examples:
  gputest isolate --test-dir build -- -j8
  gputest isolate --test-dir build --shuffles 10 -- -j8 -L gpu_small

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  runs         list of objects: name, passed, failed, skipped, s
  compared     how many tests in workers passed or failed in a run
  differ       list of objects: name, results (passed, failed, skipped, not run; in the order of the runs), command (what shows
               the dependence; empty: none was found)
)text";

std::string line(ExitCode code, const char* meaning) { return fmt::format("  {:>3}  {}\n", to_int(code), meaning); }

/// The exit codes that a command has besides the common ones.
enum class Codes { common, with_gpu, of_run };

std::string exit_codes(Codes codes) {
  const bool run = codes == Codes::of_run;
  std::string text = "\nExit codes:\n" + line(ExitCode::done, "done") +
                     line(ExitCode::wrong_command_line, "the command line is wrong");
  if (codes != Codes::common) {
    text += line(ExitCode::no_gpu, run ? "no usable GPU although GPUTEST_REQUIRE_GPU=1 or --require-gpu demands one;\n"
                                         "       another skip although GPUTEST_FORBID_SKIP forbids it;\n"
                                         "       or more than the lease under which it runs"
                                       : "no usable GPU although GPUTEST_REQUIRE_GPU=1 demands one");
  }
  text += line(ExitCode::internal_error, "internal error, output that cannot be written, or the ledger cannot be used");
  if (run) {
    text += line(ExitCode::wait_limit, "the memory did not become free within the wait limit") +
            line(ExitCode::skipped, "skipped: no GPU, too large for any, or a large test while others run");
  }
  text += line(ExitCode::unusable_setting, "an environment variable cannot be used");
  if (run) {
    text +=
        line(ExitCode::cannot_execute, "the command cannot be executed") +
        line(ExitCode::not_found, "the command is not found") +
        "Once the command of 'gputest run' runs, 'gputest run' ends as the command does: with its exit status, or by "
        "its signal.\n";
  }
  return text;
}

} // namespace

std::string main_help() { return main_examples + settings() + exit_codes(Codes::of_run); }

std::string run_help() { return run_text + settings() + exit_codes(Codes::of_run); }

std::string devices_help() { return devices_footer + exit_codes(Codes::with_gpu); }

std::string status_help() { return status_text + exit_codes(Codes::common); }

std::string classify_help() {
  return classify_text + exit_codes(Codes::common) +
         line(ExitCode::check_failed, "--check: a test uses more than it declares");
}

std::string isolate_help() {
  return isolate_text + exit_codes(Codes::common) +
         line(ExitCode::check_failed,
              "the result of a test is not the same in all runs, or all tests in workers were skipped");
}

std::string report_help() { return report_text + exit_codes(Codes::common); }

std::string plan_help() { return plan_text + exit_codes(Codes::common); }

} // namespace gputest::tool
