// SPDX-License-Identifier: BSD-3-Clause
// How ctest schedules the entries of gpu_add_test() and gpu_discover_tests() by their memory: each test configures a
// project of its own and runs it on simulated devices. DISCOVERY_CMAKE_FOLDER, if it is set, is the folder of another
// cmake and ctest.

#include "cmake_project.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace gputest::tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A start or an end of a test, as ctest has written it.
struct Event {
  bool start = false;
  std::string test;

  friend bool operator==(const Event& a, const Event& b) { return a.start == b.start && a.test == b.test; }
};

Event start_of(const std::string& test) { return {true, test}; }
Event end_of(const std::string& test) { return {false, test}; }

void PrintTo(const Event& event, std::ostream* out) { *out << (event.start ? "start of " : "end of ") << event.test; }

/// What ctest has written of starts and ends, in this order. It writes a line when it starts a test, and no test takes
/// its place before it has ended, so the order says what ctest did, whatever the speed of the machine.
std::vector<Event> events_in(const std::string& out) {
  static const std::regex line{R"((Start +[0-9]+: ([^ \n]+))|( Test +#[0-9]+: ([^ \n]+) ))"};
  std::vector<Event> events;
  for (auto it = std::sregex_iterator{out.begin(), out.end(), line}; it != std::sregex_iterator{}; ++it) {
    const bool start = (*it)[1].matched;
    events.push_back({start, (*it)[start ? 2 : 4].str()});
  }
  return events;
}

/// The most tests of these that ctest had running at once.
int most_at_once(const std::vector<Event>& events, const std::string& prefix) {
  int running = 0;
  int most = 0;
  for (const auto& event : events) {
    if (event.test.compare(0, prefix.size(), prefix) == 0) {
      running += event.start ? 1 : -1;
      most = std::max(most, running);
    }
  }
  return most;
}

class Scheduling : public CMakeProject {
protected:
  Scheduling() : CMakeProject{"simulated:1x16GiB,context=1GiB"} {}

  /// Configures a project with this text, in which `tests` is an executable that lists its tests.
  void configure(const std::string& text, const std::vector<std::string>& options = {}) const {
    configure_project({{"gputest::cli", DISCOVERY_TOOL},
                       {"gputest::entry", DISCOVERY_ENTRY_PROGRAM},
                       {"tests", DISCOVERY_EXECUTABLES "/listed"}},
                      text, options);
  }

  /// Runs ctest, in a folder of the build tree.
  [[nodiscard]] Ended ctest(const std::vector<std::string>& arguments, const std::string& folder = "build") const {
    return ctest_in(path(folder), arguments);
  }

  /// The properties of each entry as ctest knows them when it schedules.
  [[nodiscard]] std::map<std::string, std::map<std::string, nlohmann::json>>
  entries(const std::vector<std::string>& arguments = {}) {
    set("GPUTEST_SCHEDULING", "ctest");
    std::map<std::string, std::map<std::string, nlohmann::json>> all;
    for (const auto& [name, entry] : entries_in(path("build"), arguments)) {
      all[name] = entry.properties;
    }
    set("GPUTEST_SCHEDULING", "");
    return all;
  }

  /// The resource spec files in the build tree.
  [[nodiscard]] std::vector<std::string> spec_files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator{path("build/gputest")}) {
      if (const auto name = file.path().filename().string(); name.find("resource-spec-") == 0) {
        names.push_back(name);
      }
    }
    return names;
  }
};

/// RESOURCE_GROUPS in ctest's JSON: so many groups of MiB.
nlohmann::json groups(int count, int mib) {
  auto all = nlohmann::json::array();
  for (int i = 0; i < count; ++i) {
    all.push_back({{"requirements", {{{".type", "gputest_mib"}, {"slots", mib}}}}});
  }
  return all;
}

/// A user's resource spec file, which knows nothing of gputest's.
constexpr auto users_spec = R"({"version": {"major": 1, "minor": 0}, "local": [{"gpus": [{"id": "0", "slots": 1}]}]})";

/// Two tests that do not fit on the device together.
constexpr auto two_halves = "gpu_add_test(NAME half_a COMMAND true MEMORY 9GiB)\n"
                            "gpu_add_test(NAME half_b COMMAND true MEMORY 9GiB)\n";

