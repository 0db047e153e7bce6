// SPDX-License-Identifier: BSD-3-Clause
#include "insights/source_patch.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

namespace gputest::insights {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::SizeIs;
using Verdict = Declaration::Verdict;

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

/// A test that used 3 GiB of the 2 GiB that its annotation in the first line of s.cpp declares.
Declaration over(const std::string& test, const std::string& said_by = "test", std::size_t line = 1) {
  Declaration of;
  of.entry = "e";
  of.test = test;
  of.leased = 2 * gib;
  of.declared = 2 * gib;
  of.memory_class = "medium";
  of.measured = {{"H200", 3 * gib}};
  of.exact = true;
  of.verdict = Verdict::over;
  of.advised = 3_GiB;
  of.said_by = said_by;
  of.declared_in = of.file = "s.cpp";
  of.declared_line = of.line = line;
  return of;
}

/// A test that used 1 GiB of 8 GiB.
Declaration under(const std::string& test, const std::string& said_by = "test", std::size_t line = 1) {
  auto of = over(test, said_by, line);
  of.declared = of.leased = 8 * gib;
  of.measured = {{"H200", gib}};
  of.verdict = Verdict::under;
  of.advised = 2_GiB;
  return of;
}

/// The one source of some tests.
class Source {
public:
  explicit Source(const std::string& text, std::string path = "s.cpp") {
    file_.path = std::move(path);
    file_.ends_with_newline = text.empty() || text.back() == '\n';
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
      file_.lines.push_back(line);
    }
    sources.file = [this](const std::string& name) { return name == "gone.cpp" ? nullptr : &file_; };
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() = default;

  /// What the diff removes and adds, a line each.
  [[nodiscard]] std::string changes(const std::vector<Declaration>& declarations) const {
    std::istringstream lines{unified_diff(find_edits(declarations, sources))};
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      if ((line[0] == '-' && line.rfind("---", 0) != 0) || (line[0] == '+' && line.rfind("+++", 0) != 0)) {
        text += line + "\n";
      }
    }
    return text;
  }

  [[nodiscard]] std::string why_not(const Declaration& of) const {
    const auto edits = find_edits({of}, sources);
    EXPECT_THAT(edits, SizeIs(1));
    return edits.empty() ? "" : edits[0].why_not;
  }

  Sources sources;

private:
  SourceFile file_;
};

TEST(SourcePatch, puts_an_annotation_above_a_test_at_the_line_that_googletest_names) {
  struct Row {
    std::string test, before, names;
    std::size_t line; ///< as the compiler says it
  };
  const std::vector<Row> rows{
      {"Sort.keys", "TEST(Sort, keys) {", "Sort, keys", 1},
      {"Sort.DISABLED_keys", "TEST_F ( Sort,DISABLED_keys )", "Sort, DISABLED_keys", 1},
      {"All/Sort.keys/3", "TEST_P(Sort, keys) {}", "Sort, keys", 1},
      {"Sort/Double.keys", "TYPED_TEST(Sort, keys) {}", "Sort, keys", 1},
      {"All/Sort/12.keys", "TYPED_TEST_P(Sort, keys) {}", "Sort, keys", 1},
      {"Sort.keys", "TEST_F(Sort,\n       keys)", "Sort, keys", 1},
      {"Sort.keys", "TEST_F(Sort,\n       keys)", "Sort, keys", 2},
      {"Sort.keys", "OWN_TEST(Sort, keys, 3)", "Sort, keys", 1},
      {"Sort.keys", "TEST(Sort, pairs) {} TEST(Sort, keys) {}", "Sort, keys", 1},
  };
  for (const auto& row : rows) {
    const Source source{"// \"gputest/\"\n#include \"gputest/gputest.hpp\"\n" + row.before + "\n"};
    EXPECT_EQ(source.changes({over(row.test, "entry", 2 + row.line)}), "+GPUTEST_NEEDS(" + row.names + ", 3_GiB);\n")
        << row.before;
  }
}

