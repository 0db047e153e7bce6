// SPDX-License-Identifier: BSD-3-Clause
#include "insights/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string_view>
#include <unordered_map>

namespace gputest::insights {

namespace {

constexpr double hour = 3600;

/// The seconds by which local time is ahead of UTC then.
std::time_t offset_at(std::time_t time) {
  std::tm local{};
  return ::localtime_r(&time, &local) != nullptr ? local.tm_gmtoff : 0;
}

struct Attempt {
  const JunitRun* run;
  const RunResult* result;

  [[nodiscard]] TestVerdict verdict() const { return result->verdict; }
};

/// The results of one shard for one test.
struct OfShard {
  const Shard* shard;
  std::vector<Attempt> attempts; ///< in the order of their earliest times
};

/// Those of which each may be the last that did not skip the test, the worst first.
std::vector<Attempt> possibly_last(const std::vector<Attempt>& attempts) {
  auto last = attempts;
  const auto skipped = [](const Attempt& attempt) { return attempt.verdict() > TestVerdict::passed; };
  if (!std::all_of(last.begin(), last.end(), skipped)) {
    last.erase(std::remove_if(last.begin(), last.end(), skipped), last.end());
  }
  const auto has_later = [all = last](const Attempt& attempt) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Attempt& other) { return attempt.run->begun.is_before(other.run->begun); });
  };
  last.erase(std::remove_if(last.begin(), last.end(), has_later), last.end());
  std::stable_sort(last.begin(), last.end(),
                   [](const Attempt& a, const Attempt& b) { return a.verdict() < b.verdict(); });
  return last;
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
  for (const auto& [shard, attempts] : found) {
    const auto last = possibly_last(attempts);
    const auto* const result = last.front().result;
    if (result->verdict <= TestVerdict::not_run && last.back().verdict() == TestVerdict::passed) {
      set_problem(test, "Contradictory",
                  fmt::format("it failed in {} and passed in {}, and their times do not tell which run was the last",
                              last.front().run->file, last.back().run->file));
    }
    is_same = is_same && (test.result == nullptr || test.result->verdict == result->verdict);
    test.result = test.result == nullptr || result->verdict < test.result->verdict ? result : test.result;
    for (const auto& attempt : attempts) {
      test.attempts.push_back(attempt.result);
    }
    files += (files.empty() ? "" : ", ") + attempts.back().run->file;
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

bool RunTime::is_before(const RunTime& other) const {
  const double other_zone = has_zone == other.has_zone ? 0 : 26 * hour; // from UTC-12 to UTC+14
  return latest + other_zone < other.earliest;
}

RunTime parse_run_time(const std::string& text) {
  std::tm fields{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &fields);
  if (rest == nullptr) {
    return {};
  }
  std::string fraction;
  if (*rest == '.' || *rest == ',') {
    fraction.assign(rest + 1, std::strspn(rest + 1, "0123456789"));
    rest += 1 + fraction.size();
  }
  RunTime time;
  time.has_zone = *rest != '\0';
  if (time.has_zone && ((rest = ::strptime(rest, "%z", &fields)) == nullptr || *rest != '\0')) {
    return {};
  }
  const auto ahead = fields.tm_gmtoff;
  const auto written = ::timegm(&fields); // as if it was UTC
  std::array<std::time_t, 2> times{written, written};
  if (time.has_zone) {
    times.fill(written - ahead);
  } else { // the offsets of the days around it; if both fit, it came twice
    ::tzset();
    times = {written - offset_at(written + 24 * 3600), written - offset_at(written - 24 * 3600)};
    const auto fits = [&](std::time_t candidate) { return candidate + offset_at(candidate) == written; };
    if (fits(times[0]) != fits(times[1])) {
      times.fill(fits(times[0]) ? times[0] : times[1]);
    }
  }
  const auto [first, last] = std::minmax(times[0], times[1]);
  const double part = std::strtod(("0." + fraction).c_str(), nullptr);
  time.earliest = static_cast<double>(first) + part;
  time.latest = static_cast<double>(last) + (fraction.empty() ? 0.999 : part); // it has whole seconds
  return time;
}

Merged merge_results(const std::vector<SuiteTest>& suite, std::vector<Shard>& shards) {
  Merged merged;
  std::unordered_map<std::string, std::vector<std::size_t>> positions; // by name
  for (const auto& test : suite) {
    positions[name_in_junit(test.name)].push_back(merged.tests.size());
    merged.tests.emplace_back().name = test.name;
  }
  std::vector<std::vector<OfShard>> found(suite.size());
  for (auto& shard : shards) {
    std::stable_sort(shard.begin(), shard.end(),
                     [](const JunitRun& a, const JunitRun& b) { return a.begun.earliest < b.begun.earliest; });
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
            of_test.push_back({&shard, {}});
          }
          if (results.size() != tests) {
            set_problem(test, results.size() > tests ? "Duplicate" : "Ambiguous",
                        fmt::format("{} has results with this name: {}. Tests of the suite with this name: {}",
                                    run.file, results.size(), tests));
          }
          of_test.back().attempts.push_back({&run, results[std::min(i, results.size() - 1)]});
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