TEST_F(Scheduling, has_workers_use_no_mps_on_devices_for_one_process_at_a_time_unless_the_user_says_so) {
  configure("gpu_add_test(NAME shows COMMAND /bin/sh -c \"echo GPUTEST_MPS=$GPUTEST_MPS.\" MEMORY 1GiB)\n");
  EXPECT_THAT(ctest({"-V"}).out, HasSubstr("GPUTEST_MPS=.\n"));
  set("GPUTEST_DEVICES", "simulated:1x16GiB,exclusive_process");
  EXPECT_THAT(ctest({"-V"}).out, HasSubstr("GPUTEST_MPS=off.\n"));
  set("GPUTEST_MPS", "auto");
  EXPECT_THAT(ctest({"-V"}).out, HasSubstr("GPUTEST_MPS=auto.\n"));
}

TEST_F(Scheduling, gives_entries_the_groups_of_what_they_need) {
  set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  std::filesystem::create_directory(path("below"));
  write("below/CMakeLists.txt", "gpu_add_test(NAME below COMMAND true MEMORY 3GiB)\n");
  configure("gpu_add_test(NAME small COMMAND true)\n"
            "gpu_add_test(NAME sized COMMAND true MEMORY 3GiB GPUS 2 HEAP 62MiB)\n"
            "gpu_add_test(NAME \"odd;na]me [x\" COMMAND true MEMORY 3GiB LABELS \"a;b\" c)\n"
            "gpu_add_test(NAME large COMMAND true MEMORY large)\n"
            "gpu_add_test(NAME waiting COMMAND true MEMORY large LARGE wait)\n"
            "gpu_add_test(NAME too_large COMMAND true MEMORY 100GiB)\n"
            "add_test(NAME plain COMMAND true)\n"
            "add_subdirectory(below)\n");
  auto all = entries();
  EXPECT_EQ(all["small"]["RESOURCE_GROUPS"], groups(1, 1280));
  EXPECT_EQ(all["small"].count("COST"), 0U);
  EXPECT_EQ(all["sized"]["RESOURCE_GROUPS"], groups(2, 4160));
  EXPECT_EQ(all["sized"]["COST"], 4160);
  EXPECT_EQ(all["odd;na]me [x"]["RESOURCE_GROUPS"], groups(1, 4096));
  EXPECT_EQ(all["odd;na]me [x"]["LABELS"], (nlohmann::json{"a", "b", "c", "gpu", "gpu_medium"}));
  EXPECT_EQ(all["waiting"]["RESOURCE_GROUPS"], groups(1, 16384));
  EXPECT_EQ(all["below"]["RESOURCE_GROUPS"], groups(1, 4096));
  for (const auto* name : {"large", "too_large", "plain"}) {
    EXPECT_EQ(all[name].count("RESOURCE_GROUPS"), 0U) << name;
    EXPECT_EQ(all[name].count("COST"), 0U) << name;
  }
}

TEST_F(Scheduling, gives_discovered_entries_the_groups_of_their_cases) {
  set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  configure("gpu_discover_tests(tests)\n"
            "gpu_discover_tests(tests GRANULARITY class TEST_PREFIX by/)\n"
            "gpu_discover_tests(tests GRANULARITY executable TEST_PREFIX all/)\n");
  auto all = entries();
  EXPECT_EQ(all["Small.test"]["RESOURCE_GROUPS"], groups(1, 1280));
  EXPECT_EQ(all["Medium.says_no_size"]["RESOURCE_GROUPS"], groups(1, 9216));
  EXPECT_EQ(all["Typed.test<int>"]["RESOURCE_GROUPS"], groups(1, 1280)) << "after cases of other sizes";
  EXPECT_EQ(all["Shared.first"]["RESOURCE_GROUPS"], groups(1, 1536));
  EXPECT_EQ(all["Host.test"].count("RESOURCE_GROUPS"), 0U);
  EXPECT_EQ(all["Large.test"].count("RESOURCE_GROUPS"), 0U);
  EXPECT_EQ(all["by/tests.small"]["RESOURCE_GROUPS"], groups(1, 1280));
  EXPECT_EQ(all["by/tests.host"].count("RESOURCE_GROUPS"), 0U);
  EXPECT_EQ(all["by/tests.large"].count("RESOURCE_GROUPS"), 0U);
  EXPECT_EQ(all["by/tests.medium"]["RESOURCE_GROUPS"], groups(2, 9216)); // one of its cases asks for two devices
  EXPECT_EQ(all["all/tests"]["RESOURCE_GROUPS"], groups(2, 9216));
  // The devices are no part of what is kept of a listing.
  set("GPUTEST_DEVICES", "simulated:2x8GiB,context=1GiB");
  EXPECT_EQ(entries()["Medium.says_no_size"]["RESOURCE_GROUPS"], groups(1, 5120));
}

