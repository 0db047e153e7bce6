// SPDX-License-Identifier: BSD-3-Clause
#include "cli/exit_codes.hpp"
#include "platform/file_stamp.hpp"
#include "platform/host_name.hpp"
#include "tool.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gputest::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

/// A folder of sources, and a log of a run of their tests.
class ClassifyCommand : public ::testing::Test {
protected:
  ClassifyCommand() {
    fs::create_directories(source_ + "/b");
    fs::create_directories(build_);
    log_ << R"({"t":1000.0,"pid":1,"entry":"e","event":"run","version":1,"jobs":4,"folder":"/build"})"
         << "\n";
  }

  /// A log of an earlier run, with one test whose program is the one that is named.
  static std::string earlier(const std::string& test, std::uint64_t declared, std::uint64_t used,
                             const std::string& program = "") {
    const auto line = [](const std::string& event) { return R"({"t":500.0,"pid":1,"entry":"a",)" + event + "}\n"; };
    return line(R"("event":"run","version":1)") +
           line(R"("event":"enter","devices":[{"uuid":"GPU-1","name":"H200","bytes":17179869184}])" + program) +
           line(R"("test":")" + test + R"(","event":"lease","declared_bytes":)" + std::to_string(declared) +
                R"(,"bytes":)" + std::to_string(declared) + R"(,"devices":["GPU-1"])") +
           line(R"("test":")" + test +
                R"(","event":"release","evidence":"exact","devices":[{"uuid":"GPU-1","peak_bytes":)" +
                std::to_string(used) + "}]");
  }

  /// What a log says of a test apart from its memory.
  struct About {
    std::string declared_by = "test";
    int declared_for = 1; ///< 0: an older log, which does not say it
    std::uint64_t kept = 0;
    bool all_tests = true;
    int exit = 0;     ///< -1: it was killed
    int modified = 1; ///< the executable
    bool large = false;
    std::string file = "../src/sort.cpp"; ///< as the compiler got it
  };

  static About in_file(const std::string& name) {
    About about;
    about.file = "../src/" + name;
    return about;
  }

  /// `declared` of 0: the class medium. A test without a point in its name is a suite, or the entry itself.
  void ran(const std::string& entry, const std::string& test, std::uint64_t declared, std::uint64_t used,
           const std::string& evidence = "exact", const std::string& result = "passed") {
    ran(entry, test, declared, used, About{test.empty() ? "entry" : "test"}, evidence, result);
  }

  void ran(const std::string& entry, const std::string& test, std::uint64_t declared, std::uint64_t used,
           const About& about, const std::string& evidence = "exact", const std::string& result = "passed") {
    ++pid_;
    const auto begin = [&](const char* event, const char* tenths) -> std::ostream& {
      return log_ << R"({"t":)" << 1000 + pid_ << "." << tenths << R"(,"pid":)" << pid_ << R"(,"entry":")" << entry
                  << R"(","test":")" << test << R"(","event":")" << event << '"';
    };
    const auto declared_for =
        R"(,"declared_in":")" + about.file + R"(","declared_for":)" + std::to_string(about.declared_for);
    const bool is_old = about.declared_for == 0;
    begin("enter", "0") << R"(,"devices":[{"uuid":"GPU-1","name":"H200","bytes":)" << 16 * gib
                        << R"(}],"program":"/no/such/)" << entry << R"(","program_bytes":1,"program_modified":)"
                        << about.modified << (about.all_tests ? R"(,"all_tests":true)" : "") << "}\n";
    begin("lease", "1") << (about.large ? R"(,"class":"large","whole_devices":true,)" : R"(,"class":"medium",)")
                        << (declared == 0 ? "" : R"("declared_bytes":)" + std::to_string(declared) + ",")
                        << R"("bytes":)"
                        << (about.large     ? 0
                            : declared == 0 ? 8 * gib
                                            : declared)
                        << (about.declared_by.empty() ? "" : R"(,"declared_by":")" + about.declared_by + '"')
                        << R"(,"devices":["GPU-1"],"waited":0})"
                        << "\n";
    begin("release", "9") << R"(,"evidence":")" << evidence << R"(","devices":[{"uuid":"GPU-1","peak_bytes":)" << used
                          << (is_old ? "" : R"(,"kept_bytes":)" + std::to_string(about.kept)) << "}]}\n";
    if (test.find('.') != std::string::npos) {
      begin("test", "93") << R"(,"result":")" << result << R"(","seconds":1)" << (is_old ? "" : declared_for) << "}\n";
    }
    if (about.exit >= 0) {
      begin("end", "95") << R"(,"exit":)" << about.exit << "}\n";
    }
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream{source_ + "/" + name} << text; }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file{source_ + "/" + name};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  [[nodiscard]] tests::Ended classify(std::vector<std::string> options) {
    log_.flush();
    options.insert(options.begin(), {"classify", "--test-dir", build_, "--log", path_, "--source", source_});
    return tool_.run(options);
  }

  Tool tool_;
  std::string path_ = tool_.folder().path() + "/run.jsonl";
  std::string source_ = tool_.folder().path() + "/source";
  std::string build_ = tool_.folder().path() + "/build";
  std::ofstream log_{path_};
  int pid_ = 1;
};

