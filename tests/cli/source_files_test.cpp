// SPDX-License-Identifier: BSD-3-Clause
#include "cli/source_files.hpp"

#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace gputest::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// A folder of sources beside a build folder.
class SourceFiles : public ::testing::Test {
protected:
  SourceFiles() {
    for (const char* const name : {"source", "source/a", "source/a/b", "build"}) {
      folder_.make_folder(name);
    }
  }

  void write(const std::string& name, const std::string& text = "GPUTEST_NEEDS(") const {
    folder_.write("source/" + name, text, 0644);
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file{source_ + "/" + name};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  /// The places in the folder of what is taken for a source.
  [[nodiscard]] std::vector<std::string> sources() const {
    std::vector<std::string> places;
    for (const auto& file : sources_in(source_)) {
      places.push_back(fs::path{file.path}.lexically_relative(source_).string());
    }
    return places;
  }

  /// The places of those sources that a compiler has got by this path.
  [[nodiscard]] std::vector<std::string> compiled_as(const std::string& path, const std::string& folder) const {
    auto files = sources_in(folder);
    note_compiled_paths(files, folder, folder_.path() + "/build", {path});
    std::vector<std::string> places;
    for (const auto& file : files) {
      if (file.compiled_as.count(path) != 0) {
        places.push_back(fs::path{file.path}.lexically_relative(folder).string());
      }
    }
    return places;
  }
  [[nodiscard]] std::vector<std::string> compiled_as(const std::string& path) const {
    return compiled_as(path, source_);
  }

  /// Replaces each text by a new one.
  static void change(const std::vector<report::SourceFile>& files) {
    std::vector<report::SourceEdit> edits;
    for (const auto& file : files) {
      report::SourceEdit edit;
      edit.path = file.path;
      edit.size = file.text.size();
      edit.literal = "new";
      edits.push_back(edit);
    }
    change_sources(files, edits);
  }

  tests::PrivateFolder folder_;
  std::string source_ = folder_.path() + "/source";
};

} // namespace

TEST_F(SourceFiles, are_those_of_cpp_cuda_and_cmake_that_say_what_tests_need_by_path) {
  const std::vector<std::string> names{"1.c",  "2.cc",  "3.cpp", "4.cxx", "5.cu",           "6.cuh",   "7.h",
                                       "8.hh", "9.hpp", "A.hxx", "B.inl", "CMakeLists.txt", "a/b/x.cu"};
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    write(*name);
  }
  write("a/CMakeLists.txt", "gpu_add_test(");
  write("nothing.cpp", "int main() {}");
  for (const char* const name : {"notes.txt", "no_ending", "x.cpp.orig", "CMakeLists.txt.in"}) {
    write(name);
  }
  auto expected = names;
  expected.insert(expected.end() - 1, "a/CMakeLists.txt");
  EXPECT_EQ(sources(), expected);
  EXPECT_TRUE(sources_in("").empty());
  EXPECT_TRUE(sources_in(source_ + "/missing").empty());
}

TEST_F(SourceFiles, are_neither_in_hidden_folders_nor_in_build_trees_nor_larger_than_4_mib) {
  for (const char* const name : {"source/.git", "source/a/out", "source/a/out/below", "source/.git/below"}) {
    folder_.make_folder(name);
  }
  write("a/out/CMakeCache.txt");
  for (const char* const name : {".git/x.cpp", ".git/below/x.cpp", "a/out/x.cpp", "a/out/below/x.cpp", "a/b/x.cpp"}) {
    write(name);
  }
  std::string text = "GPUTEST_NEEDS(";
  text.resize(4U << 20U);
  write("large.cpp", text);
  write("too_large.cpp", text + "x");
  ASSERT_EQ(::mkfifo((source_ + "/a/fifo.cpp").c_str(), 0600), 0);
  EXPECT_THAT(sources(), ElementsAre("a/b/x.cpp", "large.cpp"));
}

TEST_F(SourceFiles, of_a_build_folder_are_where_cmake_says) {
  const auto build = folder_.path() + "/build";
  EXPECT_EQ(source_of(build), "");
  folder_.write("build/CMakeCache.txt", "# comment\nA_CMAKE_HOME_DIRECTORY:INTERNAL=/no\n\nX:STRING=y\n", 0644);
  EXPECT_EQ(source_of(build), "");
  std::ofstream{build + "/CMakeCache.txt", std::ios::app} << "CMAKE_HOME_DIRECTORY:INTERNAL=/a b/c\nZ:STRING=z\n";
  EXPECT_EQ(source_of(build), "/a b/c");
}

