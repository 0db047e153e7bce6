// SPDX-License-Identifier: BSD-3-Clause
#include "report/source_edits.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gputest::report {
namespace {

using namespace literals;
using testing::IsEmpty;
using testing::SizeIs;
using Verdict = Declaration::Verdict;

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

/// A test that used 3 GiB of the 2 GiB that its annotation in s.cpp declares.
Declaration over(const std::string& test, const std::string& said_by = "test") {
  Declaration of;
  of.entry = "e";
  of.test = test;
  of.leased = 2 * gib;
  of.declared = 2 * gib;
  of.memory_class = "medium";
  of.measured = {{"H200", 3 * gib}};
  of.exact = true;
  of.verdict = Verdict::over;
  of.advised = 4_GiB;
  of.said_by = said_by;
  of.program = "/bin/e";
  of.known = {test};
  of.declared_for = 1;
  of.declared_in = "s.cpp";
  of.is_entry_known = true;
  return of;
}

/// A test that used 1 GiB of 8 GiB.
Declaration under(const std::string& test, const std::string& said_by = "test") {
  auto of = over(test, said_by);
  of.declared = of.leased = 8 * gib;
  of.measured = {{"H200", gib}};
  of.verdict = Verdict::under;
  of.advised = 2_GiB;
  return of;
}

SourceFile source(const std::string& text, const std::string& path = "s.cpp") { return {path, text, {path}}; }

SourceEdit edit_of(const Declaration& of, const std::string& text, const std::string& path = "s.cpp") {
  const auto edits = find_edits({of}, {source(text, path)}, {});
  EXPECT_THAT(edits, SizeIs(1)) << text;
  return edits.empty() ? SourceEdit{} : edits[0];
}

/// The text after the safe edits.
std::string changed(const std::vector<Declaration>& declarations, const SourceFile& file,
                    const std::vector<ListedTest>& listed = {}) {
  return apply_edits(file, find_edits(declarations, {file}, listed));
}

TEST(SourceEdits, say_where_a_size_is_and_what_takes_its_place) {
  const auto edit = edit_of(over("S.a"), "// two\n  GPUTEST_NEEDS(S, a, 2_GiB); // lines\nint x;\n");
  EXPECT_EQ(edit.name, "e: S.a");
  EXPECT_EQ(edit.path, "s.cpp");
  EXPECT_EQ(edit.line, 2U);
  EXPECT_EQ(edit.before, "  GPUTEST_NEEDS(S, a, 2_GiB); // lines");
  EXPECT_EQ(edit.after, "  GPUTEST_NEEDS(S, a, 4_GiB); // lines");
  EXPECT_EQ(edit.why_not, "");
  EXPECT_EQ(edit.at, 29U);
  EXPECT_EQ(edit.size, 5U);
  EXPECT_EQ(edit.literal, "4_GiB");
  const auto first = edit_of(over("S.a"), "GPUTEST_NEEDS(S, a, 2_GiB);");
  EXPECT_EQ(first.line, 1U);
  EXPECT_EQ(first.before, "GPUTEST_NEEDS(S, a, 2_GiB);");
}

TEST(SourceEdits, are_none_for_what_fits_or_is_not_known) {
  auto of = over("S.a");
  for (const auto verdict : {Verdict::fits, Verdict::unknown}) {
    of.verdict = verdict;
    EXPECT_THAT(find_edits({of}, {source("GPUTEST_NEEDS(S, a, 2_GiB);")}, {}), IsEmpty());
    EXPECT_THAT(find_edits({of}, {}, {}), IsEmpty());
  }
}

TEST(SourceEdits, find_a_call_however_it_is_laid_out) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"GPUTEST_NEEDS (\n\tS,\r\n  a ,gpus(2, 3)\t,\n 2_GiB\n);",
       "GPUTEST_NEEDS (\n\tS,\r\n  a ,gpus(2, 3)\t,\n 4_GiB\n);"},
      {"GPUTEST_NEEDS(S,a,2_GiB)", "GPUTEST_NEEDS(S,a,4_GiB)"},
      {"GPUTEST_NEEDS(S, a, sm(f(80), 1), 2048_MiB);", "GPUTEST_NEEDS(S, a, sm(f(80), 1), 4_GiB);"},
      {"GPUTEST_NEEDS(S, a, f(x, 1_GiB, y), 2_GiB);", "GPUTEST_NEEDS(S, a, f(x, 1_GiB, y), 4_GiB);"},
      {"// GPUTEST_NEEDS(S, a, 2_GiB);\nGPUTEST_NEEDS(S, a, 2_GiB);",
       "// GPUTEST_NEEDS(S, a, 2_GiB);\nGPUTEST_NEEDS(S, a, 4_GiB);"},
      {"GPUTEST_NEEDS; GPUTEST_NEEDS(S, a, 2_GiB);", "GPUTEST_NEEDS; GPUTEST_NEEDS(S, a, 4_GiB);"},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(changed({over("S.a")}, source(text)), expected);
  }
}

