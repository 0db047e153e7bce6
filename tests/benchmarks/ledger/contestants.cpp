// SPDX-License-Identifier: BSD-3-Clause
#include "contestant.hpp"

#include "boost_locks.hpp"
#include "file_locks.hpp"
#include "ledger_lock.hpp"
#include "pthread_lock.hpp"

namespace gputest::benchmarks {

const std::vector<Contestant>& contestants() {
  static const std::vector<Contestant> all{
      {"pthread mutex, process-shared", [](const auto& place) { make_pthread_mutex(place, Robustness::stalled); },
       [](const auto& place) { return open_pthread_mutex(place); }},
      {"pthread mutex, robust", [](const auto& place) { make_pthread_mutex(place, Robustness::robust); },
       [](const auto& place) { return open_pthread_mutex(place); }},
      {"Boost named_mutex", make_named_mutex, open_named_mutex},
      {"Boost file_lock", make_lock_file, open_boost_file_lock},
      {"flock", make_lock_file, open_flock},
      {"flock, polled every 50 ms", make_lock_file, open_polled_flock},
      {"gputest lease", make_ledger, [](const auto& place) { return open_ledger(place, whole_device); }},
  };
  return all;
}

std::vector<std::string> make_places(const std::string& folder, const std::string& experiment) {
  const std::string before = folder + "/" + experiment + ".";
  std::vector<std::string> places;
  for (const auto& contestant : contestants()) {
    places.push_back(before + std::to_string(places.size()));
    contestant.make(places.back());
  }
  return places;
}

} // namespace gputest::benchmarks
