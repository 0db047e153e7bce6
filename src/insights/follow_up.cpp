// SPDX-License-Identifier: BSD-3-Clause
#include "insights/follow_up.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace gputest::insights {

namespace {

constexpr std::size_t most_alone = 100; // an array of Slurm has 1,000 tasks at most by default

} // namespace

std::vector<std::vector<std::size_t>> follow_up_tasks(const std::vector<SuiteTest>& suite,
                                                      const std::set<std::size_t>& lost,
                                                      const std::vector<EndedTask>& ended) {
  std::multimap<std::string, std::size_t> named;
  std::multimap<std::size_t, std::size_t> next;
  for (const auto test : lost) {
    named.emplace(suite[test].name, test);
    for (const auto before : suite[test].after) {
      next.emplace(before, test);
    }
  }
  std::set<std::size_t> suspects;
  std::map<std::size_t, std::size_t> last_task;
  for (std::size_t task = 0; task < ended.size(); ++task) {
    suspects.insert(ended[task].begun.begin(), ended[task].begun.end());
    for (const auto test : ended[task].tests) {
      last_task[test] = task;
    }
  }

  std::vector<std::vector<std::size_t>> tasks;
  auto left = lost;
  const auto take = [&](std::size_t test) {
    if (left.erase(test) != 0) {
      tasks.back().push_back(test);
    }
  };
  for (const auto suspect : suspects) {
    if (left.count(suspect) == 0 || tasks.size() == most_alone) {
      continue;
    }
    tasks.emplace_back();
    take(suspect);
    for (std::size_t i = 0; i < tasks.back().size(); ++i) { // it grows
      const auto test = tasks.back()[i];
      const auto [twin, last_twin] = named.equal_range(suite[test].name);
      std::for_each(twin, last_twin, [&](const auto& other) { take(other.second); });
      const auto [after, last_after] = next.equal_range(test);
      std::for_each(after, last_after, [&](const auto& other) {
        if (suspects.count(other.second) == 0) {
          take(other.second);
        }
      });
    }
    std::sort(tasks.back().begin(), tasks.back().end());
  }
  std::map<std::size_t, std::vector<std::size_t>> others;
  for (const auto test : left) {
    others[last_task[test]].push_back(test);
  }
  for (auto& [task, tests] : others) {
    tasks.push_back(std::move(tests));
  }
  return tasks;
}

} // namespace gputest::insights
