// SPDX-License-Identifier: BSD-3-Clause
// How ctest schedules the entries of gpu_add_test() and gpu_discover_tests() by their memory: each test configures a
// project of its own and runs it on simulated devices. DISCOVERY_CMAKE_FOLDER, if it is set, is the folder of another
// cmake and ctest.

#include "cmake_project.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace gputest::tests {
namespace {

using testing::AllOf;
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
};

/// How many entries of its kind ctest runs at once, and which of them: the number and the turn in the lock of
/// gputest's. Empty if it has none.
std::string lock_of(const std::map<std::string, nlohmann::json>& properties) {
  const auto found = properties.find("RESOURCE_LOCK");
  for (const auto& lock : found == properties.end() ? nlohmann::json::array() : found->second) {
    std::smatch parts;
    if (const auto name = lock.get<std::string>();
        std::regex_match(name, parts, std::regex{"gputest_([0-9]+)_at_once_([0-9]+)"})) {
      return parts[1].str() + ":" + parts[2].str();
    }
  }
  return "";
}

/// The same without the turn.
std::string at_once(const std::map<std::string, nlohmann::json>& properties) {
  const auto lock = lock_of(properties);
  return lock.substr(0, lock.find(':'));
}

/// A user's resource spec file.
constexpr auto users_spec = R"({"version": {"major": 1, "minor": 0}, "local": [{"gpus": [{"id": "0", "slots": 1}]}]})";

/// Two tests that do not fit on the device together.
constexpr auto two_halves = "gpu_add_test(NAME half_a COMMAND true MEMORY 9GiB)\n"
                            "gpu_add_test(NAME half_b COMMAND true MEMORY 9GiB)\n";

TEST_F(Scheduling, has_workers_use_no_mps_on_devices_for_one_process_at_a_time_unless_the_user_says_so) {
  configure("gpu_discover_tests(tests ISOLATION worker TEST_FILTER Plain.first)\n"
            "gpu_discover_tests(tests TEST_FILTER Small.test)\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Medium.says_no_size PROPERTIES ENVIRONMENT "
            "GPUTEST_MPS=on)\n"
            "gpu_discover_tests(tests TEST_FILTER Plain.first)\n"
            "add_test(NAME plain COMMAND sh -c \"echo MPS=$GPUTEST_MPS.\")\n");
  EXPECT_EQ(entries()["Plain.first"].count("ENVIRONMENT"), 0U);
  set("GPUTEST_DEVICES", "simulated:1x16GiB,exclusive_process");
  auto all = entries();
  EXPECT_EQ(all["Plain.first"]["ENVIRONMENT"].dump(), R"(["GPUTEST_MPS=off"])");
  EXPECT_EQ(all["Medium.says_no_size"]["ENVIRONMENT"].back(), "GPUTEST_MPS=on");
  EXPECT_EQ(all["Small.test"].count("ENVIRONMENT"), 0U);
  EXPECT_THAT(ctest({"-V", "-R", "plain"}).out, HasSubstr("MPS=.\n"));
  set("GPUTEST_MPS", "auto");
  EXPECT_EQ(entries()["Plain.first"].count("ENVIRONMENT"), 0U);
}