TEST(SourcePatch, changes_each_of_two_tests_in_one_line) {
  const Source tests{"#include <gputest/gputest.hpp>\nTEST(Sort, keys) {} TEST(Sort, pairs) {}\n"};
  EXPECT_EQ(tests.changes({over("Sort.keys", "fixture", 2), over("Sort.pairs", "fixture", 2)}),
            "+GPUTEST_NEEDS(Sort, keys, 3_GiB);\n+GPUTEST_NEEDS(Sort, pairs, 3_GiB);\n");
  const Source annotations{"GPUTEST_NEEDS(Sort, keys, 2_GiB); GPUTEST_NEEDS(Sort, pairs, 1_GiB);\n"};
  auto pairs = over("Sort.pairs");
  pairs.declared = gib;
  pairs.measured["H200"] = 5 * gib;
  EXPECT_THAT(annotations.changes({over("Sort.keys"), pairs}),
              HasSubstr("+GPUTEST_NEEDS(Sort, keys, 3_GiB); GPUTEST_NEEDS(Sort, pairs, 5_GiB);\n"));
}

TEST(SourcePatch, annotates_a_definition_once_with_what_the_instance_needs_that_uses_most) {
  const Source source{"#include <vector>\n#include <gtest/gtest.h>\nTEST_P(Sort, keys) {}\n"};
  auto most = over("All/Sort.keys/1", "fixture", 3);
  most.measured["H200"] = 5 * gib + 1;
  EXPECT_EQ(source.changes({over("All/Sort.keys/0", "fixture", 3), most, over("All/Sort.keys/2", "fixture", 3)}),
            "+#include <gputest/gputest.hpp>\n+GPUTEST_NEEDS(Sort, keys, 5121_MiB);\n")
      << "with the header, where nothing of gputest is included";
}

TEST(SourcePatch, changes_the_one_literal_that_was_declared_in_the_run) {
  struct Row {
    std::string text;
    std::size_t line;
    std::string changes;
  };
  const std::vector<Row> rows{
      {"GPUTEST_NEEDS(Sort, keys, 2_GiB);\n", 1,
       "-GPUTEST_NEEDS(Sort, keys, 2_GiB);\n+GPUTEST_NEEDS(Sort, keys, 3_GiB);\n"},
      {"GPUTEST_NEEDS(Sort, keys, heap(2_GiB), 2048_MiB, keeps(2_GiB));\n", 1,
       "-GPUTEST_NEEDS(Sort, keys, heap(2_GiB), 2048_MiB, keeps(2_GiB));\n"
       "+GPUTEST_NEEDS(Sort, keys, heap(2_GiB), 3_GiB, keeps(2_GiB));\n"},
      {"GPUTEST_NEEDS(Sort, keys,\n  gpus(2),\n  2_GiB);\n", 1, "-  2_GiB);\n+  3_GiB);\n"},
      {"GPUTEST_NEEDS(Sort, keys,\n  gpus(2),\n  2_GiB);\n", 3, "-  2_GiB);\n+  3_GiB);\n"},
      {"GPUTEST_NEEDS(Sort, keys, units(2));\nGPUTEST_NEEDS(Sort, pairs, 2_GiB);\n", 1, ""},
      {"GPUTEST_NEEDS(Sort, keys, 4_GiB);\n", 1, ""},
      {"GPUTEST_NEEDS(Sort, keys, 2_GiB); GPUTEST_NEEDS(Sort, pairs, 2_GiB);\n", 1, ""},
      {"TEST(Sort, keys) {}\n", 1, ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Source{row.text}.changes({over("Sort.keys", "test", row.line)}), row.changes) << row.text;
  }
  const Source two{"GPUTEST_NEEDS(Sort, keys, 2_GiB); GPUTEST_NEEDS(Sort, pairs, 8_GiB);\n"};
  EXPECT_THAT(two.changes({over("Sort.keys"), under("Sort.pairs", "test", 1)}), HasSubstr("keys, 3_GiB"));
}

TEST(SourcePatch, changes_the_memory_of_the_entry_that_ctest_names) {
  Source source{"gpu_add_test(\n  NAME e\n  COMMAND e HEAP 2GiB\n  MEMORY 2GiB # 2GiB\n)\n", "CMakeLists.txt"};
  source.sources.entries["e"] = {"CMakeLists.txt", 1};
  const std::string changes = "-  MEMORY 2GiB # 2GiB\n+  MEMORY 3GiB # 2GiB\n";
  EXPECT_EQ(source.changes({over("", "entry", 0)}), changes);
  EXPECT_EQ(source.changes({over("Sort.keys", "entry", 7), over("Sort.pairs", "entry", 9)}), changes) << "of its tests";
  auto of_class = over("", "entry", 0);
  of_class.declared.reset();
  EXPECT_THAT(source.why_not(of_class), HasSubstr("it declares a class, and no size"));
}

