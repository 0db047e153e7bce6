// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/scenario.hpp"

namespace gputest::tests {

namespace {

using Lines = std::vector<std::string>;

/// So many processes open the ledger; then what follows.
Lines opened(std::size_t processes, const Lines& then = {}) {
  Lines lines;
  for (std::size_t number = 0; number < processes; ++number) {
    lines.push_back(std::to_string(number) + " open");
  }
  lines.insert(lines.end(), then.begin(), then.end());
  return lines;
}

/// They enter the first device, too, where each may lease 600 bytes.
Lines entered(std::size_t processes, const Lines& then = {}) {
  Lines lines = opened(processes);
  for (std::size_t number = 0; number < processes; ++number) {
    lines.push_back(std::to_string(number) + " enter 1 1 100 600");
  }
  lines.insert(lines.end(), then.begin(), then.end());
  return lines;
}

} // namespace

const std::vector<Scenario>& scenarios() {
  // Each device has 1000 bytes.
  static const std::vector<Scenario> all{
      // The store itself.
      {"builds_a_small_store", {}, "store", {}, true},
      {"builds_the_ledger", {}, "open", {}, true, true},
      {"opens_the_ledger", {"1 open", "1 enter 1 1 100 600"}, "open"},
      // Entering: taking a slot, and a place on a device.
      {"enters_first_of_all", opened(1), "enter 3 1 100 600", {}, true},
      {"enters_alone", opened(1), "enter 3 1 100 600"},
      {"enters_beside_another", opened(2, {"1 enter 1 1 100 600"}), "enter 1 1 100 600"},
      {"enters_in_the_place_of_the_dead", opened(2, {"1 enter 3 2 100 900 whole", "1 dies"}),
       "enter 3 2 100 900 whole"},
      {"enters_past_the_dead_whose_memory_stays",
       opened(2, {"1 enter 1 1 100 600", "2 open", "2 enter 1 1 100 600", "1 dies leaving memory"}),
       "enter 1 1 100 600"},
      {"waits_to_enter_and_is_let_in", opened(2, {"1 enter 1 1 100 600 whole"}), "enter 1 1 100 600", {"1 dies"}},
      {"waits_to_enter_behind_another",
       opened(3, {"1 enter 1 1 100 600", "2 enter 1 1 100 900 whole"}),
       "enter 1 1 100 600",
       {"1 dies", "2 dies"}},
      {"waits_to_enter_before_another",
       opened(3, {"1 enter 1 1 100 600 whole"}),
       "enter 1 1 100 400",
       {"2 enter 1 1 100 400", "1 dies"}},
      {"enters_where_others_wait_for_another_device", opened(3, {"1 enter 1 1 100 600", "2 enter 1 1 100 900 whole"}),
       "enter 2 1 100 600"},
      {"is_refused_entry", opened(1), "enter 3 1 100 6000"},
      // Leasing.
      {"leases_alone", entered(1), "lease 1 600"},
      {"leases_beside_another", entered(2, {"1 lease 1 200"}), "lease 1 600"},
      {"leases_more_than_announced", entered(1), "lease 1 700"},
      {"leases_two_devices", opened(1, {"0 enter 3 2 100 600"}), "lease 3 600"},
      {"leases_whole_devices", opened(1, {"0 enter 3 2 100 900 whole"}), "lease 3 0 exclusive"},
      {"leases_the_medium_lock", entered(1), "lease 1 300 medium_lock"},
      {"waits_for_a_lease_and_is_granted_it", entered(2, {"1 lease 1 600"}), "lease 1 600", {"1 release"}},
      {"waits_in_a_queue_and_is_granted_a_lease",
       entered(3, {"1 lease 1 600", "2 lease 1 600"}),
       "lease 1 600",
       {"1 release", "2 hears", "2 release"}},
      {"is_granted_a_lease_that_the_next_waits_for",
       entered(3, {"1 lease 1 600"}),
       "lease 1 300",
       {"2 lease 1 200", "1 release"},
       false,
       true}, // the other one may be granted its lease first, and tell the subject, which is slow while it is stepped
      {"waits_for_two_devices",
       opened(3,
              {"0 enter 3 2 100 600", "1 enter 1 1 100 600", "2 enter 2 1 100 600", "1 lease 1 600", "2 lease 2 600"}),
       "lease 3 600",
       {"1 release", "2 release"}},
      {"leases_at_once_or_not_at_all", entered(2, {"1 lease 1 600"}), "lease 1 600 at-once"},
      {"gives_up_before_another", entered(3, {"1 lease 1 300"}), "lease 1 600 briefly", {"2 lease 1 300"}},
      {"passes_one_that_is_stopped",
       entered(3, {"2 lease 1 600", "1 lease 1 600", "1 stops", "2 release"}),
       "lease 1 600 at-once",
       {},
       false,
       false,
       "timed out"},
      // Giving back, and growing.
      {"releases_alone", entered(1, {"0 lease 1 600"}), "release"},
      {"releases_before_one_who_waits", entered(2, {"0 lease 1 600", "1 lease 1 600"}), "release"},
      {"releases_before_a_queue", entered(3, {"0 lease 1 600", "1 lease 1 600", "2 lease 1 600"}), "release"},
      {"releases_where_others_wait_for_two_devices",
       opened(3, {"0 enter 3 2 100 600", "1 enter 1 1 100 600", "2 enter 2 1 100 600", "0 lease 3 600", "1 lease 1 600",
                  "2 lease 2 600"}),
       "release"},
      {"releases_where_another_waits_to_be_alone",
       opened(2, {"0 enter 1 1 100 600", "0 lease 1 600", "1 enter 1 1 100 900 whole"}), "release"},
      {"shrinks_where_another_waits_to_enter", opened(2, {"0 enter 1 1 400 600", "1 enter 1 1 100 600"}),
       "overhead 100"},
      {"grows", entered(1), "overhead 200"},
      // Larger leases.
      {"makes_its_lease_larger", entered(1, {"0 lease 1 200"}), "grow 500"},
      {"makes_its_lease_larger_before_one_who_waits", entered(2, {"0 lease 1 600", "1 lease 1 600"}), "grow 700"},
      {"makes_its_lease_no_larger_where_another_would_wait_longer",
       entered(3, {"0 lease 1 100", "1 lease 1 400", "2 lease 1 500"}), "grow 300"},
      {"makes_its_lease_larger_by_what_the_dead_held", entered(2, {"0 lease 1 100", "1 lease 1 600", "1 dies"}),
       "grow 800"},
      {"makes_its_lease_larger_by_what_an_idle_one_leaves", entered(2, {"0 lease 1 100", "1 idle"}), "grow 850"},
      // Being idle, and leaving.
      {"becomes_idle", entered(1), "set_idle"},
      {"becomes_idle_where_another_waits_for_it", opened(2, {"0 enter 1 1 100 600", "1 enter 1 1 100 900 whole"}),
       "set_idle"},
      {"takes_work_again", entered(1, {"0 set_idle"}), "resume"},
      {"takes_work_again_beside_one_that_waits_for_another",
       opened(3, {"0 enter 1 1 100 200", "1 enter 1 1 100 600", "2 enter 1 1 100 600", "0 set_idle", "1 lease 1 600",
                  "2 lease 1 600"}),
       "resume"},
      {"leaves_for_another", opened(2, {"0 enter 1 1 100 600", "0 set_idle", "1 enter 1 1 100 900 whole"}), "resume"},
      {"enters_where_an_idle_one_leaves", opened(2, {"1 enter 1 1 100 600", "1 idle"}), "enter 1 1 100 900 whole"},
      {"enters_where_two_are_idle", opened(3, {"1 enter 1 1 100 600", "2 enter 1 1 100 600", "1 idle", "2 idle"}),
       "enter 1 1 100 750"},
      {"leases_what_an_idle_one_leaves", entered(2, {"1 idle"}), "lease 1 850"},
      {"waits_for_one_that_becomes_idle", opened(2, {"1 enter 1 1 100 600"}), "enter 1 1 100 900 whole", {"1 idle"}},
      // The dead.
      {"leases_what_the_dead_held", entered(2, {"1 lease 1 600", "1 dies"}), "lease 1 600"},
      {"waits_for_one_who_dies", entered(2, {"1 lease 1 600"}), "lease 1 600", {"1 dies"}},
      {"waits_for_memory_of_the_dead",
       entered(2, {"1 lease 1 600", "1 dies leaving memory"}),
       "lease 1 600",
       {"1 vanishes"}},
      {"goes_on_after_one_who_died_in_the_queue",
       entered(3, {"1 lease 1 300", "2 lease 1 600", "2 dies leaving memory"}),
       "lease 1 300",
       {"2 vanishes"}},
      {"looks_who_is_alive", opened(3, {"1 enter 1 1 100 600", "2 enter 1 1 100 600", "2 dies leaving memory"}),
       "alive"},
      // The memory of simulated devices, a store of its own.
      {"opens_simulated_memory", {"1 simulated", "1 allocate 100"}, "simulated"},
      {"allocates_simulated_memory", {"0 simulated"}, "allocate 600"},
      {"allocates_what_the_dead_used", {"0 simulated", "1 simulated", "1 allocate 600", "1 dies"}, "allocate 600"},
      {"allocates_more_than_there_is",
       {"0 simulated", "1 simulated", "1 allocate 600"},
       "allocate 600",
       {},
       false,
       true},
      {"frees_simulated_memory", {"0 simulated", "1 simulated", "0 allocate 600"}, "free 200"},
  };
  return all;
}

} // namespace gputest::tests