TEST_F(ClassifyCommand, changes_sizes_that_are_too_small_or_far_too_large_and_no_others) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  ran("sort", "Sort.pairs", 8 * gib, 2 * gib);
  ran("sort", "Sort.fits", 3 * gib, 2 * gib);
  ran("join", "", 8 * gib, gib);
  const std::string unchanged = "GPUTEST_NEEDS(Sort, fits, 3_GiB);\n// GPUTEST_NEEDS(Sort, keys, 2_GiB);\n";
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\nGPUTEST_NEEDS(Sort, pairs, gpus(1), 8_GiB);\n" + unchanged);
  write("CMakeLists.txt",
        "gpu_add_test(NAME join COMMAND join.sh\n  MEMORY 8GiB # much\n)\ngpu_add_test(NAME joint COMMAND a "
        "MEMORY 8GiB)\n");
  const auto ended = classify({"--apply"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(read("sort.cpp"),
            "GPUTEST_NEEDS(Sort, keys, 3328_MiB);\nGPUTEST_NEEDS(Sort, pairs, gpus(1), 2304_MiB);\n" + unchanged);
  EXPECT_EQ(read("CMakeLists.txt"), "gpu_add_test(NAME join COMMAND join.sh\n  MEMORY 1088MiB # "
                                    "much\n)\ngpu_add_test(NAME joint COMMAND a MEMORY 8GiB)\n");
  EXPECT_THAT(
      ended.out,
      HasSubstr("sort.cpp:1: changed\n- GPUTEST_NEEDS(Sort, keys, 2_GiB);\n+ GPUTEST_NEEDS(Sort, keys, 3328_MiB);"));
  EXPECT_THAT(ended.out, HasSubstr("1 of 4 tests fit what they declare."));
  EXPECT_THAT(ended.out, HasSubstr("Planned for the newest run: "));
}

TEST_F(ClassifyCommand, calls_no_lease_of_a_whole_device_too_small) {
  About large{"fixture"};
  large.large = true;
  ran("sort", "Sort.all", 0, 15 * gib, large);
  EXPECT_EQ(classify({"--check"}).exit_code, 0);
  EXPECT_THAT(classify({}).out, HasSubstr("1 of 1 tests fit what they declare."));
  ran("sort", "Sort.little", 0, gib, large);
  const auto ended = classify({});
  EXPECT_THAT(ended.out, testing::ContainsRegex("sort: Sort.little +large +1 GiB +1 +under +1.06 GiB"));
}

TEST_F(ClassifyCommand, says_what_is_changed_already) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  EXPECT_THAT(classify({"--apply"}).out, HasSubstr("\nBuild, and run ctest again, to see what these tests use now.\n"));
  EXPECT_THAT(classify({"--apply"}).out,
              HasSubstr("sort.cpp:1: sort: Sort.keys: GPUTEST_NEEDS(Sort, keys, 3328_MiB); (that is written already: "
                        "build, and run ctest again)\n"));
}

TEST_F(ClassifyCommand, changes_nothing_without_being_told_to) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  const auto ended = classify({});
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  EXPECT_THAT(ended.out, HasSubstr("sort.cpp:1: can be changed by --apply"));
  EXPECT_THAT(ended.out, Not(HasSubstr("Build, and run ctest again")));
}

TEST_F(ClassifyCommand, says_what_to_write_where_it_cannot_change_it) {
  ran("a", "Sort.units", 2 * gib, 4 * gib);
  ran("a", "Sort.twice", 2 * gib, 4 * gib);
  ran("a", "Sort.newer", 2 * gib, 4 * gib);
  ran("b", "Sort.nowhere", 0, gib, About{"entry"});
  const std::string text =
      "GPUTEST_NEEDS(Sort, units, units(2));\nGPUTEST_NEEDS(Sort, twice, 2_GiB);\nGPUTEST_NEEDS(Sort, "
      "twice, 2_GiB);\nGPUTEST_NEEDS(Sort, newer, 9_GiB);\n";
  write("sort.cpp", text);
  const auto ended = classify({"--apply"});
  EXPECT_EQ(read("sort.cpp"), text);
  EXPECT_THAT(ended.out, HasSubstr("it does not declare one literal size"));
  EXPECT_THAT(ended.out, HasSubstr("it is declared in 2 places"));
  EXPECT_THAT(ended.out,
              HasSubstr("in the run it declared 2 GiB, so that something else takes precedence, or the file is newer"));
  EXPECT_THAT(ended.out,
              HasSubstr("b: Sort.nowhere: write GPUTEST_NEEDS(Sort, nowhere, 1088_MiB); in place of medium (no "
                        "gpu_add_test() of this name was found; a fixture or gpu_discover_tests() may say it)"));
}

TEST_F(ClassifyCommand, takes_the_most_of_the_instances_that_share_a_declaration) {
  auto one_of_two = in_file("sort.cu");
  one_of_two.declared_for = 2;
  ran("a", "Some/Sort.keys/0", 8 * gib, gib, one_of_two);
  ran("a", "Some/Sort.keys/1", 8 * gib, 3 * gib, one_of_two);
  ran("a", "Typed/0.keys", 8 * gib, gib, one_of_two);
  ran("a", "Typed/1.keys", 8 * gib, 8 * gib, one_of_two);
  write("sort.cu", "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Typed, keys, 8_GiB);\n");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("sort.cu"), "GPUTEST_NEEDS(Sort, keys, 3328_MiB);\nGPUTEST_NEEDS(Typed, keys, 8_GiB);\n");
}

TEST_F(ClassifyCommand, takes_no_other_macro_for_a_declaration) {
  ran("a", "Sort.keys", 2 * gib, 3 * gib);
  write("sort.cpp", "MY_GPUTEST_NEEDS(Sort, keys, 2_GiB);\nGPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("sort.cpp"), "MY_GPUTEST_NEEDS(Sort, keys, 2_GiB);\nGPUTEST_NEEDS(Sort, keys, 3328_MiB);\n");
}

TEST_F(ClassifyCommand, reads_no_copy_of_a_source_in_a_build_folder) {
  ran("join", "", 8 * gib, gib);
  const std::string text = "gpu_add_test(NAME join COMMAND a MEMORY 8GiB)\n";
  write("CMakeLists.txt", text);
  write("b/CMakeCache.txt", "");
  write("b/CMakeLists.txt", text);
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("CMakeLists.txt"), "gpu_add_test(NAME join COMMAND a MEMORY 1088MiB)\n");
  EXPECT_EQ(read("b/CMakeLists.txt"), text);
}

TEST_F(ClassifyCommand, knows_the_suite_of_a_test_of_a_type) {
  ran("a", "Sort/1.keys", 2 * gib, 3 * gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 3328_MiB);\n");
}

