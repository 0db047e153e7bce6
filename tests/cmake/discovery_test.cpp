// SPDX-License-Identifier: BSD-3-Clause
// gpu_discover_tests() under CMake and ctest: each test configures a project of its own, whose executables are built
// already. DISCOVERY_CMAKE_FOLDER, if it is set, is the folder of another cmake and ctest.

#include "cmake_project.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

namespace gputest::tests {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class Discovery : public CMakeProject {
protected:
  Discovery() : CMakeProject{"simulated:2x4GiB,context=0"} {
    set("GPUTEST_RUN_MODE", "serial");
    set("COUNT_STARTS_IN", path("starts"));
    use_executable("listed");
  }

  /// Makes one of the executables of discovery/ the target `tests` of the project.
  void use_executable(const std::string& name) const {
    for (const std::string& file : {name, std::string{"liblisted_library.so"}}) {
      const std::string to = file == name ? "tests" : file;
      std::filesystem::remove(path(to));
      std::filesystem::copy_file(std::string{DISCOVERY_EXECUTABLES} + "/" + file, path(to));
    }
  }

  /// Makes the files younger than any that a listing has seen.
  void touch(const std::string& file) {
    const auto now = std::filesystem::last_write_time(path(file));
    std::filesystem::last_write_time(path(file), now + std::chrono::seconds{++touched_});
  }

  /// Root may write everywhere, so it is `test -w` that denies it.
  void make_build_tree_read_only() {
    std::filesystem::create_directories(path("bin"));
    write("bin/test", "#!/bin/sh\nexit 1\n");
    set("PATH", path("bin") + ":" + std::getenv("PATH"));
  }

  /// Configures a project with this text after the definition of the target `tests`.
  void configure(const std::string& text, const std::vector<std::string>& options = {}) const {
    configure_project({{"gputest::entry", DISCOVERY_ENTRY_PROGRAM}, {"tests", path("tests")}}, text, options);
  }

  [[nodiscard]] Ended ctest(const std::vector<std::string>& arguments) const {
    return ctest_in(path("build"), arguments);
  }

  [[nodiscard]] std::map<std::string, Entry> entries() const { return entries_in(path("build"), {}); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, entry] : entries()) {
      all.push_back(name);
    }
    return all;
  }

  /// How many locks the cases of all workers have.
  [[nodiscard]] std::size_t lanes(const std::vector<std::string>& arguments = {}) const {
    std::set<std::string> locks;
    for (const auto& [name, entry] : entries_in(path("build"), arguments)) {
      if (const auto lock = entry.properties.find("RESOURCE_LOCK"); lock != entry.properties.end()) {
        locks.insert(lock->second.dump());
      }
    }
    return locks.size();
  }

  [[nodiscard]] std::size_t starts() const {
    std::ifstream file{path("starts")};
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);) {
      ++lines;
    }
    return lines;
  }

  /// The tests that a run of the executable says it ran.
  [[nodiscard]] std::multiset<std::string> tests_run_by(std::vector<std::string> command) const {
    auto environment_of_it = environment();
    environment_of_it["GPUTEST_LARGE"] = "wait";
    return tests_in(ChildProcess{std::move(command), environment_of_it}.finish().out);
  }

  /// The tests that an output says were run.
  [[nodiscard]] static std::multiset<std::string> tests_in(const std::string& out) {
    std::multiset<std::string> all;
    const std::string mark = "@ran ";
    for (auto at = out.find(mark); at != std::string::npos; at = out.find(mark, at + 1)) {
      all.insert(out.substr(at + mark.size(), out.find("@end", at) - at - mark.size()));
    }
    return all;
  }

private:
  int touched_ = 0;
};

TEST_F(Discovery, makes_one_entry_of_each_test_which_runs_it_and_no_other) {
  configure("gpu_discover_tests(tests)\n");
  const auto own = tests_run_by({path("tests"), "--gtest_also_run_disabled_tests"});
  EXPECT_EQ(own.count("Registered.twice"), 2U);
  EXPECT_EQ(own.size(), 56U);
  std::multiset<std::string> of_entries;
  for (const auto& [name, entry] : entries()) {
    const auto ran = tests_run_by(entry.command);
    // Names that differ only in what a filter cannot say are one entry, and so are names that do not differ.
    EXPECT_EQ(ran.size(), name == "Registered.twice"       ? 2U
                          : name == "NamedTypes.test<int>" ? 4U
                                                           : 1U)
        << name << ": " << entry.command.at(1);
    of_entries.insert(ran.begin(), ran.end());
  }
  EXPECT_EQ(of_entries, own);
}

TEST_F(Discovery, makes_entries_of_the_tests_of_all_calls_that_run_some) {
  configure("gpu_discover_tests(tests)\n");
  const auto of_one_call = names();
  configure("gpu_discover_tests(tests DISCOVERY_ENVIRONMENT RUN_FIRST=Small.*:Plain.first)\n");
  EXPECT_EQ(names(), of_one_call);
}

TEST_F(Discovery, has_each_test_run_once_by_workers_or_alone) {
  configure("gpu_discover_tests(tests ISOLATION worker)\n");
  const auto all = entries();
  EXPECT_EQ(all.at("Plain.first").command.front(), DISCOVERY_ENTRY_PROGRAM);
  EXPECT_EQ(all.at("Large.test").command.at(1), "--own-process=it is large");
  EXPECT_EQ(all.at("Medium.says_devices").command.at(1), "--own-process=it needs several GPUs");
  EXPECT_THAT(all.at("tests.workers_end").command,
              ElementsAre(DISCOVERY_ENTRY_PROGRAM, "--end", path("tests"), path("build/gputest/tests-1-long.txt"), ""));
  EXPECT_EQ(all.at("tests.workers_end").properties.at("TIMEOUT"), 1700) << "it waits less, and tells what it saw";
  EXPECT_EQ(all.at("tests.workers_end").properties.at("WORKING_DIRECTORY"), path("build"));
  EXPECT_EQ(all.at("tests.workers_end").properties.at("ENVIRONMENT").dump(), R"(["GPUTEST_TEST=tests.workers_end"])");
  const auto ran_by = [&](const std::string& isolation) {
    set("GPUTEST_ISOLATION", isolation);
    const auto ended = ctest({"-V"});
    EXPECT_EQ(ended.exit_code, 0) << ended.out;
    EXPECT_THAT(ended.out, Not(HasSubstr("runs in another process"))); // nothing was taken for a change
    return tests_in(ended.out);
  };
  EXPECT_EQ(ran_by("worker"), ran_by("process"));
  const auto one = ctest({"-R", "^Plain.first$"}).out;
  EXPECT_THAT(one, HasSubstr("tests.workers_end")) << "with whatever case of a worker is selected";
  EXPECT_THAT(one, AllOf(HasSubstr("100% tests passed"), HasSubstr("out of 2\n")));
}

TEST_F(Discovery, runs_each_case_alone_if_ctest_is_told_to_leave_out_the_end_of_workers) {
  configure("gpu_discover_tests(tests ISOLATION worker TEST_FILTER Plain.first)\n");
  for (const auto& [option, value, leaves_out] :
       {std::tuple{"-E", "workers_end", true}, std::tuple{"--exclude-regex", "^tests.w", true},
        std::tuple{"-FC", ".*", true}, std::tuple{"--fixture-exclude-any", "gputest_workers", true},
        std::tuple{"-E",
                   "gr\xC3\xB6\xC3\x9F"
                   "e|workers_end",
                   true},
        std::tuple{"-E", "x;[a]|(workers|[[])", true}, std::tuple{"-E", "*Slow*", true},
        std::tuple{"-E", "(workers", true}, std::tuple{"-E", "a|(*b)", true}, std::tuple{"-E", "workers_en[a-e]", true},
        std::tuple{"--exclude-from-file", "/dev/null", true}, std::tuple{"-E", "", false},
        std::tuple{"-E", "(Slow|\\.Big)_[0-9]+", false}, std::tuple{"-E", "^workers_end", false},
        std::tuple{"-FC", "^other", false}, std::tuple{"-FS", ".*", false}}) {
    const auto ended = ctest({"-V", "-R", "Plain", option, value});
    const auto why =
        std::string{"runs in a process of its own: ctest's option "} + option + " may leave out tests.workers_end";
    EXPECT_EQ(ended.out.find(why) != std::string::npos, leaves_out) << option << " " << value << ended.out;
    EXPECT_EQ(ended.exit_code, 0);
  }
}

TEST_F(Discovery, keeps_the_cases_of_workers_together_but_for_long_ones) {
  configure(
      "gpu_discover_tests(tests ISOLATION worker)\n"
      "gpu_discover_tests(tests ISOLATION worker TEST_PREFIX own. TEST_FILTER Plain.first:Small.test PROPERTIES COST 7 "
      "RESOURCE_LOCK \"mine;other\")\n");
  EXPECT_EQ(entries().at("Plain.first").properties.count("RESOURCE_LOCK"), 1U);
  EXPECT_EQ(entries().at("Large.test").properties.count("RESOURCE_LOCK"), 0U) << "it has no worker";
  write("build/gputest/tests-1-long.txt", "other\nPlain.first\nown.Small.test\n");
  const auto all = entries();
  EXPECT_THAT(all.at("Plain.first").command, Contains("--long"));
  EXPECT_THAT(all.at("Small.test").command, Not(Contains("--long")));
  EXPECT_EQ(all.at("Plain.first").properties.count("COST"), 0U);
  EXPECT_EQ(all.at("Small.test").properties.at("COST"), 5.0);
  EXPECT_EQ(all.at("own.Plain.first").properties.at("COST"), 7.0);
  EXPECT_EQ(all.at("Large.test").properties.count("COST"), 0U) << "it has no worker";
  const std::string own = R"("mine","other"])";
  EXPECT_EQ(all.at("Plain.first").properties.count("RESOURCE_LOCK"), 0U);
  EXPECT_EQ(all.at("own.Small.test").properties.at("RESOURCE_LOCK").dump(), "[" + own);
  EXPECT_THAT(all.at("own.Plain.first").properties.at("RESOURCE_LOCK").dump(),
              AllOf(HasSubstr("\"gputest_workers_"), HasSubstr(own)));
}

