// SPDX-License-Identifier: BSD-3-Clause
#include "insights/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace gputest::insights {

namespace {

/// The results of one shard for one test.
struct OfShard {
  const Shard* shard;
  const JunitRun* run; ///< of the last result
  std::vector<const RunResult*> attempts;
};

/// Timestamps have whole seconds, but `ctest --rerun-failed` runs fewer tests than the run before.
bool is_before(const JunitRun& a, const JunitRun& b) {
  return a.begun != b.begun ? a.begun < b.begun : a.results.size() > b.results.size();
}

const RunResult* last_not_skipped(const std::vector<const RunResult*>& attempts) {
  const auto ran = std::find_if(attempts.rbegin(), attempts.rend(),
                                [](const RunResult* result) { return result->verdict <= TestVerdict::passed; });
  return ran == attempts.rend() ? attempts.back() : *ran;
}

/// The first problem stays.
void set_problem(MergedTest& test, const char* kind, const std::string& text) {
  if (test.problem.empty()) {
    test.label = kind;
    test.problem = text;
  }
}

void decide(MergedTest& test, const std::vector<OfShard>& found, bool of_fixture) {
  bool is_same = true;
  std::string files;
  for (const auto& [shard, run, attempts] : found) {
    const auto* const last = last_not_skipped(attempts);
    is_same = is_same && (test.result == nullptr || test.result->verdict == last->verdict);
    test.result = test.result == nullptr || last->verdict < test.result->verdict ? last : test.result;
    test.attempts.insert(test.attempts.end(), attempts.begin(), attempts.end());
    files += (files.empty() ? "" : ", ") + run->file;
  }
  if (found.empty()) {
    set_problem(test, "Missing", "no shard has a result of it");
  } else if (found.size() > 1 && !of_fixture) {
    set_problem(test, is_same ? "Duplicate" : "Contradictory", "these shards have a result of it: " + files);
  }
  if (test.problem.empty()) {
    const auto& why = test.result->why;
    test.verdict = test.result->verdict;
    test.label = test.verdict == TestVerdict::not_run ? "Not Run"
                 : why.empty()                        ? "Failed"
                                                      : why.substr(0, why.find('\n'));
  }
}

} // namespace

Merged merge_results(const std::vector<SuiteTest>& suite, std::vector<Shard>& shards) {
  Merged merged;
  std::unordered_map<std::string, std::vector<std::size_t>> positions; // by name
  for (const auto& test : suite) {
    positions[test.name].push_back(merged.tests.size());
    merged.tests.emplace_back().name = test.name;
  }
  std::vector<std::vector<OfShard>> found(suite.size());
  for (auto& shard : shards) {
    std::stable_sort(shard.begin(), shard.end(), is_before);
    for (const auto& run : shard) {
      std::map<std::string_view, std::vector<const RunResult*>> by_name;
      for (const auto& result : run.results) {
        by_name[result.name].push_back(&result);
      }
      for (const auto& [name, results] : by_name) {
        const auto known = positions.find(std::string{name});
        if (known == positions.end()) {
          merged.unknown.emplace_back().name = name;
          set_problem(merged.unknown.back(), "Unknown",
                      run.file + " has a result of it, and the suite has no such test");
          continue;
        }
        const auto tests = known->second.size();
        for (std::size_t i = 0; i < tests; ++i) {
          auto& test = merged.tests[known->second[i]];
          auto& of_test = found[known->second[i]];
          if (of_test.empty() || of_test.back().shard != &shard) {
            of_test.push_back({&shard, &run, {}});
          }
          auto& [own, last_run, attempts] = of_test.back();
          const auto* const result = results[std::min(i, results.size() - 1)];
          if (results.size() != tests) {
            set_problem(test, results.size() > tests ? "Duplicate" : "Ambiguous",
                        fmt::format("{} has results with this name: {}. Tests of the suite with this name: {}",
                                    run.file, results.size(), tests));
          } else if (!attempts.empty() && attempts.back()->verdict != result->verdict && !is_before(*last_run, run)) {
            set_problem(test, "Contradictory",
                        fmt::format("{} and {} have different results of it, and began at the same time",
                                    last_run->file, run.file));
          }
          last_run = &run;
          attempts.push_back(result);
        }
      }
    }
  }
  for (std::size_t i = 0; i < suite.size(); ++i) {
    decide(merged.tests[i], found[i], suite[i].of_fixture);
  }
  return merged;
}

} // namespace gputest::insights