TEST_F(Scheduling, gives_entries_as_many_turns_as_fit_at_once) {
  set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  std::filesystem::create_directory(path("below"));
  write("below/CMakeLists.txt", "gpu_add_test(NAME below COMMAND true MEMORY 3GiB)\n");
  configure("gpu_add_test(NAME small COMMAND true)\n"
            "gpu_add_test(NAME tiny COMMAND true MEMORY 1MiB)\n"
            "gpu_add_test(NAME sized COMMAND true MEMORY 3GiB GPUS 2 HEAP 62MiB)\n"
            "gpu_add_test(NAME \"odd;na]me [x\" COMMAND true MEMORY 3GiB LABELS \"a;b\" c)\n"
            "gpu_add_test(NAME large COMMAND true MEMORY large)\n"
            "gpu_add_test(NAME waiting COMMAND true MEMORY large LARGE wait)\n"
            "gpu_add_test(NAME too_large COMMAND true MEMORY 100GiB)\n"
            "add_test(NAME plain COMMAND true)\n"
            "add_subdirectory(below)\n");
  auto all = entries();
  EXPECT_EQ(lock_of(all["small"]), "24:0");
  EXPECT_EQ(lock_of(all["tiny"]), "30:0");
  EXPECT_EQ(all["small"].count("COST"), 0U);
  EXPECT_EQ(lock_of(all["sized"]), "3:0");
  EXPECT_EQ(all["sized"]["COST"], 4160);
  EXPECT_EQ(lock_of(all["odd;na]me [x"]), "8:0");
  EXPECT_EQ(all["odd;na]me [x"]["LABELS"], (nlohmann::json{"a", "b", "c", "gpu", "gpu_medium"}));
  EXPECT_EQ(lock_of(all["waiting"]), "2:0");
  EXPECT_EQ(lock_of(all["below"]), "8:1");
  for (const auto* name : {"large", "too_large", "plain"}) {
    EXPECT_EQ(lock_of(all[name]), "") << name;
    EXPECT_EQ(all[name].count("COST"), 0U) << name;
  }
  set("GPUTEST_DEVICES", "simulated:2x80GiB,context=1GiB");
  EXPECT_EQ(lock_of(entries()["small"]), "") << "more fit than ctest has places";
}

TEST_F(Scheduling, goes_on_where_a_project_replaces_the_same_command_before_or_after_it) {
  write("own.cmake", "function(set_tests_properties)\n"
                     "  math(EXPR last \"${ARGC} - 1\")\n"
                     "  foreach(index RANGE ${last})\n"
                     "    string(APPEND code \" \\\"\\${ARGV${index}}\\\"\")\n"
                     "  endforeach()\n"
                     "  cmake_language(EVAL CODE \"_set_tests_properties(${code} LABELS own)\")\n"
                     "endfunction()\n");
  const std::string replace =
      "set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" + path("own.cmake") + "\")\n";
  const std::string add = "gpu_discover_tests(tests TEST_FILTER Small.test)\n"
                          "add_test(NAME plain COMMAND true)\n"
                          "set_tests_properties(plain PROPERTIES COST 7)\n"
                          "gpu_add_test(NAME sized COMMAND true MEMORY 3GiB)\n";
  for (const auto& text : {replace + add, add + replace}) {
    configure(text);
    auto all = entries();
    EXPECT_EQ(lock_of(all["sized"]), "4:0") << text;
    EXPECT_EQ(at_once(all["Small.test"]), "12") << text;
    EXPECT_EQ(all["plain"]["LABELS"].dump(), R"(["own"])") << text;
    EXPECT_EQ(ctest({"-R", "plain"}).exit_code, 0) << text;
  }
}

TEST_F(Scheduling, gives_entries_that_are_alone_on_their_devices_a_turn_for_each_device) {
  set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  configure("gpu_add_test(NAME alone COMMAND true MEMORY 3GiB ALONE LAUNCHER on)\n"
            "gpu_discover_tests(tests ALONE TEST_FILTER Small.test:Medium.says_a_size:Host.test)\n"
            "gpu_discover_tests(tests ALONE MEMORY 3GiB TEST_FILTER Plain.first)\n");
  auto all = entries();
  EXPECT_THAT(all["alone"]["ENVIRONMENT_MODIFICATION"].dump(), HasSubstr("GPUTEST_MEMORY=set:3GiB alone"));
  EXPECT_THAT(all["alone"]["LABELS"].dump(), HasSubstr("gpu_medium"));
  EXPECT_THAT(all["Small.test"]["ENVIRONMENT_MODIFICATION"].dump(), HasSubstr("GPUTEST_MEMORY=set:small alone"));
  EXPECT_THAT(all["Small.test"]["LABELS"].dump(), HasSubstr("gpu_small"));
  EXPECT_THAT(all["Plain.first"]["ENVIRONMENT_MODIFICATION"].dump(), HasSubstr("GPUTEST_MEMORY=set:3GiB alone"));
  for (const auto* name : {"alone", "Small.test", "Medium.says_a_size", "Plain.first"}) {
    EXPECT_EQ(at_once(all[name]), "2") << name;
  }
  EXPECT_EQ(at_once(all["Host.test"]), "");
  const auto ended = ctest({"-V", "-R", "^alone$"});
  EXPECT_THAT(ended.out, HasSubstr("alone: 3 GiB alone on SIM-")) << ended.out;
}