/// A test in Python that used 3 GiB of 2 GiB, and begins in this line.
Declaration python(const std::string& test, std::size_t line = 1) {
  auto of = over("test_s.py::" + test, "test", line);
  of.file = "test_s.py";
  of.declared_in.clear();
  return of;
}

TEST(SourcePatch, changes_or_inserts_the_mark_of_a_test_in_python) {
  struct Row {
    std::string source, test, changes;
  };
  const std::vector<Row> rows{
      {"@pytest.mark.gpu('2GiB')\ndef test_a(): pass\n", "test_a",
       "-@pytest.mark.gpu('2GiB')\n+@pytest.mark.gpu('3GiB')\n"},
      {"@gpu(\n  gpus=2, memory=\n  \"2048MiB\", keeps=\"2GiB\")\nasync def test_a(n):\n", "test_a[2-x::y]",
       "-  \"2048MiB\", keeps=\"2GiB\")\n+  \"3GiB\", keeps=\"2GiB\")\n"},
      {"  @parametrize('n', [1, param(2, marks=gpu('2GiB'))])\n  @gpu('1GiB')\n  def test_a(n):\n", "TestA::test_a[2]",
       "-  @parametrize('n', [1, param(2, marks=gpu('2GiB'))])\n+  @parametrize('n', [1, param(2, "
       "marks=gpu('3GiB'))])\n"},
      {"  @skip(gpu='2GiB')\n  def test_a(self):\n", "TestA::test_a", "+  @pytest.mark.gpu(\"3GiB\")\n"},
      {"  @parametrize('n', [param(2, marks=gpu('1GiB'))])\n  def test_a(n):\n", "test_a[1]",
       "+  @pytest.mark.gpu(\"3GiB\")\n"},
      {"@pytest.mark.gpu(memory=lambda n: n)\ndef test_a(n):\n", "test_a[1]", ""},
      {"@pytest.mark.gpu('1GiB')\ndef test_a(n):\n", "test_a[1]", ""},
      {"@parametrize('n', ['@gpu(\"2GiB\")'])\ndef test_\xC3\xBC(n):\n", "test_\xC3\xBC",
       "+@pytest.mark.gpu(\"3GiB\")\n"},
      {"@x\n# @pytest.mark.gpu('2GiB') was enough\ndef test_a(n): # gpu('2GiB')\n", "test_a",
       "+@pytest.mark.gpu(\"3GiB\")\n"},
      {"def test_b(): pass\ndef test_a(): pass\n", "test_a", ""},
  };
  for (const auto& row : rows) {
    const Source source{row.source + "\nimport os, pytest\n", "test_s.py"};
    EXPECT_EQ(source.changes({python(row.test)}), row.changes) << row.source;
  }
  auto of_class = python("test_a");
  of_class.declared.reset();
  EXPECT_EQ((Source{"@pytest.mark.gpu('medium')\ndef test_a(n):\n", "test_s.py"}.changes({of_class})),
            "-@pytest.mark.gpu('medium')\n+@pytest.mark.gpu('3GiB')\n");
  const Source source{
      "'''Of things\nclass of\nimport pytest'''\nfrom __future__ import x\ntry: import os\ndef test_a(n):\n",
      "test_s.py"};
  auto most = python("test_a[1]", 6);
  most.measured["H200"] = 5 * gib;
  EXPECT_EQ(source.changes({python("test_a[0]", 6), most}), "+import pytest\n+@pytest.mark.gpu(\"5GiB\")\n")
      << "once, with what the parameters need that use most";
}

