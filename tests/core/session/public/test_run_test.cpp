// SPDX-License-Identifier: BSD-3-Clause
// What a process says of its tests, and how it ends. Each program here is a process of its own.
#include <gputest/test_run.hpp>

#include "core/os/test_status_page.hpp"
#include "core/policy/verdict.hpp"
#include "support/in_child.hpp"

#include <gputest/outcome.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace gputest {
namespace {

using namespace literals;
using detail::TestRun;
using testing::HasSubstr;
using testing::Not;
using End = TestRun::End;

class CoreTestRun : public testing::Test {
protected:
  struct Ended {
    int status = 0; ///< or minus the signal
    std::string output;
    std::string reported; ///< to who watches
  };

  using Program = std::function<void(TestRun& run)>;

  /// Of a process with this GPUTEST_ENTRY, or with the page of who watches, that exits with `status` behind `program`.
  [[nodiscard]] Ended ended(const std::string& entry, int status, const Program& program) const {
    const os::TestStatusPage page;
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = tests::start_child([&]() -> int {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::setenv("GPUTEST_TEST", "sort", 1);
      ::setenv("GPUTEST_ENTRY", entry == "watched" ? page.path().c_str() : entry.c_str(), 1);
      program(TestRun::of_process());
      std::exit(status); // NOLINT(concurrency-mt-unsafe)
    });
    ::close(ends[1]);
    Ended ended;
    std::array<char, 4096> block{};
    for (ssize_t count = 0; (count = ::read(ends[0], block.data(), block.size())) > 0;) {
      ended.output.append(block.data(), static_cast<std::size_t>(count));
    }
    ::close(ends[0]);
    ended.status = tests::end_of(child);
    const auto report = page.report();
    ended.reported = std::to_string(report.begun) + " begun, " + std::to_string(report.ended) + " ended" +
                     (report.skipped > 0 ? ", skipped" : "") + (report.nothing_ran > 0 ? ", nothing ran" : "") +
                     (report.check_has_failed ? ", a check failed" : "") + (report.stopped ? ", stopped" : "") +
                     (report.failed_by_gputest.empty() ? "" : ", failed by gputest: " + report.failed_by_gputest);
    return ended;
  }
};

const auto begins = [](TestRun& run) { run.begin("gputest::run_all_tests()"); };

/// A test has run, and then all have ended.
std::function<void(TestRun& run)> ends(End how) {
  return [how](TestRun& run) {
    begins(run);
    run.running("Sort.Keys");
    run.running("");
    run.end(how);
  };
}

TEST_F(CoreTestRun, that_exits_before_its_first_test_fails_whatever_its_exit_code_is) {
  const auto seen = ended("watched", 3, begins);
  EXPECT_EQ(seen.status, 3);
  EXPECT_EQ(seen.reported, "1 begun, 0 ended, failed by gputest: exit(3) was called before the first test");
  EXPECT_EQ(ended("ctest", 3, begins).status, 3);
  const auto runs_a_test = [](TestRun& run) {
    begins(run);
    run.running("Sort.Keys");
  };
  const auto begins_again = [](TestRun& run) {
    ends(End::passed)(run);
    begins(run);
  };
  EXPECT_EQ(ended("watched", 3, begins_again).reported,
            "2 begun, 1 ended, failed by gputest: exit(3) was called before the first test");
  EXPECT_EQ(ended("watched", 3, runs_a_test).reported, "1 begun, 1 ended") << "that is how the test fails";
}

TEST_F(CoreTestRun, tells_its_end_to_who_watches) {
  EXPECT_EQ(ended("watched", 0, ends(End::passed)).reported, "1 begun, 1 ended");
  EXPECT_EQ(ended("watched", 1, ends(End::failed)).reported, "1 begun, 1 ended");
  EXPECT_EQ(ended("watched", 77, ends(End::all_skipped)).reported, "1 begun, 1 ended, skipped");
  EXPECT_EQ(ended("watched", 0, ends(End::nothing_ran)).reported,
            "1 begun, 1 ended, nothing ran, failed by gputest: no test ran");
  const auto fails = [](TestRun& run) {
    begins(run);
    run.failed_by_gputest("the first reason");
    run.failed_by_gputest("the second reason");
    run.end(End::nothing_ran);
  };
  EXPECT_EQ(ended("watched", 1, fails).reported, "1 begun, 1 ended, nothing ran, failed by gputest: the first reason");
  const auto by_hand = [](int code) { return [code](TestRun&) { static_cast<void>(report_end(code)); }; };
  EXPECT_EQ(ended("watched", 0, by_hand(0)).reported, "1 begun, 1 ended");
  EXPECT_EQ(ended("watched", 77, by_hand(77)).reported, "1 begun, 1 ended, skipped");
  EXPECT_THAT(ended("", 0, by_hand(2)).output, HasSubstr("End main() with `return gputest::report_end(exit_code);`"));
}

TEST_F(CoreTestRun, of_a_program_that_begins_none_runs_again_unless_a_test_has_failed) {
  const auto runs_again = [](TestRun& run) { run.run_again_alone({policy::StopCause::own_unleased, {}, {}, {}, {}}); };
  const auto seen = ended("watched", 0, runs_again);
  EXPECT_EQ(seen.status, EXIT_FAILURE);
  EXPECT_EQ(seen.reported, "0 begun, 0 ended, stopped");
  const auto fails_before = [&](TestRun& run) {
    TestRun::TestEnd test;
    test.result = "failed";
    run.ended(test);
    runs_again(run);
  };
  EXPECT_EQ(ended("watched", 0, fails_before).reported, "0 begun, 0 ended, a check failed")
      << "a further run would hide that";
  const auto goes_on_in_a_child = [&](TestRun& run) {
    begins(run);
    EXPECT_EQ(tests::in_child([&] {
                runs_again(run);
                return 0;
              }),
              0);
    run.end(End::passed);
  };
  EXPECT_EQ(ended("watched", 0, goes_on_in_a_child).reported, "1 begun, 1 ended");
}

TEST_F(CoreTestRun, fails_if_any_of_its_runs_has_failed) {
  const auto both = [](TestRun& run) {
    ends(End::failed)(run);
    ends(End::passed)(run);
    EXPECT_EQ(run.exit_code(0), EXIT_FAILURE);
    EXPECT_EQ(run.exit_code(3), 3);
  };
  const auto by_hand = [](TestRun&) {
    EXPECT_EQ(report_end(2), 2);
    EXPECT_EQ(report_end(0), EXIT_FAILURE);
  };
  for (const auto* const entry : {"", "ctest", "watched"}) {
    EXPECT_EQ(ended(entry, 0, both).status, EXIT_FAILURE) << entry;
    EXPECT_EQ(ended(entry, 0, by_hand).status, EXIT_FAILURE) << entry;
  }
}

TEST_F(CoreTestRun, tells_ctest_the_most_that_any_test_took_if_that_is_known_of_all) {
  const auto takes = [](const std::vector<std::optional<Bytes>>& peaks) {
    return [peaks](TestRun& run) {
      begins(run);
      for (const auto& peak : peaks) {
        run.note_peak(peak);
      }
      run.end(End::passed);
    };
  };
  const std::string name = "name=\"gputest_peak_mib\">";
  EXPECT_THAT(ended("ctest", 0, takes({1_MiB, 3_MiB, 2_MiB})).output, HasSubstr(name + "3.000<"));
  EXPECT_THAT(ended("ctest", 0, takes({})).output, Not(HasSubstr(name)));
  EXPECT_THAT(ended("ctest", 0, takes({1_MiB, std::nullopt})).output, Not(HasSubstr(name)));
  EXPECT_THAT(ended("ctest", 0, takes({std::nullopt, 1_MiB})).output, Not(HasSubstr(name)));
  EXPECT_THAT(ended("", 0, takes({1_MiB})).output, Not(HasSubstr(name)));
}

TEST_F(CoreTestRun, tells_ctest_what_was_leased_of_which_device_and_which_attempt_it_is) {
  const auto leases = [](TestRun& run) {
    begins(run);
    run.note_lease(1_GiB, "GPU-0 GPU-1");
    run.note_lease(3_GiB); // it has grown
    run.note_lease(2_GiB, "GPU-2");
    run.note_peak(std::nullopt);
    run.end(End::passed);
  };
  const auto first = ended("ctest", 0, leases).output;
  EXPECT_THAT(first, HasSubstr("<CTestMeasurement type=\"numeric/double\" name=\"gputest_lease_mib\">3072.000<"));
  EXPECT_THAT(first, HasSubstr("<CTestMeasurement type=\"text/string\" name=\"gputest_device\">GPU-2<"));
  EXPECT_THAT(first, Not(testing::AnyOf(HasSubstr("attempt"), HasSubstr("peak"))));
  ::setenv("GPUTEST_ATTEMPT", "2", 1);
  EXPECT_THAT(ended("ctest", 0, leases).output, HasSubstr("name=\"gputest_attempt\">2<"));
  ::unsetenv("GPUTEST_ATTEMPT");
}

TEST_F(CoreTestRun, of_the_next_case_knows_nothing_of_the_one_before) {
  const auto next = [](const std::string& entry, End how) {
    return [entry, how](TestRun& run) {
      begins(run);
      run.running("Sort.Keys");
      run.failed_by_gputest("a reason");
      run.note_peak(1_GiB);
      run.note_peak(std::nullopt);
      run.end(End::failed);
      ::setenv("GPUTEST_ENTRY", entry.c_str(), 1);
      ::setenv("GPUTEST_TEST", "merge", 1);
      run.begin_next_case();
      if (how == End::nothing_ran) {
        return; // no tests follow
      }
      begins(run);
      run.note_peak(2_MiB);
      run.end(how);
    };
  };
  const auto passed = ended("ctest", 0, next("ctest", End::passed));
  EXPECT_EQ(passed.status, 0) << "those that failed were of another case";
  EXPECT_THAT(passed.output, HasSubstr(">2.000<"));
  EXPECT_EQ(ended("ctest", 0, next("ctest", End::nothing_ran)).status, 0);
}

TEST_F(CoreTestRun, is_not_that_of_a_process_that_a_test_forks) {
  const auto forks = [](TestRun& run) {
    begins(run);
    run.running("Sort.Keys");
    const pid_t child = ::fork();
    if (child == 0) {
      run.end(End::passed); // as a test that returns in both
      std::exit(0);         // NOLINT(concurrency-mt-unsafe)
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    run.end(status == 0 ? End::failed : End::nothing_ran);
  };
  const auto seen = ended("watched", 1, forks);
  EXPECT_EQ(seen.status, 1);
  EXPECT_EQ(seen.reported, "1 begun, 1 ended");
}

} // namespace
} // namespace gputest
