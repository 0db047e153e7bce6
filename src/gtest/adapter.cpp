// SPDX-License-Identifier: BSD-3-Clause
#include "adapter.hpp"

#include "listing.hpp"
#include "test_part.hpp"

#include <gputest/device.hpp>
#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace gputest::detail {

namespace {

constexpr const char* what_main_returns = "gputest::run_all_tests()";

const ::testing::TestSuite& running_suite() { return *::testing::UnitTest::GetInstance()->current_test_suite(); }

/// Settings that cannot be used have failed the tests already.
bool skips_are_forbidden() {
  try {
    return settings_from_environment().forbid_skip == ForbidSkip::all;
  } catch (const Error&) {
    return true;
  }
}

/// Skips or fails the running test.
void apply(const Outcome& outcome, const ::testing::TestInfo& test) noexcept {
  if (outcome.kind == Outcome::Kind::skip) {
    record_part(::testing::TestPartResult::kSkip, test.file(), test.line(),
                TestRun::of_process().skipped(outcome.reason));
  } else if (outcome.kind == Outcome::Kind::fail) {
    record_part(::testing::TestPartResult::kFatalFailure, test.file(), test.line(), outcome.reason);
  }
}

void record_lease(const std::string& memory) {
  std::string devices;
  for (const auto& device : current_devices()) {
    devices += (devices.empty() ? "" : ", ") + device.uuid;
  }
  ::testing::Test::RecordProperty("gputest_memory", memory);
  ::testing::Test::RecordProperty("gputest_devices", devices);
}

/// Whether a failure's text is of a device, or a library on it, that has no memory left.
bool is_out_of_memory(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
  return has("out of memory") || has("out_of_memory") || has("memoryallocation") || has("bad_alloc");
}

/// Of the running test or, with a suite lease, suite. As text: GoogleTest up to 1.14 has numbers of 32 bits.
void record_memory(const Findings& findings) {
  if (!findings.evidence.empty()) {
    ::testing::Test::RecordProperty("gputest_peak_evidence", findings.evidence);
  }
  if (findings.peak) {
    ::testing::Test::RecordProperty("gputest_peak_bytes", std::to_string(findings.peak->count()));
  }
  if (findings.left) {
    ::testing::Test::RecordProperty("gputest_left_bytes", std::to_string(findings.left->count()));
  }
  if (!findings.overuse.empty()) {
    ::testing::Test::RecordProperty("gputest_overuse", findings.overuse);
  }
}

/// `function(suite, test)` for each test that runs, but for those that report misnamed annotations.
template <class Function>
void for_each_to_run(const ::testing::UnitTest& unit_test, Function function) {
  for_each_test(unit_test, [&](const ::testing::TestSuite& suite, const ::testing::TestInfo& test) {
    if (test.should_run() && std::string{suite.name()} != misnamed_suite) {
      function(suite, test);
    }
  });
}

bool any_uses_gpu(const ::testing::UnitTest& unit_test) {
  bool any = false;
  for_each_to_run(unit_test, [&](const ::testing::TestSuite& suite, const ::testing::TestInfo& test) {
    any = any || uses_gpu(suite, test);
  });
  return any;
}

/// The arguments or the environment of this process, as it was started. Each ends with a zero.
std::string words_of_process(const std::string& kind) {
  std::ifstream file{"/proc/self/" + kind};
  return {std::istreambuf_iterator<char>{file}, {}};
}

const std::string& arguments_of_process() {
  static const auto all = words_of_process("cmdline");
  return all;
}

/// What follows `start` in the first word that begins with it; nullopt: none does.
std::optional<std::string> value_in(const std::string& words, const std::string& start) {
  const auto all = '\0' + words;
  const auto begin = all.find('\0' + start);
  return begin == std::string::npos ? std::nullopt : std::optional<std::string>{all.c_str() + begin + 1 + start.size()};
}

/// The filter that this process was started with; empty if with none. A worker is started with one that selects
/// nothing, and given that of each case.
std::string filter_of_process() {
  const auto argument = value_in(arguments_of_process(), "--gtest_filter=");
  return argument ? *argument : value_in(words_of_process("environ"), "GTEST_FILTER=").value_or("");
}

bool asks_for_help() {
  const std::array<std::string, 4> words{"--help", "-h", "-?", "/?"};
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return arguments_of_process().find('\0' + word + '\0') != std::string::npos;
  });
}

