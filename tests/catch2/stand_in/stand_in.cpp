// SPDX-License-Identifier: BSD-3-Clause
#include "stand_in.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>

namespace Catch {

namespace {

struct Failed {};
struct Skipped {};

class Function final : public ITestInvoker {
public:
  explicit Function(void (*body)()) : body_{body} {}
  void invoke() const override { body_(); }

private:
  void (*body_)();
};

/// All that is registered before main() begins, and the test case that runs.
struct State {
  std::vector<std::unique_ptr<TestCaseInfo>> infos;
  std::vector<std::unique_ptr<ITestInvoker>> functions;
  std::vector<TestCaseHandle> tests;
  std::vector<stand_in::MakeListener> listeners;
  std::vector<EventListenerBase*> told_of_assertions; ///< in this run
  const TestCaseInfo* running = nullptr;
  std::uint64_t failed_assertions = 0; ///< of the test case
  bool skipped = false;
  int section_to_enter = 0; ///< in this pass of the test case
  int sections_seen = 0;
};

State& state() {
  static State all;
  return all;
}

void say(const std::string& what, const std::string& text) {
  std::cout << state().running->name << ": " << what << ": " << text << std::endl;
}

/// Runs a test case, once for each of its sections.
void run(const TestCaseHandle& test) {
  auto& all = state();
  all.running = &test.getTestCaseInfo();
  all.failed_assertions = 0;
  all.skipped = false;
  all.section_to_enter = 0;
  test.prepareTestCase();
  do {
    all.sections_seen = 0;
    try {
      test.invoke();
    } catch (const Failed&) {  // NOLINT(bugprone-empty-catch): counted
    } catch (const Skipped&) { // NOLINT(bugprone-empty-catch): counted
    } catch (const std::exception& error) {
      stand_in::check(false, error.what());
    }
  } while (++all.section_to_enter < all.sections_seen);
  test.tearDownTestCase();
}

Counts counts_of_last() {
  const auto& all = state();
  Counts counts;
  if (all.failed_assertions > 0) {
    ++(all.running->may_fail ? counts.failedButOk : counts.failed);
  } else {
    ++(all.skipped ? counts.skipped : counts.passed);
  }
  return counts;
}

std::vector<TestCaseHandle> visible(const std::vector<TestCaseHandle>& tests) {
  std::vector<TestCaseHandle> all;
  std::copy_if(tests.begin(), tests.end(), std::back_inserter(all),
               [](const TestCaseHandle& test) { return !test.getTestCaseInfo().isHidden(); });
  return all;
}

int run_selected(const IConfig& config) {
  std::vector<std::unique_ptr<EventListenerBase>> listeners;
  for (const auto make : state().listeners) {
    listeners.emplace_back(make(&config));
    state().told_of_assertions.push_back(listeners.back().get());
  }
  for (const auto& listener : listeners) {
    listener->testRunStarting({});
  }
  const auto& tests = getAllTestCasesSorted(config);
  TestRunStats stats;
  auto& counts = stats.totals.testCases;
  std::uint64_t failed_assertions = 0;
  for (const auto& test :
       config.testSpec().hasFilters() ? filterTests(tests, config.testSpec(), config) : visible(tests)) {
    run(test);
    const Counts last = counts_of_last();
    for (const auto& listener : listeners) {
      listener->testCaseEnded({&test.getTestCaseInfo(), {last}, false});
    }
    counts.passed += last.passed;
    counts.failed += last.failed;
    counts.failedButOk += last.failedButOk;
    counts.skipped += last.skipped;
    failed_assertions += last.failed > 0 ? state().failed_assertions : 0;
  }
  for (const auto& listener : listeners) {
    listener->testRunEnded(stats);
  }
  state().told_of_assertions.clear();
  const auto is_unmatched = [&](const std::string& name) {
    return std::none_of(tests.begin(), tests.end(),
                        [&](const TestCaseHandle& test) { return test.getTestCaseInfo().name == name; });
  };
  const auto& names = config.testSpec().names;
  if (config.warns_of_unmatched && std::any_of(names.begin(), names.end(), is_unmatched)) {
    return 3;
  }
  if (counts.total() == 0) {
    std::cout << "No test cases matched\n";
    return config.allows_none ? 0 : 2;
  }
  return counts.total() == counts.skipped && !config.allows_none
             ? 4
             : static_cast<int>(std::min<std::uint64_t>(failed_assertions, 255));
}

} // namespace

const std::vector<TestCaseHandle>& getAllTestCasesSorted(const IConfig& /*config*/) { return state().tests; }

std::vector<TestCaseHandle> filterTests(const std::vector<TestCaseHandle>& tests, const TestSpec& spec,
                                        const IConfig& /*config*/) {
  std::vector<TestCaseHandle> all;
  std::copy_if(tests.begin(), tests.end(), std::back_inserter(all), [&](const TestCaseHandle& test) {
    return std::find(spec.names.begin(), spec.names.end(), test.getTestCaseInfo().name) != spec.names.end();
  });
  return all;
}

int Session::run(int argc, char** argv) {
  IConfig config;
  for (int index = 1; index < argc; ++index) {
    const std::string argument{argv[index]};
    if (argument == "--list-tests") {
      for (const auto& test : visible(state().tests)) {
        std::cout << "  " << test.getTestCaseInfo().name << '\n';
      }
      return 0;
    }
    if (argument.compare(0, 11, "--reporter=") == 0) {
      continue;
    }
    if (argument == "--warn=UnmatchedTestSpec") {
      config.warns_of_unmatched = true;
      continue;
    }
    if (argument == "--allow-running-no-tests") {
      config.allows_none = true;
      continue;
    }
    if (argument.compare(0, 2, "--") == 0) {
      std::cerr << "Unrecognised token: " << argument << '\n';
      return 255;
    }
    std::istringstream names{argument};
    for (std::string name; std::getline(names, name, ',');) {
      config.spec.names.push_back(name);
    }
  }
  return run_selected(config);
}

namespace stand_in {

bool add_listener(MakeListener make) {
  state().listeners.push_back(make);
  return true;
}

bool add_test_case(void (*body)(), const char* name, const char* tags) {
  auto info = std::make_unique<TestCaseInfo>();
  info->name = name;
  for (const char* at = std::strchr(tags, '['); at != nullptr; at = std::strchr(at, '[')) {
    const char* const end = std::strchr(++at, ']');
    const StringRef tag{at, static_cast<std::size_t>(end - at)};
    const std::string text{tag.data(), tag.size()};
    info->hidden = info->hidden || text == ".";
    info->may_fail = info->may_fail || text == "!mayfail";
    info->tags.push_back({tag});
  }
  auto& all = state();
  all.functions.push_back(std::make_unique<Function>(body));
  all.tests.emplace_back(info.get(), all.functions.back().get());
  all.infos.push_back(std::move(info));
  return true;
}

bool enter_section(const char* /*name*/) { return state().sections_seen++ == state().section_to_enter; }

void check(bool holds, const std::string& text) {
  if (!holds) {
    ++state().failed_assertions;
    for (auto* const listener : state().told_of_assertions) {
      listener->assertionEnded({{false}});
    }
    say("failed", text);
  }
}

void leave_failed(const std::string& text) {
  check(false, text);
  throw Failed{};
}

void leave_skipped(const std::string& text) {
  state().skipped = true;
  say("skipped", text);
  throw Skipped{};
}

} // namespace stand_in
} // namespace Catch
