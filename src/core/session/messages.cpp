// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/messages.hpp"

#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/lease_limit.hpp"
#include "core/policy/text.hpp"

#include <gputest/bytes.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

namespace gputest::session {

namespace {

std::string lease_text(const policy::Claim& claim) {
  return claim.exclusive && claim.lease_bytes == 0
             ? "the whole device"
             : to_string(Bytes{claim.lease_bytes}) + (claim.exclusive ? " alone" : "");
}

std::string claim_text(const policy::Claim& claim) {
  switch (claim.stage) {
  case policy::Stage::outside:
    return "nothing";
  case policy::Stage::entering:
    return "waiting for a device";
  case policy::Stage::inside:
    return "a context of " + to_string(Bytes{claim.overhead_bytes});
  case policy::Stage::waiting:
    return "waiting for " + lease_text(claim);
  case policy::Stage::idle:
    return "an idle worker with a context of " + to_string(Bytes{claim.overhead_bytes});
  case policy::Stage::holding:
    return lease_text(claim) + (claim.medium_lock ? " and the medium lock" : "");
  }
  return "";
}

bool is_stopped(const ledger::Record& record) {
  return os::is_stopped(static_cast<pid_t>(record.pid), record.start_time);
}

/// Texts about processes: by rank, then by bytes, the highest first; equal ones as they were added.
using InOrder = std::multimap<std::pair<int, std::uint64_t>, std::string, std::greater<>>;

/// The first of them, and the number of the others.
std::string listed(const InOrder& texts) {
  constexpr std::size_t max_named = 4;
  std::string list;
  std::size_t named = 0;
  for (auto text = texts.begin(); text != texts.end() && named < max_named; ++text, ++named) {
    list += (named == 0 ? "" : ", ") + text->second;
  }
  return list + (texts.size() > named ? " and " + std::to_string(texts.size() - named) + " more" : "");
}

std::atomic<detail::Notation> notation_of_process{detail::Notation::annotations};

/// A process's test or command, and in a parenthesis that stays open its pid. That means nothing here if it is of
/// another pid namespace.
std::string named(const ledger::Record& record) {
  const auto here = os::pids_identity();
  const bool is_of_here = record.pids == here || record.pids == 0 || here == 0;
  return record.who + " (pid " + std::to_string(record.pid) + (is_of_here ? "" : " in another container");
}

/// With `excess` bytes beyond its claim.
std::string describe(const ledger::Record& record, std::uint64_t excess) {
  const auto held = std::chrono::system_clock::now() - record.since;
  std::string text = named(record) + ", " + claim_text(record.claim) + ", for " +
                     short_duration(std::chrono::duration_cast<std::chrono::seconds>(held));
  if (excess > 0) {
    text += "; it holds " + to_string(Bytes{excess}) +
            (record.claim.stage != policy::Stage::holding ? " without a lease"
             : record.claim.estimated                     ? " beyond its estimated lease"
                                                          : " beyond its lease");
  }
  if (!record.alive) {
    text += "; it has ended, and the device has not shown its memory free yet";
  } else if (record.kept_by) {
    text += "; it has ended, and a process that it left running keeps this";
    text +=
        *record.kept_by != 0 ? ": " + policy::printable(os::name_of_process(static_cast<pid_t>(*record.kept_by))) : "";
  } else if (is_stopped(record)) {
    text += "; it is stopped, kill -CONT lets it go on";
  }
  return text + ")";
}

/// What each of them, and this process, has of its devices without a lease: `this process 4 GiB, Sort.Keys (pid 4711)
/// 512 MiB`. The largest first.
std::string describe_overheads(const ledger::Blocked& blocked) {
  InOrder others;
  for (const auto& other : blocked.blockers) {
    const Bytes overhead{other.claim.overhead_bytes};
    others.emplace(std::pair{0, overhead.count()}, named(other) + ") " + to_string(overhead));
  }
  return "this process " + to_string(Bytes{blocked.own_overhead_bytes}) + (others.empty() ? "" : ", ") + listed(others);
}

/// What to do about memory that was taken without a lease at `where`; empty: nobody knows where.
std::string remedy_at(const std::string& where) {
  const auto has = [&](const char* words) { return where.find(words) != std::string::npos; };
  const std::string of_suite = "for SetUpTestSuite() GPUTEST_SUITE_NEEDS(<suite>, <size>, suite_lease)";
  const std::string of_program =
      "for an Environment or main() LAUNCHER on and MEMORY in gpu_add_test() or gpu_discover_tests()";
  const auto elsewhere = advised(Advice::lease);
  return "Memory needs a lease before it is taken: " + (!elsewhere.empty()     ? elsewhere
                                                        : has("TestSuite()")   ? of_suite
                                                        : has("Environment")   ? of_program
                                                        : has("GPUTEST_LEASE") ? "in a test GPUTEST_LEASE(<size>)"
                                                                               : of_suite + ", " + of_program);
}

} // namespace

detail::Notation advice_notation() { return notation_of_process; }

void write_advice_in(detail::Notation notation) { notation_of_process = notation; }

std::string advised(Advice advice, const std::string& value) {
  return policy::words(advice, notation_of_process, value);
}

std::string short_duration(std::chrono::seconds duration) {
  const auto seconds = std::max<std::chrono::seconds::rep>(duration.count(), 0);
  if (seconds < 120) {
    return std::to_string(seconds) + " s";
  }
  return seconds < 7200 ? std::to_string(seconds / 60) + " min" : std::to_string(seconds / 3600) + " h";
}

std::string describe(const ledger::Record& record) { return describe(record, 0); }

std::string describe(const ledger::Blocked& blocked) {
  // The cause first: those that have more than they claimed; then, as the ledger names them, those ahead in the queue,
  // and the holders of what these wait for. Contexts come last.
  InOrder named;
  for (const auto& excess : blocked.excesses) {
    named.emplace(std::pair{2, excess.bytes}, describe(excess.holder, excess.bytes));
  }
  for (const auto& blocker : blocked.blockers) {
    if (std::none_of(blocked.excesses.begin(), blocked.excesses.end(),
                     [&](const ledger::Excess& excess) { return is_same(excess.holder, blocker); })) {
      const bool has_only_a_context =
          blocker.claim.stage == policy::Stage::inside || blocker.claim.stage == policy::Stage::idle;
      named.emplace(std::pair{has_only_a_context ? 0 : 1, std::uint64_t{0}}, describe(blocker));
    }
  }
  std::string text = listed(named);
  if (blocked.external_bytes > 0) {
    text += text.empty() ? "" : ", and ";
    text +=
        "programs that are not on this ledger: without gputest, or in a container without its folder (nvidia-smi shows "
        "them; if they stay, GPUTEST_DEVICE_MEMORY=<the size that they leave> limits what tests count on)";
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
  if (os::output_of_process() == os::Output::judged) {
    return;
  }
  const std::string line = "gputest: " + text + "\n";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void note(const std::string& text) {
  if (os::has_notes(os::output_of_process())) {
    tell(text);
  }
}

void tell_measurements(const EntryMeasurements& measurements) {
  if (os::output_of_process() == os::Output::judged) {
    return;
  }
  std::string text;
  const auto add = [&](const std::string& type, const std::string& name, const std::string& value) {
    text += "<CTestMeasurement type=\"" + type + "\" name=\"gputest_" + name + "\">" + value + "</CTestMeasurement>\n";
  };
  const auto add_size = [&](const std::string& name, Bytes size) {
    constexpr double mebibyte = 1 << 20U;
    add("numeric/double", name, policy::fixed(static_cast<double>(size.count()) / mebibyte, 3));
  };
  if (measurements.peak) {
    add_size("peak_mib", *measurements.peak);
  }
  if (measurements.leased > Bytes{}) {
    add_size("lease_mib", measurements.leased);
    add("text/string", "device", measurements.devices);
  }
  if (const auto attempt = os::read_variable("GPUTEST_ATTEMPT")) {
    add("numeric/integer", "attempt", *attempt);
  }
  std::fflush(stdout);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string excluded_in_parallel(const std::string& who, const std::string& because, const std::string& command) {
  const auto excluded = who + " is large, and excluded while tests run in parallel";
  if (advice_notation() == detail::Notation::marks) { // whose plugin knows how to run it alone
    return excluded + ". To let it wait until the others leave room: " + advised(Advice::large_beside);
  }
  return excluded + " (" + because + "). To run it alone: " + command +
         "; to run it with the others: " + advised(Advice::large_beside);
}

std::string excluded_by_others(const std::string& who, const ledger::Blocked& others, const std::string& command) {
  return who + " is large, and excluded while other processes use its device: " + describe(others) +
         ". To run it when they have ended: " + command + "; to let it wait for them: " + advised(Advice::large_wait) +
         "; to run it beside them, such as a server of its own fixture: a size in place of large";
}

std::string never_fits(const std::string& who, const policy::Refusal& refusal) {
  if (refusal.gpus < refusal.asked_gpus) {
    return who + " needs " + std::to_string(refusal.asked_gpus) + " GPUs, and may use " + std::to_string(refusal.gpus);
  }
  return who + " needs " + to_string(Bytes{refusal.asked_bytes}) +
         " of a device, its context included, and the largest that it may use has " +
         to_string(Bytes{refusal.largest_device_bytes}) +
         ": waiting would not help. Ask for less, or run it where there is more";
}

std::string too_few_gpus(const std::string& who, int gpus, const std::vector<Device>& devices,
                         const std::string& why_no_more) {
  return who + " needs " + std::to_string(gpus) + " GPUs and may use " + std::to_string(devices.size()) + " (" +
         describe(devices) + ")" + (why_no_more.empty() ? "" : "; " + why_no_more) +
         ". Run it where it may use more ('gputest devices' shows which there are), or ask for fewer: " +
         advised(Advice::number_gpus);
}

std::string not_capable(const std::string& who, const std::string& why) {
  return who + " requires what its devices do not have: " + why +
         ". Run it where there is such a device; 'gputest devices' shows what each has";
}

std::string waited_too_long(const std::string& who, const std::string& what, std::chrono::seconds limit,
                            const ledger::Blocked& blocked) {
  return who + " waited " + short_duration(limit) + ", its wait limit, for " + what +
         " and was not admitted. In its way: " + describe(blocked) +
         ". 'gputest status' shows which processes hold memory and which wait; a longer limit (" +
         advised(Advice::wait_limit) + ") lets it wait longer";
}

std::string no_room_beside_overheads(const std::string& who, const std::string& what, const ledger::Blocked& blocked,
                                     const std::string& unleased) {
  return who + " needs " + what +
         ", and what the processes on its device have without a lease leaves no room for it: " +
         describe_overheads(blocked) + (unleased.empty() ? "" : " (" + unleased + ")") +
         ". They all wait, so none would free memory. " + remedy_at(unleased) + ". If these are only CUDA contexts" +
         (advice_notation() == detail::Notation::marks
              ? ", and what fixtures hold by gpu_lease(), run fewer at once (pytest -n"
              : ", run fewer at once (ctest -j") +
         "); "
         "processes that start from now on are counted with the larger context";
}

std::string no_room_in_process(const std::string& who, const std::string& what, Bytes overhead,
                               const std::string& unleased) {
  return who + " needs " + what + ", and its own process already has " + to_string(overhead) +
         " of the device without a lease" + (unleased.empty() ? "" : " (" + unleased + ")") +
         ", which leaves no room for it: its context, memory that earlier tests have not freed, or memory that was "
         "taken outside of tests. " +
         remedy_at(unleased);
}

std::string used_unasked(const std::string& who, bool seen) {
  return who +
         (seen ? " is in an executable that names no library of GPUs"
               : " says that it uses no GPU (" + advised(Advice::says_no_gpu) + ")") +
         ", and has made a context on one, which takes memory without a lease: tests of other processes may run out "
         "of memory. Say in place of that what it needs: " +
         advised(Advice::needs);
}

std::string took_without_lease(const std::string& where, Bytes taken) {
  return where + " took " + to_string(taken) + " without a lease: tests of other processes may run out of memory. " +
         remedy_at(where);
}

std::string keeps_more(const std::string& who, Bytes grown) {
  return who + " ends with at least " + to_string(grown) +
         " more of its device in use by its process than when it began, which is more than a context grows by. Free it "
         "before the test ends, or allow it (" +
         advised(Advice::keep) + ")";
}

std::string ran_out_of_memory(const std::string& who, const std::string& test, const std::optional<Bytes>& leased,
                              const Request* request, const OwnUse& own, const std::string& shared,
                              const std::vector<ledger::Record>& holders, const ledger::Blocked& beyond) {
  const std::string lease = leased ? " under its lease of " + to_string(*leased) : " without a lease";
  const std::string seen = beyond.excesses.empty() && beyond.external_bytes == 0
                               ? "No process is seen to have more than its lease now; one may have had it then"
                               : "In use beyond all leases: " + describe(beyond);
  std::string asked;
  std::string to_do = remedy_at(test.find('.') == std::string::npos ? "" : "GPUTEST_LEASE");
  if (leased && request != nullptr) {
    const bool is_known = own.largest > Bytes{};
    const bool is_covered = own.wanted > Bytes{} && own.wanted <= *leased;
    const Bytes twice{leased->count() * 2};
    asked = own.wanted == Bytes{} ? ""
                                  : ". With what it asked for, it would have had " + to_string(own.wanted) +
                                        (is_covered ? ", which its lease covers" : "");
    to_do = is_known && (own.wanted > own.largest || (own.wanted == Bytes{} && *leased >= own.largest))
                ? policy::beyond_all_devices(own.largest)
            : own.wanted == Bytes{} ? "If the test needs more than its lease, declare it, for example twice as much: " +
                                          policy::declare(test, is_known ? std::min(twice, own.largest) : twice,
                                                          *request, policy::Named::test, advice_notation())
            : is_covered ? ""
                         : "Declare what it would have had: " +
                               policy::declare(test, own.wanted, *request, policy::Named::test, advice_notation());
  }
  std::string held;
  for (const auto& holder : holders) {
    held += (held.empty() ? ". Other leases there: " : ", ") + describe(holder);
  }
  return who + " ran out of memory" + lease + asked + (own.text.empty() ? "" : ". " + own.text) +
         (shared.empty() ? "" : ". " + shared) + ". " + seen + held + (to_do.empty() ? "" : ". " + to_do);
}

namespace {

/// So that gputest chooses devices before CUDA does.
std::string choose_before() {
  return "call run_all_tests() before the first CUDA call, or start it by the launcher: LAUNCHER on" +
         advised(Advice::in_cmake) + ", or gputest run";
}

} // namespace

std::string not_announced(const std::string& who, const std::string& what, const ledger::Blocked& others,
                          bool began_early) {
  return who + " asks for " + what +
         ", more than its process announced when it started; waiting for it now could deadlock with the other "
         "processes: " +
         describe(others) +
         (began_early ? ". CUDA was initialised before gputest could wait for room; to let it wait, " + choose_before()
                      : ". Announce it: " + advised(Advice::announce));
}

std::string beyond_smallest_device(const std::string& who, const std::string& what, Bytes smallest,
                                   const ledger::Blocked& blocked) {
  return who + " needs " + what +
         ", which is not free now. Its process has several GPUs, because another of its tests " +
         "asks for them, and waits only for what each of them can hold; the smallest has " + to_string(smallest) +
         ". In its way: " + describe(blocked) + ". Run the test in a process of its own" + advised(Advice::own_process);
}

std::string rank_would_wait(const std::string& who, const std::string& what, const MpiRank& rank,
                            const ledger::Blocked& blocked) {
  return who + " is an MPI rank (" + rank.because + " of " + std::to_string(rank.local_size) +
         ") that takes memory by itself, and does not wait for " + what +
         ": the ranks of two programs that wait for one another would never end. In its way: " + describe(blocked) +
         ". Take the memory of all ranks at once: gpu_add_test(COMMAND mpirun ...), or gputest run --gpus <n> --memory "
         "<bytes> -- mpirun ...";
}

std::string beyond_share(const std::string& what, Bytes needed, Bytes leased, const MpiRank& rank,
                         int ranks_on_a_device, std::size_t devices, const ledger::Record& parent_lease) {
  const auto figure = policy::as_written(needed);
  return "this process is an MPI rank (" + rank.because + " of " + std::to_string(rank.local_size) +
         ") under the lease of " + describe(parent_lease) + ", and asks for " + what + ". Up to " +
         std::to_string(ranks_on_a_device) + " ranks share each of its " + std::to_string(devices) +
         " devices, which with the contexts of the others is " + to_string(needed) +
         " of a device, and the lease has " + to_string(leased) + ". Write MEMORY " + figure +
         " in gpu_add_test() (gputest run --memory " + figure + "), or GPUS " + std::to_string(rank.local_size) +
         " for a device a rank";
}

std::string began_too_early(const std::vector<Device>& devices) {
  return "CUDA was initialised before gputest could choose a device, so this process uses " + describe(devices) +
         "; to let gputest choose, " + choose_before();
}

std::string shares_parent_lease(const ledger::Record& parent_lease) {
  return "All processes under the lease of " + describe(parent_lease) +
         " share its memory, and do not wait for each other. If other tests ran there at the same time, run them "
         "without that lease, so that each takes its own: no gputest run before ctest, and MEMORY none in "
         "gpu_add_test() for an entry that runs ctest";
}

std::string beyond_parent_lease(const Request& request, const ledger::Record& parent_lease) {
  const std::string memory = request.bytes && request.memory_class != MemoryClass::large
                                 ? policy::as_written(*request.bytes)
                                 : std::string{to_string(request.memory_class)};
  const std::string gpus = std::to_string(request.gpus);
  return "this process runs under the lease of " + describe(parent_lease) + ", and asks for " + to_string(request) +
         (request.alone ? "; make that lease as large, and alone" : "; make that lease larger") + ": gputest run" +
         (request.gpus > 1 ? " --gpus " + gpus : "") + (request.alone ? " --alone" : "") + " --memory " + memory +
         ", or" + (request.gpus > 1 ? " GPUS " + gpus : "") + (request.alone ? " ALONE" : "") + " MEMORY " + memory +
         advised(Advice::in_cmake);
}

} // namespace gputest::session