TEST_F(Scheduling, leaves_properties_of_the_users_as_they_are) {
  configure("gpu_add_test(NAME costly COMMAND true MEMORY 9GiB)\n"
            "set_tests_properties(costly PROPERTIES COST 5 RUN_SERIAL ON RESOURCE_LOCK lock)\n"
            "gpu_add_test(NAME own COMMAND true MEMORY 9GiB)\n"
            "set_tests_properties(own PROPERTIES RESOURCE_GROUPS 1,gputest_mib:7)\n"
            "gpu_discover_tests(tests TEST_FILTER Medium.says_no_size PROPERTIES COST 5 RESOURCE_GROUPS "
            "1,gputest_mib:7)\n"
            "gpu_discover_tests(tests TEST_FILTER Medium.says_a_size HEAP 62MiB PROPERTIES COST 5)\n");
  auto all = entries();
  EXPECT_EQ(all["Medium.says_no_size"]["COST"], 5);
  EXPECT_EQ(all["Medium.says_no_size"]["RESOURCE_GROUPS"], groups(1, 7));
  EXPECT_EQ(all["Medium.says_a_size"]["COST"], 5);
  EXPECT_EQ(all["Medium.says_a_size"]["RESOURCE_GROUPS"], groups(1, 1536 + 1024 + 64));
  EXPECT_EQ(all["costly"]["COST"], 5);
  EXPECT_EQ(all["costly"]["RUN_SERIAL"], true);
  EXPECT_EQ(all["costly"]["RESOURCE_LOCK"], nlohmann::json{"lock"});
  EXPECT_EQ(all["own"]["RESOURCE_GROUPS"], groups(1, 7));
}