/// What is asked of the devices of a test that leases for itself.
Request devices_of(const Request& request) {
  Request of_devices;
  of_devices.capabilities = request.capabilities;
  return of_devices;
}

/// Whether a lease of `suite` is enough for a test that asks for `test` itself.
bool fits(const Request& test, const Request& suite) {
  using namespace literals;
  if (test.gpus > suite.gpus || (test.heap > Bytes{} && test.heap != suite.heap)) {
    return false;
  }
  if (!suite.bytes) {
    return suite.memory_class == MemoryClass::large || (!test.bytes && test.memory_class <= suite.memory_class) ||
           (test.bytes && class_of(*test.bytes) == MemoryClass::small);
  }
  return test.bytes ? *test.bytes <= *suite.bytes : test.memory_class == MemoryClass::small && 256_MiB <= *suite.bytes;
}

} // namespace

bool is_death_test_child() {
  static const bool is_child = arguments_of_process().find("gtest_internal_run_death_test=") != std::string::npos;
  return is_child;
}

Adapter& Adapter::instance() {
  static auto& adapter = *new Adapter; // NOLINT(cppcoreguidelines-owning-memory): see listen()
  return adapter;
}

void Adapter::listen() {
  static const bool listens = (::testing::UnitTest::GetInstance()->listeners().Append(&instance()), true);
  static_cast<void>(listens);
}

void Adapter::begin_case(bool announces_each_case) {
  runs_case_by_case_ = true;
  announces_each_case_ = announces_each_case;
  selected_ = skipped_ = ran_ = 0;
  failed_ = forbidden_ = false;
  end_.reset();
  suite_request_.reset();
  set_up_of_suite_.clear();
  watches_set_up_ = false;
  of_set_up_ = {};
  out_of_memory_.clear();
  begun_ = sequence_.next_entry(); // else the cases before used no GPU
}

void Adapter::begin_program() {
  static_cast<void>(reporter_is_replaced()); // notes those that are GoogleTest's own
  failed_ = false;
  end_.reset();
  if (!is_death_test_child()) {
    TestRun::of_process().begin(what_main_returns);
  }
  if (GTEST_FLAG_GET(list_tests)) { // before, because who reads the list may end this process (`| grep -q`)
    TestRun::of_process().end(TestRun::End::listed);
  }
  if (::testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed()) { // in main(), before it could be heard
    TestRun::of_process().check_failed();
  }
}

void Adapter::begin(const ::testing::UnitTest& unit_test) {
  if (begun_ || unit_test.test_to_run_count() == 0) {
    return;
  }
  begun_ = true;
  sequence_.open(any_uses_gpu(unit_test),
                 "all tests that this process runs say that they use no GPU (no_gpu, HostTest, MEMORY none)",
                 [&](const Request& entry) { return plan_for(unit_test, entry); });
}

Plan Adapter::plan_for(const ::testing::UnitTest& unit_test, const Request& entry) const {
  Plan plan;
  plan.filter_option = "--gtest_filter=";
  plan.in_place_of_parent = is_death_test_child();
  for_each_test(unit_test, [&](const ::testing::TestSuite& suite, const ::testing::TestInfo& test) {
    if (std::string{suite.name()} == misnamed_suite || !uses_gpu(suite, test) ||
        !contradiction_of(suite, test).empty()) {
      return;
    }
    if (test.should_run()) {
      add_to(plan, suite, test, entry);
    } else if (runs_case_by_case_ && reason_for_own_process(suite, test, entry).empty()) { // it may run later
      add_to(plan, suite, test, entry);
      if (announces_each_case_) {
        plan.requests.pop_back();
      }
    }
  });
  return plan;
}

void Adapter::add_to(Plan& plan, const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                     const Request& entry) {
  const auto fixture = fixture_of(suite);
  const auto of_test = needs_of_test(test);
  const auto of_suite = needs_of_suite(suite);
  plan.capabilities = plan.capabilities | of_test.capabilities | of_suite.capabilities;
  plan.requests.push_back(known_request(suite, test, entry));
  const bool says_memory = of_test.says_memory() || of_suite.says_memory() || entry.bytes;
  if (!says_memory && (fixture.scoped || !fixture.known)) {
    plan.open_ended = true; // its leases are known only when it runs
  }
}