TEST_F(Scheduling, has_no_test_wait_for_a_turn_where_ctest_runs_no_more_than_fit) {
  set("GPUTEST_DEVICES", "simulated:1x16GiB,context=1GiB");
  configure("gpu_add_test(NAME medium COMMAND true MEMORY 3GiB)\n");
  using Arguments = std::vector<std::string>;
  for (const auto& more : {Arguments{"-j5"}, Arguments{"--parallel", "17"}}) {
    EXPECT_EQ(at_once(entries(more)["medium"]), "4") << more.front();
  }
  for (const auto& few : {Arguments{"-j4"}, Arguments{"--parallel", "2"}}) {
    EXPECT_EQ(at_once(entries(few)["medium"]), "") << few.front();
  }
  set("CTEST_PARALLEL_LEVEL", "3");
  EXPECT_EQ(at_once(entries()["medium"]), "");
  EXPECT_EQ(at_once(entries({"-j6"})["medium"]), "4");
}

TEST_F(Scheduling, keeps_to_the_projects_number_of_processes_unless_the_user_has_one) {
  set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  configure("gpu_add_test(NAME small COMMAND \"" DISCOVERY_TOOL "\" devices)\n"
            "gpu_discover_tests(tests TEST_FILTER Plain.first)\n"
            "add_test(NAME plain COMMAND sh -c \"env; echo the end\")\n",
            {"-DGPUTEST_PROCESSES_PER_DEVICE=3"});
  EXPECT_EQ(at_once(entries()["small"]), "6");
  EXPECT_THAT(entries()["Plain.first"]["ENVIRONMENT_MODIFICATION"].dump(), HasSubstr("PROCESSES_PER_DEVICE=set:3"));
  EXPECT_THAT(ctest({"-V", "-R", "small"}).out, HasSubstr("GPUTEST_PROCESSES_PER_DEVICE: at most 3"));
  EXPECT_THAT(ctest({"-V", "-R", "plain"}).out, AllOf(HasSubstr("the end"), Not(HasSubstr("PROCESSES_PER_DEVICE"))));
  set("GPUTEST_PROCESSES_PER_DEVICE", "5");
  EXPECT_EQ(at_once(entries()["small"]), "10");
  EXPECT_THAT(ctest({"-V", "-R", "small"}).out, HasSubstr("GPUTEST_PROCESSES_PER_DEVICE: at most 5"));
  set("GPUTEST_PROCESSES_PER_DEVICE", "0");
  EXPECT_EQ(at_once(entries()["small"]), "24");
}

TEST_F(Scheduling, gives_discovered_entries_the_turns_of_their_cases) {
  set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  configure("gpu_discover_tests(tests)\n"
            "gpu_discover_tests(tests GRANULARITY class TEST_PREFIX by/)\n"
            "gpu_discover_tests(tests GRANULARITY executable TEST_PREFIX all/)\n");
  auto all = entries();
  EXPECT_EQ(at_once(all["Small.test"]), "24");
  EXPECT_EQ(at_once(all["Medium.says_no_size"]), "2");
  EXPECT_EQ(at_once(all["Typed.test<int>"]), "24") << "after cases of other sizes";
  EXPECT_NE(lock_of(all["Plain.first"]), lock_of(all["Plain.second"]));
  EXPECT_EQ(at_once(all["Shared.first"]), "20");
  EXPECT_EQ(at_once(all["Host.test"]), "");
  EXPECT_EQ(at_once(all["Large.test"]), "");
  EXPECT_EQ(at_once(all["by/tests.small"]), "24");
  EXPECT_EQ(at_once(all["by/tests.host"]), "");
  EXPECT_EQ(at_once(all["by/tests.large"]), "");
  EXPECT_EQ(at_once(all["by/tests.medium"]), "1"); // one of its cases asks for two devices
  EXPECT_EQ(at_once(all["all/tests"]), "1");
  // The devices are no part of what is kept of a listing.
  set("GPUTEST_DEVICES", "simulated:2x24GiB,context=1GiB");
  EXPECT_EQ(at_once(entries()["Shared.first"]), "");
  EXPECT_EQ(at_once(entries()["Medium.says_a_size"]), "18");
}

