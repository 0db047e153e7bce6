// SPDX-License-Identifier: BSD-3-Clause
#include "insights/shards.hpp"

#include "insights/entry_runs.hpp"
#include "insights/run_log_files.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

namespace gputest::insights {

namespace {

/// Which tests belong together: each group is known by the position of one of its tests.
class Groups {
public:
  explicit Groups(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }

  std::size_t of(std::size_t test) {
    while (parent_[test] != test) {
      test = parent_[test] = parent_[parent_[test]];
    }
    return test;
  }

  void join(std::size_t a, std::size_t b) {
    const auto first = of(a);
    const auto second = of(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }

private:
  std::vector<std::size_t> parent_;
};

} // namespace

std::vector<std::vector<std::size_t>> assign_shards(const std::vector<SuiteTest>& tests, std::size_t count) {
  Groups groups{tests.size()};
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    groups.join(i, by_name.try_emplace(tests[i].name, i).first->second);
    const std::set<std::size_t> runs_with{tests[i].runs_with.begin(), tests[i].runs_with.end()};
    for (const auto before : tests[i].after) {
      if (runs_with.count(before) == 0) {
        groups.join(i, before);
      }
    }
    if (!runs_with.empty()) { // its time counts in one shard
      groups.join(i, *runs_with.begin());
    }
  }

  std::map<std::size_t, double> times;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    times[groups.of(i)] += tests[i].seconds;
  }
  std::vector<std::pair<std::size_t, double>> longest_first{times.begin(), times.end()};
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });

  std::vector<std::pair<double, std::size_t>> load(count); // groups without a time are spread by their number
  std::map<std::size_t, std::size_t> shard_of;
  for (const auto& [group, time] : longest_first) {
    const auto least = std::min_element(load.begin(), load.end());
    least->first += time;
    ++least->second;
    shard_of[group] = static_cast<std::size_t>(least - load.begin());
  }
  std::vector<std::set<std::size_t>> shards_of(tests.size());
  for (std::size_t i = 0; i < tests.size(); ++i) {
    shards_of[i].insert(shard_of[groups.of(i)]);
  }
  for (bool grows = true; grows;) { // a clean-up may run with another one
    grows = false;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const auto size = shards_of[i].size();
      for (const auto other : tests[i].runs_with) {
        shards_of[i].insert(shards_of[other].begin(), shards_of[other].end());
      }
      grows = grows || shards_of[i].size() > size;
    }
  }
  std::vector<std::vector<std::size_t>> shards(count);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    for (const auto shard : shards_of[i]) {
      shards[shard].push_back(i);
    }
  }
  return shards;
}

std::map<std::string, double> times_of_split(const std::string& path) try {
  if (path.empty()) {
    return {};
  }
  if (std::filesystem::is_directory(path)) {
    throw Error{path + " is a folder"};
  }
  auto times = entry_times(read_run_logs(path).front());
  if (times.empty()) {
    throw Error{path + " has no entry of ctest that ran"};
  }
  return times;
} catch (const Error& error) {
  throw InvalidSetting{std::string{"--times: "} + error.what() +
                       "; write the path of a run log, as Testing/gputest/run-*.jsonl of a run of the whole suite"};
}

std::string selection_of(const std::vector<std::size_t>& numbers) {
  return fmt::format("0,0,0,{}\n", fmt::join(numbers, ","));
}

} // namespace gputest::insights