Request Adapter::request_of(const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                            std::optional<MemoryClass> fixture) const {
  return resolve(needs_of_test(test), needs_of_suite(suite), fixture, sequence_.entry_request());
}

TestNeeds Adapter::needs_of(const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                            const SuiteFixture& fixture) const {
  using Use = TestNeeds::Use;
  if (!uses_gpu(suite, test)) {
    return {Use::none, {}, {}};
  }
  if (!suite_request_) {
    const auto request = request_of(suite, test, fixture.memory_class);
    return fixture.scoped ? TestNeeds{Use::own, devices_of(request), {}} : TestNeeds{Use::lease, request, {}};
  }
  const auto request = resolve(needs_of_test(test), {}, std::nullopt, *suite_request_);
  if (suite_is_leased_ && !fits(request, *suite_request_)) {
    return {Use::shared, request,
            name_of(test) + " asks for " + memory_text(request) + ", and its suite holds one lease of " +
                memory_text(*suite_request_) +
                " for all its tests. Give the suite as much in GPUTEST_SUITE_NEEDS, or leave it out of GPUTEST_NEEDS"};
  }
  return {Use::shared, request, {}};
}

/// Before any environment runs: one that was registered before gputest's may use CUDA.
void Adapter::OnTestProgramStart(const ::testing::UnitTest& unit_test) {
  begin_program();
  begin(unit_test);
  if (!misnamed_are_tests_) {
    for (const auto& annotation : misnamed_annotations(unit_test)) {
      record_part(::testing::TestPartResult::kNonFatalFailure, annotation.file, annotation.line, annotation.text);
    }
  }
}

void Adapter::OnEnvironmentsSetUpEnd(const ::testing::UnitTest& /*unit_test*/) {
  sequence_.count_unleased("SetUp() of an Environment");
}

void Adapter::OnTestPartResult(const ::testing::TestPartResult& result) noexcept {
  if (!result.failed()) {
    return;
  }
  try {
    auto* const session = sequence_.session();
    if (session != nullptr && !reporting_ && out_of_memory_.empty() && is_out_of_memory(result.message())) {
      out_of_memory_ = session->explain_out_of_memory(running_, true); // GoogleTest's lock is held: it cannot be asked
    }
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): a remark that cannot be made
  }
  TestRun::of_process().check_failed();
}

void Adapter::OnTestSuiteStart(const ::testing::TestSuite& suite) {
  running_ = suite.name();
  suite_begins_ = true;
  rest_is_skipped_ = GTEST_FLAG_GET(fail_fast) && ::testing::UnitTest::GetInstance()->failed_test_suite_count() > 0;
  if (rest_is_skipped_) {
    return;
  }
  const auto needs = needs_of_suite(suite);
  if (!needs.suite_lease) {
    if (!can_run_any(suite)) {
      forbid_set_up(suite);
    } else if (has_set_up(suite)) {
      set_up_of_suite_ = std::string{suite.name()} + "::SetUpTestSuite()";
      watch_set_up(suite);
    }
    return;
  }
  suite_request_ = resolve({}, needs, fixture_of(suite).memory_class, sequence_.entry_request());
  const auto outcome =
      sequence_.begin_suite(suite.name(), {TestNeeds::Use::lease, *suite_request_, contradiction_in(needs)});
  suite_is_leased_ = outcome.kind == Outcome::Kind::granted;
  if (!suite_is_leased_) {
    forbid_set_up(suite);
  }
}

/// A process of its own would run it for a test that says it uses no GPU. So what it uses is that test's use, whichever
/// test of the suite runs first.
void Adapter::watch_set_up(const ::testing::TestSuite& suite) {
  for (int t = 0; t < suite.total_test_count() && !watches_set_up_; ++t) {
    const auto& test = *suite.GetTestInfo(t);
    watches_set_up_ = test.should_run() && !uses_gpu(suite, test);
  }
  if (watches_set_up_ && sequence_.session() != nullptr) {
    sequence_.session()->watch_unleased(set_up_of_suite_);
  }
}

