// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/messages.hpp"

#include "core/os/process.hpp"

#include <gmock/gmock.h>

namespace gputest::session {
namespace {

using namespace literals;
using policy::Stage;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ledger::Record entry(const std::string& who, Stage stage) {
  ledger::Record entry;
  entry.who = who;
  entry.pid = 4711;
  entry.claim.stage = stage;
  entry.claim.overhead_bytes = (512_MiB).count();
  entry.claim.lease_bytes = (3_GiB).count();
  entry.since = std::chrono::system_clock::now();
  return entry;
}

TEST(Advice, names_no_macro_and_no_fixture_where_tests_have_tags) {
  struct InTags {
    InTags() { write_advice_in(detail::Notation::tags); }
    ~InTags() { write_advice_in(detail::Notation::annotations); }
  };
  const InTags in_tags;
  Request request;
  for (const auto& [text, advice] : std::vector<std::pair<std::string, std::string>>{
           {too_few_gpus("sorts", 2, {}, ""), "the tag [gpus:<n>], GPUS in gpu_add_test()"},
           {used_unasked("sorts", false), "[gpu_small] or [gpu:3GiB]"},
           {took_without_lease("sorts", 1_GiB), "the tag [gpu:<size>]"},
           {keeps_more("sorts", 1_GiB), "(KEEPS in gpu_add_test())"},
           {not_announced("sorts", "3 GiB", {}, false), "the tag [gpu:<size>]"},
           {not_announced("sorts", "3 GiB", {}, true), "LAUNCHER on in gpu_add_test(), or"},
           {no_room_in_process("sorts", "3 GiB", 1_GiB, "Graph::SetUpTestSuite()"), "the tag [gpu:<size>]"},
           {ran_out_of_memory("sorts", "sorts", 1_GiB, &request, {}, "", {}, {}), "the tag [gpu:2GiB]"},
           {ran_out_of_memory("sorts", "sorts", 1_GiB, &request, {"", 3_GiB, 8_GiB}, "", {}, {}), "the tag [gpu:3GiB]"},
           {excluded_in_parallel("sorts", "ctest -j8", "ctest"), "LARGE serial or LARGE wait in gpu_add_test()"},
           {excluded_by_others("sorts", {}, "ctest"), "LARGE wait in gpu_add_test()"},
           {waited_too_long("sorts", "3 GiB", {}, {}), "WAIT_LIMIT in gpu_add_test(), --wait-limit"},
           {began_too_early({}), "LAUNCHER on in gpu_add_test(), or"},
           {beyond_parent_lease(request, {}), "MEMORY small in gpu_add_test()"},
           {beyond_smallest_device("sorts", "3 GiB", 2_GiB, {}), "Run the test in a process of its own"}}) {
    EXPECT_THAT(text, HasSubstr(advice));
    EXPECT_THAT(text,
                Not(ContainsRegex("GPUTEST_[A-Z_]*(NEEDS|LEASE)|HostTest|SmallTest|for SetUp|gpu_discover_tests")));
  }
}

TEST(ShortDuration, is_in_the_largest_unit_that_says_enough) {
  using std::chrono::seconds;
  const std::vector<std::pair<int, std::string>> rows{{-5, "0 s"},    {0, "0 s"},     {119, "119 s"},
                                                      {120, "2 min"}, {179, "2 min"}, {7199, "119 min"},
                                                      {7200, "2 h"},  {86400, "24 h"}};
  for (const auto& [duration, text] : rows) {
    EXPECT_EQ(short_duration(seconds{duration}), text);
  }
}

TEST(Describe, says_what_somebody_holds_or_waits_for) {
  struct Row {
    Stage stage;
    bool exclusive;
    bool medium_lock;
    std::string text;
    std::optional<std::uint64_t> lease_bytes{}; ///< else 3 GiB
  };
  const std::vector<Row> rows{
      {Stage::entering, false, false, "Sort.Keys (pid 4711, waiting for a device, for "},
      {Stage::inside, false, false, "Sort.Keys (pid 4711, a context of 512 MiB, for "},
      {Stage::idle, false, false, "Sort.Keys (pid 4711, an idle worker with a context of 512 MiB, for "},
      {Stage::waiting, false, false, "Sort.Keys (pid 4711, waiting for 3 GiB, for "},
      {Stage::waiting, true, false, "Sort.Keys (pid 4711, waiting for 3 GiB alone, for "},
      {Stage::waiting, true, false, "Sort.Keys (pid 4711, waiting for the whole device, for ", 0},
      {Stage::holding, false, false, "Sort.Keys (pid 4711, 3 GiB, for "},
      {Stage::holding, false, true, "Sort.Keys (pid 4711, 3 GiB and the medium lock, for "},
      {Stage::holding, true, false, "Sort.Keys (pid 4711, 3 GiB alone, for "},
      {Stage::holding, true, false, "Sort.Keys (pid 4711, the whole device, for ", 0},
  };
  for (const auto& row : rows) {
    auto one = entry("Sort.Keys", row.stage);
    one.claim.exclusive = row.exclusive;
    one.claim.medium_lock = row.medium_lock;
    one.claim.lease_bytes = row.lease_bytes.value_or(one.claim.lease_bytes);
    EXPECT_THAT(describe(one), StartsWith(row.text));
  }
}

TEST(Describe, names_holders_before_the_others_and_at_most_four) {
  ledger::Blocked blocked;
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    blocked.blockers.push_back(entry(name, name == "e" ? Stage::holding : name == "a" ? Stage::idle : Stage::inside));
  }
  const std::string text = describe(blocked);
  EXPECT_THAT(text, StartsWith("e (pid 4711, 3 GiB"));
  EXPECT_THAT(text, HasSubstr("), c (pid"));
  EXPECT_EQ(text.find("d (pid"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 11), " and 1 more");
}

TEST(Describe, says_of_a_pid_of_another_pid_namespace_where_it_is) {
  auto record = entry("Sort.Keys", Stage::holding);
  record.pids = os::pids_identity();
  EXPECT_THAT(describe(record), StartsWith("Sort.Keys (pid 4711, 3 GiB"));
  ++record.pids;
  EXPECT_THAT(describe(record), StartsWith("Sort.Keys (pid 4711 in another container, 3 GiB"));
}

TEST(Describe, names_external_processes_and_nobody) {
  ledger::Blocked blocked;
  EXPECT_EQ(describe(blocked), "nobody");
  blocked.external_bytes = 1;
  EXPECT_EQ(describe(blocked),
            "programs that are not on this ledger: without gputest, or in a container without its folder (nvidia-smi "
            "shows them; if they stay, GPUTEST_DEVICE_MEMORY=<the size that they leave> limits what tests count on)");
  blocked.blockers.push_back(entry("a", Stage::holding));
  EXPECT_THAT(describe(blocked), HasSubstr("), and programs that are not on this ledger"));
}

TEST(Describe, names_those_that_have_more_than_they_claimed_first_and_once) {
  ledger::Blocked blocked;
  auto over = entry("over", Stage::holding);
  over.slot = 1;
  auto outside = entry("outside", Stage::waiting);
  outside.slot = 2;
  blocked.blockers = {entry("a", Stage::holding), over};
  blocked.excesses = {{outside, (1_GiB).count()}, {over, (4_GiB).count()}};
  const std::string text = describe(blocked);
  EXPECT_THAT(text,
              StartsWith("over (pid 4711, 3 GiB, for 0 s; it holds 4 GiB beyond its lease), outside (pid 4711, "
                         "waiting for 3 GiB, for 0 s; it holds 1 GiB without a lease), a (pid 4711, 3 GiB, for "));
  EXPECT_EQ(text.find("over", 4), std::string::npos);
}

TEST(NoRoomBesideOverheads, names_the_largest_four_of_the_others_first) {
  ledger::Blocked blocked;
  blocked.own_overhead_bytes = Bytes{1_GiB}.count();
  std::uint64_t gibibytes = 1;
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    blocked.blockers.push_back(entry(name, Stage::inside));
    blocked.blockers.back().claim.overhead_bytes = Bytes{2_GiB}.count() * (name == "c" ? 1 : gibibytes++);
  }
  EXPECT_THAT(
      no_room_beside_overheads("Sort.Keys", "3 GiB", blocked, ""),
      HasSubstr(": this process 1 GiB, e (pid 4711) 8 GiB, d (pid 4711) 6 GiB, b (pid 4711) 4 GiB, a (pid 4711) "
                "2 GiB and 1 more. "));
}