TEST_F(Discovery, gives_the_cases_of_an_executable_as_many_lanes_as_it_has_places) {
  configure("gpu_discover_tests(tests ISOLATION worker)\n");
  EXPECT_EQ(lanes(), 8U) << "the places are not known";
  for (const auto& [arguments, count] :
       std::vector<std::pair<std::vector<std::string>, std::size_t>>{{{"-j", "3"}, 3},
                                                                     {{"-j3"}, 3},
                                                                     {{"--parallel", "5"}, 5},
                                                                     {{"-j", "64"}, 8},
                                                                     {{"-j", "1"}, 1},
                                                                     {{"-j", "0"}, 8},
                                                                     {{"-R", "x", "-j4", "-V"}, 4},
                                                                     {{"-I", "1,9", "--schedule-random", "-j2"}, 2}}) {
    EXPECT_EQ(lanes(arguments), count) << testing::PrintToString(arguments);
  }
  set("CTEST_PARALLEL_LEVEL", "6");
  EXPECT_EQ(lanes(), 6U);
  EXPECT_EQ(lanes({"-j2"}), 2U);
  set("CTEST_PARALLEL_LEVEL", "");
  set("GPUTEST_ISOLATION", "process");
  EXPECT_EQ(lanes(), 0U) << "no case waits for a worker";
  set("GPUTEST_ISOLATION", "");
  EXPECT_EQ(lanes({"-E", "workers_end"}), 0U);

  std::string text;
  for (const auto* name : {"a", "b", "c"}) {
    text += std::string{"add_executable("} + name + " IMPORTED)\nset_target_properties(" + name +
            " PROPERTIES IMPORTED_LOCATION \"" + path("tests") + "\")\n";
  }
  configure(text + "gpu_discover_tests(tests ISOLATION worker)\n"
                   "gpu_discover_tests(tests ISOLATION worker TEST_PREFIX again.)\n"
                   "gpu_discover_tests(a TEST_PREFIX a.)\n"
                   "gpu_discover_tests(b ISOLATION worker TEST_PREFIX b. TEST_FILTER Plain.first)\n"
                   "gpu_discover_tests(c ISOLATION worker TEST_PREFIX c. TEST_FILTER Plain.first)\n");
  EXPECT_EQ(lanes({"-j6"}), 2U) << "three executables have workers";
  EXPECT_EQ(lanes({"-j16"}), 5U);
  EXPECT_EQ(lanes({"-j2"}), 1U);
}

TEST_F(Discovery, has_workers_run_no_case_whose_result_is_in_its_output_and_keeps_fixtures) {
  configure("add_test(NAME data COMMAND sh -c :)\n"
            "set_tests_properties(data PROPERTIES FIXTURES_SETUP data)\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_PREFIX a. TEST_FILTER Plain.first PROPERTIES "
            "FIXTURES_REQUIRED data)\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_PREFIX b. TEST_FILTER Plain.first PROPERTIES "
            "SKIP_REGULAR_EXPRESSION none)\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_PREFIX c. TEST_FILTER Plain.first:Large.test PROPERTIES "
            "FAIL_REGULAR_EXPRESSION none)\n");
  const auto all = entries();
  EXPECT_EQ(all.at("c.Plain.first").command.at(1), "--own-process=FAIL_REGULAR_EXPRESSION looks at its output");
  EXPECT_EQ(all.at("c.Large.test").command.at(1), "--own-process=it is large");
  EXPECT_EQ(all.at("b.Plain.first").command.at(1), "--own-process=SKIP_REGULAR_EXPRESSION looks at its output");
  EXPECT_THAT(ctest({"-R", "^a.Plain.first$"}).out, AllOf(HasSubstr(": data "), HasSubstr("tests.workers_end"),
                                                          HasSubstr("100% tests passed"), HasSubstr("out of 3\n")));
}

TEST_F(Discovery, has_one_end_of_workers_for_all_calls_for_a_target_and_keeps_their_names) {
  std::filesystem::create_directory(path("sub"));
  write("sub/CMakeLists.txt",
        "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Medium.says_a_size TEST_SUFFIX .s)\n");
  configure(
      "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Plain.first PROPERTIES RESOURCE_LOCK x RUN_SERIAL ON)\n"
      "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Medium.says_no_size PROPERTIES RESOURCE_LOCK \"y;z\")\n"
      "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Small.test TEST_PREFIX p. )\n"
      "add_subdirectory(sub)\n");
  for (const char* const listing : {"new", "kept"}) {
    SCOPED_TRACE(listing);
    EXPECT_THAT(names(), UnorderedElementsAre("Plain.first", "Medium.says_no_size", "p.Small.test",
                                              "Medium.says_a_size.s", "tests.workers_end"));
  }
  EXPECT_EQ(entries().at("tests.workers_end").properties.at("RESOURCE_LOCK").dump(), R"(["x","y","z"])");
  EXPECT_EQ(entries().at("tests.workers_end").properties.at("RUN_SERIAL").dump(), "true");
  EXPECT_THAT(ctest({"-R", "says_a_size"}).out, HasSubstr("tests.workers_end")) << "whatever call a case is of";
  std::vector<std::string> of_sub;
  for (const auto& [name, entry] : entries_in(path("build/sub"), {})) {
    of_sub.push_back(name);
  }
  EXPECT_THAT(of_sub, UnorderedElementsAre("Medium.says_a_size.s", "tests.workers_end"));
}

TEST_F(Discovery, ends_workers_before_the_clean_ups_of_the_fixtures_that_their_cases_require) {
  configure("foreach(fixture db server)\n"
            "  add_test(NAME ${fixture}_up COMMAND sh -c :)\n"
            "  add_test(NAME ${fixture}_down COMMAND sh -c :)\n"
            "  set_tests_properties(${fixture}_up PROPERTIES FIXTURES_SETUP ${fixture})\n"
            "  set_tests_properties(${fixture}_down PROPERTIES FIXTURES_CLEANUP ${fixture} COST 10)\n"
            "endforeach()\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Plain.first PROPERTIES FIXTURES_REQUIRED "
            "\"db;server\")\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Medium.says_no_size PROPERTIES FIXTURES_REQUIRED "
            "\"server;db\")\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Small.test)\n");
  const auto ended = ctest({});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("out of 9\n")) << "calls with the same fixtures share an entry";
  for (const std::string cleanup : {"db_down", "server_down"}) {
    EXPECT_LT(ended.out.find(": tests.workers_end ."), ended.out.find(": " + cleanup)) << ended.out;
  }
  EXPECT_THAT(ctest({"-R", "Small.test"}).out, AllOf(HasSubstr(": tests.workers_end-2 ."), HasSubstr("out of 2\n")))
      << "no fixture is set up that the case does not require";
  EXPECT_THAT(ctest({"-V", "-E", "_end$"}).out, HasSubstr("ctest's option -E may leave out tests.workers_end,"));
  EXPECT_THAT(ctest({"-V", "-E", "_end-2"}).out, HasSubstr("ctest's option -E may leave out tests.workers_end-2,"));
}

TEST_F(Discovery, makes_no_circle_of_the_fixtures_of_several_calls) {
  configure("add_test(NAME both_up COMMAND sh -c :)\n"
            "set_tests_properties(both_up PROPERTIES FIXTURES_SETUP both)\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Plain.first PROPERTIES FIXTURES_REQUIRED "
            "\"db;both\")\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Medium.says_no_size PROPERTIES FIXTURES_CLEANUP db "
            "FIXTURES_REQUIRED both)\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Small.test PROPERTIES DEPENDS Medium.says_no_size "
            "FIXTURES_REQUIRED both)\n");
  EXPECT_EQ(entries().at("tests.workers_end").properties.at("FIXTURES_REQUIRED").dump(), R"(["both","db"])");
  EXPECT_EQ(entries().at("tests.workers_end-2").properties.at("FIXTURES_REQUIRED").dump(), R"(["both"])");
  const auto ended = ctest({});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
}

TEST_F(Discovery, selects_no_end_of_workers_without_the_label_of_gpu_tests) {
  configure("add_test(NAME other COMMAND sh -c :)\n"
            "gpu_discover_tests(tests ISOLATION worker TEST_FILTER Plain.first)\n");
  EXPECT_THAT(ctest({"-LE", "gpu"}).out, AllOf(Not(HasSubstr("workers_end")), HasSubstr("out of 1\n")));
  const auto alone = ctest({"-R", "workers_end", "-V"});
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_THAT(alone.out, HasSubstr("tests.workers_end (Skipped)"));
  EXPECT_EQ(entries().at("tests.workers_end").properties.at("LABELS").dump(), R"(["gpu"])");
  configure("gpu_discover_tests(tests ISOLATION worker TEST_FILTER Host.test)\n");
  EXPECT_EQ(entries().at("tests.workers_end").properties.count("LABELS"), 0U) << "its workers use no GPU";
}