/// Whether GoogleTest announces a test that it only skips then: its SetUpTestSuite() has failed or, since 1.14 (whose
/// headers always define that macro), skipped; or one before it has failed with --gtest_fail_fast.
bool Adapter::is_skipped_by_googletest(const ::testing::TestInfo& test) {
  const auto& suite = running_suite();
  const int failed_before = suite.failed_test_count() - (test.result()->Failed() ? 1 : 0);
#if defined(GTEST_HAS_NOTIFICATION_)
  const bool skips_all = suite.ad_hoc_test_result().Skipped();
#else
  const bool skips_all = false;
#endif
  rest_is_skipped_ = rest_is_skipped_ ||
                     (std::exchange(suite_begins_, false) && (skips_all || suite.ad_hoc_test_result().Failed())) ||
                     (GTEST_FLAG_GET(fail_fast) && failed_before > 0);
  return rest_is_skipped_;
}

/// Whether one of its tests may run, by what is known before anything was asked for.
bool Adapter::can_run_any(const ::testing::TestSuite& suite) {
  const auto fixture = fixture_of(suite);
  for (int t = 0; t < suite.total_test_count(); ++t) {
    const auto& test = *suite.GetTestInfo(t);
    if (test.should_run() && contradiction_of(suite, test).empty() &&
        sequence_.can_run(name_of(test), needs_of(suite, test, fixture))) {
      return true;
    }
  }
  return false;
}

void Adapter::OnTestSuiteEnd(const ::testing::TestSuite& suite) {
  allow_set_up();
  of_set_up_ = {};
  if (!suite_request_) {
    if (!has_set_up(suite) && !has_tear_down(suite)) {
      return;
    }
    sequence_.count_unleased(std::string{suite.name()} +
                             "::TearDownTestSuite()"); // what the set-up took may be free again
  }
  suite_request_.reset();
  const auto findings = sequence_.end_suite(suite.name());
  record_memory(findings);
  report(findings, suite.GetTestInfo(0)->file(), suite.GetTestInfo(0)->line());
}

void Adapter::OnTestStart(const ::testing::TestInfo& test) {
  running_ = name_of(test);
  const auto& suite = running_suite();
  const bool is_skipped = is_skipped_by_googletest(test);
  if (std::string{suite.name()} == misnamed_suite) {
    TestRun::of_process().running(running_);
    return;
  }
  if (std::exchange(watches_set_up_, false)) {
    of_set_up_ = sequence_.examine(set_up_of_suite_);
  }
  if (!uses_gpu(suite, test)) {
    report(of_set_up_, test.file(), test.line());
  }
  const auto contradiction = is_skipped ? std::string{} : contradiction_of(suite, test);
  const auto needs = is_skipped || !contradiction.empty() ? TestNeeds{TestNeeds::Use::none, {}, contradiction}
                                                          : needs_of(suite, test, fixture_of(suite));
  apply(noted(sequence_.begin(running_, needs, std::exchange(set_up_of_suite_, {})), needs), test);
}

/// Keeps what the running test has leased for its report.
Outcome Adapter::noted(Outcome outcome, const TestNeeds& needs) {
  if (needs.use == TestNeeds::Use::shared && suite_is_leased_ && needs.mistake.empty()) {
    leased_ = memory_text(*suite_request_);
  } else if (needs.use == TestNeeds::Use::lease && outcome.kind == Outcome::Kind::granted) {
    leased_ = memory_text(needs.request);
  }
  return outcome;
}

void Adapter::correct(const SuiteFixture& fixture, const ::testing::TestInfo& test) {
  const auto& suite = running_suite();
  const auto known = fixture_of(suite);
  if (known.scoped == fixture.scoped && known.memory_class == fixture.memory_class && known.host == fixture.host) {
    return;
  }
  if (!uses_gpu(suite, test)) {
    if (uses_gpu(suite, test, fixture)) {
      record_part(
          ::testing::TestPartResult::kFatalFailure, test.file(), test.line(),
          "the fixture of " + name_of(test) +
              " says that it uses a GPU, and has both SetUpTestSuite() and TearDownTestSuite() of its own, so "
              "gputest cannot see that in time, and has taken the entry's word that it uses none (MEMORY none). "
              "Write GPUTEST_SUITE_NEEDS(<suite>, small), or what it needs");
    }
    return;
  }
  if (fixture.host) { // it was not known in time: without a GPU it has been skipped by now
    record_part(
        ::testing::TestPartResult::kFatalFailure, test.file(), test.line(),
        "the fixture of " + name_of(test) +
            " is a HostTest that has both SetUpTestSuite() and TearDownTestSuite() "
            "of its own, so gputest cannot see that it uses no GPU. Write GPUTEST_SUITE_NEEDS(<suite>, no_gpu)");
    return;
  }
  remember_fixture(suite, fixture);
  if (!suite_request_ && !::testing::Test::HasFatalFailure() && !::testing::Test::IsSkipped()) {
    const auto needs = needs_of(suite, test, fixture);
    apply(noted(sequence_.ask(name_of(test), needs), needs), test);
  }
}