TEST(SourceEdits, take_nothing_else_for_a_declaration_of_a_test) {
  for (const std::string text :
       {"GPUTEST_NEEDS(S, b, 2_GiB);", "GPUTEST_NEEDS(T, a, 2_GiB);", "GPUTEST_NEEDS(S, a, 2_GiB", "GPUTEST_NEEDS",
        "XGPUTEST_NEEDS(S, a, 2_GiB);", "GPUTEST_NEEDS[S, a, 2_GiB];", "GPUTEST_SUITE_NEEDS(S, a, 2_GiB);",
        "GPUTEST_NEEDS(S);", "GPUTEST_NEEDS[S, a, 2_GiB);", "GPUTEST_NEEDS x S, a, 2_GiB);",
        "gpu_add_test(NAME S.a MEMORY 2GiB)"}) {
    const auto edit = edit_of(over("S.a"), text);
    EXPECT_EQ(edit.why_not, "no GPUTEST_NEEDS of this test was found") << text;
    EXPECT_EQ(edit.path, "") << text;
    EXPECT_EQ(edit.line, 0U) << text;
    EXPECT_EQ(edit.before, "2 GiB") << text;
    EXPECT_EQ(edit.after, "GPUTEST_NEEDS(S, a, 4_GiB);") << text;
  }
}

TEST(SourceEdits, take_no_call_of_a_longer_name_for_a_declaration) {
  const std::string call = "GPUTEST_NEEDS(S, a, 2_GiB);";
  for (const char c : std::string{"azAZ09_"}) {
    EXPECT_EQ(changed({over("S.a")}, source(c + call)), c + call);
  }
  for (const char c : std::string{"`{@[/:;"}) {
    EXPECT_NE(changed({over("S.a")}, source(c + call)), c + call);
  }
}

TEST(SourceEdits, take_nothing_else_for_one_literal_size) {
  for (const std::string size :
       {"2", "_GiB", "2_GB", "2GiB", "2xGiB", "2_GiB + 1_B", "kSize", "2_GiB, 2_GiB", "two_GiB"}) {
    const auto edit = edit_of(over("S.a"), "GPUTEST_NEEDS(S, a, " + size + ");");
    EXPECT_EQ(edit.why_not, "it does not declare one literal size") << size;
    EXPECT_EQ(edit.path, "s.cpp") << size;
    EXPECT_EQ(edit.line, 1U) << size;
  }
  for (const std::string size : {"2147483648_B", "2097152_KiB", "2048_MiB", "2_GiB"}) {
    EXPECT_EQ(changed({over("S.a")}, source("GPUTEST_NEEDS(S, a, " + size + ");")), "GPUTEST_NEEDS(S, a, 4_GiB);");
  }
  auto large = over("S.a");
  large.declared = 1024 * gib;
  large.advised = 2_TiB;
  EXPECT_EQ(changed({large}, source("GPUTEST_NEEDS(S, a, 1_TiB);")), "GPUTEST_NEEDS(S, a, 2048_GiB);");
}