TEST_F(Discovery, names_entries_after_types_and_values) {
  configure("gpu_discover_tests(tests TEST_PREFIX \"p;[/\" TEST_SUFFIX ]s)\n");
  std::string digits;
  while (digits.size() < 250) {
    digits += "0123456789";
  }
  const auto all = names();
  EXPECT_EQ(all.size(), 52U);
  for (const std::string& name :
       {std::string{"Plain.second"}, std::string{"Instance/Values.test/x"}, std::string{"Odd/Values.test/a;b;"},
        std::string{"Odd/Values.test/$x ${y} $ENV{z} @w@ $<1:v>"}, std::string{"Odd/Values.test/[=[ ]=]"},
        std::string{"Odd/Values.test/\\;"}, std::string{"Odd/Values.test/one\\ntwo\\x0D\\n"},
        std::string{"Odd/Values.test/\xC3\xBC"}, std::string{"Odd/Values.test/\\xFF"},
        std::string{"Odd/Values.test/17"}, std::string{"Odd/Values.test/23"}, std::string{"Odd/Values.test/24"},
        std::string{"Odd/Values.test/0xdeadbeef"}, std::string{"Long/Values.test/"} + digits + "...",
        std::string{"Typed.test<unsigned char>"}, std::string{"Some/Pattern.test<int>"},
        std::string{"Some/DISABLED_Numbers.test/7"}, std::string{"Registered.odd;name [ $\"x\" \\"}}) {
    EXPECT_THAT(all, Contains("p;[/" + name + "]s"));
  }
}

TEST_F(Discovery, names_entries_after_indices_if_asked_to) {
  configure("gpu_discover_tests(tests NO_PRETTY_TYPES NO_PRETTY_VALUES TEST_FILTER \"Typed*:Odd*/2:N*b*\" "
            "TEST_LIST list)\n"
            "file(WRITE \"${CMAKE_CURRENT_BINARY_DIR}/after.cmake\" \"add_test(after true \\${list})\")\n"
            "set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"${CMAKE_CURRENT_BINARY_DIR}/after.cmake\")\n");
  EXPECT_THAT(names(), ElementsAre("Named/Values.test/by_name", "NamedTypes.test<abc>", "Odd/Values.test/2",
                                   "Typed.test<0>", "Typed.test<1>", "after"));
  EXPECT_THAT(entries().at("after").command,
              ElementsAre(HasSubstr("true"), "Typed.test<0>", "Typed.test<1>", "NamedTypes.test<abc>",
                          "Odd/Values.test/2", "Named/Values.test/by_name"));
}

TEST_F(Discovery, labels_entries_and_gives_them_the_settings_of_what_their_tests_need) {
  configure("gpu_discover_tests(tests MEMORY 300MiB LABELS mine \"two words\" REQUIRES sm_80)\n");
  const auto all = entries();
  const auto expect = [&](const std::string& name, const std::string& label, const std::string& memory,
                          const std::string& gpus = "1") {
    const auto& properties = all.at(name).properties;
    EXPECT_EQ(properties.at("LABELS").dump(), "[" + label + R"("mine","two words"])") << name;
    EXPECT_THAT(properties.at("ENVIRONMENT_MODIFICATION").dump(),
                HasSubstr(R"("GPUTEST_ENTRY=set:ctest","GPUTEST_MEMORY=set:)" + memory + R"(","GPUTEST_GPUS=set:)" +
                          gpus + R"(","GPUTEST_REQUIRES=set:sm_80")"))
        << name;
  };
  const std::string small = R"("gpu","gpu_small",)";
  const std::string medium = R"("gpu","gpu_medium",)";
  const std::string large = R"("gpu","gpu_large",)";
  expect("Small.test", small, "small");
  expect("Plain.first", medium, "300MiB");
  expect("Medium.says_no_size", medium, "300MiB");
  expect("Medium.says_a_size", medium, "1536MiB");
  expect("Medium.says_devices", medium, "257MiB", "2");
  expect("Large.test", large, "large");
  expect("Large.says_a_size", large, "large");
  expect("Shared.first", medium, "512MiB");
  expect("Host.test", "", "300MiB");
  EXPECT_THAT(all.at("Odd/Values.test/\\;").properties.at("ENVIRONMENT_MODIFICATION").dump(),
              HasSubstr(R"("GPUTEST_TEST=set:Odd/Values.test/\\;")"));
  EXPECT_THAT(all.at("Registered.odd;name [ $\"x\" \\").command,
              Contains("--gtest_filter=Registered.odd?name [ $\"x\" \\"))
      << "GPUTEST_CASES separates filters by semicolons";
  EXPECT_EQ(all.at("Small.test").properties.at("SKIP_RETURN_CODE"), 77);
  EXPECT_EQ(all.at("Small.test").properties.count("DISABLED"), 0U);
  EXPECT_EQ(all.at("Suite.test").properties.at("DISABLED"), true);
  EXPECT_EQ(all.at("Some/DISABLED_Numbers.test/7").properties.at("DISABLED"), true);
}

TEST_F(Discovery, passes_on_what_gtest_discover_tests_takes) {
  configure(
      "gpu_discover_tests(tests TEST_FILTER Plain.first EXTRA_ARGS \"a;b\" \"\" -x XML_OUTPUT_DIR out "
      "WORKING_DIRECTORY / DISCOVERY_MODE PRE_TEST DISCOVERY_EXTRA_ARGS --gtest_color=no TIMEOUT 7\n"
      "  PROPERTIES LABELS \"a;b\" RESOURCE_LOCK \"x;y\" ENVIRONMENT_MODIFICATION "
      "\"A=set:1;GPUTEST_MEMORY=set:1GiB\" COST 3 TIMEOUT 90)\n"
      "gpu_discover_tests(tests TEST_FILTER Small.test PROPERTIES TIMEOUT \"$<IF:$<CONFIG:no>,60, 30.>\" MY_OWN x "
      "WORKING_DIRECTORY /tmp LABELS x)\n"
      "gpu_discover_tests(tests TEST_FILTER Large.test:Medium.says_no_size HEAP 1MiB KEEPS 2MiB LARGE serial "
      "WAIT_LIMIT 90s GPUS 2 PROPERTIES TIMEOUT_AFTER_MATCH \"9;READY\")\n");
  const auto all = entries();
  ASSERT_EQ(all.size(), 4U);
  const auto& first = all.at("Plain.first");
  EXPECT_THAT(first.command, ElementsAre(DISCOVERY_ENTRY_PROGRAM, "--watch", path("tests"),
                                         "--gtest_filter=Plain.first", "--gtest_also_run_disabled_tests",
                                         "--gtest_output=xml:out/Plain.first.xml", "a;b", "", "-x"));
  EXPECT_EQ(first.properties.at("LABELS").dump(), R"(["a","b","gpu","gpu_small"])");
  EXPECT_EQ(first.properties.at("RESOURCE_LOCK").dump(), R"(["x","y"])");
  EXPECT_EQ(
      first.properties.at("ENVIRONMENT_MODIFICATION").dump(),
      R"(["GPUTEST_DEPTH=string_append:+","GPUTEST_ENTRY=set:ctest","GPUTEST_MEMORY=set:auto","GPUTEST_GPUS=set:1","GPUTEST_DEFAULT_LOG=set:Testing/gputest","GPUTEST_TIMEOUT=set:7","A=set:1","GPUTEST_MEMORY=set:1GiB","GTEST_TOTAL_SHARDS=unset:","GTEST_SHARD_INDEX=unset:","GPUTEST_TEST=set:Plain.first"])");
  EXPECT_EQ(first.properties.at("WORKING_DIRECTORY"), "/");
  EXPECT_EQ(first.properties.at("COST"), 3.0);
  EXPECT_EQ(first.properties.at("TIMEOUT"), 12081.0) << "for three attempts";
  const auto& second = all.at("Small.test");
  EXPECT_EQ(second.properties.at("TIMEOUT"), 12090.0) << "it leaves waiting out, as TIMEOUT does";
  EXPECT_EQ(second.properties.count("TIMEOUT_AFTER_MATCH"), 0U) << "ctest would search all output at each piece of it";
  EXPECT_EQ(second.properties.count("FAIL_REGULAR_EXPRESSION"), 0U) << "any test may print what it looks for";
  EXPECT_EQ(second.properties.at("WORKING_DIRECTORY"), "/tmp");
  EXPECT_EQ(second.properties.at("LABELS").dump(), R"(["gpu","gpu_small","x"])");
  EXPECT_EQ(all.at("Large.test").properties.at("RUN_SERIAL"), true);
  EXPECT_EQ(all.at("Medium.says_no_size").properties.count("RUN_SERIAL"), 0U);
  EXPECT_THAT(
      all.at("Large.test").properties.at("ENVIRONMENT_MODIFICATION").dump(),
      HasSubstr(
          R"("GPUTEST_GPUS=set:2","GPUTEST_LARGE=set:serial","GPUTEST_HEAP=set:1MiB","GPUTEST_KEEPS=set:2MiB","GPUTEST_WAIT_LIMIT=set:90s","GPUTEST_DEFAULT_LOG=set:Testing/gputest","GPUTEST_TIMEOUT=set:1509")"));
}