TEST_F(ClassifyCommand, never_lowers_by_a_figure_that_is_not_exact) {
  ran("a", "Sort.keys", 8 * gib, gib, "sampled");
  ran("a", "Sort.pairs", gib, 2 * gib, "sampled");
  ran("a", "Many/Sort.both/0", 8 * gib, gib);
  ran("a", "Many/Sort.both/1", 8 * gib, gib, "sampled");
  write("sort.cpp",
        "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 1_GiB);\nGPUTEST_NEEDS(Sort, both, 8_GiB);\n");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(
      read("sort.cpp"),
      "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 2304_MiB);\nGPUTEST_NEEDS(Sort, both, 8_GiB);\n");
}

TEST_F(ClassifyCommand, does_not_know_what_a_test_uses_of_which_one_run_was_sampled) {
  ran("a", "Sort.keys", 8 * gib, gib, "sampled");
  ran("a", "Sort.keys", 8 * gib, gib);
  const auto json = nlohmann::json::parse(classify({"--json"}).out);
  EXPECT_EQ(json.at("tests").at(0).at("verdict"), "unknown");
}

TEST_F(ClassifyCommand, never_lowers_by_a_run_in_which_the_test_failed) {
  ran("sort", "Sort.keys", 8 * gib, 0, "exact", "failed");
  ran("sort", "Sort.pairs", 8 * gib, gib, "exact", "passed");
  ran("sort", "Sort.both", 8 * gib, 0, "exact", "skipped");
  write("sort.cpp",
        "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 8_GiB);\nGPUTEST_NEEDS(Sort, both, 8_GiB);\n");
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(
      read("sort.cpp"),
      "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 1088_MiB);\nGPUTEST_NEEDS(Sort, both, 8_GiB);\n");
}

TEST_F(ClassifyCommand, lowers_no_size_before_every_test_that_it_is_for_was_measured) {
  const std::string text = "GPUTEST_NEEDS(Sort, keys, 8_GiB);\n";
  write("sort.cpp", text);
  ran("a", "Some/Sort.keys/0", 8 * gib, gib, About{"test", 3});
  ran("a", "Some/Sort.keys/1", 8 * gib, gib, About{"test", 3});
  EXPECT_THAT(classify({"--apply"}).out,
              HasSubstr("of the 3 tests that it is for, 2 ran, passed and were measured each by itself"));
  EXPECT_EQ(read("sort.cpp"), text);
  ran("a", "Some/Sort.keys/2", 8 * gib, gib, About{"test", 3});
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 1088_MiB);\n");
}

TEST_F(ClassifyCommand, lowers_no_size_by_what_another_build_of_the_executable_used) {
  const std::string text = "GPUTEST_NEEDS(Sort, keys, 8_GiB);\n";
  write("sort.cpp", text);
  ran("a", "Some/Sort.keys/old", 8 * gib, gib, About{"test", 2});
  ran("a", "Some/Sort.keys/0", 8 * gib, gib, About{"test", 2, 0, true, 0, 2});
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(read("sort.cpp"), text);
}

TEST_F(ClassifyCommand, lowers_no_suite_of_which_a_test_did_not_run) {
  ran("sort", "Sort", 8 * gib, gib, About{"suite"});
  const auto passed = [&](const std::string& test) {
    log_ << R"({"t":1003.0,"pid":2,"entry":"sort","test":"Sort.)" << test
         << R"(","event":"test","result":"passed","seconds":1,"declared_in":"sort.cpp","declared_for":2})"
         << "\n";
  };
  passed("keys");
  write("sort.cpp", "GPUTEST_SUITE_NEEDS(Sort, 8_GiB, suite_lease);\n");
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_SUITE_NEEDS(Sort, 8_GiB, suite_lease);\n");
  passed("pairs");
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_SUITE_NEEDS(Sort, 1088_MiB, suite_lease);\n");
}

TEST_F(ClassifyCommand, lowers_no_size_in_a_header) {
  ran("sort", "Sort.keys", 8 * gib, gib, in_file("sort.hpp"));
  ran("sort", "Sort.pairs", 2 * gib, 3 * gib, in_file("sort.hpp"));
  write("sort.hpp", "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 2_GiB);\n");
  EXPECT_THAT(classify({"--apply"}).out, HasSubstr("sort.hpp:1: not lowered: it is in a header, which other "
                                                   "executables may use, too\n- GPUTEST_NEEDS(Sort, keys, 8_GiB);"));
  EXPECT_EQ(read("sort.hpp"), "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 3328_MiB);\n");
}

TEST_F(ClassifyCommand, lowers_an_entry_only_if_all_of_it_ran_and_passed) {
  const auto changes = [&](const std::string& entry) {
    const auto text = "gpu_add_test(NAME " + entry + " COMMAND sort MEMORY 8GiB)\n";
    write("CMakeLists.txt", text);
    static_cast<void>(classify({"--apply"}));
    return read("CMakeLists.txt") != text;
  };
  const About by_entry{"entry"};
  ran("whole", "Sort.keys", 8 * gib, gib, by_entry);
  ran("whole", "Sort.pairs", 8 * gib, gib, by_entry);
  EXPECT_TRUE(changes("whole"));
  ran("crashed", "Sort.keys", 8 * gib, gib, About{"entry", 1, 0, true, 134});
  EXPECT_FALSE(changes("crashed"));
  ran("killed", "Sort.keys", 8 * gib, gib, About{"entry", 1, 0, true, -1});
  EXPECT_FALSE(changes("killed")) << "after this test, and before the others";
  ran("filtered", "Sort.keys", 8 * gib, gib, About{"entry", 1, 0, false});
  EXPECT_FALSE(changes("filtered"));
  ran("skipped", "Sort.keys", 8 * gib, gib, by_entry);
  ran("skipped", "Sort.pairs", 8 * gib, 0, by_entry, "exact", "skipped");
  EXPECT_FALSE(changes("skipped"));
  ran("failed", "Sort.keys", 8 * gib, gib, by_entry);
  ran("failed", "Sort.of_its_own_size", gib, gib, About{}, "exact", "failed");
  EXPECT_FALSE(changes("failed"));
  ran("beside", "Sort.keys", 8 * gib, gib, by_entry);
  ran("beside", "Sort.pairs", 8 * gib, 0, About{"entry", 1, gib});
  EXPECT_FALSE(changes("beside"));
}