TEST(RanOutOfMemory, tells_nobody_to_declare_more_than_any_device_has) {
  const ledger::Blocked nobody;
  const Request large{MemoryClass::large};
  const auto advice = [&](const std::optional<Bytes>& leased, Bytes wanted) {
    const auto text = ran_out_of_memory("Sort.Keys", "Sort.Keys", leased, &large, {"", wanted, 15_GiB}, "", {}, nobody);
    return text.substr(text.find(". ", text.find("then")) + 2);
  };
  const std::string none =
      "No device here has more than 15 GiB for a test: free some before, make the test smaller, or "
      "run it where there is more";
  EXPECT_EQ(advice(16_GiB, 20_GiB), none);
  EXPECT_EQ(advice(16_GiB, {}), none);
  EXPECT_THAT(advice(8_GiB, 10_GiB), StartsWith("Declare what it would have had: GPUTEST_NEEDS(Sort, Keys, "));
  EXPECT_THAT(advice(8_GiB, {}), HasSubstr("GPUTEST_NEEDS(Sort, Keys, 15_GiB)"));
}

TEST(BeyondParentLease, advises_as_many_devices_and_a_class_where_no_size_is_said) {
  Request request{MemoryClass::medium};
  EXPECT_THAT(beyond_parent_lease(request, entry("mpirun", Stage::holding)),
              HasSubstr("; make that lease larger: gputest run --memory medium, or MEMORY medium in gpu_add_test()"));
  request = Request{3_GiB};
  request.gpus = 2;
  EXPECT_THAT(beyond_parent_lease(request, entry("mpirun", Stage::holding)),
              HasSubstr(": gputest run --gpus 2 --memory 3GiB, or GPUS 2 MEMORY 3GiB in gpu_add_test()"));
  request.alone = true;
  EXPECT_THAT(beyond_parent_lease(request, entry("mpirun", Stage::holding)),
              HasSubstr("2 x 3 GiB alone; make that lease as large, and alone: gputest run --gpus 2 --alone --memory "
                        "3GiB, or GPUS 2 ALONE MEMORY 3GiB in gpu_add_test()"));
  request.memory_class = MemoryClass::large;
  request.alone = false;
  EXPECT_THAT(beyond_parent_lease(request, entry("mpirun", Stage::holding)), HasSubstr("--memory large, or GPUS 2 "));
}

} // namespace
} // namespace gputest::session