TEST_F(Discovery, adds_a_list_of_properties_to_one_of_the_same_name) {
  configure("gpu_discover_tests(tests TEST_FILTER Plain.first LABELS a PROPERTIES LABELS b LABELS \"c;d\"\n"
            "  ENVIRONMENT A=1 ENVIRONMENT B=2 ENVIRONMENT_MODIFICATION C=set:3 ENVIRONMENT_MODIFICATION D=set:4\n"
            "  COST 3 COST 4 TIMEOUT 20 TIMEOUT 30)\n"
            "gpu_discover_tests(tests TEST_FILTER Small.test ISOLATION worker PROPERTIES FIXTURES_REQUIRED x\n"
            "  FIXTURES_REQUIRED y RESOURCE_LOCK p RESOURCE_LOCK q)\n");
  const auto all = entries();
  const auto of = [&](const char* test, const char* property) { return all.at(test).properties.at(property).dump(); };
  EXPECT_EQ(of("Plain.first", "LABELS"), R"(["a","b","c","d","gpu","gpu_small"])");
  EXPECT_EQ(of("Plain.first", "ENVIRONMENT"), R"(["A=1","B=2"])");
  EXPECT_THAT(of("Plain.first", "ENVIRONMENT_MODIFICATION"), HasSubstr(R"("C=set:3","D=set:4")"));
  EXPECT_EQ(of("Plain.first", "COST"), "4.0");
  EXPECT_THAT(of("Plain.first", "ENVIRONMENT_MODIFICATION"), HasSubstr("GPUTEST_TIMEOUT=set:30"));
  EXPECT_THAT(of("Small.test", "FIXTURES_REQUIRED"), AllOf(HasSubstr("\"x\",\"y\""), HasSubstr("gputest_workers_")));
  EXPECT_EQ(of("tests.workers_end", "FIXTURES_REQUIRED"), R"(["x","y"])");
  EXPECT_THAT(of("Small.test", "RESOURCE_LOCK"), HasSubstr(R"("p","q"])")) << "after its lane";
  EXPECT_EQ(of("tests.workers_end", "RESOURCE_LOCK"), R"(["p","q"])");
}

TEST_F(Discovery, passes_on_texts_that_no_list_can_hold) {
  write("tests", "#!/bin/sh\ncase $* in *--gtest_list_tests*) cat > \"$GPUTEST_LIST_FILE\" <<'END'\n"
                 "gputest_listed_test([[S.t]] [[S]] [[]] [[]] [[t]] [[]] [[]] [[]] ENABLED small any 1 [[]])\n"
                 "gputest_listed_all(1)\nEND\n;; *) pwd; printf '<%s>' \"$VALUE\" \"$OTHER\" \"$GPUTEST_MEMORY\" "
                 "\"$GPUTEST_TEST\" \"$4\"; esac\n");
  int row = 0;
  for (const std::string& odd :
       {std::string{"[gpu"}, std::string{"gpu]"}, std::string{"C:\\data\\"}, std::string{"a]=]b ]] ]=====]"},
        std::string{"$x ${x} $ENV{x} @x@ #x \"x\" 'x'"}, std::string{"\nx\ny"}, std::string{"%x \\n \\"}}) {
    SCOPED_TRACE(odd);
    const std::string folder = "f" + std::to_string(++row) + odd;
    std::filesystem::create_directory(path(folder));
    const std::string quoted = "[==[" + std::string{odd.front() == '\n' ? "\n" : ""} + odd + "]==]";
    configure("set(odd " + quoted +
              ")\ngpu_discover_tests(tests TEST_SUFFIX \"${odd}\" LABELS \"${odd}\" z\n"
              "  EXTRA_ARGS \"${odd}\" WORKING_DIRECTORY \"" +
              path("f" + std::to_string(row)) +
              "${odd}\" PROPERTIES\n"
              "  ENVIRONMENT \"VALUE=${odd}\" ENVIRONMENT_MODIFICATION \"OTHER=set:${odd}\")\n");
    const auto all = entries();
    ASSERT_EQ(all.count("S.t" + odd), 1U);
    const auto& entry = all.at("S.t" + odd);
    EXPECT_THAT(entry.properties.at("LABELS"), Contains(odd));
    EXPECT_THAT(entry.properties.at("LABELS"), Contains("z"));
    EXPECT_THAT(entry.properties.at("ENVIRONMENT"), ElementsAre("VALUE=" + odd));
    EXPECT_THAT(entry.properties.at("ENVIRONMENT_MODIFICATION"), Contains("OTHER=set:" + odd));
    EXPECT_THAT(entry.properties.at("ENVIRONMENT_MODIFICATION"), Contains("GPUTEST_MEMORY=set:small"));
    EXPECT_THAT(entry.properties.at("ENVIRONMENT_MODIFICATION"), Contains("GPUTEST_TEST=set:S.t" + odd));
    EXPECT_EQ(entry.properties.at("WORKING_DIRECTORY"), path(folder));
    EXPECT_EQ(entry.command.back(), odd);
  }
}

TEST_F(Discovery, puts_an_emulator_before_the_executable_when_it_lists_it_and_in_entries) {
  write("emulator", "#!/bin/sh\necho \"$*\" >> " + path("emulated") + "\nshift\nexec \"$@\"\n");
  configure("set_target_properties(tests PROPERTIES CROSSCOMPILING_EMULATOR \"" + path("emulator") +
            ";a,b c\")\n"
            "gpu_discover_tests(tests TEST_FILTER Small.test ISOLATION worker)\n"
            "gpu_discover_tests(tests TEST_FILTER NoSuch.test)\n");
  const auto all = entries();
  ASSERT_EQ(all.size(), 2U) << "there is no end of workers";
  EXPECT_THAT(all.at("Small.test").command,
              ElementsAre(DISCOVERY_ENTRY_PROGRAM, "--watch", path("emulator"), "a,b c", path("tests"),
                          "--gtest_filter=Small.test", "--gtest_also_run_disabled_tests"));
  std::ifstream file{path("emulated")};
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_EQ(line, "a,b c " + path("tests") + " --gtest_list_tests --gtest_filter=Small.test");
  EXPECT_THAT(ctest({"-V"}).out,
              HasSubstr("GPUTEST_LIST_FILE=/dev/stdout " + path("emulator") + " 'a,b c' " + path("tests")));
}

TEST_F(Discovery, looks_for_an_emulator_in_the_path_of_ctest_whatever_that_of_the_entry_is) {
  configure("set_target_properties(tests PROPERTIES CROSSCOMPILING_EMULATOR env)\n"
            "gpu_discover_tests(tests TEST_FILTER Small.test PROPERTIES ENVIRONMENT PATH=/no)\n"
            "gpu_discover_tests(tests TEST_FILTER Plain.first PROPERTIES ENVIRONMENT_MODIFICATION PATH=unset:\n"
            "  ENVIRONMENT_MODIFICATION A=set:1)\n");
  EXPECT_THAT(ctest({"--output-on-failure"}).out, ContainsRegex("100% tests passed(, 0 tests failed)? out of 2"));
}

TEST_F(Discovery, puts_an_emulator_of_a_generator_expression_before_the_executable_and_nothing_where_it_is_empty) {
  write("emulator", "#!/bin/sh\necho \"$*$(tr '\\0' '\\n' < /proc/$$/environ | grep '^A[.]B=')\" >> " +
                        path("emulated") + "\nshift\nexec \"$@\"\n");
  set("A.B", ", which no shell keeps"); // it has no name of a shell's variable
  for (const std::string condition : {"0", "1"}) {
    configure("set_target_properties(tests PROPERTIES CROSSCOMPILING_EMULATOR \"$<" + condition + ":" +
              path("emulator") +
              ";a,b c>\")\n"
              "gpu_discover_tests(tests TEST_FILTER Small.test)\n"
              "gpu_add_test(NAME whole COMMAND tests --gtest_filter=Small.test \"a;b\" \"\" LAUNCHER off)\n");
    EXPECT_THAT(ctest({"-V"}).out, ContainsRegex("100% tests passed(, 0 tests failed)? out of 2"));
    EXPECT_EQ(std::filesystem::exists(path("emulated")), condition == "1");
  }
  const std::string begin = "a,b c " + path("tests");
  std::ifstream file{path("emulated")};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(text, begin + " --gtest_list_tests --gtest_filter=Small.test\n" + begin +
                      " --gtest_filter=Small.test --gtest_also_run_disabled_testsA.B=, which no shell keeps\n" + begin +
                      " --gtest_filter=Small.test a;b A.B=, which no shell keeps\n");
}

TEST_F(Discovery, becomes_the_words_of_an_emulator_as_cmake_takes_lists_apart) {
  const auto become = [&](std::vector<std::string> lists, const std::vector<std::string>& command) {
    lists.insert(lists.begin(), {DISCOVERY_ENTRY_PROGRAM, "--emulator"});
    lists.emplace_back("--before");
    lists.insert(lists.end(), command.begin(), command.end());
    return run(lists);
  };
  const std::vector<std::string> command{"/usr/bin/printf", "{%s}", "e", "", "--before"};
  const std::string words = "[/usr/bin/printf][{%s}][e][][--before]";
  EXPECT_EQ(become({}, command).out, "{e}{}{--before}");
  EXPECT_EQ(become({""}, command).out, "{e}{}{--before}");
  EXPECT_EQ(become({"/usr/bin/printf;[%s]"}, command).out, words);
  EXPECT_EQ(become({"/usr/bin/printf", "", "[%s]", "a"}, command).out, "[a]" + words);
  EXPECT_EQ(become({";/usr/bin/printf;;[%s];a\\;b;[c;d];\\x;"}, command).out, "[a;b][[c;d]][\\x]" + words);
  const auto ended = become({"/no/emulator;x"}, command);
  EXPECT_EQ(ended.exit_code, 127);
  EXPECT_THAT(ended.err, HasSubstr("/no/emulator"));
}