TEST_F(ClassifyCommand, lowers_nothing_by_what_was_measured_beside_memory_of_earlier_tests) {
  ran("sort", "Sort.keys", 8 * gib, 0, About{"test", 1, gib});
  ran("sort", "Sort.pairs", 2 * gib, 3 * gib, About{"test", 1, gib});
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 2_GiB);\n");
  EXPECT_THAT(classify({"--apply"}).out, testing::ContainsRegex("Sort.pairs +2 GiB +at least 3 GiB"));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 3328_MiB);\n");
}

TEST_F(ClassifyCommand, changes_only_the_kind_of_declaration_that_the_size_came_from) {
  ran("twin.Sort.keys", "Sort.keys", 2 * gib, 3 * gib, About{"entry"});
  ran("join", "Join.keys", 8 * gib, gib);
  ran("fft", "Fft.keys", 8 * gib, gib, About{"section"});
  ran("old", "Old.keys", 8 * gib, 9 * gib, About{"", 0});
  const std::string source = "GPUTEST_NEEDS(Sort, keys, 2_GiB, gpus(2));\nGPUTEST_NEEDS(Fft, keys, 8_GiB);\n"
                             "GPUTEST_NEEDS(Old, keys, 8_GiB);\n";
  const std::string cmake = "gpu_add_test(NAME join COMMAND join MEMORY 8GiB)\n";
  write("sort.cpp", source);
  write("CMakeLists.txt", cmake);
  const auto out = classify({"--apply"}).out;
  EXPECT_EQ(read("sort.cpp"), source);
  EXPECT_EQ(read("CMakeLists.txt"), cmake);
  EXPECT_THAT(out, HasSubstr("twin.Sort.keys: Sort.keys: write GPUTEST_NEEDS(Sort, keys, 3328_MiB); in place of 2 GiB "
                             "(no gpu_add_test() of this name was found; a fixture or gpu_discover_tests() may say "
                             "it)"));
  EXPECT_THAT(out, HasSubstr("(no GPUTEST_NEEDS of this test was found)"));
  EXPECT_THAT(out, HasSubstr("(a GPUTEST_LEASE in the test declares it)"));
  EXPECT_THAT(out, HasSubstr("(the logs do not say where it was declared)"));
}

TEST_F(ClassifyCommand, changes_the_declaration_in_the_source_of_the_executable_that_ran) {
  const std::string text = "GPUTEST_NEEDS(Sort, keys, 8_GiB);\n";
  ran("sort", "Sort.keys", 8 * gib, gib, in_file("generated.cpp"));
  write("sort.cpp", text);
  EXPECT_THAT(classify({"--apply"}).out, HasSubstr("(no GPUTEST_NEEDS of this test was found)"));
  EXPECT_EQ(read("sort.cpp"), text);
  write("generated.cpp", text);
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(read("sort.cpp"), text);
  EXPECT_EQ(read("generated.cpp"), "GPUTEST_NEEDS(Sort, keys, 1088_MiB);\n");
}

TEST_F(ClassifyCommand, takes_no_source_for_another_one_of_its_name) {
  const std::string text = "GPUTEST_NEEDS(Sort, keys, 8_GiB);\n";
  const std::string lowered = "GPUTEST_NEEDS(Sort, keys, 1088_MiB);\n";
  fs::create_directories(source_ + "/a");
  for (const auto& compiled : {source_ + "/b/sort.cpp", std::string{"../source/b/sort.cpp"},
                               std::string{"/elsewhere/b/sort.cpp"}, std::string{"../b/sort.cpp"}}) {
    SCOPED_TRACE(compiled);
    About about;
    about.file = compiled;
    ran("sort", "Sort.keys", 8 * gib, gib, about);
    write("a/sort.cpp", text);
    write("b/sort.cpp", "NEEDS_OF(Sort); // by GPUTEST_NEEDS\n");
    EXPECT_THAT(classify({"--apply"}).out, HasSubstr("(no GPUTEST_NEEDS of this test was found)"));
    EXPECT_EQ(read("a/sort.cpp"), text);
    write("b/sort.cpp", text);
    static_cast<void>(classify({"--apply"}));
    EXPECT_EQ(read("a/sort.cpp"), text);
    EXPECT_EQ(read("b/sort.cpp"), lowered);
  }
}

TEST_F(ClassifyCommand, takes_no_source_for_one_of_its_name_in_a_folder_below_it) {
  const std::string text = "GPUTEST_NEEDS(Sort, keys, 8_GiB);\n";
  for (const auto& compiled : {source_ + "/b/sort.cpp", std::string{"../source/b/sort.cpp"}}) {
    SCOPED_TRACE(compiled);
    About about;
    about.file = compiled;
    ran("sort", "Sort.keys", 8 * gib, gib, about);
    write("sort.cpp", text);
    write("b/sort.cpp", "");
    static_cast<void>(classify({"--apply"}));
    EXPECT_EQ(read("sort.cpp"), text);
  }
}

