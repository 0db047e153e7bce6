// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace gputest::settings {

/// Who sets a setting.
enum class SetBy {
  user,
  entry,   ///< gpu_add_test() and gpu_discover_tests() for their tests: what the user says belongs there
  gputest, ///< for its own processes
};

/// An environment variable that gputest reads, of those that begin with GPUTEST_.
struct Setting {
  const char* name;
  const char* values;   ///< with `|` between them: it is one of these words, and the first if it is not set
  const char* fallback; ///< what holds if it is not set
  const char* meaning;
  SetBy by;
};

/// All of them: what nothing here names is no setting.
[[nodiscard]] const std::vector<Setting>& settings_table();

/// The words that a setting can be; none if it is no word.
[[nodiscard]] std::vector<std::string> words_of(const Setting& setting);

/// The position of `text` among the words of the setting `name`; 0 if it is empty. Throws InvalidSetting.
[[nodiscard]] std::size_t parse_word(const std::string& name, const std::string& text);

/// The table as text, for manuals.
[[nodiscard]] std::string settings_reference();

/// Refuses names that begin with GPUTEST_ and that nothing reads, because a mistyped setting would be ignored.
/// Variables of gputest's CMake project are no settings, and are accepted. Throws InvalidSetting that names each of
/// them with the nearest setting. Pure.
void refuse_unknown(const std::vector<std::string>& names);

/// The same for the names of this process's environment.
void refuse_unknown_variables();

} // namespace gputest::settings