TEST_F(Scheduling, starts_a_test_only_when_its_memory_is_there) {
  configure(two_halves);
  const auto ended = ctest({"-j4"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(most_at_once(events_in(ended.out), "half"), 1) << ended.out;
  EXPECT_THAT(spec_files(), SizeIs(1));
  set("GPUTEST_SCHEDULING", "ledger");
  const auto by_ledger = ctest({"-j4"});
  EXPECT_EQ(by_ledger.exit_code, 0) << by_ledger.out;
  EXPECT_EQ(most_at_once(events_in(by_ledger.out), "half"), 2) << by_ledger.out;
}

TEST_F(Scheduling, leaves_entries_as_they_are_if_the_tool_cannot_say_what_the_devices_are) {
  configure(two_halves);
  set("GPUTEST_DEVICES", "nonsense");
  EXPECT_EQ(entries()["half_a"].count("RESOURCE_GROUPS"), 0U);
  set("GPUTEST_DEVICES", "none");
  EXPECT_EQ(entries()["half_a"].count("RESOURCE_GROUPS"), 0U);
  set("GPUTEST_DEVICES", "simulated:1x16GiB,context=1GiB");
  EXPECT_EQ(entries()["half_a"]["RESOURCE_GROUPS"], groups(1, 10240));
  configure("set_target_properties(gputest::cli PROPERTIES IMPORTED_LOCATION /no/such/tool)\n"
            "gpu_discover_tests(tests TEST_FILTER Medium.says_a_size)\n");
  EXPECT_EQ(entries()["Medium.says_a_size"].count("RESOURCE_GROUPS"), 0U);
}

#ifdef DISCOVERY_NINJA
TEST_F(Scheduling, works_in_each_configuration_of_a_multi_configuration_generator) {
  configure(two_halves, {"-G", "Ninja Multi-Config", "-DCMAKE_MAKE_PROGRAM=" DISCOVERY_NINJA});
  for (const auto* configuration : {"Debug", "Release"}) {
    EXPECT_EQ(entries({"-C", configuration})["half_a"]["RESOURCE_GROUPS"], groups(1, 10240)) << configuration;
  }
  const auto unknown = ctest({"-C", "Unknown", "-N"});
  EXPECT_EQ(unknown.exit_code, 0);
  EXPECT_EQ(unknown.err, "");
}
#endif

TEST_F(Scheduling, works_in_a_folder_below_and_in_one_between) {
  std::filesystem::create_directories(path("between/below"));
  write("between/CMakeLists.txt", "add_subdirectory(below)\n");
  write("between/below/CMakeLists.txt", two_halves);
  configure("add_subdirectory(between)\n");
  for (const auto* folder : {"build", "build/between", "build/between/below"}) {
    const auto ended = ctest({"-j4"}, folder);
    EXPECT_EQ(ended.exit_code, 0) << ended.out;
    EXPECT_EQ(most_at_once(events_in(ended.out), "half"), 1) << ended.out;
  }
}

TEST_F(Scheduling, does_nothing_for_a_ctest_that_only_lists) {
  configure(two_halves);
  EXPECT_EQ(ctest({"-N"}).exit_code, 0);
  EXPECT_EQ(ctest({"--show-only=json-v1"}).exit_code, 0);
  EXPECT_EQ(ctest({"--print-labels"}).exit_code, 0);
  EXPECT_THAT(spec_files(), IsEmpty());
}

TEST_F(Scheduling, lets_tests_run_that_no_device_can_hold) {
  configure("gpu_add_test(NAME too_large COMMAND true MEMORY 100GiB)\n"
            "gpu_add_test(NAME too_many COMMAND true GPUS 2)\n"
            "gpu_add_test(NAME excluded COMMAND true MEMORY large)\n");
  const auto ended = ctest({"-j4"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, Not(HasSubstr("Not Run")));
  for (const auto* name : {"too_large", "too_many", "excluded"}) {
    EXPECT_TRUE(std::regex_search(ended.out, std::regex{std::string{name} + " \\.+\\*+Skipped"})) << ended.out;
  }
}

TEST_F(Scheduling, leaves_a_ctest_alone_that_has_a_resource_spec_file_of_the_users) {
  write("spec.json", users_spec);
  write("dashboard.cmake",
        "set(CTEST_SOURCE_DIRECTORY \"" + path("") + "\")\nset(CTEST_BINARY_DIRECTORY \"" + path("build") +
            "\")\nctest_start(Experimental QUIET)\nctest_test(RESOURCE_SPEC_FILE \"" + path("spec.json") +
            "\" PARALLEL_LEVEL 4 RETURN_VALUE ended)\n"
            "if(ended)\n  message(FATAL_ERROR \"${ended}\")\nendif()\n");
  write("CMakePresets.json",
        R"({"version": 3, "configurePresets": [{"name": "c", "generator": "Unix Makefiles", "binaryDir": "build"}],
            "testPresets": [{"name": "t", "configurePreset": "c", "execution": {"resourceSpecFile": ")" +
            path("spec.json") + R"("}}]})");
  configure(two_halves);
  const std::vector<std::vector<std::string>> ways{{"-j4", "--resource-spec-file", path("spec.json")},
                                                   {"-S", path("dashboard.cmake"), "-V"}};
  for (const auto& way : ways) {
    const auto ended = ctest(way);
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, Not(HasSubstr("Not Run")));
    EXPECT_THAT(events_in(ended.out), Contains(end_of("half_b"))) << ended.out;
  }
  const auto by_preset = run({"/usr/bin/env", "-C", path(""), program("ctest"), "--preset", "t", "-j4"});
  EXPECT_EQ(by_preset.exit_code, 0) << by_preset.out << by_preset.err;
  EXPECT_THAT(events_in(by_preset.out), Contains(end_of("half_b"))) << by_preset.out;
  // Where a dashboard would read it.
  const std::string folder = "BuildDirectory: " + path("build") + "\nResourceSpecFile: ";
  write("build/DartConfiguration.tcl", folder + path("spec.json") + "\n");
  EXPECT_THAT(events_in(ctest({"-j4"}).out), Contains(end_of("half_b")));
  EXPECT_THAT(spec_files(), IsEmpty());
  EXPECT_EQ(entries()["half_a"]["RESOURCE_GROUPS"], groups(1, 10240)) << "GPUTEST_SCHEDULING=ctest knows better";
  write("build/DartConfiguration.tcl", folder + "\n");
  EXPECT_EQ(most_at_once(events_in(ctest({"-j4"}).out), "half"), 1) << "no file is named";
}

TEST_F(Scheduling, leaves_a_ctest_alone_whose_scripts_set_a_resource_spec_file) {
  write("spec.json", users_spec);
  write("script.cmake", "set(CTEST_RESOURCE_SPEC_FILE \"" + path("spec.json") + "\")\n");
  const std::string script =
      "set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" + path("script.cmake") + "\")\n";
  write("outer.cmake", "include(\"" + path("script.cmake") + "\")\n");
  const std::string outer_script =
      "set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" + path("outer.cmake") + "\")\n";
  std::filesystem::create_directory(path("below"));
  write("below/CMakeLists.txt", script);
  const std::string discovered = "gpu_discover_tests(tests TEST_FILTER Small.test)\n";
  for (const auto& text :
       {script + two_halves + discovered, discovered + two_halves + script,
        discovered + two_halves + "add_subdirectory(below)\n", outer_script + two_halves + discovered}) {
    configure(text);
    const auto ended = ctest({"-j4"});
    EXPECT_EQ(ended.exit_code, 0) << ended.out;
    EXPECT_THAT(ended.out, Not(HasSubstr("Not Run"))) << text;
    EXPECT_EQ(most_at_once(events_in(ended.out), "half"), 2) << ended.out;
  }
}

TEST_F(Scheduling, schedules_where_a_script_only_mentions_a_resource_spec_file) {
  write("script.cmake", "# set(CTEST_RESOURCE_SPEC_FILE nothing)\nif(CTEST_RESOURCE_SPEC_FILE)\nendif()\n");
  configure(two_halves +
            ("set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" + path("script.cmake") + "\")\n"));
  const auto ended = ctest({"-j4"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(most_at_once(events_in(ended.out), "half"), 1) << ended.out;
}

TEST_F(Scheduling, runs_tests_with_groups_that_gputests_file_does_not_know) {
  configure("gpu_add_test(NAME ours COMMAND true MEMORY 9GiB)\n"
            "set_tests_properties(ours PROPERTIES RESOURCE_GROUPS 2,gpus:1,x:2)\n"
            "add_test(NAME plain COMMAND true)\n"
            "set_tests_properties(plain PROPERTIES RESOURCE_GROUPS gpus:1 LABELS \"a;b\" ENVIRONMENT \"A=1;B=2\")\n"
            "gpu_add_test(NAME half COMMAND true MEMORY 9GiB)\n");
  const auto ended = ctest({"-j4"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  auto all = entries();
  EXPECT_EQ(all["ours"]["RESOURCE_GROUPS"], groups(1, 10240));
  EXPECT_EQ(all["plain"].count("RESOURCE_GROUPS"), 0U);
  EXPECT_EQ(all["plain"]["LABELS"], (nlohmann::json{"a", "b"}));
  EXPECT_EQ(all["plain"]["ENVIRONMENT"], (nlohmann::json{"A=1", "B=2"}));
}

TEST_F(Scheduling, leaves_a_project_alone_whose_test_generates_a_resource_spec_file) {
  std::filesystem::create_directory(path("below"));
  write("spec.json", users_spec);
  write("below/CMakeLists.txt", "add_test(NAME generator COMMAND true)\n"
                                "set_tests_properties(generator PROPERTIES FIXTURES_SETUP spec\n"
                                "  GENERATED_RESOURCE_SPEC_FILE \"" +
                                    path("spec.json") + "\")\n");
  configure(std::string{two_halves} + "add_subdirectory(below)\n");
  const auto ended = ctest({"-j4"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(most_at_once(events_in(ended.out), "half"), 2) << ended.out;
}

TEST_F(Scheduling, starts_no_more_cases_of_an_executable_than_it_has_lanes_however_ctest_is_called) {
  write("spec.json", users_spec);
  write("dashboard.cmake", "set(CTEST_SOURCE_DIRECTORY \"" + path("") + "\")\nset(CTEST_BINARY_DIRECTORY \"" +
                               path("build") + "\")\nctest_start(Experimental QUIET)\n"
                                               "ctest_test(PARALLEL_LEVEL 12 RETURN_VALUE ended)\n"
                                               "if(ended)\n  message(FATAL_ERROR \"${ended}\")\nendif()\n");
  write("CMakePresets.json",
        R"({"version": 3, "configurePresets": [{"name": "c", "generator": "Unix Makefiles", "binaryDir": "build"}],
            "testPresets": [{"name": "t", "configurePreset": "c", "execution": {"jobs": 12}}]})");
  for (const auto* name : {"listed", "liblisted_library.so"}) {
    std::filesystem::copy_file(std::string{DISCOVERY_EXECUTABLES} + "/" + name, path(name));
  }
  configure("add_executable(other IMPORTED)\n"
            "set_target_properties(other PROPERTIES IMPORTED_LOCATION \"" + path("listed") + "\")\n"
            "foreach(target IN ITEMS tests other)\n"
            "  gpu_discover_tests(${target} ISOLATION worker TEST_PREFIX ${target}. TEST_FILTER Small.*:Medium.says_a_size:Plain.first:Typed*:NamedTypes*:Shared.*)\n"
            "endforeach()\n");
  const auto expect_lanes = [&](int lanes, const Ended& ended, const std::vector<std::string>& way) {
    SCOPED_TRACE(testing::PrintToString(way));
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    const auto events = events_in(ended.out);
    EXPECT_GT(events.size(), 12U) << ended.out;
    EXPECT_LE(most_at_once(events, "tests."), lanes) << ended.out;
    EXPECT_LE(most_at_once(events, "other."), lanes) << ended.out;
  };
  const auto listed = ctest({"-N"}).out;
  std::string failed;
  static const std::regex line{R"(Test +#([0-9]+): (\S+))"};
  for (auto it = std::sregex_iterator{listed.begin(), listed.end(), line}; it != std::sregex_iterator{}; ++it) {
    if ((*it)[2].str().find("workers_end") == std::string::npos) { // which would fail
      failed += (*it)[1].str() + ":" + (*it)[2].str() + "\n";
    }
  }
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{}, {"--schedule-random"}, {"-R", "tests"}, {"-I", "1,20"}, {"--rerun-failed"},
        {"--resource-spec-file", path("spec.json")}}) {
    write("build/Testing/Temporary/LastTestsFailed.log", failed);
    auto arguments = way;
    arguments.emplace_back("-j3");
    expect_lanes(1, ctest(arguments), way);
  }
  // The places are not known: eight for two executables.
  expect_lanes(4, ctest({"-S", path("dashboard.cmake"), "-V"}), {"-S"});
  expect_lanes(4, run({"/usr/bin/env", "-C", path(""), program("ctest"), "--preset", "t"}), {"--preset"});
}

TEST_F(Scheduling, does_not_let_small_tests_delay_large_ones) {
  set("GPUTEST_DEVICES", "simulated:1x16GiB,context=0");
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "gpu_add_test(NAME little_" + std::to_string(i) + " COMMAND true MEMORY 1GiB)\n";
  }
  configure(text + "gpu_add_test(NAME ten COMMAND true MEMORY 10GiB)\n"
                   "gpu_add_test(NAME twelve COMMAND true MEMORY 12GiB)\n"
                   "gpu_add_test(NAME eight COMMAND true MEMORY 8GiB)\n");
  const auto ended = ctest({"-j8"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  const auto events = events_in(ended.out);
  ASSERT_THAT(events, SizeIs(66)) << ended.out;
  EXPECT_EQ(events.front(), start_of("twelve"));
  // Whatever runs beside a large test, the next large one takes its place.
  const auto start_after = [&](const Event& event) {
    const auto at = std::find(events.begin(), events.end(), event);
    const auto next = std::find_if(at, events.end(), [](const Event& other) { return other.start; });
    return next == events.end() ? std::string{} : next->test;
  };
  EXPECT_EQ(start_after(end_of("twelve")), "ten") << ended.out;
  EXPECT_EQ(start_after(end_of("ten")), "eight") << ended.out;
}

} // namespace
} // namespace gputest::tests
