// SPDX-License-Identifier: BSD-3-Clause
// A storm of processes on ledgers of its own: they lease at random and are killed at any instruction, and an oracle
// outside the ledger looks whether its promises hold. `ledger_storm --help` says what can be set.
//
// Ends with 0 if every promise held and everybody who was not killed finished, with 1 if not.

#include "driver.hpp"

#include "support/private_folder.hpp"

#include <CLI/CLI.hpp>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <system_error>

namespace {

using namespace gputest::tests;
using namespace gputest::tests::storm;

/// One storm, as its driver's process and this one share it.
struct Shared {
  Board board;
  Tally tally;
};

Shared* new_shared() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc{};
  }
  return new (memory) Shared{};
}

void print(const std::string& what, const Tally& tally, const std::vector<const Shared*>& storms) {
  std::uint64_t entries = 0;
  std::uint64_t leases = 0;
  std::uint64_t waits = 0;
  std::uint64_t forks = 0;
  std::uint64_t idle = 0;
  std::uint64_t resumed = 0;
  std::uint64_t left = 0;
  std::uint64_t passed = 0;
  std::uint64_t wait_us = 0;
  std::string broken;
  std::uint64_t violations = 0;
  for (const auto* storm : storms) {
    entries += storm->board.entries;
    leases += storm->board.leases;
    waits += storm->board.waits;
    forks += storm->board.forks;
    idle += storm->board.idle;
    resumed += storm->board.resumed;
    left += storm->board.left;
    passed = std::max<std::uint64_t>(passed, storm->board.most_passed);
    wait_us = std::max<std::uint64_t>(wait_us, storm->board.longest_wait_us);
    violations += storm->board.violations();
    for (std::size_t rule = 0; rule < rules; ++rule) {
      if (storm->board.broken.at(rule) > 0) {
        broken += std::string{" "} + name_of(static_cast<Rule>(rule));
      }
    }
  }
  std::cout << what << ": " << tally.starts << " starts, " << tally.kills() << " kills (" << tally.killed_by[SIGKILL]
            << " KILL, " << tally.killed_by[SIGABRT] << " ABRT, " << tally.killed_by[SIGSEGV] << " SEGV; while";
  for (std::size_t doing = 0; doing < doings; ++doing) {
    std::cout << (doing == 0 ? " " : ", ") << name_of(static_cast<Doing>(doing)) << " " << tally.killed_while.at(doing);
  }
  std::cout << "), " << tally.finished << " finished, " << tally.stops << " stops (" << tally.kept_stopped << " kept), "
            << forks << " forks, " << idle << " times idle (" << resumed << " resumed, " << left << " had to leave), "
            << entries << " entries, " << leases << " leases, " << waits << " waits, longest " << wait_us / 1000
            << " ms, most passed by " << passed << ", " << tally.rounds << " rounds, " << violations << " violations"
            << (broken.empty() ? "" : " of") << broken << ", " << tally.seconds << " s, "
            << static_cast<double>(tally.kills()) / tally.seconds << " kills/s" << std::endl;
}

int run(const Settings& settings, std::uint64_t kills, unsigned storms) {
  std::vector<Shared*> shared;
  std::vector<pid_t> drivers;
  std::cout.flush();
  for (unsigned storm = 0; storm < storms; ++storm) {
    shared.push_back(new_shared());
    drivers.push_back(::fork());
    if (drivers.back() < 0) {
      throw std::system_error{errno, std::generic_category(), "cannot start a driver"};
    }
    if (drivers.back() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      Settings own = settings;
      own.folder += "/storm-" + std::to_string(storm);
      own.seed += storm;
      own.kills = kills / storms + (storm < kills % storms ? 1 : 0);
      Driver{own, shared.back()->board, shared.back()->tally}.run();
      ::_exit(0);
    }
  }
  bool failed = false;
  Tally total;
  for (unsigned storm = 0; storm < storms; ++storm) {
    int status = 0;
    ::waitpid(drivers.at(storm), &status, 0);
    const Shared& seen = *shared.at(storm);
    print("storm " + std::to_string(storm) + " (seed " + std::to_string(settings.seed + storm) + ")", seen.tally,
          {&seen});
    if (seen.board.told) {
      std::cout << seen.board.first.data() << std::endl;
    }
    if (status != 0) {
      std::cout << "its driver ended with status " << status << std::endl;
    }
    failed = failed || status != 0 || seen.board.violations() != 0;
    total += seen.tally;
  }
  print("total", total, {shared.begin(), shared.end()});
  return failed ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::uint64_t kills = settings.kills;
  unsigned storms = 1;
  std::int64_t patience = settings.patience.count();
  CLI::App options{"Kills processes on a ledger, and looks whether its promises hold"};
  options.add_option("--kills", kills, "End after so many kills, of all storms together")->capture_default_str();
  options.add_option("--storms", storms, "Ledgers side by side, each with a storm: about one a core")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  options.add_option("--processes", settings.processes, "At once, of each storm")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  options.add_option("--devices", settings.devices, "Of each storm")
      ->check(CLI::Range(std::size_t{1}, max_devices))
      ->capture_default_str();
  options.add_option("--seed", settings.seed, "Of the first storm; the next one has the next")->capture_default_str();
  options.add_option("--folder", settings.folder, "For the ledgers; else one that is removed afterwards");
  options.add_option("--patience", patience, "Seconds without any progress that are a violation")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  CLI11_PARSE(options, argc, argv);
  settings.patience = std::chrono::seconds{patience};
  try {
    const PrivateFolder own;
    if (settings.folder.empty()) {
      settings.folder = own.path();
    }
    return run(settings, kills, storms);
  } catch (const std::exception& error) {
    std::cerr << "ledger_storm: " << error.what() << '\n';
    return 2;
  }
}