TEST_F(Discovery, fails_an_entry_that_has_lost_its_settings_and_not_a_command_that_is_run_by_hand) {
  configure("gpu_add_test(NAME lost COMMAND tests --gtest_filter=Small.test LAUNCHER off)\n"
            "set_tests_properties(lost PROPERTIES WILL_FAIL ON)\n"
            "cmake_language(DEFER CALL set_tests_properties lost PROPERTIES ENVIRONMENT_MODIFICATION A=set:1)\n"
            "add_test(NAME by_hand COMMAND sh -c \"'" DISCOVERY_ENTRY_PROGRAM "' --watch true && true\")\n");
  const auto ended = ctest({"-V"});
  EXPECT_THAT(ended.out, ContainsRegex("lost [.]+Subprocess killed[*]+Exception"));
  EXPECT_THAT(ended.out,
              HasSubstr("gputest: failed: the entry has lost the settings of gpu_add_test(), such as MEMORY: "
                        "the property ENVIRONMENT_MODIFICATION was replaced"));
  EXPECT_THAT(ended.out, ContainsRegex("by_hand [.]+ +Passed"));
}

TEST_F(Discovery, lists_where_entries_run_with_the_arguments_of_the_listing_and_no_setting_of_tests) {
  std::filesystem::create_directory(path("there"));
  write("tests",
        "#!/bin/sh\nenv > " + path("environment") + "\n{ pwd; readlink /proc/self/fd/0; printf '%s\\n' \"$@\"; } > " +
            path("started") +
            "\ncat > \"$GPUTEST_LIST_FILE\" <<'END'\n"
            "gputest_listed_test([[S.t/0]] [[S]] [[]] [[]] [[t]] [[0]] [[2]] [[file.cpp:7]] ENABLED small any 1 [[]])\n"
            "gputest_listed_test([[S.t/1]] [[S]] [[]] [[]] [[t]] [[1]] [[2']] [[]] ENABLED small any 1 [[]])\n"
            "gputest_listed_test([[S.t/2]] [[S]] [[]] [[]] [[t]] [[2]] [[2]] [[]] ENABLED small any 1 [[]])\n"
            "gputest_listed_test([[S.t/3]] [[S]] [[]] [[]] [[t]] [[3]] [[x]] [[]] ENABLED small any 1 [[]])\n"
            "gputest_listed_all(4)\nEND\n");
  write("before.cmake", "function(set_tests_properties name)\n"
                        "  file(APPEND \"" +
                            path("properties") + "\" \"${name} ${ARGN}\\n\")\nendfunction()\n"); // ctest shows no place
  configure("set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" + path("before.cmake") +
            "\")\n"
            "gpu_discover_tests(tests MEMORY 3GiB GPUS 2 TEST_FILTER S.* WORKING_DIRECTORY \"" +
            path("there") +
            "\" EXTRA_ARGS -x DISCOVERY_EXTRA_ARGS \"a;b\" \"\" c\n"
            "  DISCOVERY_ENVIRONMENT \"OWN=a b[;c\\\\\" OTHER=1 PROPERTIES ENVIRONMENT OF_ENTRIES=1)\n");
  const std::vector<std::string> cleared{
      "GTEST_FILTER",       "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX",    "GTEST_SHARD_STATUS_FILE",
      "GTEST_OUTPUT",       "GTEST_FLAGFILE",     "TESTBRIDGE_TEST_ONLY", "GPUTEST_ENTRY",
      "GPUTEST_HEAP",       "GPUTEST_KEEPS",      "GPUTEST_REQUIRES",     "GPUTEST_LARGE",
      "GPUTEST_WAIT_LIMIT", "GPUTEST_TIMEOUT"};
  for (const auto& name : cleared) {
    set(name, "theirs");
  }
  EXPECT_THAT(names(), ElementsAre("S.t/2", "S.t/2'", "S.t/2''", "S.t/x")) << "each has a name of its own";
  const auto text_of = [&](const std::string& file) {
    std::stringstream text;
    text << std::ifstream{path(file)}.rdbuf();
    return text.str();
  };
  EXPECT_EQ(text_of("started"), path("there") + "\n/dev/null\n--gtest_list_tests\n--gtest_filter=S.*\na;b\n\nc\n");
  const auto environment = "\n" + text_of("environment");
  for (const auto& name : cleared) {
    EXPECT_THAT(environment, Not(HasSubstr("\n" + name + "=")));
  }
  EXPECT_THAT(environment,
              AllOf(HasSubstr("\nOWN=a b[;c\\\n"), HasSubstr("\nOTHER=1\n"), Not(HasSubstr("OF_ENTRIES"))));
  EXPECT_THAT(environment, AllOf(HasSubstr("\nGPUTEST_MEMORY=3GiB\n"), HasSubstr("\nGPUTEST_GPUS=2\n")));
  EXPECT_THAT(text_of("properties"), AllOf(HasSubstr("S.t/2 "), HasSubstr(";DEF_SOURCE_LINE;file.cpp:7\n")));
}

TEST_F(Discovery, takes_no_argument_from_the_function_that_calls_it) {
  const std::string call = "gpu_discover_tests(tests TEST_FILTER Medium.*:Large.test)\n";
  configure(call);
  const auto expected = entries();
  ASSERT_EQ(expected.size(), 4U);
  configure(
      "add_test(NAME taken COMMAND true)\n"
      "function(my_discover)\n"
      "  set(keywords GRANULARITY MEMORY GPUS HEAP LARGE LAUNCHER TIMEOUT WAIT_LIMIT WORKING_DIRECTORY TEST_PREFIX\n"
      "    TEST_SUFFIX TEST_FILTER TEST_LIST XML_OUTPUT_DIR DISCOVERY_TIMEOUT NAME)\n"
      "  cmake_parse_arguments(ARG NO_PRETTY_TYPES \"${keywords}\" \"REQUIRES;LABELS\" ${ARGN})\n"
      "  foreach(keyword EXTRA_ARGS DISCOVERY_EXTRA_ARGS PROPERTIES RUN WATCH LAUNCHER EMULATOR)\n"
      "    set(code_of_${keyword} \" COST 3\")\n"
      "  endforeach()\n"
      "  foreach(property LABELS ENVIRONMENT_MODIFICATION WILL_FAIL TIMEOUT)\n"
      "    set(property_${property} 5)\n"
      "  endforeach()\n"
      "  " +
      call +
      "endfunction()\n"
      "my_discover(GRANULARITY class MEMORY 3GiB GPUS 2 HEAP 1MiB LARGE wait LAUNCHER on TIMEOUT 7 WAIT_LIMIT 1h\n"
      "  WORKING_DIRECTORY / TEST_PREFIX p TEST_SUFFIX s TEST_FILTER None.* TEST_LIST list XML_OUTPUT_DIR out\n"
      "  DISCOVERY_TIMEOUT 2 REQUIRES mig LABELS theirs NO_PRETTY_TYPES NAME taken)\n");
  auto seen = entries();
  EXPECT_EQ(seen.erase("taken"), 1U);
  EXPECT_EQ(seen.size(), expected.size());
  for (const auto& [name, entry] : expected) {
    ASSERT_EQ(seen.count(name), 1U) << name;
    EXPECT_EQ(seen.at(name).command, entry.command) << name;
    EXPECT_EQ(seen.at(name).properties, entry.properties) << name;
  }
}

TEST_F(Discovery, sets_no_variable_of_other_scripts_but_the_list_of_tests) {
  write("before.cmake",
        "foreach(name directory filter folder keys kept kinds labels line list listed lister listing name "
        "names output pending problem state text unique words)\n"
        "  set(${name} mine)\n"
        "endforeach()\n"
        "get_cmake_property(known_before VARIABLES)\n"
        "foreach(name IN LISTS known_before)\n"
        "  set(\"before_${name}\" \"${${name}}\")\n"
        "endforeach()\n");
  write("after.cmake", "get_cmake_property(known VARIABLES)\n"
                       "foreach(variable IN LISTS known)\n"
                       "  if(NOT variable MATCHES \"^(gputest_|CMAKE_|ARG|before_|known|name$)\"\n"
                       "     AND NOT \"${before_${variable}}\" STREQUAL \"${${variable}}\")\n"
                       "    add_test(\"${variable} changed\" true)\n"
                       "  endif()\n"
                       "endforeach()\n");
  configure("set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" + path("before.cmake") +
            "\")\n"
            "add_executable(missing IMPORTED)\n"
            "set_target_properties(missing PROPERTIES IMPORTED_LOCATION /no/such/program)\n"
            "gpu_discover_tests(tests TEST_FILTER Plain.*)\n"
            "gpu_discover_tests(tests TEST_FILTER Plain.first TEST_LIST second)\n"
            "gpu_discover_tests(missing)\n"
            "set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" +
            path("after.cmake") + "\")\n");
  for (const char* const listing : {"new", "kept"}) {
    SCOPED_TRACE(listing);
    EXPECT_THAT(names(), UnorderedElementsAre("Plain.first", "Plain.second", "tests-2.Plain.first",
                                              "missing_NOT_LISTED", "tests_TESTS changed", "second changed"));
  }
}

