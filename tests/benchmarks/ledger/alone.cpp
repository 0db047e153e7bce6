// SPDX-License-Identifier: BSD-3-Clause
#include "experiments.hpp"
#include "latency.hpp"

namespace gputest::benchmarks {

Table measure_alone(const std::string& folder, int repeats) {
  const auto places = make_places(folder, "alone");
  std::vector<LatencyCase> cases;
  for (const auto& contestant : contestants()) {
    const std::string& place = places[cases.size()];
    cases.push_back({contestant.name, [&contestant, &place] { return contestant.open(place); }});
  }
  return {"alone", "Acquire and release, uncontended", Table::Unit::nanoseconds, measure_latencies(cases, repeats)};
}

} // namespace gputest::benchmarks
