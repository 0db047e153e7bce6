// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::insights {

/// What ctest, looked for in PATH, prints of the tests of a folder (--show-only=json-v1). It is started in a scratch
/// folder: in its own one even a listing would empty LastTest.log, in which people read what the tests of the last run
/// wrote. Throws Error, with the command that shows why, if it prints none.
[[nodiscard]] std::string list_ctest(const std::string& folder, const std::vector<std::string>& options);

/// The options of a ctest that runs some of the tests that `options` select, by number: without those that select by
/// name or label, because ctest counts only the selected tests then. Throws tool::WrongCommandLine for options that
/// an array cannot have. Pure.
[[nodiscard]] std::vector<std::string> options_of_task(const std::vector<std::string>& options);

/// Whether a test may run several times, so that a result may not be its last one. With `until_fail` a failure is.
enum class Repeats { none, until_fail, otherwise };

/// What --repeat and --repeat-until-fail ask for.
[[nodiscard]] Repeats repeats_of(const std::vector<std::string>& options);

/// The numbers, from 1, in the list `all` of the tests that the list `selected` has: both are what ctest prints with
/// --show-only=json-v1, without and with options that select. Throws Error if there is no such test. Pure.
///
/// `ctest -N` cannot tell: it does not count tests that -E excludes, unless -R stands before it.
[[nodiscard]] std::vector<std::size_t> numbers_of_tests(const std::string& selected, const std::string& all);

/// The options of a ctest that runs some of the tests with these numbers: also -FS and -FC for the fixtures that they
/// require, of which ctest would add tests that are not among them. Throws tool::WrongCommandLine if some of a
/// fixture's tests are and some are not. Pure.
[[nodiscard]] std::vector<std::string> with_fixtures_of(const std::vector<std::size_t>& numbers, const std::string& all,
                                                        std::vector<std::string> options);

} // namespace gputest::insights
