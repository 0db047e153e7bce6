// SPDX-License-Identifier: BSD-3-Clause
#include "core/time_limit.hpp"

#include "platform/environment.hpp"
#include "platform/time_limit.hpp"
#include "session/messages.hpp"

#include <chrono>
#include <exception>

namespace gputest::core {

namespace {

constexpr const char* variable = "GPUTEST_TIMEOUT";

/// CTest sees the line within milliseconds, and then ends the test as one whose time is over. After its first attempt
/// at a test it does not.
constexpr std::chrono::seconds for_ctest{2};

/// In an entry it ends with a DEL, by which CTest knows it (cmake/detail/entry_properties.cmake). What prints the
/// output of another entry does not print that.
platform::TimeLimitText text_of(const std::string& who, const std::string& limit, bool in_entry) {
  return {"gputest: timed out: " + (who.empty() ? "this process" : who) + " has run for " + limit +
              ", the limit (TIMEOUT), not counting ",
          std::string{" s in which it waited for a GPU. It ends here, and so do the processes that it started. If it "
                      "needs longer, raise TIMEOUT in gpu_add_test() or gpu_discover_tests()"} +
              (in_entry ? "\x7f\n" : "\n")};
}

} // namespace

std::optional<TimeLimit> TimeLimit::take() noexcept try {
  auto limit = settings::parse_time_limit(platform::read_variable);
  if (!limit) {
    return std::nullopt;
  }
  platform::remove_variable(variable);
  return TimeLimit{std::move(*limit)};
} catch (const std::exception&) {
  return std::nullopt;
}

void TimeLimit::start(const std::string& who, bool in_entry) noexcept try {
  if (started_) {
    return;
  }
  started_ = true;
  in_entry_ = in_entry;
  platform::start_time_limit(limit_.duration, text_of(who, limit_.text, in_entry_),
                             in_entry ? for_ctest : std::chrono::seconds{0});
} catch (const std::exception& error) {
  session::tell(error.what());
}

void TimeLimit::running(const std::string& who) noexcept try {
  if (started_) {
    platform::set_time_limit_text(text_of(who, limit_.text, in_entry_));
  }
} catch (const std::exception&) { // NOLINT(bugprone-empty-catch): it then names the test before
}

void TimeLimit::hide_from_ctest(const std::string& who) noexcept {
  in_entry_ = false;
  running(who);
}

} // namespace gputest::core
