// SPDX-License-Identifier: BSD-3-Clause
// Compares the ledger's lease with other ways to keep processes out of each other's way, all in one run.

#include "experiments.hpp"
#include "report.hpp"
#include "run_folder.hpp"

#include <boost/version.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace gputest::benchmarks {

namespace {

constexpr const char* help =
    R"(ledger_benchmark [--json <file>] [--repeats <n>] [--only alone|growth|hand_over|take_over|crowds|mutex|nvml]

Prints a table of medians for the ledger's lease and the locks it is compared with, each also as a multiple of the raw
pthread mutex in the same run. Takes about four minutes; works in a folder of its own below /dev/shm.

The last two tables are of the machine's GPUs, or of a simulated device where there are none: the time for which
processes hold the ledger's mutex while 16 others create contexts, and how often a grant calls NVML.

  --json <file>   writes the figures there too
  --repeats <n>   how often acquire and release is measured, 30 by default; three times as many hand-overs, twice as
                  many take-overs, a third as many starts of 16 processes, and a sixth as many runs of the rest
  --only <name>   one experiment
)";

struct Options {
  std::string json;
  std::string only;
  int repeats = 30;
};

struct Experiment {
  std::string name;
  std::function<std::vector<Table>(const std::string& folder, int repeats)> run;
};

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all{
      {"alone", [](const auto& folder, int n) { return std::vector{measure_alone(folder, n)}; }},
      {"growth", [](const auto& folder, int n) { return std::vector{measure_growth(folder, n)}; }},
      {"hand_over", [](const auto& folder, int n) { return std::vector{measure_hand_over(folder, 3 * n)}; }},
      {"take_over", [](const auto& folder, int n) { return std::vector{measure_take_over(folder, 2 * n)}; }},
      {"crowds", [](const auto& folder, int n) { return measure_crowds(folder, (n + 5) / 6); }},
      {"mutex", [](const auto& folder, int n) { return std::vector{measure_mutex(folder, (n + 2) / 3)}; }},
      {"nvml", [](const auto& folder, int n) { return std::vector{measure_nvml_calls(folder, (n + 5) / 6)}; }},
  };
  return all;
}

/// Throws std::invalid_argument, with what is wrong; with nothing, if help is asked for.
Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    const std::string& name = *argument;
    if (name == "--help") {
      throw std::invalid_argument{""};
    }
    if (name != "--json" && name != "--only" && name != "--repeats") {
      throw std::invalid_argument{"unknown option " + name};
    }
    if (++argument == arguments.end()) {
      throw std::invalid_argument{name + " needs a value"};
    }
    if (name == "--json") {
      options.json = *argument;
    } else if (name == "--only") {
      options.only = *argument;
    } else {
      const char* const end = argument->data() + argument->size();
      const auto number = std::from_chars(argument->data(), end, options.repeats);
      if (number.ec != std::errc{} || number.ptr != end || options.repeats < 1 || options.repeats > 1000) {
        throw std::invalid_argument{"--repeats needs a number from 1 to 1000, not " + *argument};
      }
    }
  }
  const bool known = std::any_of(experiments().begin(), experiments().end(),
                                 [&](const Experiment& one) { return one.name == options.only; });
  if (!options.only.empty() && !known) {
    throw std::invalid_argument{"there is no experiment " + options.only};
  }
  return options;
}

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

Circumstances circumstances() {
  utsname system{};
  ::uname(&system);
  return {std::string{system.sysname} + " " + system.release, std::thread::hardware_concurrency(), BOOST_LIB_VERSION,
          load_average(), 0};
}

int run(const Options& options) {
  const RunFolder folder;
  Circumstances where = circumstances();
  std::vector<Table> tables;
  for (const auto& experiment : experiments()) {
    if (options.only.empty() || options.only == experiment.name) {
      std::cerr << "measuring: " << experiment.name << '\n';
      const auto more = experiment.run(folder.path(), options.repeats);
      tables.insert(tables.end(), more.begin(), more.end());
    }
  }
  where.load_after = load_average();
  print(std::cout, where);
  for (const auto& table : tables) {
    print(std::cout, table);
  }
  if (!options.json.empty()) {
    std::ofstream file{options.json};
    file << to_json(where, tables) << std::flush;
    if (!file) {
      throw std::runtime_error{"cannot write " + options.json};
    }
  }
  return 0;
}

} // namespace

} // namespace gputest::benchmarks

int main(int count, char** arguments) {
  using namespace gputest::benchmarks;
  try {
    return run(parse({arguments + 1, arguments + count}));
  } catch (const std::invalid_argument& error) {
    const std::string wrong = error.what();
    (wrong.empty() ? std::cout : std::cerr) << wrong << (wrong.empty() ? "" : "\n\n") << help;
    return wrong.empty() ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "ledger_benchmark: " << error.what() << '\n';
    return 1;
  }
}