TEST(SourcePatch, says_why_it_leaves_a_test_out) {
  const auto spilling = [] {
    auto of = over("Sort.keys");
    of.most_there = 2 * gib;
    return of;
  };
  const auto at = [](const std::string& file, std::size_t line) {
    auto of = over("Sort.keys", "fixture", line);
    of.file = file;
    return of;
  };
  auto of_suite = over("Sort", "fixture");
  of_suite.of_suite = true;
  const Source source{"GPUTEST_NEEDS(Sort, keys, 2_GiB);\nTEST(Sort, keys) {}\n\nTEST(Sort, pairs) {}\n"};
  const std::vector<std::pair<Declaration, std::string>> rows{
      {spilling(), "no device of these runs has 3 GiB for a test"},
      {at("s.cpp", 2), "it has a GPUTEST_NEEDS. Build, and run ctest again"},
      {at("s.cpp", 4), "that line is no TEST(Suite, name). If the source has changed"},
      {at("s.cpp", 99), "that line is no TEST(Suite, name). If the source has changed"},
      {at("s.cpp", 0), "the logs do not say in which line it is"},
      {at("gone.cpp", 2), "gone.cpp is not found. Write --source"},
      {over("Sort.keys", "section"), "a GPUTEST_LEASE in the test declares it"},
      {over("Sort.keys", ""), "the logs do not say where it was declared"},
      {over("", "entry", 0), "ctest does not say where its gpu_add_test() is"},
      {of_suite, "no GPUTEST_SUITE_NEEDS says the memory of its suite"},
  };
  for (const auto& [of, why] : rows) {
    if (why.find("that line") == std::string::npos) {
      EXPECT_THAT(source.why_not(of), HasSubstr(why));
    } else {
      EXPECT_THAT(Source{"\n\n\nTEST(Sort, pairs) {}\n"}.why_not(of), HasSubstr(why));
    }
  }
  const Source base{"class Base:\n  def test_a(n): pass\n", "test_s.py"};
  EXPECT_THAT(base.why_not(python("test_s.py::TestSmall::test_a", 2)),
              HasSubstr("inherited from Base, whose other heirs"));
  EXPECT_EQ(base.why_not(python("test_s.py::Base::test_a", 2)), "");
  const Source header{"TEST(Sort, keys) {}\n", "s.hpp"};
  EXPECT_THAT(header.why_not(at("s.hpp", 1)), HasSubstr("it is in a header"));
}

TEST(SourcePatch, makes_no_size_smaller_and_says_where_a_smaller_one_can_be_written) {
  const Source source{"GPUTEST_NEEDS(Sort, keys, 8_GiB);\n"};
  const auto edits = find_edits({under("All/Sort.keys/0")}, source.sources);
  ASSERT_THAT(edits, SizeIs(1));
  EXPECT_EQ(edits[0].after, "GPUTEST_NEEDS(Sort, keys, 2_GiB);");
  EXPECT_THAT(edits[0].why_not, HasSubstr("may be too small for what did not run"));
  EXPECT_EQ(unified_diff(edits), "");
  auto fits = under("All/Sort.keys/1");
  fits.verdict = Verdict::fits;
  fits.measured["H200"] = 7 * gib;
  EXPECT_TRUE(find_edits({under("All/Sort.keys/0"), fits}, source.sources).empty()) << "an instance needs it";
}

TEST(SourcePatch, is_a_diff_with_three_lines_around_each_change) {
  std::string text;
  for (int line = 1; line <= 20; ++line) {
    text += (line == 5    ? "GPUTEST_NEEDS(Sort, keys, 2_GiB);\r"
             : line == 9  ? "TEST(Sort, pairs) {}\r"
             : line == 20 ? "GPUTEST_NEEDS(Sort, last, 2_GiB);"
                          : std::to_string(line)) +
            std::string{line == 20 ? "" : "\n"};
  }
  text.replace(0, 1, "#include <gputest/gputest.hpp>");
  const Source source{text};
  EXPECT_EQ(
      unified_diff(
          find_edits({over("Sort.keys", "test", 5), over("Sort.pairs", "entry", 9), over("Sort.last", "test", 20)},
                     source.sources)),
      "--- a/s.cpp\n+++ b/s.cpp\n"
      "@@ -2,11 +2,12 @@\n 2\n 3\n 4\n-GPUTEST_NEEDS(Sort, keys, 2_GiB);\r\n+GPUTEST_NEEDS(Sort, keys, 3_GiB);\r\n"
      " 6\n 7\n 8\n+GPUTEST_NEEDS(Sort, pairs, 3_GiB);\r\n TEST(Sort, pairs) {}\r\n 10\n 11\n 12\n"
      "@@ -17,4 +18,4 @@\n 17\n 18\n 19\n-GPUTEST_NEEDS(Sort, last, 2_GiB);\n\\ No newline at end of file\n"
      "+GPUTEST_NEEDS(Sort, last, 3_GiB);\n\\ No newline at end of file\n");
  EXPECT_EQ(unified_diff({}), "");
}

} // namespace
} // namespace gputest::insights
