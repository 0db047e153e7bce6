// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if !__has_include(<catch2/catch_version_macros.hpp>)
#error "gputest::catch2 needs Catch2 3.3 or newer: find_package(Catch2 3), FetchContent or add_subdirectory() brings it"
#endif
#include <catch2/catch_version_macros.hpp>
#if CATCH_VERSION_MAJOR < 3 || (CATCH_VERSION_MAJOR == 3 && CATCH_VERSION_MINOR < 3)
#error "gputest::catch2 needs Catch2 3.3 or newer: earlier ones cannot skip a test case with a reason"
#endif

#include <catch2/catch_test_case_info.hpp>
#include <catch2/interfaces/catch_interfaces_config.hpp>

#include <string>
#include <vector>

namespace gputest::catch2 {

/// The tags of a test case, without their brackets.
[[nodiscard]] std::vector<std::string> tags_of(const Catch::TestCaseInfo& test);

/// Whether a test case uses no GPU: it says so, or it says nothing and its entry says so. Also one with wrong tags.
[[nodiscard]] bool uses_no_gpu(const Catch::TestCaseInfo& test);

/// The list from which Catch2 takes what it runs. Catch2 shows it as a constant, and made none.
[[nodiscard]] std::vector<Catch::TestCaseHandle>& all_test_cases(const Catch::IConfig& config);

/// Those that Catch2 will run.
[[nodiscard]] std::vector<Catch::TestCaseHandle> selected_of(const std::vector<Catch::TestCaseHandle>& all,
                                                             const Catch::IConfig& config);

/// If gpu_discover_tests() asks for the list of tests, writes it, and ends the process.
void list_if_asked(const std::vector<Catch::TestCaseHandle>& selected);

/// Takes `--list-tests` out of a command line, and returns the number of words that stay. An executable that does not
/// know how to list its tests for gputest lists them with it; with it Catch2 would not begin a run.
[[nodiscard]] int without_list_option(int argc, char** argv);

} // namespace gputest::catch2