TEST_F(Discovery, starts_the_executable_again_only_after_something_has_changed) {
  write("count.cmake", "list(LENGTH tests_TESTS count)\nlist(FIND tests_TESTS [[Odd/Values.test/\\;]] place)\n"
                       "if(NOT place EQUAL -1)\n  add_test(\"${count} in the list\" true)\nendif()\n");
  configure("gpu_discover_tests(tests)\n"
            "set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES \"" +
            path("count.cmake") + "\")\n");
  const auto all = names();
  EXPECT_THAT(all, Contains("44 in the list")) << "all but 7 with brackets and one that ends with a backslash";
  EXPECT_EQ(starts(), 1U);
  EXPECT_EQ(names(), all);
  EXPECT_EQ(starts(), 1U);
  for (const char* const file : {"tests", "liblisted_library.so"}) {
    const auto before = starts();
    touch(file);
    EXPECT_EQ(names(), all);
    EXPECT_EQ(starts(), before + 1) << file;
    EXPECT_EQ(names(), all);
    EXPECT_EQ(starts(), before + 1) << file;
  }
  // Another content with the old time.
  const auto time = std::filesystem::last_write_time(path("tests"));
  std::ofstream{path("tests"), std::ios::app} << '\n';
  std::filesystem::last_write_time(path("tests"), time);
  EXPECT_EQ(names(), all);
  EXPECT_EQ(starts(), 4U);
  // Another version of gputest.
  std::stringstream text;
  text << std::ifstream{path("build/gputest/tests-1-entries.cmake")}.rdbuf();
  const auto inputs = text.str().substr(0, text.str().find("if(NOT gputest_entries_hold)"));
  for (const std::string file : {"discover", "case_name", "listed_entries"}) {
    EXPECT_THAT(inputs, HasSubstr("/detail/" + file + ".cmake"));
  }

  configure("gpu_discover_tests(tests TEST_FILTER Small.*)\n");
  EXPECT_THAT(names(), ElementsAre("Small.test"));
  EXPECT_EQ(starts(), 5U);
  configure("gpu_discover_tests(tests TEST_FILTER Small.*)\n");
  EXPECT_THAT(names(), ElementsAre("Small.test"));
  EXPECT_EQ(starts(), 5U);
  EXPECT_FALSE(std::filesystem::exists(path("ledger"))) << "a listing uses none";

  // Other devices: only a call that declares nothing may have another list there.
  for (const auto& [declared, lists] : {std::pair{"MEMORY auto", 1U}, std::pair{"", 2U}}) {
    configure(std::string{"gpu_discover_tests(tests "} + declared + ")\n");
    const auto before = starts();
    for (const char* const devices : {"simulated:2x4GiB", "none", "all"}) {
      set("GPUTEST_DEVICES", devices);
      EXPECT_THAT(names(), Contains("Small.test"));
    }
    EXPECT_EQ(starts(), before + lists) << declared;
    set("GPUTEST_DEVICES", "simulated:2x4GiB");
  }
}

TEST_F(Discovery, puts_the_launcher_before_entries_that_use_a_gpu) {
  const std::string tool = path("tool");
  write("tool", "#!/bin/sh\necho \"$@\"\n");
  const std::string cli =
      "add_executable(gputest::cli IMPORTED)\nset_target_properties(gputest::cli PROPERTIES IMPORTED_LOCATION \"" +
      tool + "\")\n";
  configure(cli + "gpu_discover_tests(tests TEST_FILTER Small.test:Host.test LAUNCHER on EXTRA_ARGS \"a b\")\n"
                  "gpu_discover_tests(tests TEST_FILTER Small.test:Host.test LAUNCHER on GRANULARITY class)\n"
                  "gpu_discover_tests(tests TEST_FILTER Small.test LAUNCHER off TEST_PREFIX off.)\n");
  const auto all = entries();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_THAT(all.at("Small.test").command, ElementsAre(tool, "run", "--", path("tests"), "--gtest_filter=Small.test",
                                                        "--gtest_also_run_disabled_tests", "a b"));
  EXPECT_EQ(all.at("Host.test").command.at(2), path("tests"));
  EXPECT_EQ(all.at("tests.small").command.at(0), tool);
  EXPECT_EQ(all.at("tests.host").command.at(2), path("tests"));
  EXPECT_EQ(all.at("off.Small.test").command.at(2), path("tests"));
}

TEST_F(Discovery, names_what_cannot_be_listed_alike_in_portable_mode) {
  configure("include(" DISCOVERY_MODULES
            "/portable.cmake)\ngpu_discover_tests(tests TEST_FILTER NoSuch.* TEST_PREFIX p. TEST_SUFFIX .s)\n");
  EXPECT_THAT(ctest({"-N"}).out, HasSubstr(": p.tests_NOT_LISTED.s\n"));
}

TEST_F(Discovery, fails_one_entry_where_portable_mode_can_write_no_file) {
  const std::string name(235, 'x'); // no file has a name of that and a random number
  configure("include(" DISCOVERY_MODULES "/portable.cmake)\nadd_executable(" + name +
            " IMPORTED)\nset_target_properties(" + name + " PROPERTIES IMPORTED_LOCATION \"" + path("tests") +
            "\")\ngpu_discover_tests(" + name + " LABELS mine)\nadd_test(NAME plain COMMAND true)\n");
  EXPECT_THAT(ctest({"-N", "-L", "mine", "-L", "gpu_small"}).out, HasSubstr(": " + name + "_NOT_LISTED\n"));
  const auto ended = ctest({"-V"});
  EXPECT_THAT(ended.out, ContainsRegex("50% tests passed, 1 tests? failed out of 2"));
  EXPECT_THAT(ended.out, HasSubstr("cannot write the list of tests to "));
}

#ifdef DISCOVERY_NINJA
TEST_F(Discovery, has_the_names_and_labels_of_the_call_where_the_configuration_is_not_known) {
  for (const std::string mode : {"", "include(" DISCOVERY_MODULES "/portable.cmake)\n"}) {
    configure(mode + "gpu_discover_tests(tests MEMORY none LABELS mine TEST_PREFIX p. TEST_SUFFIX .s)\n",
              {"-G", "Ninja Multi-Config", "-DCMAKE_MAKE_PROGRAM=" DISCOVERY_NINJA});
    ASSERT_THAT(names(), ElementsAre("p.tests_NOT_LISTED.s")) << mode;
    EXPECT_EQ(entries().at("p.tests_NOT_LISTED.s").properties.at("LABELS").dump(), R"(["mine"])");
    const auto ended = ctest({"-V"});
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_THAT(ended.out, HasSubstr(": gputest: the configuration is not known. Write ctest -C <configuration>\n"));
  }
}

TEST_F(Discovery, lists_and_installs_the_executable_of_the_configuration) {
  use_executable("listed");
  std::filesystem::copy_file(path("tests"), path("released"));
  configure(
      "set_target_properties(tests PROPERTIES IMPORTED_CONFIGURATIONS \"Debug;Release\" IMPORTED_LOCATION_DEBUG \"" +
          path("tests") + "\" IMPORTED_LOCATION_RELEASE \"" + path("released") +
          "\")\n"
          "add_library(library SHARED IMPORTED)\nset_target_properties(library PROPERTIES IMPORTED_LOCATION \"" +
          path("liblisted_library.so") +
          "\")\n"
          "gpu_discover_tests(tests TEST_FILTER Small.test TEST_PREFIX $<CONFIG>. LABELS mine)\n"
          "gpu_install_tests(DESTINATION installed TARGETS tests library)\n"
          "gpu_install_tests(DESTINATION debug TARGETS tests library CONFIGURATIONS Debug)\n",
      {"-G", "Ninja Multi-Config", "-DCMAKE_MAKE_PROGRAM=" DISCOVERY_NINJA});
  const auto debug = entries_in(path("build"), {"-C", "Debug"});
  ASSERT_EQ(debug.size(), 1U);
  EXPECT_EQ(debug.at("Debug.Small.test").command.at(2), path("tests"));
  EXPECT_EQ(entries_in(path("build"), {"-C", "debug"}).count("Debug.Small.test"), 1U) << "as CTest compares them";
  const auto release = entries_in(path("build"), {"-C", "Release"});
  ASSERT_EQ(release.size(), 1U);
  EXPECT_EQ(release.at("Release.Small.test").command.at(2), path("released"));
  for (const char* const configuration : {"", "Unknown"}) {
    const auto ended = ctest({"-C", configuration, "--output-on-failure"});
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_THAT(ended.out, HasSubstr("gputest: the configuration is not known. Write ctest -C <configuration>"));
    EXPECT_EQ(entries_in(path("build"), {"-C", configuration}).at(".tests_NOT_LISTED").properties.at("LABELS").dump(),
              R"(["gpu","gpu_medium","gpu_small","mine"])");
  }

  const auto install = [&](const std::string& configuration) {
    const auto ended = run({program("cmake"), "--install", path("build"), "--config", configuration, "--prefix",
                            path("prefix " + configuration)});
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  };
  install("Release");
  const auto installed = entries_in(path("prefix Release/installed"), {});
  ASSERT_EQ(installed.size(), 1U);
  EXPECT_EQ(installed.at("Release.Small.test").command.at(2), path("prefix Release/installed/bin/released"));
  EXPECT_FALSE(std::filesystem::exists(path("prefix Release/debug")));
  install("Debug");
  EXPECT_EQ(entries_in(path("prefix Debug/debug"), {}).at("Debug.Small.test").command.at(2),
            path("prefix Debug/debug/bin/tests"));
}
#endif

TEST_F(Discovery, may_start_in_several_ctests_at_once) {
  configure("gpu_discover_tests(tests)\n");
  std::vector<ChildProcess> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(std::vector<std::string>{program("ctest"), "--test-dir", path("build"), "-N"}, environment());
  }
  std::set<std::string> outputs;
  for (auto& one : all) {
    const auto ended = one.finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("Total Tests: 52"));
    outputs.insert(ended.out);
  }
  EXPECT_EQ(outputs.size(), 1U);
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator{path("build/gputest")}) {
    files.push_back(file.path().filename());
  }
  EXPECT_THAT(files, UnorderedElementsAre("tests-1.cmake", "tests-1-entries.cmake"));
}