TEST_F(ClassifyCommand, lowers_no_size_before_each_entry_with_a_test_of_the_name_was_measured) {
  const std::string text = "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 2_GiB);\n";
  write("sort.cpp", text);
  std::ofstream{build_ + "/CTestTestfile.cmake"} << "add_test(floats.Sort.keys true --gtest_filter=Sort.keys)\n"
                                                    "add_test(doubles.Sort.keys true --gtest_filter=Some/Sort.keys/0)\n"
                                                    "add_test(doubles.Sort.pairs true --gtest_filter=Sort.pairs)\n";
  ran("floats.Sort.keys", "Sort.keys", 8 * gib, gib);
  ran("floats.Sort.pairs", "Sort.pairs", 2 * gib, 3 * gib);
  EXPECT_THAT(classify({"--apply"}).out,
              HasSubstr("sort.cpp:1: not lowered: the entry doubles.Sort.keys has a test of this name, and is in no "
                        "log. Run it first\n"));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 8_GiB);\nGPUTEST_NEEDS(Sort, pairs, 3328_MiB);\n");
  ran("doubles.Sort.keys", "Some/Sort.keys/0", 8 * gib, 2 * gib);
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 2304_MiB);\nGPUTEST_NEEDS(Sort, pairs, 3328_MiB);\n");
}

TEST_F(ClassifyCommand, lowers_no_suite_before_each_entry_with_a_test_of_it_was_measured) {
  const std::string text = "GPUTEST_SUITE_NEEDS(Sort, 8_GiB, suite_lease);\n";
  write("sort.cpp", text);
  ran("sort", "Sort", 8 * gib, gib, About{"suite"});
  log_ << R"({"t":1003.0,"pid":2,"entry":"sort","test":"Sort.keys","event":"test","result":"passed","seconds":1,)"
       << R"("declared_in":"sort.cpp","declared_for":1})"
       << "\n";
  std::ofstream{build_ + "/CTestTestfile.cmake"} << "add_test(other true --gtest_filter=Sort.*)\n"
                                                    "add_test(doubles true --gtest_filter=Join.all:Sort.pairs)\n";
  EXPECT_THAT(classify({"--apply"}).out, HasSubstr("not lowered: the entry doubles has a test of this name"));
  EXPECT_EQ(read("sort.cpp"), text);
}

TEST_F(ClassifyCommand, lowers_nothing_by_a_log_that_does_not_say_what_was_measured) {
  ran("sort", "Sort.keys", 8 * gib, gib, About{"test", 0});
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 8_GiB);\n");
  EXPECT_THAT(classify({"--apply"}).out, HasSubstr("of 1 the use is not known"));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 8_GiB);\n");
}

TEST_F(ClassifyCommand, tolerates_what_the_test_itself_tolerates) {
  ran("sort", "Sort.keys", gib, gib + (std::uint64_t{1} << 20U));
  EXPECT_EQ(classify({"--check"}).exit_code, 0);
}

TEST_F(ClassifyCommand, fails_where_no_test_had_a_lease) {
  const auto ended = classify({"--check"});
  EXPECT_EQ(ended.exit_code, to_int(ExitCode::internal_error)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("no test in these run logs had a lease"));
}

TEST_F(ClassifyCommand, leaves_a_file_alone_that_must_not_be_written_to) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  fs::permissions(source_ + "/sort.cpp", fs::perms::owner_read);
  EXPECT_THAT(classify({"--apply"}).err, HasSubstr("must not be written to"));
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
}

TEST_F(ClassifyCommand, writes_through_a_hard_link) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  fs::create_hard_link(source_ + "/sort.cpp", tool_.folder().path() + "/link.txt");
  static_cast<void>(classify({"--apply"}));
  EXPECT_EQ(fs::hard_link_count(source_ + "/sort.cpp"), 2U);
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 3328_MiB);\n");
}

