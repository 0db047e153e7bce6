// SPDX-License-Identifier: BSD-3-Clause
#include "insights/merge.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace gputest::insights {
namespace {

class RunTimeTest : public ::testing::Test {
protected:
  RunTimeTest() {
    if (const char* const zone = std::getenv("TZ")) {
      zone_ = zone;
    }
  }
  ~RunTimeTest() override { zone_ ? ::setenv("TZ", zone_->c_str(), 1) : ::unsetenv("TZ"); }

private:
  std::optional<std::string> zone_;
};

/// `<`: the first one is before the second one; `>`: after; `?`: that is not known.
char order_of(const std::string& first, const std::string& second) {
  const auto a = parse_run_time(first);
  const auto b = parse_run_time(second);
  EXPECT_FALSE(a.is_before(b) && b.is_before(a));
  return a.is_before(b) ? '<' : b.is_before(a) ? '>' : '?';
}

TEST_F(RunTimeTest, orders_times_by_their_zones_or_not_at_all) {
  struct Case {
    std::string first;
    std::string second;
    char order;
  };
  const std::vector<Case> cases{
      {"2026-11-20T22:00:00.1+01:00", "2026-11-20T21:00:04.1+00:00", '<'},
      {"2026-11-20T22:00:00.1+0100", "2026-11-20T21:00:00.1Z", '?'},
      {"2026-11-20T22:00:00.1-05", "2026-11-21T08:29:59.1+05:30", '>'},
      {"2026-11-20T22:00:00.2Z", "2026-11-20T22:00:00.1Z", '>'},
      {"2026-11-20T22:00:00Z", "2026-11-20T22:00:00.9Z", '?'},
      {"2026-11-20T22:00:00Z", "2026-11-20T22:00:01Z", '<'},
      // Without zones: one that both have.
      {"2026-11-20T22:00:00", "2026-11-20T22:00:01", '<'},
      {"2026-11-20T22:00:00", "2026-11-20T22:00:00", '?'},
      {"2026-10-25T11:59:50", "2026-10-25T12:00:10", '<'},
      {"2026-10-24T23:59:59", "2026-10-25T02:00:00", '<'},
      {"2026-10-25T01:59:59", "2026-10-25T02:00:00", '<'},
      {"2026-10-25T02:00:10", "2026-10-25T02:59:50", '?'}, // this hour comes twice
      {"2026-10-25T02:59:50", "2026-10-25T03:00:00", '<'},
      {"2026-03-29T01:59:50", "2026-03-29T03:00:10", '<'}, // and 2:30 does not come
      {"2026-03-29T02:30:00", "2026-03-29T08:00:10", '<'},
      // Only one has a zone.
      {"2026-11-20T22:00:00", "2026-11-21T22:00:00Z", '?'},
      {"2026-11-20T22:00:00", "2026-11-22T22:00:00Z", '<'},
      // Something else.
      {"", "2026-11-20T22:00:00Z", '?'},
      {"yesterday", "2026-11-20T22:00:00Z", '?'},
      {"2026-13-20T22:00:00Z", "2026-11-20T22:00:00Z", '?'},
      {"2026-11-20T22:00:00 UTC", "2026-11-21T22:00:00Z", '?'},
  };
  ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  for (const auto& [first, second, order] : cases) {
    EXPECT_EQ(order_of(first, second), order) << first << ", " << second;
    EXPECT_EQ(order_of(second, first), order == '<' ? '>' : order == '>' ? '<' : '?') << first << ", " << second;
  }
  EXPECT_EQ(parse_run_time("1970-01-02T01:00:00.5+01:00").earliest, 86400.5);
}

} // namespace
} // namespace gputest::insights