TEST(SourceEdits, find_the_memory_of_an_entry_in_cmake_files_alone) {
  const std::string call = "add_library(x)\ngpu_add_test(COMMAND a 2GiB NAME e\tMEMORY 2GiB)\n";
  const std::string expected = "add_library(x)\ngpu_add_test(COMMAND a 2GiB NAME e\tMEMORY 4GiB)\n";
  const auto of = over("", "entry");
  for (const std::string path : {"CMakeLists.txt", "a/CMakeLists.txt", "tests.cmake"}) {
    EXPECT_EQ(changed({of}, source(call, path)), expected) << path;
  }
  EXPECT_EQ(changed({of}, source(call, "CMakeLists.cpp")), call);
  EXPECT_EQ(
      changed({of}, source("# gpu_add_test(NAME e MEMORY 2GiB)\ngpu_add_test(NAME  \"e\"  MEMORY  2GiB )", "x.cmake")),
      "# gpu_add_test(NAME e MEMORY 2GiB)\ngpu_add_test(NAME  \"e\"  MEMORY  4GiB )");
  EXPECT_EQ(changed({over("S.a")}, source("GPUTEST_NEEDS(S, a, 2_GiB);", "s.cmake")), "GPUTEST_NEEDS(S, a, 2_GiB);");
  const auto other = edit_of(of, "gpu_add_test(NAME other COMMAND a MEMORY 2GiB)", "CMakeLists.txt");
  EXPECT_EQ(other.why_not, "no gpu_add_test() of this name was found; a fixture or gpu_discover_tests() may say it");
  EXPECT_EQ(other.after, "MEMORY 4GiB");
  EXPECT_EQ(other.name, "e");
  for (const std::string text : {"gpu_add_test(COMMAND e MEMORY 2GiB)", "gpu_add_test(MEMORY 2GiB NAME)"}) {
    EXPECT_EQ(changed({of}, source(text, "CMakeLists.txt")), text);
  }
  EXPECT_EQ(edit_of(of, "gpu_add_test(NAME e MEMORY 2_GiB)", "CMakeLists.txt").why_not,
            "it does not declare one literal size");
}

TEST(SourceEdits, find_the_annotation_of_each_kind_of_instance) {
  const std::string text = "GPUTEST_NEEDS(S, a, 2_GiB);";
  for (const std::string test : {"S.a", "Some/S.a/0", "S/0.a", "S/12.a", "Some/S/1.a", "Some/S.a/With.point"}) {
    EXPECT_EQ(changed({over(test)}, source(text)), "GPUTEST_NEEDS(S, a, 4_GiB);") << test;
  }
  EXPECT_EQ(changed({over("S/x.a")}, source(text)), text) << "the instance S of the suite x";
  EXPECT_EQ(changed({over("S")}, source(text)), text) << "no test";
  EXPECT_EQ(edit_of(over("S"), "").after, "MEMORY 4GiB");
}

TEST(SourceEdits, say_who_declares_it_if_no_annotation_of_the_test_does) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"suite", "its suite declares it, for other tests, too"},
      {"fixture", "its fixture declares it, for other tests, too"},
      {"section", "a GPUTEST_LEASE in the test declares it"},
      {"", "the logs do not say where it was declared"},
      {"test", "no GPUTEST_NEEDS of this test was found"},
  };
  for (const auto& [said_by, why_not] : rows) {
    EXPECT_EQ(edit_of(over("S.a", said_by), "").why_not, why_not);
  }
}

