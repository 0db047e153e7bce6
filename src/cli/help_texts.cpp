#include "cli/help_texts.hpp"

#include "cli/exit_codes.hpp"

#include <fmt/format.h>

namespace gputest::cli {

namespace {

constexpr auto main_examples = R"(Examples:
  gputest devices                            what GPUs there are, and how much of them is free
  gputest status                             who holds and who waits
  gputest run --memory 3GiB -- ./solver_test --fast
  GPUTEST_DEVICES=simulated:2x16GiB gputest devices
'gputest COMMAND --help' says more about each command.
)";

constexpr auto settings_table = R"(
Settings (environment variables; options win over them):
  GPUTEST_DEVICES      all, none, or simulated:<n>x<size>[,<option>...]             default all
  GPUTEST_MEMORY       small, medium, large, or a size such as 3GiB, per device     default small
  GPUTEST_GPUS         number of GPUs, 1 to 16                                      default 1
  GPUTEST_HEAP         device heap for malloc() in kernels, such as 64MiB           default left as it is
  GPUTEST_REQUIRES     what each GPU must have: memory_pools, managed_memory, concurrent_managed_access,
                       peer_access, cooperative_launch, tcc, wddm, mig, sm_<n>, total_memory=<size>,
                       free_memory=<size>                                           default nothing
  GPUTEST_LARGE        a large test beside others: exclude, serial or wait          default exclude
  GPUTEST_TEST         CTest's name of the test, for messages                       default the command's name
  GPUTEST_REQUIRE_GPU  1: a skip for want of a GPU is a failure                     default 0
  GPUTEST_FORBID_SKIP  1: every skip is a failure                                   default 0
  GPUTEST_WAIT_LIMIT   longest wait, as 90s, 20min or 1h                            default 20min
  GPUTEST_RUN_MODE     auto, serial or parallel: how ctest runs tests               default auto
  GPUTEST_MEMORY_RESOURCE  auto, pool or malloc: gputest::memory_resource           default auto
  GPUTEST_DEVICE_MEMORY  a size: every decision as on GPUs of at most so much       default what they have
  GPUTEST_DIR          folder of the machine-wide ledger                            default /dev/shm/gputest
Options of simulated devices: memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch,
tcc, wddm, mig, each of these with no_ before it; sm_<n> (90), context=<size> (512MiB), return=<n>ms, exclusive_process,
prohibited, lost, integrated, no_process_list.
Only GPUs that CUDA_VISIBLE_DEVICES allows are used. gputest sets CUDA_VISIBLE_DEVICES (to UUIDs) and
GPUTEST_LEASE_OF (whose lease it runs under) for the commands that it starts.
)";

constexpr auto run_text =
    R"(Waits until the memory is free, first come first served, then becomes COMMAND (exec): same process, so signals,
ctest's time limit and the exit status need nobody in between. The command sees its GPUs, and only those, in
CUDA_VISIBLE_DEVICES, by UUID. Nobody else gets the memory before the last process that COMMAND started has ended.

Everything after '--' is the command, unchanged. Without '--' it begins at the first word that is not an option.
A command that uses gputest itself, or 'gputest run' inside it, runs under this lease and takes none of its own.

Examples:
  gputest run -- python3 -m pytest tests/gpu
  gputest run --memory 3GiB -- ./solver_test --memory 7       the second --memory is solver_test's
  gputest run --memory large --large wait -- ./all_of_it
  gputest run --memory 2GiB --gpus 2 --name halo -- mpirun -n 2 ./halo
)";

constexpr auto devices_text =
    R"(Looks through the driver's management library, and asks the driver itself what each GPU can do, about 100 ms a GPU:
no CUDA context, no device memory.

Columns:
  IN USE         by anybody, what the driver keeps for itself not counted
  ON LEDGER      contexts and tests of processes that use gputest, and how many these are
  STRANGERS      used by processes that are not on this ledger: without gputest, or in a container without its folder
  FREE FOR NEXT  what a test could lease now without waiting, its context not counted; '-' also where others wait in front
  VISIBLE        no: CUDA_VISIBLE_DEVICES hides it from tests
