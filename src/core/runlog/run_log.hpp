// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputest::runlog {

/// A JSON object on one line, written member by member in the order of the calls.
class JsonObject {
public:
  /// Control characters and bytes that are no UTF-8 are escaped or replaced, so that any text can be given.
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& number(std::string_view name, std::uint64_t value);
  /// Seconds, to the microsecond.
  JsonObject& seconds(std::string_view name, double value);
  JsonObject& flag(std::string_view name, bool value);
  JsonObject& texts(std::string_view name, const std::vector<std::string>& values);
  JsonObject& objects(std::string_view name, const std::vector<JsonObject>& values);

  /// Appends the members of `other`.
  JsonObject& members(const JsonObject& other);

  /// `{"name":"value"}`, without a newline.
  [[nodiscard]] std::string to_string() const { return "{" + members_ + "}"; }

private:
  void begin(std::string_view name);

  std::string members_;
};

/// `version` in the line `run`. Goes up when a key is removed or changes its meaning, not when one is added.
inline constexpr unsigned run_log_version = 1;

// The log of a run: a JSON Lines file that all processes of a ctest share (DESIGN.md). Without a
// ctest each process has a file of its own.
//
// Thread-safe. Nothing throws or fails a test: why a log cannot be written is said on stderr, once; not
// where CTest judges the output.

/// The folder is that of these settings, and the lines are of this entry. Without a call the settings of the process
/// count, and the lines are of the program. A log that is open stays so if its folder does: a worker writes its last
/// line when its ctest may have ended, and cannot be found.
void configure(const std::string& folder, const std::string& entry) noexcept;

/// The test that runs now, which the lines name; empty between tests.
void set_running(const std::string& test) noexcept;

/// Writes a line: `event` is its kind, `details` its own members, `test` another test than the running one. Costs one
/// open, write and close.
void write(const char* event, const JsonObject& details,
           const std::optional<std::string>& test = std::nullopt) noexcept;

struct Event {
  const char* name;
  JsonObject details;
};

/// The same for several at once, which costs no more than one.
void write(const std::vector<Event>& events, const std::optional<std::string>& test) noexcept;

} // namespace gputest::runlog