TEST_F(SourceFiles, below_the_folder_are_the_one_file_that_the_compiler_got) {
  for (const char* const name : {"x.cpp", "a/x.cpp", "a/b/x.cpp"}) {
    write(name);
  }
  EXPECT_THAT(compiled_as(source_ + "/a/x.cpp"), ElementsAre("a/x.cpp"));
  EXPECT_THAT(compiled_as(source_ + "/a/b/../x.cpp"), ElementsAre("a/x.cpp"));
  EXPECT_THAT(compiled_as(source_ + "/x.cpp"), ElementsAre("x.cpp"));
  EXPECT_THAT(compiled_as("../source/x.cpp"), ElementsAre("x.cpp")) << "from the build folder";
  EXPECT_THAT(compiled_as(source_ + "/b/x.cpp"), ElementsAre()) << "a file that is gone";
}

TEST_F(SourceFiles, that_were_compiled_by_another_name_of_the_folder_are_found) {
  write("a/x.cpp");
  write("x.cpp");
  const auto link = folder_.path() + "/link";
  fs::create_directory_symlink(source_, link);
  EXPECT_THAT(compiled_as(link + "/a/x.cpp"), ElementsAre("a/x.cpp"));
  EXPECT_THAT(compiled_as(source_ + "/a/x.cpp", link), ElementsAre("a/x.cpp"));
}

TEST_F(SourceFiles, that_were_compiled_elsewhere_are_those_whose_places_end_alike) {
  for (const char* const name : {"x.cpp", "a/x.cpp", "a/b/x.cpp", "a/b/bx.cpp"}) {
    write(name);
  }
  EXPECT_THAT(compiled_as("/elsewhere/a/b/x.cpp"), ElementsAre("a/b/x.cpp", "x.cpp"));
  EXPECT_THAT(compiled_as("../../b/x.cpp"), ElementsAre("a/b/x.cpp", "x.cpp"));
  EXPECT_THAT(compiled_as("/elsewhere/other.cpp"), ElementsAre());
}

TEST_F(SourceFiles, are_changed_and_leave_no_copy) {
  write("1.cpp", "old");
  write("2.cpp", "other");
  change({{source_ + "/1.cpp", "old", {}}, {source_ + "/2.cpp", "other", {}}});
  EXPECT_EQ(read("1.cpp") + read("2.cpp"), "newnew");
  EXPECT_FALSE(fs::exists(source_ + "/1.cpp.before-gputest"));
  EXPECT_FALSE(fs::exists(source_ + "/2.cpp.before-gputest"));
}

TEST_F(SourceFiles, are_not_changed_if_one_has_changed_since_it_was_read) {
  write("1.cpp", "old");
  write("2.cpp", "somebody's");
  EXPECT_EQ(tests::message_of<Error>([&] {
              change({{source_ + "/1.cpp", "old", {}}, {source_ + "/2.cpp", "old", {}}});
            }),
            source_ + "/2.cpp cannot be changed: it has changed meanwhile. No file was changed");
  EXPECT_EQ(read("1.cpp"), "old");
  EXPECT_EQ(read("2.cpp"), "somebody's");
}

TEST_F(SourceFiles, are_not_changed_without_a_copy_of_their_old_text) {
  write("1.cpp", "old");
  write("2.cpp", "old");
  fs::create_symlink("/nowhere/copy", source_ + "/2.cpp.before-gputest");
  const std::string reason = "2.cpp.before-gputest, a copy of the old text, cannot be written: File exists. "
                             "The file was not changed";
  EXPECT_EQ(tests::message_of<Error>([&] {
              change({{source_ + "/2.cpp", "old", {}}});
            }),
            source_ + "/" + reason + ". No file was changed");
  EXPECT_EQ(tests::message_of<Error>([&] {
              change({{source_ + "/1.cpp", "old", {}}, {source_ + "/2.cpp", "old", {}}});
            }),
            source_ + "/" + reason + ". Changed before it: " + source_ + "/1.cpp");
  EXPECT_EQ(read("1.cpp"), "new");
  EXPECT_EQ(read("2.cpp"), "old");
}

} // namespace gputest::cli