TEST(SourceEdits, name_the_place_where_a_size_could_be_written) {
  const auto words = edit_of(over("S.a", "fixture"), "\nGPUTEST_NEEDS(S, a, small, gpus(2), ::gputest::sm(80), 1);");
  EXPECT_EQ(words.line, 2U);
  EXPECT_EQ(words.after, "GPUTEST_NEEDS(S, a, 4_GiB, gpus(2), ::gputest::sm(80));");
  EXPECT_EQ(edit_of(over("S.large", "fixture"), "GPUTEST_NEEDS(S, large, medium, gpus(2));").after,
            "GPUTEST_NEEDS(S, large, 4_GiB, gpus(2));");
  EXPECT_EQ(edit_of(over("S.large"), "GPUTEST_NEEDS(S, large, medium, gpus(2));").after,
            "GPUTEST_NEEDS(S, large, 4_GiB, gpus(2));");
  EXPECT_EQ(edit_of(over("S.a", "entry"), "gpu_add_test(NAME e COMMAND large MEMORY x)", "CMakeLists.txt").after,
            "GPUTEST_NEEDS(S, a, 4_GiB);");
  const auto sized = edit_of(over("S.a", "fixture"), "GPUTEST_NEEDS(S, a, 1_GiB, gpus(2));");
  EXPECT_EQ(sized.path, "") << "it says a size, and another one counts";
  EXPECT_EQ(sized.after, "GPUTEST_NEEDS(S, a, 4_GiB);");
  const std::string suite = "GPUTEST_SUITE_NEEDS(S, 2_GiB);";
  EXPECT_EQ(edit_of(over("S.a", "suite"), suite).line, 1U) << "beside that of its suite";
  EXPECT_EQ(edit_of(over("S.a", "suite"), suite + suite).line, 0U);
  EXPECT_EQ(edit_of(over("S.a", "fixture"), suite).line, 0U);
}

TEST(SourceEdits, change_the_lease_of_a_suite) {
  auto of = over("S", "suite");
  of.of_suite = true;
  EXPECT_EQ(changed({of}, source("GPUTEST_SUITE_NEEDS(S, 2_GiB, suite_lease);")),
            "GPUTEST_SUITE_NEEDS(S, 4_GiB, suite_lease);");
  EXPECT_EQ(edit_of(of, "GPUTEST_SUITE_NEEDS(T, 2_GiB);").why_not, "no GPUTEST_SUITE_NEEDS of this suite was found");
  EXPECT_EQ(edit_of(of, "GPUTEST_SUITE_NEEDS(S, suite_lease, gpus(2));").after,
            "GPUTEST_SUITE_NEEDS(S, 4_GiB, suite_lease, gpus(2));");
  EXPECT_EQ(changed({of}, source("gpu_add_test(S, 2_GiB);")), "gpu_add_test(S, 2_GiB);");
  auto elsewhere = of;
  elsewhere.declared_in = "another.cpp";
  const auto beside = edit_of(elsewhere, "GPUTEST_SUITE_NEEDS(S, suite_lease, gpus(2));");
  EXPECT_EQ(beside.line, 1U);
  EXPECT_EQ(beside.after, "GPUTEST_SUITE_NEEDS(S, 4_GiB, suite_lease, gpus(2));");
  auto of_fixture = of;
  of_fixture.said_by = "fixture";
  EXPECT_EQ(edit_of(of_fixture, "GPUTEST_SUITE_NEEDS(S, 2_GiB, suite_lease);").why_not,
            "its fixture declares it, for other tests, too");
  EXPECT_EQ(edit_of(of, "").after, "GPUTEST_SUITE_NEEDS(S, 4_GiB, suite_lease);");
}

TEST(SourceEdits, change_no_size_that_is_not_the_one_that_was_declared) {
  const std::string text = "GPUTEST_NEEDS(S, a, 3_GiB);";
  EXPECT_EQ(edit_of(over("S.a"), text).why_not,
            "in the run it declared 2 GiB, so that something else takes precedence, or the file is newer");
  auto of_class = over("S.a");
  of_class.declared.reset();
  EXPECT_EQ(edit_of(of_class, text).why_not,
            "in the run it declared a class, so that something else takes precedence, or the file is newer");
  EXPECT_EQ(edit_of(of_class, "").before, "medium");
  const auto written = edit_of(over("S.a"), "GPUTEST_NEEDS(S, a, 4_GiB);");
  EXPECT_EQ(written.why_not, "that is written already: build, and run ctest again");
  EXPECT_EQ(written.after, written.before);
  const auto twice = edit_of(over("S.a"), "\nGPUTEST_NEEDS(S, a, 2_GiB);\nGPUTEST_NEEDS(S, a, 2_GiB);");
  EXPECT_EQ(twice.why_not, "it is declared in 2 places");
  EXPECT_EQ(twice.line, 2U);
}