TEST_F(Discovery, gives_entries_names_of_their_own_if_other_calls_have_the_same) {
  std::filesystem::create_directory(path("below"));
  write("below/CMakeLists.txt", "gpu_discover_tests(tests TEST_FILTER Plain.*:Odd*)\n");
  const std::string two_calls =
      "add_executable(others IMPORTED)\nset_target_properties(others PROPERTIES IMPORTED_LOCATION \"" + path("tests") +
      "\")\ngpu_discover_tests(tests TEST_FILTER Plain.*:Odd*)\n"
      "gpu_discover_tests(others TEST_FILTER Plain.first:Small.test PROPERTIES WILL_FAIL ON)\n";
  configure(two_calls + "add_subdirectory(below)\n");
  for (int i = 0; i < 2; ++i) {
    SCOPED_TRACE(i == 0 ? "listed" : "kept");
    const auto all = entries();
    EXPECT_EQ(all.count("Plain.first"), 1U);
    EXPECT_EQ(all.at("Plain.first").properties.count("WILL_FAIL"), 0U);
    EXPECT_EQ(all.at("others.Plain.first").properties.at("WILL_FAIL"), true);
    EXPECT_EQ(all.at("others.Small.test").properties.at("WILL_FAIL"), true) << "all names of the call are changed";
    EXPECT_EQ(all.count("tests-2.Odd/Values.test/]]"), 1U);
    EXPECT_EQ(starts(), 3U) << "once for each call";
  }
  const auto ended = ctest({"-R", "Plain.first$"});
  EXPECT_THAT(ended.out, HasSubstr("67% tests passed, 1 tests failed out of 3"));

  write("below/CMakeLists.txt", "");
  configure(two_calls + "gpu_discover_tests(others TEST_PREFIX tests-2. TEST_FILTER Plain.first)\n"
                        "gpu_discover_tests(tests TEST_FILTER Plain.first)\n"
                        "gpu_discover_tests(tests TEST_FILTER Small.test)\n");
  EXPECT_THAT(names(), testing::AllOf(Contains("tests-2.tests_NOT_LISTED"), Contains("Small.test")));
}

TEST_F(Discovery, keeps_its_lists_in_a_folder_of_the_user_if_it_cannot_write_to_the_build_tree) {
  make_build_tree_read_only();
  set("HOME", path("home"));
  set("XDG_CACHE_HOME", path("cache"));
  configure("gpu_discover_tests(tests TEST_PREFIX p. TEST_FILTER Plain.*)\n"
            "gpu_discover_tests(tests GRANULARITY class TEST_FILTER Plain.*)\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(names(), ElementsAre("p.Plain.first", "p.Plain.second", "tests.small"));
    EXPECT_EQ(starts(), 2U);
  }
  EXPECT_THAT(ctest({}).out, HasSubstr("100% tests passed"));
  EXPECT_FALSE(std::filesystem::exists(path("home")));
  const auto temporary = path("temporary");
  const auto lists = temporary + "/gputest-lists-" + std::to_string(::getuid());
  std::filesystem::create_directory(temporary);
  std::filesystem::permissions(temporary, std::filesystem::perms::owner_all); // whatever the umask
  set("TMPDIR", temporary);
  set("HOME", "/dev/null"); // as users of containers that have none
  set("XDG_CACHE_HOME", "");
  EXPECT_THAT(names(), ElementsAre("p.Plain.first", "p.Plain.second", "tests.small"));
  EXPECT_EQ(std::filesystem::status(lists).permissions(), std::filesystem::perms::owner_all);
  EXPECT_THAT(ctest({}).out, HasSubstr("100% tests passed"));
  std::filesystem::remove_all(lists);
  std::filesystem::create_directory(path("elsewhere"));
  std::filesystem::create_directory_symlink(path("elsewhere"), lists); // others could let it point elsewhere later
  EXPECT_THAT(names(), ElementsAre("p.tests_NOT_LISTED", "tests_NOT_LISTED"));
  std::filesystem::remove(lists);
  // Others could replace it.
  std::filesystem::permissions(temporary, std::filesystem::perms::all);
  for (const auto* const cache : {"", "relative"}) { // a path has to be the same wherever ctest runs
    set("HOME", "");
    set("XDG_CACHE_HOME", cache);
    EXPECT_THAT(names(), ElementsAre("p.tests_NOT_LISTED", "tests_NOT_LISTED"));
    EXPECT_THAT(ctest({"-V"}).out, HasSubstr("cannot be listed: neither " + path("build/gputest/tests-1.cmake") +
                                             "'s folder nor gputest's folder in your cache"));
  }
}