Below: what each can do ('?': not known), who uses it, and what is odd about it. MEMORY '8 GiB of 140 GiB':
GPUTEST_DEVICE_MEMORY makes every decision as on 8 GiB.

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  origin       what kind of devices these are: the driver's version, or simulated
  why_none     why there are none; empty where there are some
  left_out     what is the matter with GPUs that are not in the list; empty if there are none
  devices      list of objects:
    index, uuid, name, simulated, mig_slice, visible, why_unusable (empty if it can be used)
    total_bytes, reserved_bytes (the driver's own), used_bytes
    limit_bytes (what decisions count with; less than total_bytes under GPUTEST_DEVICE_MEMORY)
    ledger_processes, ledger_context_bytes, ledger_leased_bytes
    stranger_bytes, free_for_next_bytes
    sm (90 for 9.0), memory_pools, managed_memory, concurrent_managed_access, cooperative_launch: null if not known
    peer_uuids (whose memory it can reach, null if not known), driver_model, compute_mode
    shares_host_memory, lists_processes
    users (null where the driver lists none): list of pid, used_bytes (null if not known), who (empty: a stranger)
    notes (what is odd about it): list of sentences
)";

constexpr auto status_text = R"(Claims:
  lease               holds memory for a test
  seat                likewise, as the device's one medium test
  exclusive           holds a whole device
  context             is on a device between two tests; only its context counts
  ended               has ended; its memory counts until the device shows it free
  waiting for memory  is on its device and waits for a test's memory
  waiting to enter    waits for a device with room for one more process
A claim that is stopped (Ctrl-Z, SIGSTOP, a debugger) is kept until its process goes on or ends; one that is kept by a
child is that of a process that has ended before a child it forked, or that runs in another container.
FOR says for how long. Those who wait are listed in the order in which they are served.

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  folder       of the ledger
  exists       false: nobody has used it yet
  now_unix_ms  when this was true
  processes    list of objects, holders first:
    pid, uid, user, who (the test, or the command)
    claim (as above, with _ for blanks), owner (running, stopped, children, ended)
    ticket (the smaller one is served first)
    device_uuids (of one that waits to enter: where it may go), gpus (how many of them)
    context_bytes, memory_bytes (held or asked for), both per device
    whole_devices, medium_seat
    since_unix_ms, for_ms
)";

std::string line(ExitCode code, const char* meaning) { return fmt::format("  {:>3}  {}\n", to_int(code), meaning); }

/// Which exit codes a command has beside those that all have.
enum class Codes { common, with_gpu, of_run };

std::string exit_codes(Codes codes) {
  const bool run = codes == Codes::of_run;
  std::string text = "\nExit codes:\n" + line(ExitCode::done, "done") +
                     line(ExitCode::wrong_command_line, "the command line is wrong");
  if (codes != Codes::common) {
    text += line(ExitCode::no_gpu, run ? "no usable GPU although GPUTEST_REQUIRE_GPU=1 or --require-gpu demands one;\n"
                                         "       another skip although GPUTEST_FORBID_SKIP=1 forbids it;\n"
                                         "       or more memory than the lease under which it runs"
                                       : "no usable GPU although GPUTEST_REQUIRE_GPU=1 demands one");
  }
  text += line(ExitCode::internal_error, "internal error, or the ledger cannot be used");
  if (run) {
    text += line(ExitCode::wait_limit, "the memory did not become free within the wait limit") +
            line(ExitCode::skipped, "skipped: no GPU, too large for any, or a large test beside others");
  }
  text += line(ExitCode::unusable_setting, "an environment variable cannot be used");
  if (run) {
    text += line(ExitCode::cannot_execute, "the command cannot be executed") +
            line(ExitCode::not_found, "the command is not found") +
            "Once the command of 'gputest run' runs, its own exit status is the status, and its death by a signal is "
            "the death.\n";
  }
  return text;
}

} // namespace

std::string main_help() { return std::string{main_examples} + settings_table + exit_codes(Codes::of_run); }

std::string run_help() { return std::string{run_text} + settings_table + exit_codes(Codes::of_run); }

std::string devices_help() { return devices_text + exit_codes(Codes::with_gpu); }

std::string status_help() { return status_text + exit_codes(Codes::common); }

} // namespace gputest::cli