TEST(SourceEdits, raise_no_size_beyond_a_device) {
  auto of = over("S.a");
  of.most_there = 4 * gib;
  const std::string text = "GPUTEST_NEEDS(S, a, 2_GiB);";
  EXPECT_EQ(edit_of(of, text).why_not, "");
  of.most_there = 4 * gib - 1;
  EXPECT_EQ(edit_of(of, text).why_not, "no device of these runs has as much for a test");
}

TEST(SourceEdits, lower_a_size_only_if_all_that_it_is_for_was_measured) {
  const std::string text = "GPUTEST_NEEDS(S, a, 8_GiB);";
  const auto why_not = [&](const std::function<void(Declaration&)>& change, const std::string& path = "s.cpp") {
    auto of = under("S.a");
    of.declared_in = path;
    change(of);
    const auto edit = edit_of(of, text, path);
    EXPECT_EQ(edit.before, text);
    EXPECT_EQ(edit.after, edit.why_not.empty() ? "GPUTEST_NEEDS(S, a, 2_GiB);" : "");
    return edit.why_not;
  };
  EXPECT_EQ(why_not([](Declaration&) {}), "");
  EXPECT_EQ(why_not([](Declaration& of) { of.exact = false; }),
            "not all of the tests that it is for were measured exactly");
  EXPECT_EQ(why_not([](Declaration& of) { of.declared_for = 0; }), "the logs do not say for how many tests it is");
  EXPECT_EQ(why_not([](Declaration& of) { of.declared_for = 2; }),
            "of the 2 tests that it is for, 1 ran, passed and was measured by itself");
  EXPECT_EQ(why_not([](Declaration& of) {
              of.declared_for = 3;
              of.known.clear();
            }),
            "of the 3 tests that it is for, 0 ran, passed and were measured each by itself");
  EXPECT_EQ(why_not([](Declaration& of) { of.is_entry_known = false; }), "") << "that is for entries";
  for (const std::string header : {"s.h", "s.hh", "s.hpp", "s.hxx", "s.cuh", "s.inl"}) {
    EXPECT_EQ(why_not([](Declaration&) {}, header), "it is in a header, which other executables may use, too");
  }
  auto raised = over("S.a");
  raised.declared_in = "s.hpp";
  EXPECT_EQ(edit_of(raised, "GPUTEST_NEEDS(S, a, 2_GiB);", "s.hpp").why_not, "") << "a size may be raised anywhere";
  for (const std::string other : {"s.cu", "s", "s.h.cpp"}) {
    EXPECT_EQ(why_not([](Declaration&) {}, other), "");
  }
}

TEST(SourceEdits, lower_an_entry_only_if_all_of_it_was_measured) {
  auto of = under("", "entry");
  of.declared_for = 0;
  const std::string text = "gpu_add_test(NAME e MEMORY 8GiB)";
  EXPECT_EQ(edit_of(of, text, "CMakeLists.txt").why_not, "");
  of.is_entry_known = false;
  EXPECT_EQ(edit_of(of, text, "CMakeLists.txt").why_not,
            "in its entry's newest run not all tests ran, passed and were measured each by itself");
}

TEST(SourceEdits, count_the_tests_of_each_executable_apart) {
  const auto file = source("GPUTEST_NEEDS(S, a, 8_GiB);");
  auto first = under("A/S.a/0");
  auto second = under("A/S.a/1");
  first.declared_for = second.declared_for = 2;
  EXPECT_EQ(changed({first, second}, file), "GPUTEST_NEEDS(S, a, 2_GiB);");
  second.program = "/bin/other";
  EXPECT_EQ(changed({first, second}, file), file.text);
  first.declared_for = second.declared_for = 1;
  EXPECT_EQ(changed({first, second}, file), "GPUTEST_NEEDS(S, a, 2_GiB);");
  second.declared_for = 2;
  EXPECT_EQ(changed({first, second}, file), file.text);
}