TEST_F(Discovery, runs_nothing_of_a_cache_that_others_can_write) {
  make_build_tree_read_only();
  set("XDG_CACHE_HOME", path("cache"));
  configure("gpu_discover_tests(tests TEST_FILTER Plain.first)\n");
  const auto umask_before = ::umask(0002); // as users have it whose group is their own
  EXPECT_THAT(names(), ElementsAre("Plain.first"));
  ::umask(umask_before);
  namespace fs = std::filesystem;
  const fs::path cache = path("cache/gputest");
  const fs::path folder = fs::directory_iterator { cache } -> path();
  EXPECT_EQ(fs::status(cache).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  std::ofstream{folder / "list-entries.cmake"} << "file(WRITE \"" << path("was_run") << "\" x)\n";
  for (const auto& writable : {folder, cache}) {
    fs::permissions(writable, fs::perms::group_write, fs::perm_options::add);
    EXPECT_THAT(ctest({"-V"}).out, HasSubstr("remove it: rm -r " + cache.string() + "\n"));
    EXPECT_THAT(names(), ElementsAre("tests_NOT_LISTED"));
    EXPECT_FALSE(fs::exists(path("was_run")));
    fs::permissions(writable, fs::perms::group_write, fs::perm_options::remove);
  }
}

TEST_F(Discovery, keeps_the_filter_of_a_class_in_a_file_if_it_is_longer_than_a_command_line_may_be) {
  const std::string suite(1000, 'S');
  write("tests", "#!/bin/sh\n{\nfor i in $(seq 100); do\n"
                 "echo \"gputest_listed_test([[" +
                     suite + ".t$i]] [[" + suite +
                     "]] [[]] [[]] [[t$i]] [[]] [[]] [[]] ENABLED small any 1 [[]])\"\ndone\n"
                     "echo 'gputest_listed_all(100)'\n} > \"$GPUTEST_LIST_FILE\"\n");
  configure("gpu_discover_tests(tests GRANULARITY class)\n");
  const auto all = entries();
  ASSERT_EQ(all.size(), 1U);
  const auto option = all.at("tests.small").command.at(3);
  const std::string begin = "--gtest_flagfile=" + path("build/gputest");
  ASSERT_EQ(option.substr(0, begin.size()), begin);
  std::ifstream file{option.substr(option.find('=') + 1)};
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_EQ(line.substr(0, 20), "--gtest_filter=SSSSS");
  EXPECT_EQ(line.substr(line.size() - 6), ".t100:");
}

TEST_F(Discovery, makes_one_failing_entry_of_what_cannot_be_listed) {
  const std::string shell = "#!/bin/sh\necho start >> " + path("starts") + "\necho \"printed;[\" >&2\n";
  struct Row {
    std::string what;
    std::string script;     ///< of the executable; empty if it is not there
    std::string executable; ///< in place of a script
    std::string reason;
    unsigned children = 0; ///< which two listings start, and do not end
  };
  const std::string with_child = shell + "sleep 1000 & echo $! >> " + path("children") + "\n"; // it has the output
  const std::vector<Row> rows{
      {"missing", "", "", "it does not exist. Build it"},
      {"crashing", shell + "kill -SEGV $$\n", "", "it ended with: "},
      {"failing", shell + "exit 3\n", "", "it ended with: 3"},
      {"hanging", shell + "exec sleep 1000\n", "", "it did not end within 1 s (DISCOVERY_TIMEOUT)"},
      {"hanging_with_children",
       shell + "for group in '' setsid; do $group sleep 1000 & echo $! >> " + path("children") + "; done\nsleep 1000\n",
       "", "it did not end within 1 s (DISCOVERY_TIMEOUT)", 4},
      {"exits at once, a child has its stdout", with_child, "", "it wrote no list.", 2},
      {"crashes at once, a child has its stdout", with_child + "kill -SEGV $$\n", "", "it ended with: S", 2},
      {"failing as timeout(1) does", shell + "exit 124\n", "", "it ended with: 124"},
      {"writing garbage", shell + "head -c 100000 /dev/urandom\n", "", "it wrote no list. Link gputest::main"},
      {"printing much", shell + "for i in $(seq 10000); do echo printed; done\n", "", "it wrote no list."},
      {"half a list", shell + "echo > \"$GPUTEST_LIST_FILE\"\n", "", "its list has no end"},
      {"without gputest", "", "foreign", "it wrote no list. Link gputest::main"},
      {"empty", "", "empty", "it has no tests"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    std::filesystem::remove_all(path("build"));
    std::filesystem::remove(path("starts"));
    std::filesystem::remove(path("children"));
    std::filesystem::remove(path("tests"));
    if (!row.executable.empty()) {
      use_executable(row.executable);
    } else if (!row.script.empty()) {
      write("tests", row.script);
    }
    const std::string limit = row.reason.find("within 1 s") != std::string::npos ? "1" : "100";
    configure("gpu_discover_tests(tests DISCOVERY_TIMEOUT " + limit +
              " TEST_PREFIX p. LABELS mine)\nadd_test(NAME other COMMAND "
              "true)\n");
    const auto all = entries();
    ASSERT_EQ(all.size(), 2U);
    ASSERT_EQ(all.count("p.tests_NOT_LISTED"), 1U);
    EXPECT_EQ(all.at("p.tests_NOT_LISTED").properties.at("LABELS").dump(), R"(["gpu","gpu_medium","gpu_small","mine"])")
        << "ctest -LE gpu_large must not leave it out";
    const auto ended = ctest({"-V"});
    EXPECT_EQ(ended.exit_code, 8);
    EXPECT_THAT(ended.out, HasSubstr("50% tests passed, 1 tests failed out of 2"));
    std::ifstream children{path("children")};
    unsigned count = 0;
    for (std::string pid; std::getline(children, pid); ++count) {
      std::ifstream command{"/proc/" + pid + "/cmdline"};
      EXPECT_EQ(command.get(), std::ifstream::traits_type::eof()) << pid << " has not ended";
    }
    EXPECT_EQ(count, row.children) << "of two listings";
    EXPECT_THAT(ended.out, HasSubstr("the tests of " + path("tests") + " cannot be listed: " + row.reason));
    EXPECT_THAT(ended.out, HasSubstr("To repeat it: cd " + path("build") + " && GPUTEST_LIST_FILE=/dev/stdout " +
                                     path("tests") + " --gtest_list_tests"));
    EXPECT_EQ(ended.out.find("It printed:\n1: (nothing)") != std::string::npos,
              row.what == "missing" || row.what == "empty");
    if (row.what != "writing garbage") {
      EXPECT_EQ(ended.out.find("(more was printed)") != std::string::npos, row.what == "printing much");
    }
    if (!row.script.empty()) {
      EXPECT_THAT(ended.out, HasSubstr("printed;["));
      EXPECT_EQ(starts(), 2U) << "only what was listed is kept";
    }
  }
  use_executable("listed");
  EXPECT_EQ(names().size(), 53U);
  std::filesystem::create_directory(path("a b"));
  configure(
      "gpu_discover_tests(tests TEST_FILTER NoSuch.* TEST_SUFFIX .s DISCOVERY_EXTRA_ARGS it's WORKING_DIRECTORY \"" +
      path("a b") + "\" PROPERTIES LABELS theirs)\n");
  EXPECT_THAT(names(), ElementsAre("tests_NOT_LISTED.s"));
  EXPECT_EQ(entries().at("tests_NOT_LISTED.s").properties.at("LABELS").dump(),
            R"(["gpu","gpu_medium","gpu_small","theirs"])");
  EXPECT_THAT(ctest({"-V"}).out,
              AllOf(HasSubstr("it has no tests that TEST_FILTER selects: NoSuch.*"),
                    HasSubstr("To repeat it: cd '" + path("a b") + "' && GPUTEST_LIST_FILE=/dev/stdout " +
                              path("tests") + " --gtest_list_tests '--gtest_filter=NoSuch.*' 'it'\\''s'")));
  configure("gpu_discover_tests(tests TEST_FILTER NoSuch.* MEMORY none LABELS mine)\n");
  EXPECT_EQ(entries().at("tests_NOT_LISTED").properties.at("LABELS").dump(), R"(["mine"])") << "nor must ctest -LE gpu";
}

TEST_F(Discovery, does_not_keep_a_list_without_its_end_for_which_there_was_no_room) {
  configure("gpu_discover_tests(tests)\n");
  const auto all = names();
  const auto list = path("build/gputest/tests-1-entries.cmake");
  std::ostringstream text;
  text << std::ifstream{list}.rdbuf();
  const auto last_tests = text.str().rfind("gputest_listed_test(");
  ASSERT_NE(last_tests, std::string::npos) << text.str();
  std::filesystem::remove(list);
  std::signal(SIGXFSZ, SIG_IGN); // a write fails then, as on a full disk
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit less{last_tests, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &less);
  const auto run = ctest({});
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_NE(run.exit_code, 0);
  EXPECT_EQ(names(), all) << run.out << run.err;
}

TEST_F(Discovery, names_reports_so_that_a_file_can_have_the_name) {
  const std::string longest(240, 'n'); // with .Plain.first.xml and tests.
  configure("gpu_discover_tests(tests TEST_FILTER Plain.first XML_OUTPUT_DIR out TEST_PREFIX a/" + longest + ")\n" +
            "gpu_discover_tests(tests TEST_FILTER Plain.first XML_OUTPUT_DIR out TEST_PREFIX a/" + longest + "n)\n");
  std::set<std::string> files;
  for (const auto& [name, entry] : entries()) {
    const std::string option = "--gtest_output=xml:out/a/" + longest.substr(0, 100);
    const auto found = std::find_if(entry.command.begin(), entry.command.end(),
                                    [&](const std::string& word) { return word.rfind(option, 0) == 0; });
    ASSERT_NE(found, entry.command.end()) << name;
    EXPECT_LE(found->size() - found->rfind('/'), 256U);
    files.insert(*found);
  }
  EXPECT_EQ(files.size(), 2U);
}

TEST_F(Discovery, makes_plain_entries_of_tests_that_use_no_gpu_if_asked_to) {
  const std::string tests = "gpu_discover_tests(tests TEST_FILTER Plain.first:Host.test:Medium.says_a_size ";
  configure(tests + "MEMORY none ISOLATION worker TIMEOUT 30 LABELS x XML_OUTPUT_DIR out)\n" + tests +
            "GPUS 0 GRANULARITY class)\n" + tests + "GPUS 0 GRANULARITY executable)\n");
  const auto all = entries();
  ASSERT_EQ(all.size(), 7U);
  for (const std::string name : {"Plain.first", "Host.test"}) {
    const auto& entry = all.at(name);
    EXPECT_THAT(entry.command, ElementsAre(path("tests"), "--gtest_filter=" + name, "--gtest_also_run_disabled_tests",
                                           "--gtest_output=xml:out/" + name + ".xml"));
    EXPECT_EQ(entry.properties.at("LABELS").dump(), R"(["x"])");
    EXPECT_EQ(entry.properties.at("TIMEOUT"), 30);
    EXPECT_EQ(entry.properties.at("SKIP_RETURN_CODE"), 219);
    EXPECT_THAT(
        entry.properties.at("ENVIRONMENT_MODIFICATION").dump(),
        AllOf(HasSubstr("GPUTEST_MEMORY=set:none"), Not(HasSubstr("GPUTEST_GPUS=set")), Not(HasSubstr("_LOG=set"))));
    EXPECT_EQ(entry.properties.count("FIXTURES_REQUIRED"), 0U);
  }
  const auto& declared = all.at("Medium.says_a_size");
  EXPECT_EQ(declared.command.at(0), DISCOVERY_ENTRY_PROGRAM);
  EXPECT_EQ(declared.properties.at("LABELS").dump(), R"(["gpu","gpu_medium","x"])");
  EXPECT_EQ(all.at("tests.host").command.at(0), path("tests"));
  EXPECT_EQ(all.at("tests.medium").command.at(0), DISCOVERY_ENTRY_PROGRAM);
  EXPECT_EQ(all.at("tests").command.at(0), DISCOVERY_ENTRY_PROGRAM);
}

TEST_F(Discovery, makes_one_entry_of_each_class_or_of_the_executable) {
  configure("add_executable(an::alias ALIAS tests)\n"
            "gpu_discover_tests(an::alias GRANULARITY class TEST_PREFIX p. TEST_SUFFIX .s XML_OUTPUT_DIR \"" +
            path("out") +
            "\")\n"
            "gpu_discover_tests(tests GRANULARITY executable)\n"
            "gpu_discover_tests(tests GRANULARITY executable TEST_PREFIX small. TEST_FILTER Small.*:Host.*)\n"
            "gpu_discover_tests(tests GRANULARITY executable TEST_PREFIX off. TEST_FILTER Plain.DISABLED_second)\n"
            "gpu_discover_tests(tests GRANULARITY class TEST_PREFIX none. TEST_FILTER Plain.DISABLED_second)\n");
  const auto all = entries();
  const auto labels = [&](const std::string& name) { return all.at(name).properties.at("LABELS").dump(); };
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(labels("p.tests.small.s"), R"(["gpu","gpu_small"])");
  EXPECT_EQ(labels("p.tests.medium.s"), R"(["gpu","gpu_medium"])");
  EXPECT_EQ(labels("p.tests.large.s"), R"(["gpu","gpu_large"])");
  EXPECT_EQ(all.at("p.tests.host.s").properties.count("LABELS"), 0U);
  EXPECT_EQ(labels("tests"), R"(["gpu","gpu_large","gpu_medium","gpu_small"])");
  EXPECT_EQ(labels("small.tests"), R"(["gpu","gpu_small"])");
  EXPECT_EQ(all.at("off.tests").properties.at("DISABLED"), true);
  EXPECT_EQ(all.at("none.tests").properties.at("DISABLED"), true);
  EXPECT_EQ(all.at("small.tests").properties.count("DISABLED"), 0U);
  EXPECT_THAT(all.at("p.tests.large.s").command, Contains("--gtest_output=xml:" + path("out/p.tests.large.s.xml")));
  EXPECT_THAT(all.at("tests").command,
              ElementsAre(DISCOVERY_ENTRY_PROGRAM, "--watch", path("tests"), "--gtest_filter=*"));
  const auto ran = [&](const std::string& name) { return tests_run_by(all.at(name).command); };
  EXPECT_THAT(ran("p.tests.large.s"), UnorderedElementsAre("Large.test", "Large.says_a_size"));
  EXPECT_THAT(ran("p.tests.host.s"), UnorderedElementsAre("Host.test"));
  EXPECT_THAT(ran("p.tests.medium.s"),
              UnorderedElementsAre("Medium.says_a_size", "Medium.says_devices", "Medium.says_no_size", "Shared.first",
                                   "Some/Pattern/0.test", "Some/Pattern/1.test"));
  EXPECT_EQ(ran("tests").size(), 52U);
  EXPECT_EQ(ran("p.tests.small.s").size(), 52U - 2 - 1 - 6);
  EXPECT_THAT(ran("small.tests"), UnorderedElementsAre("Small.test", "Host.test"));
}

} // namespace
} // namespace gputest::tests