TEST_F(ClassifyCommand, changes_no_file_if_one_of_them_cannot_be_changed) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib, in_file("a.cpp"));
  ran("sort", "Join.big", 2 * gib, 3 * gib, in_file("b.cpp"));
  write("a.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  write("b.cpp", "GPUTEST_NEEDS(Join, big, 2_GiB);\n");
  fs::permissions(source_ + "/b.cpp", fs::perms::owner_read);
  EXPECT_THAT(classify({"--apply"}).err,
              HasSubstr("b.cpp cannot be changed: it must not be written to (chmod u+w). No"));
  EXPECT_EQ(read("a.cpp"), "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  fs::permissions(source_ + "/b.cpp", fs::perms::owner_all);
  write("b.cpp.before-gputest", "the text before a kill");
  EXPECT_THAT(classify({"--apply"}).err, HasSubstr("an earlier change of it was interrupted"));
  EXPECT_EQ(read("a.cpp"), "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  fs::remove(source_ + "/b.cpp.before-gputest");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("a.cpp") + read("b.cpp"),
            "GPUTEST_NEEDS(Sort, keys, 3328_MiB);\nGPUTEST_NEEDS(Join, big, 3328_MiB);\n");
  EXPECT_FALSE(fs::exists(source_ + "/b.cpp.before-gputest"));
}

/// Two sources, of which the second cannot grow by a byte.
class ClassifyCommandWithFullDisk : public ClassifyCommand {
protected:
  ClassifyCommandWithFullDisk() {
    ran("sort", "Sort.keys", 2 * gib, 3 * gib, in_file("a.cpp"));
    ran("sort", "Join.big", 2 * gib, 3 * gib, in_file("b.cpp"));
    write("a.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
    second_.resize(block, '/');
    write("b.cpp", second_);
  }

  /// `action` is what a shell does when a file would become larger than a block.
  [[nodiscard]] tests::Ended apply(const std::string& action) {
    log_.flush();
    return tool_
        .start_program({"/bin/bash", "-c", action + R"(ulimit -f 1; exec "$@")", "-", Tool::path(), "classify", "--log",
                        path_, "--source", source_, "--apply"})
        .finish();
  }

  static constexpr std::size_t block = 1024;
  std::string second_ = "GPUTEST_NEEDS(Join, big, 2_GiB);\n//";
};

TEST_F(ClassifyCommandWithFullDisk, says_what_it_has_changed_if_it_cannot_change_all) {
  const auto ended = apply("trap '' XFSZ; ");
  EXPECT_THAT(ended.err, HasSubstr("b.cpp cannot be written: File too large. It has its old text. Changed before it: " +
                                   source_ + "/a.cpp"));
  EXPECT_EQ(read("a.cpp"), "GPUTEST_NEEDS(Sort, keys, 3328_MiB);\n");
  EXPECT_EQ(read("b.cpp"), second_);
  EXPECT_FALSE(fs::exists(source_ + "/b.cpp.before-gputest"));
}

TEST_F(ClassifyCommandWithFullDisk, keeps_the_old_text_of_a_file_that_it_is_killed_in) {
  EXPECT_EQ(apply("").signal, SIGXFSZ);
  EXPECT_NE(read("b.cpp"), second_);
  EXPECT_EQ(read("b.cpp.before-gputest"), second_);
}

TEST_F(ClassifyCommand, fails_a_check_only_if_a_test_uses_more_than_it_declares) {
  ran("a", "Sort.keys", 8 * gib, gib);
  EXPECT_EQ(classify({"--check"}).exit_code, 0);
  ran("a", "Sort.pairs", gib, 2 * gib);
  EXPECT_EQ(classify({"--check"}).exit_code, to_int(ExitCode::check_failed));
}

TEST_F(ClassifyCommand, checks_the_newest_run_of_each_test) {
  ran("a", "Sort.keys", 2 * gib, gib);
  const auto logs = tool_.folder().path() + "/logs";
  fs::create_directories(logs);
  std::ofstream{logs + "/old.jsonl"} << earlier("Sort.keys", gib, 3 * gib);
  log_.flush();
  fs::copy(path_, logs + "/new.jsonl");
  EXPECT_EQ(tool_.run({"classify", "--log", logs, "--check"}).exit_code, 0);
  std::ofstream{logs + "/old.jsonl"} << earlier("Sort.pairs", gib, 3 * gib);
  EXPECT_EQ(tool_.run({"classify", "--log", logs, "--check"}).exit_code, to_int(ExitCode::check_failed))
      << "the newest run of this test";
}

TEST_F(ClassifyCommand, checks_no_run_of_a_program_that_has_changed_since) {
  const auto program = tool_.folder().path() + "/sort_test";
  const auto log = tool_.folder().path() + "/one.jsonl";
  std::ofstream{program} << "x";
  const auto check = [&](const std::string& stamp) {
    std::ofstream{log} << earlier("Sort.keys", gib, 3 * gib, R"(,"program":")" + program + '"' + stamp);
    return tool_.run({"classify", "--log", log, "--check"});
  };
  const auto stamp = platform::stamp_of(program).value();
  const auto modified = std::to_string(stamp.modified);
  EXPECT_EQ(check(R"(,"program_bytes":1,"program_modified":)" + modified).exit_code, to_int(ExitCode::check_failed));
  const auto changed = check(R"(,"program_bytes":2,"program_modified":)" + modified);
  EXPECT_EQ(changed.exit_code, to_int(ExitCode::internal_error));
  const auto touched = check(R"(,"program_bytes":1,"program_modified":)" + std::to_string(stamp.modified + 1));
  EXPECT_EQ(touched.exit_code, to_int(ExitCode::internal_error));
  EXPECT_THAT(changed.err, HasSubstr("left out: runs of " + program + ", which has changed since"));
  EXPECT_THAT(changed.err, HasSubstr("so nothing can be checked. Run ctest first"));
}

TEST_F(ClassifyCommand, checks_no_run_here_of_a_program_that_is_gone) {
  const auto log = tool_.folder().path() + "/one.jsonl";
  const auto check = [&](const std::string& host, const std::string& program = R"(,"program":"/no/such/program")") {
    std::ofstream{log} << R"({"t":400.0,"pid":1,"entry":"a","event":"run","version":1,"host":")" + host + "\"}\n" +
                              earlier("Sort.keys", gib, 3 * gib, program).substr(earlier("", 0, 0).find('\n') + 1);
    return tool_.run({"classify", "--log", log, "--check"}).exit_code;
  };
  EXPECT_EQ(check(platform::host_name()), to_int(ExitCode::internal_error));
  EXPECT_EQ(check("another-machine"), to_int(ExitCode::check_failed));
  EXPECT_EQ(check(platform::host_name(), ""), to_int(ExitCode::check_failed)) << "nobody knows";
}

TEST_F(ClassifyCommand, takes_no_other_size_of_an_entry_for_its_memory) {
  About about{"entry"};
  ran("join", "", 8 * gib, gib, about);
  write("CMakeLists.txt", "gpu_add_test(NAME join COMMAND a HEAP 1GiB MEMORY 8GiB)\n");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("CMakeLists.txt"), "gpu_add_test(NAME join COMMAND a HEAP 1GiB MEMORY 1088MiB)\n");
}

TEST_F(ClassifyCommand, changes_nothing_that_no_compiler_and_no_cmake_sees) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  ran("join", "", 8 * gib, gib);
  const std::string source = "#if 0\nGPUTEST_NEEDS(Sort, keys, 2_GiB);\n#endif\n"
                             "const char* const help = \"GPUTEST_NEEDS(Sort, keys, 2_GiB);\";\n";
  const std::string cmake = "#[[\ngpu_add_test(NAME join COMMAND a MEMORY 8GiB)\n]]\n"
                            "message(\"gpu_add_test(NAME join COMMAND a MEMORY 8GiB)\")\n";
  write("sort.cpp", source + "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  write("CMakeLists.txt", cmake + "gpu_add_test(NAME \"join\" COMMAND a MEMORY 8GiB)\n");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("sort.cpp"), source + "GPUTEST_NEEDS(Sort, keys, 3328_MiB);\n");
  EXPECT_EQ(read("CMakeLists.txt"), cmake + "gpu_add_test(NAME \"join\" COMMAND a MEMORY 1088MiB)\n");
}

TEST_F(ClassifyCommand, makes_both_changes_of_one_line) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  ran("sort", "Sort.pairs", 8 * gib, gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB); GPUTEST_NEEDS(Sort, pairs, 8_GiB);\n");
  EXPECT_EQ(classify({"--apply"}).exit_code, 0);
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 3328_MiB); GPUTEST_NEEDS(Sort, pairs, 1088_MiB);\n");
}