TEST(SourceEdits, give_all_tests_of_a_declaration_what_the_one_needs_that_uses_most) {
  const auto file = source("GPUTEST_NEEDS(S, a, 8_GiB);");
  auto first = under("A/S.a/0");
  auto second = under("A/S.a/1");
  first.declared_for = second.declared_for = 2;
  second.measured = {{"H200", 3 * gib}};
  second.advised = 3_GiB;
  for (const auto& both : {std::vector{first, second}, std::vector{second, first}}) {
    const auto edits = find_edits(both, {file}, {});
    ASSERT_THAT(edits, SizeIs(1));
    EXPECT_EQ(edits[0].name, "e: A/S.a/1");
    EXPECT_EQ(apply_edits(file, edits), "GPUTEST_NEEDS(S, a, 3_GiB);");
  }
  second.measured = {{"H200", 8 * gib}};
  second.verdict = Verdict::fits;
  EXPECT_THAT(find_edits({first, second}, {file}, {}), IsEmpty()) << "another of them needs what is declared";
  first.measured = {{"H200", 9 * gib}};
  first.verdict = Verdict::over;
  first.advised = 10_GiB;
  for (const auto& both : {std::vector{first, second}, std::vector{second, first}}) {
    EXPECT_EQ(changed(both, file), "GPUTEST_NEEDS(S, a, 10_GiB);");
  }
}

TEST(SourceEdits, lower_nothing_that_a_test_without_a_log_may_need) {
  const auto file = source("GPUTEST_NEEDS(S, a, 8_GiB);");
  const std::string lowered = "GPUTEST_NEEDS(S, a, 2_GiB);";
  EXPECT_EQ(changed({under("S.a")}, file, {{"other", "T.a"}, {"e", "S.a"}, {"third", "S.b"}}), lowered);
  EXPECT_EQ(changed({under("S.a")}, file, {{"other", "T.a"}, {"third", "A/S.a/3"}}), file.text);
  auto of_other = under("T.a");
  of_other.entry = "other";
  EXPECT_EQ(changed({under("S.a"), of_other}, file, {{"other", "S.a"}}), lowered) << "that is in a log";
  const auto edits = find_edits({under("S.a")}, {file}, {{"other", "S.a"}});
  ASSERT_THAT(edits, SizeIs(1));
  EXPECT_EQ(edits[0].why_not, "the entry other has a test of this name, and is in no log. Run it first");
  auto of_suite = under("S", "suite");
  of_suite.of_suite = true;
  const auto suite = source("GPUTEST_SUITE_NEEDS(S, 8_GiB, suite_lease);");
  EXPECT_EQ(changed({of_suite}, suite, {{"other", "S.x"}}), suite.text);
  EXPECT_EQ(changed({of_suite}, suite, {{"other", "T.x"}}), "GPUTEST_SUITE_NEEDS(S, 2_GiB, suite_lease);");
}

TEST(SourceEdits, are_applied_to_their_own_file_and_only_if_they_are_safe) {
  const auto first = source("GPUTEST_NEEDS(S, a, 2_GiB); GPUTEST_NEEDS(S, b, 2_GiB);\nGPUTEST_NEEDS(S, c, x);");
  const auto second = source("GPUTEST_NEEDS(T, a, 2_GiB);", "t.cpp");
  auto of_second = over("T.a");
  of_second.declared_in = "t.cpp";
  auto longer = over("S.a");
  longer.advised = 4160_MiB;
  const auto edits = find_edits({longer, over("S.b"), over("S.c"), of_second}, {first, second}, {});
  EXPECT_THAT(edits, SizeIs(4));
  EXPECT_EQ(apply_edits(first, edits),
            "GPUTEST_NEEDS(S, a, 4160_MiB); GPUTEST_NEEDS(S, b, 4_GiB);\nGPUTEST_NEEDS(S, c, x);");
  EXPECT_EQ(apply_edits(second, edits), "GPUTEST_NEEDS(T, a, 4_GiB);");
}

TEST(SourceEdits, are_only_of_sources_that_the_executable_was_compiled_from) {
  const std::string text = "GPUTEST_NEEDS(S, a, 2_GiB);";
  const SourceFile other{"other.cpp", text, {"../other.cpp"}};
  const SourceFile own{"s.cpp", text, {"../s.cpp", "s.cpp"}};
  const auto edits = find_edits({over("S.a")}, {other, own}, {});
  ASSERT_THAT(edits, SizeIs(1));
  EXPECT_EQ(edits[0].path, "s.cpp");
}

} // namespace
} // namespace gputest::report
