// SPDX-License-Identifier: BSD-3-Clause
// A storm of processes on ledgers of its own: they lease at random and are killed at any instruction, and an oracle
// outside the ledger looks whether its promises hold. `ledger_storm --help` says what can be set.
//
// Ends with 0 if every promise held and everybody who was not killed finished, with 1 if not.

#include "driver.hpp"

#include "support/private_folder.hpp"

#include <CLI/CLI.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <deque>
#include <exception>
#include <iostream>
#include <system_error>
#include <utility>

namespace {

using namespace gputest::tests;
using namespace gputest::tests::storm;

constexpr std::pair<const char*, std::atomic<std::uint64_t> Board::*> figures[] = { // NOLINT(*-avoid-c-arrays)
    {"starts", &Board::starts},   {"finished", &Board::finished},
    {"stops", &Board::stops},     {"kept stopped", &Board::kept_stopped},
    {"forks", &Board::forks},     {"times idle", &Board::idle},
    {"resumed", &Board::resumed}, {"had to leave", &Board::left},
    {"entries", &Board::entries}, {"leases", &Board::leases},
    {"grown", &Board::grown},     {"waits", &Board::waits},
    {"rounds", &Board::rounds}};

void print(const std::string& what, const std::vector<const Board*>& boards) {
  const auto sum = [&](auto figure_of) {
    std::uint64_t total = 0;
    for (const Board* board : boards) {
      total += figure_of(*board);
    }
    return total;
  };
  const auto killed_by = [&](std::size_t signal) {
    return sum([&](const Board& board) { return board.killed_by.at(signal).load(); });
  };
  const std::uint64_t kills = sum([](const Board& board) { return board.kills(); });
  std::cout << what << ": " << kills << " kills (" << killed_by(SIGKILL) << " KILL, " << killed_by(SIGABRT) << " ABRT, "
            << killed_by(SIGSEGV) << " SEGV; while";
  for (std::size_t doing = 0; doing < doings; ++doing) {
    std::cout << (doing == 0 ? " " : ", ") << name_of(static_cast<Doing>(doing)) << " "
              << sum([&](const Board& board) { return board.killed_while.at(doing).load(); });
  }
  std::cout << ")";
  for (const auto& [name, figure] : figures) {
    std::cout << ", " << sum([figure = figure](const Board& board) { return (board.*figure).load(); }) << " " << name;
  }
  std::uint64_t wait_us = 0;
  std::uint64_t passed = 0;
  double seconds = 0;
  for (const Board* board : boards) {
    wait_us = std::max<std::uint64_t>(wait_us, board->longest_wait_us);
    passed = std::max<std::uint64_t>(passed, board->most_passed);
    seconds = std::max(seconds, board->seconds);
  }
  std::cout << ", longest wait " << wait_us / 1000 << " ms, most passed by " << passed << ", "
            << sum([](const Board& board) { return board.violations(); }) << " violations";
  const char* of = " of ";
  for (std::size_t rule = 0; rule < rules; ++rule) {
    if (sum([&](const Board& board) { return board.broken.at(rule).load(); }) > 0) {
      std::cout << std::exchange(of, " ") << name_of(static_cast<Rule>(rule));
    }
  }
  std::cout << ", " << seconds << " s, " << static_cast<double>(kills) / seconds << " kills/s" << std::endl;
}

int run(const Settings& settings, std::uint64_t kills, unsigned storms) {
  const std::deque<SharedBoard> shared(storms);
  std::vector<const Board*> boards;
  std::vector<pid_t> drivers;
  std::cout.flush();
  for (unsigned storm = 0; storm < storms; ++storm) {
    boards.push_back(&*shared[storm]);
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
      Driver{own, *shared[storm]}.run();
      ::_exit(0);
    }
  }
  bool failed = false;
  for (unsigned storm = 0; storm < storms; ++storm) {
    int status = 0;
    ::waitpid(drivers[storm], &status, 0);
    const Board& board = *boards[storm];
    print("storm " + std::to_string(storm) + " (seed " + std::to_string(settings.seed + storm) + ")", {&board});
    if (board.told) {
      std::cout << board.first.data() << std::endl;
    }
    if (status != 0) {
      std::cout << "its driver ended with status " << status << std::endl;
    }
    failed = failed || status != 0 || board.violations() != 0;
  }
  print("total", boards);
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