TEST_F(ClassifyCommand, never_raises_a_size_beyond_what_a_device_has) {
  ran("sort", "Sort.keys", 2 * gib, 16 * gib - (gib >> 4U));
  ran("sort", "Sort.spills", 2 * gib, 20 * gib);
  const std::string spills = "GPUTEST_NEEDS(Sort, spills, 2_GiB);\n";
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n" + spills);
  const auto ended = classify({"--apply"});
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_NEEDS(Sort, keys, 16_GiB);\n" + spills);
  EXPECT_THAT(ended.out, HasSubstr("no device of these runs has as much for a test"));
}

TEST_F(ClassifyCommand, keeps_the_other_words_of_an_annotation) {
  ran("sort", "Sort.keys", 0, gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, medium, gpus(2), sm(80), keeps(1_MiB));\n");
  EXPECT_THAT(classify({}).out,
              HasSubstr("write GPUTEST_NEEDS(Sort, keys, 1088_MiB, gpus(2), sm(80), keeps(1_MiB)); in "
                        "place of GPUTEST_NEEDS(Sort, keys, medium, gpus(2), sm(80), keeps(1_MiB));"));
}

TEST_F(ClassifyCommand, changes_the_lease_of_a_suite) {
  ran("sort", "Sort", 8 * gib, gib, About{"suite"});
  ran("sort", "Join", 0, gib, About{"suite"});
  log_
      << R"({"t":1005.0,"pid":2,"entry":"sort","test":"Sort.keys","event":"test","result":"passed","seconds":1,"declared_in":"sort.cpp","declared_for":1})"
      << "\n"
      << R"({"t":1005.0,"pid":2,"entry":"sort","test":"Join.keys","event":"test","result":"passed","seconds":1,"declared_in":"sort.cpp","declared_for":1})"
      << "\n";
  write("sort.cpp", "GPUTEST_SUITE_NEEDS(Sort, 8_GiB, suite_lease);\n");
  const auto ended = classify({"--apply"});
  EXPECT_EQ(read("sort.cpp"), "GPUTEST_SUITE_NEEDS(Sort, 1088_MiB, suite_lease);\n");
  EXPECT_THAT(ended.out, HasSubstr("write GPUTEST_SUITE_NEEDS(Join, 1088_MiB, suite_lease); in place of medium"));
}

TEST_F(ClassifyCommand, calls_an_exact_figure_of_a_test_that_failed_exact) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib, "exact", "failed");
  ran("sort", "Sort.pairs", 2 * gib, 3 * gib, "sampled", "failed");
  const auto out = classify({}).out;
  EXPECT_THAT(out, testing::ContainsRegex("Sort.keys +2 GiB +3 GiB"));
  EXPECT_THAT(out, testing::ContainsRegex("Sort.pairs +2 GiB +at least 3 GiB"));
}

