#include "latency.hpp"

#include "child.hpp"
#include "shared.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

namespace gputest::benchmarks {

namespace {

constexpr double seconds_a_repeat = 0.02; // thousands of calls even of the slowest
constexpr std::chrono::minutes limit{5};

/// Writes what Google Benchmark measured to shared memory: one row of `repeats` a case.
class Reporter : public benchmark::BenchmarkReporter {
public:
  Reporter(const std::vector<LatencyCase>& cases, const Shared<double>& nanoseconds, std::size_t repeats)
      : cases_{&cases}, nanoseconds_{&nanoseconds}, repeats_{repeats} {}

  bool ReportContext(const Context& /*context*/) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs) {
      if (run.run_type != Run::RT_Iteration) {
        continue; // the mean and so on
      }
      const auto known = std::find_if(cases_->begin(), cases_->end(),
                                      [&](const LatencyCase& one) { return one.name == run.run_name.function_name; });
      const auto row = static_cast<std::size_t>(known - cases_->begin());
      (*nanoseconds_)[row * repeats_ + static_cast<std::size_t>(run.repetition_index)] = run.GetAdjustedRealTime();
    }
  }

private:
  const std::vector<LatencyCase>* cases_;
  const Shared<double>* nanoseconds_;
  std::size_t repeats_;
};

void acquire_and_release(benchmark::State& state, Lock& lock) {
  for ([[maybe_unused]] auto _ : state) {
    lock.acquire();
    lock.release();
  }
}

void run_all(const std::vector<LatencyCase>& cases, const Shared<double>& nanoseconds, int repeats) {
  std::vector<std::unique_ptr<Lock>> locks;
  for (const auto& one : cases) {
    locks.push_back(one.open());
    benchmark::RegisterBenchmark(one.name.c_str(), [&lock = *locks.back()](auto& s) { acquire_and_release(s, lock); })
        ->MinTime(seconds_a_repeat)
        ->Repetitions(repeats)
        ->UseRealTime();
  }
  std::string program = "ledger_benchmark";
  std::string interleaving = "--benchmark_enable_random_interleaving=true";
  std::array<char*, 3> arguments{program.data(), interleaving.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments.data());
  Reporter reporter{cases, nanoseconds, static_cast<std::size_t>(repeats)};
  benchmark::RunSpecifiedBenchmarks(&reporter);
}

} // namespace

std::vector<Row> measure_latencies(const std::vector<LatencyCase>& cases, int repeats) {
  const auto columns = static_cast<std::size_t>(repeats);
  const Shared<double> nanoseconds{cases.size() * columns};
  Child measurer{[&] { run_all(cases, nanoseconds, repeats); }};
  if (!measurer.ended_within(limit)) {
    throw std::runtime_error{"acquiring and releasing alone did not end in 5 minutes"};
  }
  std::vector<Row> rows;
  for (const auto& one : cases) {
    const double* const first = nanoseconds.begin() + rows.size() * columns;
    rows.push_back({one.name, {first, first + columns}, {}});
  }
  return rows;
}

} // namespace gputest::benchmarks
