// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_time.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <regex>

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
  static const std::regex form{
      R"((\d{4})-(0[1-9]|1[0-2])-([0-2]\d|3[01])[T ]([01]\d|2[0-3]):([0-5]\d):([0-6]\d)([.,]\d+)?(Z|([+-])(\d\d):?(\d\d)?)?)"};
  std::smatch part;
  if (!std::regex_match(text, part, form)) {
    return {};
  }
  const auto number = [&](std::size_t i) { return part[i].matched ? std::atoi(part[i].str().c_str()) : 0; };
  std::tm fields{};
  fields.tm_year = number(1) - 1900;
  fields.tm_mon = number(2) - 1;
  fields.tm_mday = number(3);
  fields.tm_hour = number(4);
  fields.tm_min = number(5);
  fields.tm_sec = number(6);
  const auto written = ::timegm(&fields); // as if it was UTC
  std::array<std::time_t, 2> times{written, written};
  RunTime time;
  time.has_zone = part[8].matched;
  if (time.has_zone) {
    const int ahead = (number(10) * 60 + number(11)) * 60;
    times.fill(written - (part[9] == "-" ? -ahead : ahead));
  } else { // the offsets of the days around it; if both fit, it came twice
    ::tzset();
    times = {written - offset_at(written + 24 * 3600), written - offset_at(written - 24 * 3600)};
    const auto fits = [&](std::time_t candidate) { return candidate + offset_at(candidate) == written; };
    if (fits(times[0]) != fits(times[1])) {
      times.fill(fits(times[0]) ? times[0] : times[1]);
    }
  }
  const auto [first, last] = std::minmax(times[0], times[1]);
  const double fraction = part[7].matched ? std::strtod(("0." + part[7].str().substr(1)).c_str(), nullptr) : 0;
  time.earliest = static_cast<double>(first) + fraction;
  time.latest = static_cast<double>(last) + (part[7].matched ? fraction : 0.999); // it has whole seconds
  return time;
}

} // namespace gputest::insights
