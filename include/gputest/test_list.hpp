// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/request.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputest {

/// One test of an executable, as gpu_discover_tests() has to know it. The texts may hold any bytes but NUL.
struct ListedTest {
  std::string filter;      ///< what selects this test alone: `Sort.keys/0`
  std::string suite;       ///< without the type: `Sort`, `Instance/Sort`
  std::string type_name;   ///< of a typed test, the last part of its suite's name: `0`
  std::string type;        ///< of a typed test: `int`
  std::string test;        ///< without the index of its value: `keys`
  std::string value_index; ///< of a test with a value: `0`; empty if its name is no number
  std::string value;       ///< of a test with a value: `(3, "a")`
  std::string file;        ///< where it is
  int line = 0;
  bool disabled = false;
  std::optional<Request> request; ///< all that it asks for, itself or by the CTest entry; nullopt if it uses no GPU
  std::string alone; ///< why it has to run in a process of its own, such as `it is a death test`; empty: it need not
};

/// The file into which this executable is asked to write its list of tests in place of running them; nullopt in every
/// other run. gpu_discover_tests() asks by the environment variable GPUTEST_LIST_FILE.
[[nodiscard]] std::optional<std::string> test_list_file();

/// Writes the list of this executable's tests for gpu_discover_tests(): CMake code that names each test, and each
/// shared library of this process. Tests with the same filter become one, which needs the most that any of them needs.
/// Uses no device. Throws Error if the file cannot be written.
void write_test_list(const std::string& file, const std::vector<ListedTest>& tests);

namespace detail {

/// How many characters have to be inserted, removed, replaced, or exchanged with their neighbour, to make `b` of `a`.
/// For the adapters to test frameworks.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

} // namespace detail

} // namespace gputest