Lease Adapter::lease(const Request& request, const ::testing::TestInfo& test) {
  if (!uses_gpu(running_suite(), test)) {
    throw Error{name_of(test) + " asks for a lease of " + memory_text(request) +
                ", and says that it uses no GPU (no_gpu, HostTest, MEMORY none)"};
  }
  sequence_.count_unleased(name_of(test) + ", before its GPUTEST_LEASE,");
  auto wanted = request;
  const auto known = request_of(running_suite(), test, std::nullopt);
  wanted.capabilities = wanted.capabilities | known.capabilities;
  wanted.heap = known.heap; // a lease in the middle of a test says nothing of these
  wanted.keeps = known.keeps;
  wanted.keeps_by = known.keeps_by;
  wanted.memory_by = SaidBy::section;
  try {
    auto lease = sequence_.lease(name_of(test), wanted);
    if (lease) {
      record_lease(to_string(request));
    }
    return lease;
  } catch (const NestedLease& error) {
    throw NestedLease{std::string{error.what()} + ", or, to lease only around the GPU sections of a test, derive its "
                                                  "fixture from gputest::ScopedTest"};
  }
}

namespace {

/// The first reason that a skipped test gives.
std::string reason_of_skip(const ::testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    if (result.GetTestPartResult(i).skipped()) {
      std::string reason = result.GetTestPartResult(i).message();
      return reason.erase(reason.find_last_not_of('\n') + 1); // GoogleTest 1.18 ends it with a newline
    }
  }
  return {};
}

} // namespace

void Adapter::OnTestEnd(const ::testing::TestInfo& test) {
  ++ran_;
  const auto findings = sequence_.end(name_of(test));
  if (const auto memory = std::exchange(leased_, {}); !memory.empty()) {
    record_lease(memory);
  }
  record_memory(findings);
  if (const auto text = std::exchange(out_of_memory_, {}); !text.empty()) {
    ::testing::Test::RecordProperty("gputest_out_of_memory", text);
  }
  report(findings, test.file(), test.line());
  const auto& result = *test.result();
  sequence_.ended({test.test_suite_name(), test.name(),
                   result.Failed()    ? "failed"
                   : result.Skipped() ? "skipped"
                                      : "passed",
                   static_cast<double>(result.elapsed_time()) / 1000, result.Skipped() ? reason_of_skip(result) : "",
                   test.file() != nullptr ? test.file() : "", test.line()});
}

void Adapter::OnTestIterationEnd(const ::testing::UnitTest& unit_test, int iteration) {
  if (iteration == 0 && TestRun::of_process().has_failed_before()) { // GoogleTest's report says it, too
    record_part(::testing::TestPartResult::kNonFatalFailure, nullptr, -1,
                "A test had failed before the entry was stopped for memory and ran again, which counts");
  }
  selected_ += unit_test.test_to_run_count();
  skipped_ += unit_test.skipped_test_count();
  failed_ = failed_ || unit_test.Failed();
}