/// A run log that says what an entry took.
std::string log_of(const std::string& entry, int gib, std::time_t at = std::time(nullptr)) {
  return R"({"t":)" + std::to_string(at) + R"(.0,"pid":1,"entry":")" + entry + R"(","event":"need","bytes":)" +
         std::to_string(std::uint64_t(gib) << 30U) +
         R"(,"evidence":"exact","device_bytes":17179869184,"simulated":true,)" + R"("declared_by":"estimate"})" + "\n";
}

TEST_F(Scheduling, gives_each_entry_what_it_took_in_earlier_runs_or_what_the_projects_file_says) {
  const auto learned = [&] {
    std::map<std::string, std::string> sizes;
    for (auto& [name, properties] : entries()) {
      for (const auto& element : properties["ENVIRONMENT_MODIFICATION"]) {
        const auto text = element.get<std::string>();
        if (const std::string begin = "GPUTEST_LEARNED=set:"; text.rfind(begin, 0) == 0) {
          sizes[name] = text.substr(begin.size());
        }
      }
    }
    return sizes;
  };
  write("needs.jsonl", R"({"test":"direct","needs":{"80GiB":"7168MiB"}})"
                       "\n"
                       R"({"test":"Medium.says_no_size","needs":{"80GiB":"3072MiB","16GiB":"2048MiB"}})"
                       "\n");
  configure("gpu_add_test(NAME direct COMMAND true MEMORY medium NEEDS needs.jsonl)\n"
            "gpu_add_test(NAME costs COMMAND true MEMORY medium)\n"
            "set_tests_properties(costs PROPERTIES COST 3)\n"
            "gpu_add_test(NAME declares COMMAND true MEMORY 1GiB)\n"
            "gpu_discover_tests(tests TEST_FILTER Medium.says_no_size:Small.test)\n"
            "gpu_discover_tests(tests TEST_PREFIX p. MEMORY medium GRANULARITY executable TEST_FILTER Plain.first)\n");
  using Sizes = std::map<std::string, std::string>;
  EXPECT_EQ(learned(), (Sizes{{"direct", "7168MiB"}, {"Medium.says_no_size", "2048MiB"}}));
  EXPECT_EQ(at_once(entries()["direct"]), "2") << "and so it takes its turns";
  EXPECT_EQ(at_once(entries()["Medium.says_no_size"]), "5");
  std::filesystem::create_directories(path("build/Testing/gputest"));
  write("build/Testing/gputest/run-1.jsonl", log_of("direct", 1) + log_of("costs", 3) + log_of("declares", 3) +
                                                 log_of("Small.test", 3) + log_of("p.tests", 4));
  const Sizes all{
      {"direct", "1024MiB"}, {"costs", "3072MiB"}, {"Medium.says_no_size", "2048MiB"}, {"p.tests", "4096MiB"}};
  EXPECT_EQ(learned(), all) << "those that declare no size";
  EXPECT_EQ(entries()["costs"]["COST"], 3) << "the user's";
  EXPECT_EQ(entries()["p.tests"]["COST"], 4096 + 1024) << "with its context";
  std::filesystem::remove(path("build/Testing/gputest/run-1.jsonl"));
  EXPECT_EQ(learned(), all) << "it is kept";
  set("GPUTEST_DEVICES", "none");
  EXPECT_THAT(learned(), IsEmpty());
}

