// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/time_limit.hpp"

#include <algorithm>

namespace gputest::policy {

std::optional<TimeLimit> parse_time_limit(const std::string& text) {
  const auto digits = [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
  };
  const auto point = text.find('.');
  const auto whole = text.substr(0, point);
  auto decimals = point == std::string::npos ? "0" : text.substr(point + 1);
  if (!digits(whole) || !digits(decimals) || whole.size() > 9 || text.find_first_of("123456789") == std::string::npos) {
    return std::nullopt;
  }
  decimals = (decimals + "000").substr(0, 3);
  const std::chrono::milliseconds duration{std::stoll(whole) * 1000 + std::stoll(decimals)};
  return TimeLimit{std::max(duration, std::chrono::milliseconds{1}), text + " s"};
}

std::string text_of_time_out(const TimedOut& run, const TimeLimit& limit) {
  const bool names_both = !run.entry.empty() && !run.running.empty() && run.running != run.entry;
  const auto who = names_both ? run.entry + ": " + run.running : run.entry.empty() ? run.running : run.entry;
  const auto waited = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(run.waited).count());
  const auto not_counting =
      limit.text + ", the limit (TIMEOUT), not counting " + waited + " s in which it waited for a GPU. ";
  if (!run.left_behind.empty()) {
    return "timed out: " + run.entry +
           " has ended and left processes behind that hold its output, so CTest waits for "
           "them: " +
           run.left_behind + ". Together they have run for " + not_counting +
           "These processes end here. Let the test end what it starts, or give it an output of its own";
  }
  return "timed out: " + (who.empty() ? "this process" : who) + " has run for " + not_counting +
         "It ends here, and so do the processes that it started. If it needs longer, raise TIMEOUT in gpu_add_test() "
         "or "
         "gpu_discover_tests()";
}

} // namespace gputest::policy
