// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_time.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace gputest::insights {

namespace {

constexpr double hour = 3600;

/// The seconds by which local time is ahead of UTC then.
std::time_t offset_at(std::time_t time) {
  std::tm local{};
  return ::localtime_r(&time, &local) != nullptr ? local.tm_gmtoff : 0;
}

} // namespace

bool RunTime::is_before(const RunTime& other) const {
  const double other_zone = has_zone == other.has_zone ? 0 : 26 * hour; // from UTC-12 to UTC+14
  return latest + other_zone < other.earliest;
}

RunTime parse_run_time(const std::string& text) {
  std::tm fields{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &fields);
  if (rest == nullptr) {
    return {};
  }
  std::string fraction;
  if (*rest == '.' || *rest == ',') {
    fraction.assign(rest + 1, std::strspn(rest + 1, "0123456789"));
    rest += 1 + fraction.size();
  }
  RunTime time;
  time.has_zone = *rest != '\0';
  if (time.has_zone && ((rest = ::strptime(rest, "%z", &fields)) == nullptr || *rest != '\0')) {
    return {};
  }
  const auto ahead = fields.tm_gmtoff;
  const auto written = ::timegm(&fields); // as if it was UTC
  std::array<std::time_t, 2> times{written, written};
  if (time.has_zone) {
    times.fill(written - ahead);
  } else { // the offsets of the days around it; if both fit, it came twice
    ::tzset();
    times = {written - offset_at(written + 24 * 3600), written - offset_at(written - 24 * 3600)};
    const auto fits = [&](std::time_t candidate) { return candidate + offset_at(candidate) == written; };
    if (fits(times[0]) != fits(times[1])) {
      times.fill(fits(times[0]) ? times[0] : times[1]);
    }
  }
  const auto [first, last] = std::minmax(times[0], times[1]);
  const double part = std::strtod(("0." + fraction).c_str(), nullptr);
  time.earliest = static_cast<double>(first) + part;
  time.latest = static_cast<double>(last) + (fraction.empty() ? 0.999 : part); // it has whole seconds
  return time;
}

} // namespace gputest::insights