TEST_F(Scheduling, labels_entries_of_undeclared_memory_by_the_projects_file_and_not_by_earlier_runs) {
  const auto line = [](const std::string& test, const std::string& figures) {
    return R"({"test":")" + test + R"(","needs":{)" + figures + "}}\n";
  };
  const auto label = [&](const std::string& name) {
    const auto labels = entries()[name]["LABELS"];
    return labels.at(labels.size() - 1).get<std::string>();
  };
  write("needs.jsonl", line("Plain.first", R"("16GiB":"9216MiB","80GiB":"9216MiB")") +
                           line("tests-2.Plain.first", R"("80GiB":"7168MiB")") +
                           line(R"(a \"b\")", R"("80GiB":"7168MiB")") + line("declares", R"("80GiB":"7168MiB")"));
  configure("gpu_add_test(NAME [[a \"b\"]] COMMAND true NEEDS needs.jsonl)\n"
            "gpu_add_test(NAME declares COMMAND true MEMORY small NEEDS needs.jsonl)\n"
            "gpu_add_test(NAME unknown COMMAND true NEEDS needs.jsonl)\n"
            "gpu_discover_tests(tests TEST_FILTER Plain.* LARGE serial NEEDS needs.jsonl)\n"
            "gpu_discover_tests(tests TEST_FILTER Plain.first NEEDS needs.jsonl)\n");
  std::filesystem::create_directories(path("build/Testing/gputest"));
  write("build/Testing/gputest/run-1.jsonl", log_of("unknown", 3) + log_of("Plain.second", 3));
  EXPECT_EQ(label("a \"b\""), "gpu_medium");
  EXPECT_EQ(label("declares"), "gpu_small");
  EXPECT_EQ(label("unknown"), "gpu_small");
  EXPECT_EQ(label("Plain.first"), "gpu_large") << "more than half of the smallest device that is named";
  EXPECT_EQ(entries()["Plain.first"].count("RUN_SERIAL"), 0U) << "it waits for its bytes";
  EXPECT_EQ(label("Plain.second"), "gpu_small");
  EXPECT_EQ(label("tests-2.Plain.first"), "gpu_medium") << "by the name of the entry";
  write("needs.jsonl", line("Plain.second", R"("80GiB":"7168MiB")"));
  EXPECT_EQ(label("Plain.first"), "gpu_small") << "the list is made again";
  EXPECT_EQ(label("Plain.second"), "gpu_medium");
  write("needs.jsonl", "\n" + line("Plain.second", R"("80GiB":"7168MiB")") + R"({"test": "Plain.first", "needs": {}})");
  const auto refused = ctest({"-N"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.out + refused.err, HasSubstr(R"(  {"test": "Plain.first", "needs": {}})"))
      << "what another tool has written is not passed by";
  write("needs.jsonl", line("Plain.second", R"("80GiB":"0MiB")"));
  EXPECT_THAT(ctest({}).err, HasSubstr(R"(needs.jsonl: line 1 is not such as {"test":"Sort.keys","needs")"));
}

TEST_F(Scheduling, has_tests_that_declare_nothing_run_everywhere_if_their_executable_names_no_library_of_gpus) {
  set("GPUTEST_DEVICES", "none");
  for (const std::string file : {"listed", "liblisted_library.so"}) {
    std::filesystem::copy_file(std::string{DISCOVERY_EXECUTABLES} + "/" + file, path(file));
  }
  const auto configure_and_run = [&] {
    configure_project(
        {{"gputest::cli", DISCOVERY_TOOL}, {"gputest::entry", DISCOVERY_ENTRY_PROGRAM}, {"tests", path("listed")}},
        "gpu_discover_tests(tests TEST_FILTER Plain.first:Small.test)\n"
        "gpu_discover_tests(tests TEST_FILTER Plain.first TEST_PREFIX said. MEMORY small)\n",
        {});
    return ctest({}).out;
  };
  EXPECT_THAT(configure_and_run(), AllOf(testing::ContainsRegex(" Plain.first [.]+ +Passed"),
                                         testing::ContainsRegex(" Small.test [.]+[*]+Skipped"),
                                         testing::ContainsRegex(" said.Plain.first [.]+[*]+Skipped")));
  EXPECT_THAT(entries()["Plain.first"]["ENVIRONMENT_MODIFICATION"].dump(), HasSubstr("GPUTEST_MEMORY=set:unseen"));
  set("GPUTEST_DEVICES", "simulated:1x16GiB");
  EXPECT_THAT(entries()["Plain.first"]["LABELS"].dump(), HasSubstr("gpu_small")) << "they need no library";
  set("GPUTEST_DEVICES", "none");
  std::filesystem::create_directory(path("other"));
  std::filesystem::copy_file(path("liblisted_library.so"), path("other/liblisted_library.so"));
  std::ofstream{path("other/liblisted_library.so"), std::ios::app} << "libcuda.so";
  set("LD_LIBRARY_PATH", path("other"));
  EXPECT_THAT(ctest({}).out, testing::ContainsRegex(" Plain.first [.]+[*]+Skipped")) << "by another library";
  set("LD_LIBRARY_PATH", "");
  configure_project(
      {{"gputest::cli", DISCOVERY_TOOL}, {"gputest::entry", DISCOVERY_ENTRY_PROGRAM}, {"tests", path("listed")}},
      "gpu_discover_tests(tests TEST_FILTER Plain.first DISCOVERY_ENVIRONMENT LD_LIBRARY_PATH=" + path("other") + ")\n",
      {});
  EXPECT_THAT(ctest({}).out, testing::ContainsRegex(" Plain.first [.]+[*]+Skipped")) << "by that of the listing";
  configure_and_run();
  EXPECT_THAT(ctest({}).out, testing::ContainsRegex(" Plain.first [.]+ +Passed"));
  std::ofstream{path("listed"), std::ios::app} << "libcuda.so";
  EXPECT_THAT(configure_and_run(), testing::ContainsRegex(" Plain.first [.]+[*]+Skipped"));
}

TEST_F(Scheduling, looks_again_whether_an_executable_uses_a_gpu_once_its_tool_is_built) {
  set("GPUTEST_DEVICES", "none");
  configure_project({{"gputest::cli", path("tool")},
                     {"gputest::entry", DISCOVERY_ENTRY_PROGRAM},
                     {"tests", DISCOVERY_EXECUTABLES "/listed"}},
                    "gpu_discover_tests(tests TEST_FILTER Plain.first)\n", {});
  EXPECT_THAT(ctest({}).out, testing::ContainsRegex(" Plain.first [.]+[*]+Skipped"));
  std::filesystem::create_symlink(DISCOVERY_TOOL, path("tool"));
  EXPECT_THAT(ctest({}).out, testing::ContainsRegex(" Plain.first [.]+ +Passed"));
  std::filesystem::remove(path("tool"));
  write("tool", "#!/bin/sh\nexit 3\n");
  std::filesystem::permissions(path("tool"), std::filesystem::perms::owner_all);
  EXPECT_THAT(ctest({"-V"}).out, HasSubstr("--may-use', which says whether it may use a GPU, ended with: 3"));
}

TEST_F(Scheduling, leaves_no_entry_of_tests_that_cannot_be_listed_out_of_those_that_use_no_gpu) {
  set("GPUTEST_DEVICES", "none");
  const std::string once = "gpu_discover_tests(tests TEST_FILTER Plain.first LABELS mine)\n";
  configure_project({{"gputest::cli", DISCOVERY_TOOL},
                     {"gputest::entry", DISCOVERY_ENTRY_PROGRAM},
                     {"foreign", DISCOVERY_EXECUTABLES "/foreign"},
                     {"tests", DISCOVERY_EXECUTABLES "/listed"}},
                    "gpu_discover_tests(foreign)\n"
                    "gpu_discover_tests(tests TEST_FILTER Plain.first TEST_PREFIX tests-3.)\n" +
                        once + once,
                    {});
  for (int i = 0; i < 2; ++i) { // by new lists, and by those that were kept
    auto all = entries();
    EXPECT_EQ(all["foreign_NOT_LISTED"].count("LABELS"), 0U);
    EXPECT_THAT(all["tests-3.tests_NOT_LISTED"]["LABELS"], ElementsAre("mine"));
  }
}

TEST_F(Scheduling, leaves_properties_of_the_users_as_they_are) {
  configure("gpu_add_test(NAME costly COMMAND true MEMORY 9GiB)\n"
            "set_tests_properties(costly PROPERTIES COST 5 RUN_SERIAL ON RESOURCE_LOCK lock)\n"
            "gpu_add_test(NAME own COMMAND true MEMORY 9GiB)\n"
            "set_tests_properties(own PROPERTIES RESOURCE_GROUPS 1,gpus:7)\n"
            "gpu_discover_tests(tests TEST_FILTER Medium.says_no_size PROPERTIES COST 5 RESOURCE_LOCK \"x;y\")\n"
            "add_test(NAME plain COMMAND true)\n"
            "set_tests_properties(plain PROPERTIES RESOURCE_GROUPS gpus:1 LABELS \"a;b\" ENVIRONMENT \"A=1;B=2\")\n");
  auto all = entries();
  EXPECT_EQ(all["Medium.says_no_size"]["COST"], 5);
  EXPECT_THAT(all["Medium.says_no_size"]["RESOURCE_LOCK"], ElementsAre("gputest_1_at_once_0", "x", "y"));
  EXPECT_EQ(all["costly"]["COST"], 5);
  EXPECT_EQ(all["costly"]["RUN_SERIAL"], true);
  EXPECT_THAT(all["costly"]["RESOURCE_LOCK"], ElementsAre("gputest_1_at_once_0", "lock"));
  EXPECT_THAT(all["own"]["RESOURCE_GROUPS"].dump(), HasSubstr("\"slots\":7"));
  EXPECT_EQ(all["plain"]["LABELS"], (nlohmann::json{"a", "b"}));
  EXPECT_EQ(all["plain"]["ENVIRONMENT"], (nlohmann::json{"A=1", "B=2"}));
}

TEST_F(Scheduling, shows_no_test_variables_that_it_does_not_have_without_gputest) {
  configure("add_test(NAME plain COMMAND sh -c \"env | grep -E '^(CTEST_RESOURCE|GPUTEST)' | sort\")\n"
            "gpu_add_test(NAME entry COMMAND sh -c \"env | grep CTEST_RESOURCE || echo has none\" MEMORY 9GiB)\n"
            "gpu_discover_tests(tests TEST_FILTER Small.test)\n");
  set("GPUTEST_DIR", "");
  set("GPUTEST_DEVICES", "");
  const auto ended = ctest({"-j2", "-V", "-R", "plain"});
  EXPECT_THAT(ended.out, Not(HasSubstr(": CTEST_RESOURCE"))) << ended.out;
  EXPECT_THAT(ended.out, Not(HasSubstr(": GPUTEST_S"))) << ended.out;
  set("GPUTEST_DIR", path("ledger"));
  set("GPUTEST_DEVICES", "simulated:1x16GiB");
  EXPECT_THAT(ctest({"-V", "-R", "entry"}).out, HasSubstr("has none"));
}

TEST_F(Scheduling, starts_a_test_only_when_its_memory_is_there) {
  configure(two_halves);
  const auto ended = ctest({"-j4"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(most_at_once(events_in(ended.out), "half"), 1) << ended.out;
  set("GPUTEST_SCHEDULING", "ledger");
  const auto by_ledger = ctest({"-j4"});
  EXPECT_EQ(by_ledger.exit_code, 0) << by_ledger.out;
  EXPECT_EQ(most_at_once(events_in(by_ledger.out), "half"), 2) << by_ledger.out;
}

TEST_F(Scheduling, leaves_entries_as_they_are_if_the_tool_cannot_say_what_the_devices_are) {
  configure(two_halves);
  set("GPUTEST_DEVICES", "nonsense");
  set("GPUTEST_SCHEDULING", "ctest"); // also where nothing runs
  const auto listed = ctest({"--show-only=json-v1"});
  EXPECT_THAT(listed.err, HasSubstr("GPUTEST_DEVICES='nonsense' is unknown")) << "and says why";
  EXPECT_THAT(listed.out, Not(HasSubstr("RESOURCE_LOCK")));
  set("GPUTEST_DEVICES", "none");
  EXPECT_EQ(lock_of(entries()["half_a"]), "");
  set("GPUTEST_DEVICES", "simulated:1x16GiB,context=1GiB");
  EXPECT_EQ(lock_of(entries()["half_a"]), "1:0");
  configure("set_target_properties(gputest::cli PROPERTIES IMPORTED_LOCATION /no/such/tool)\n"
            "gpu_discover_tests(tests TEST_FILTER Medium.says_a_size)\n");
  EXPECT_EQ(lock_of(entries()["Medium.says_a_size"]), "");
}

#ifdef DISCOVERY_NINJA
TEST_F(Scheduling, works_in_each_configuration_of_a_multi_configuration_generator) {
  configure(two_halves, {"-G", "Ninja Multi-Config", "-DCMAKE_MAKE_PROGRAM=" DISCOVERY_NINJA});
  for (const auto* configuration : {"Debug", "Release"}) {
    EXPECT_EQ(lock_of(entries({"-C", configuration})["half_a"]), "1:0") << configuration;
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
  write("tool", "#!/bin/sh\necho run >> " + path("runs") + "\n");
  configure(std::string{two_halves} + "set_target_properties(gputest::cli PROPERTIES IMPORTED_LOCATION \"" +
            path("tool") + "\")\n");
  EXPECT_EQ(ctest({"-N"}).exit_code, 0);
  EXPECT_EQ(ctest({"--show-only=json-v1"}).exit_code, 0);
  EXPECT_EQ(ctest({"--print-labels", "-R", "["}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("runs")));
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

TEST_F(Scheduling, leaves_a_resource_spec_file_of_the_users_in_force) {
  write("spec.json", users_spec);
  configure("foreach(name a b)\n"
            "  gpu_add_test(NAME half_${name} COMMAND true MEMORY 3GiB)\n"
            "  set_tests_properties(half_${name} PROPERTIES RESOURCE_GROUPS gpus:1)\n"
            "endforeach()\n"
            "gpu_add_test(NAME other COMMAND true MEMORY 9GiB)\n");
  const auto ended = ctest({"-j4", "--resource-spec-file", path("spec.json")});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(most_at_once(events_in(ended.out), "half"), 1) << ended.out;
  const auto without = ctest({"-j4"});
  EXPECT_EQ(without.exit_code, 0) << without.out << without.err;
  EXPECT_THAT(events_in(without.out), Contains(end_of("half_b"))) << without.out;
}

TEST_F(Scheduling, starts_no_more_cases_of_an_executable_than_it_has_lanes_however_ctest_is_called) {
  write("spec.json", users_spec);
  write("dashboard.cmake", "set(CTEST_SOURCE_DIRECTORY \"" + path("") + "\")\nset(CTEST_BINARY_DIRECTORY \"" +
                               path("build") +
                               "\")\nctest_start(Experimental QUIET)\n"
                               "ctest_test(PARALLEL_LEVEL 12 RETURN_VALUE ended)\n"
                               "if(ended)\n  message(FATAL_ERROR \"${ended}\")\nendif()\n");
  write("CMakePresets.json",
        R"({"version": 3, "configurePresets": [{"name": "c", "generator": "Unix Makefiles", "binaryDir": "build"}],
            "testPresets": [{"name": "t", "configurePreset": "c", "execution": {"jobs": 12}}]})");
  for (const auto* name : {"listed", "liblisted_library.so"}) {
    std::filesystem::copy_file(std::string{DISCOVERY_EXECUTABLES} + "/" + name, path(name));
  }
  configure("add_executable(other IMPORTED)\n"
            "set_target_properties(other PROPERTIES IMPORTED_LOCATION \"" +
            path("listed") +
            "\")\n"
            "foreach(target IN ITEMS tests other)\n"
            "  gpu_discover_tests(${target} ISOLATION worker TEST_PREFIX ${target}. TEST_FILTER "
            "Small.*:Medium.says_a_size:Plain.first:Typed*:NamedTypes*:Shared.*)\n"
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
  for (const std::vector<std::string>& way : {std::vector<std::string>{},
                                              {"--schedule-random"},
                                              {"-R", "tests"},
                                              {"-I", "1,20"},
                                              {"--rerun-failed"},
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
}

} // namespace
} // namespace gputest::tests