void Adapter::OnTestProgramEnd(const ::testing::UnitTest& unit_test) {
  auto& run = TestRun::of_process();
  const auto passed = static_cast<std::uint64_t>(std::max(ran_ - skipped_, 0));
  // A test that calls RUN_ALL_TESTS() changes what GoogleTest counts as selected.
  const auto selected = static_cast<std::uint64_t>(std::max(selected_, ran_));
  auto how = sequence_.finish(selected, passed, failed_ || unit_test.Failed());
  std::string skip; // of all tests, and not by themselves or by gputest
  if (how == TestRun::End::all_skipped && ran_ == 0) {
    skip = "no test ran, because an environment's SetUp() skipped them all";
  } else if (how == TestRun::End::all_skipped && sequence_.skips() > 0 && ran_ > skipped_) {
    run.say(std::to_string(sequence_.skips()) + " of " + std::to_string(selected_) +
            " tests skipped by gputest, so the entry is skipped; no test failed");
  } else if (how == TestRun::End::nothing_ran && (run.in_entry() || runs_case_by_case_)) {
    const auto nothing = why_no_test_was_selected(unit_test);
    if (nothing.in_other_shards) {
      skip = "no test ran, because " + nothing.why;
      run.say("skipped: " + run.skipped(skip));
      how = TestRun::End::all_skipped;
    } else {
      run.say("failed: no test ran: " + nothing.why);
      run.failed_by_gputest("no test ran: " + nothing.why);
      forbidden_ = true;
    }
  }
  if (!skip.empty() && skips_are_forbidden()) {
    const auto why = skip + ", and GPUTEST_FORBID_SKIP=1";
    run.say("failed: " + why);
    run.failed_by_gputest(why);
    forbidden_ = true;
    how = TestRun::End::failed;
  }
  end_ = how;
  compare_with_entry(unit_test, how);
  run.end(how);
}

/// main(), a flag file or other code may have set another filter than that of the entry. Then an entry neither passes
/// nor fails by tests of others alone.
void Adapter::compare_with_entry(const ::testing::UnitTest& unit_test, TestRun::End how) {
  if (runs_case_by_case_) { // the filter of the case was set just before
    return;
  }
  static const auto filter = filter_of_process();
  bool runs_others = false;
  for_each_to_run(unit_test, [&](const ::testing::TestSuite& /*suite*/, const ::testing::TestInfo& test) {
    const bool is_anothers = !filter.empty() && !selects(filter, name_of(test));
    runs_others = runs_others || is_anothers;
    if (is_anothers && test.result()->Failed()) {
      TestRun::of_process().failed_by_gputest(name_of(test) +
                                              " failed, which the entry does not select by the filter " + filter);
    }
  });
  for_each_to_run(unit_test, [&](const ::testing::TestSuite& /*suite*/, const ::testing::TestInfo& test) {
    if (!runs_others || how != TestRun::End::passed || !test.result()->Skipped()) {
      selected_tests_.insert(name_of(test));
    }
  });
  const auto missing = filter.empty() ? std::vector<std::string>{} : left_out(unit_test, filter, selected_tests_);
  const auto others = missing.size() < 2 ? "" : " and " + std::to_string(missing.size() - 1) + " more";
  TestRun::of_process().not_run(
      missing.empty() ? ""
                      : missing.front() + others + " did not run, although the entry selects it by the filter " +
                            filter + ": the filter was '" + GTEST_FLAG_GET(filter) +
                            "' when the tests began. Let main(), environments and flag files leave the filter as it "
                            "is; a test that cannot run skips itself (GTEST_SKIP)");
}

int Adapter::exit_code(int result) const {
  if (result != 0 || forbidden_) {
    return result != 0 ? TestRun::of_process().exit_code(result) : EXIT_FAILURE;
  }
  if (!end_) {
    const bool is_meant = GTEST_FLAG_GET(list_tests) || asks_for_help();
    if (!is_meant && TestRun::of_process().in_entry()) {
      return fail_without_tests("GoogleTest prints its help instead, for an argument that it does not know");
    }
    TestRun::of_process().end(is_meant ? TestRun::End::listed : TestRun::End::nothing_ran);
  }
  return TestRun::of_process().exit_code(end_ == TestRun::End::all_skipped ? skipped_exit_code : result);
}

int Adapter::fail_without_tests(const std::string& why) {
  auto& run = TestRun::of_process();
  run.say("failed: no test ran: " + why);
  run.failed_by_gputest("no test ran: " + why);
  run.begin(what_main_returns);
  run.end(TestRun::End::nothing_ran);
  return EXIT_FAILURE;
}

void Adapter::report(const Findings& findings, const char* file, int line) {
  reporting_ = true;
  for (const auto& problem : findings.problems) {
    record_part(::testing::TestPartResult::kNonFatalFailure, file, line, problem);
  }
  reporting_ = false;
}

} // namespace gputest::detail