TEST_F(ClassifyCommand, writes_the_same_for_programs) {
  ran("a", "Sort.keys", 8 * gib, gib);
  ran("a", "Sort.pairs", 0, 7 * gib, About{"entry"});
  write("sort.cpp", "// GPUTEST_NEEDS\n\nGPUTEST_NEEDS(Sort, keys, 8_GiB);\n");
  const auto ended = classify({"--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  auto json = nlohmann::json::parse(ended.out);
  EXPECT_GT(json["planned_s"], 0);
  EXPECT_GT(json["planned_with_edits_s"], 0);
  json.erase("planned_s");
  json.erase("planned_with_edits_s");
  auto expected = nlohmann::json::parse(R"({
    "version": 1,
    "tests": [{"name": "a: Sort.keys", "entry": "a", "test": "Sort.keys", "verdict": "under", "class": "medium",
               "leased_bytes": 8589934592, "declared_bytes": 8589934592, "measured_bytes": {"H200": 1073741824},
               "exact": true, "runs": 1, "advised_bytes": 1140850688},
              {"name": "a: Sort.pairs", "entry": "a", "test": "Sort.pairs", "verdict": "fits", "class": "medium",
               "leased_bytes": 8589934592, "declared_bytes": null, "measured_bytes": {"H200": 7516192768},
               "exact": true, "runs": 1, "advised_bytes": null}],
    "edits": [{"name": "a: Sort.keys", "file": "", "line": 3, "before": "GPUTEST_NEEDS(Sort, keys, 8_GiB);",
               "after": "GPUTEST_NEEDS(Sort, keys, 1088_MiB);", "why_not": ""}]
  })");
  expected["edits"][0]["file"] = source_ + "/sort.cpp";
  EXPECT_EQ(json.dump(2), expected.dump(2));
}

TEST_F(ClassifyCommand, plans_the_newest_run_as_declared_and_as_advised) {
  ran("a", "Sort.keys", 10 * gib, gib);
  ran("b", "Join.keys", 10 * gib, gib);
  const auto json = nlohmann::json::parse(classify({"--json"}).out);
  EXPECT_GT(json["planned_s"], json["planned_with_edits_s"]) << "both fit beside each other";
  EXPECT_THAT(classify({}).out,
              HasSubstr(fmt::format("\n\nPlanned for the newest run: {:.1f} s as declared, {:.1f} s "
                                    "as advised.\n",
                                    json["planned_s"].get<double>(), json["planned_with_edits_s"].get<double>())));
}

TEST_F(ClassifyCommand, prints_nothing_but_a_sum_where_all_tests_fit) {
  ran("a", "Sort.keys", 3 * gib, 3 * gib);
  ran("a", "Sort.pairs", 3 * gib, 3 * gib);
  EXPECT_EQ(classify({}).out, "2 of 2 tests fit what they declare.\n");
  EXPECT_EQ(classify({"--apply"}).out, "2 of 2 tests fit what they declare.\n");
  EXPECT_EQ(tool_.run({"classify", "--test-dir", build_, "--log", path_}).out, "2 of 2 tests fit what they declare.\n")
      << "no source is needed";
  ran("a", "Sort.both", 8 * gib, gib, "sampled");
  EXPECT_EQ(classify({}).out, "2 of 3 tests fit what they declare; of 1 the use is not known, or only a lower bound of "
                              "it.\n");
}

TEST_F(ClassifyCommand, has_a_figure_for_each_model_of_device_and_counts_the_runs) {
  const auto log = tool_.folder().path() + "/logs";
  fs::create_directories(log);
  const auto of_model = [&](const std::string& model, std::uint64_t used) {
    auto text = earlier("Sort.keys", gib, used);
    text.replace(text.find("H200"), 4, model);
    std::ofstream{log + "/" + model + ".jsonl"} << text;
  };
  of_model("H200", 3 * gib);
  of_model("A100", 2 * gib);
  const auto out = tool_.run({"classify", "--log", log}).out;
  EXPECT_THAT(out, HasSubstr("TEST          DECLARED                    MEASURED  RUNS         ADVISED\n"
                             "a: Sort.keys     1 GiB  2 GiB (A100), 3 GiB (H200)     2  over  3.25 GiB\n"));
  EXPECT_THAT(out, Not(HasSubstr("Planned for the newest run"))) << "it has no times";
}

TEST_F(ClassifyCommand, shows_the_class_of_a_test_without_a_size) {
  ran("a", "Sort.keys", 0, 12 * gib);
  EXPECT_THAT(classify({}).out, testing::ContainsRegex("a: Sort.keys +medium +12 GiB +1 +over"));
}

TEST_F(ClassifyCommand, shows_what_a_test_without_size_and_class_has_leased) {
  auto text = earlier("Sort.keys", gib, 3 * gib);
  const std::string declared = R"("declared_bytes":1073741824,)";
  text.erase(text.find(declared), declared.size());
  std::ofstream{path_} << text;
  EXPECT_THAT(tool_.run({"classify", "--log", path_}).out,
              testing::ContainsRegex("a: Sort.keys +1 GiB +3 GiB +1 +over"));
}

TEST_F(ClassifyCommand, knows_the_sources_from_the_build_folder_or_from_that_of_the_newest_log) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib);
  write("sort.cpp", "GPUTEST_NEEDS(Sort, keys, 2_GiB);\n");
  const auto classified = [&] {
    log_.flush();
    return tool_.run({"classify", "--test-dir", build_, "--log", path_}).out;
  };
  const std::string unknown = "Where tests declare this is not known: write --source with the folder of the sources.\n";
  EXPECT_THAT(classified(), HasSubstr(unknown));
  std::ofstream{build_ + "/CMakeCache.txt"} << "CMAKE_HOME_DIRECTORY:INTERNAL=" << source_ << "\n";
  EXPECT_THAT(classified(), HasSubstr("sort.cpp:1: can be changed by --apply"));
  EXPECT_THAT(classified(), Not(HasSubstr(unknown)));
  const auto other = tool_.folder().path() + "/other";
  fs::create_directories(other);
  fs::rename(build_ + "/CMakeCache.txt", other + "/CMakeCache.txt");
  EXPECT_THAT(classified(), HasSubstr(unknown));
  std::ofstream{path_, std::ios::app} << R"({"t":1000.0,"pid":1,"entry":"e","event":"run","version":1,"folder":")" +
                                             other + "\"}\n";
  EXPECT_THAT(classified(), HasSubstr("sort.cpp:1: can be changed by --apply"));
}

TEST_F(ClassifyCommand, checks_every_lease_of_a_test_in_its_newest_run) {
  ran("a", "Sort.keys", 2 * gib, gib);
  EXPECT_EQ(classify({"--check"}).exit_code, 0);
  ran("a", "Sort.keys", 2 * gib, 3 * gib);
  EXPECT_EQ(classify({"--check"}).exit_code, to_int(ExitCode::check_failed));
}

TEST_F(ClassifyCommand, checks_tests_of_one_name_in_each_entry) {
  ran("other", "Sort.keys", 2 * gib, gib);
  const auto logs = tool_.folder().path() + "/logs";
  fs::create_directories(logs);
  std::ofstream{logs + "/old.jsonl"} << earlier("Sort.keys", gib, 3 * gib); // of the entry `a`
  log_.flush();
  fs::copy(path_, logs + "/new.jsonl");
  EXPECT_EQ(tool_.run({"classify", "--log", logs, "--check"}).exit_code, to_int(ExitCode::check_failed));
}

TEST_F(ClassifyCommand, checks_the_tests_of_the_programs_that_have_not_changed) {
  const auto logs = tool_.folder().path() + "/logs";
  fs::create_directories(logs);
  std::ofstream{logs + "/0.jsonl"} << earlier("Sort.over", gib, 3 * gib);
  for (const std::string name : {"2", "1"}) {
    const auto program = tool_.folder().path() + "/program" + name;
    std::ofstream{program} << "x";
    const auto modified = std::to_string(platform::stamp_of(program).value().modified + 1);
    std::ofstream{logs + "/" + name + ".jsonl"}
        << earlier("Sort.test" + name, gib, 3 * gib,
                   R"(,"program":")" + program + R"(","program_bytes":1,"program_modified":)" + modified);
  }
  const auto ended = tool_.run({"classify", "--log", logs, "--check"});
  EXPECT_EQ(ended.exit_code, to_int(ExitCode::check_failed)) << ended.err;
  const auto left_out = [&](const std::string& name) {
    return "gputest: left out: runs of " + tool_.folder().path() + "/program" + name + ", which has changed since\n";
  };
  EXPECT_EQ(ended.err, left_out("1") + left_out("2"));
  EXPECT_THAT(ended.out, HasSubstr("\n0 of 1 tests fit what they declare.\n"));
}

} // namespace
} // namespace gputest::cli
