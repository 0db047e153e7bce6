// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_log_files.hpp"

#include "insights/text_file.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace gputest::insights {
namespace {

namespace fs = std::filesystem;
using testing::SizeIs;

class RunLogFiles : public ::testing::Test {
protected:
  /// A log of a run that began at this second.
  [[nodiscard]] std::string write(const std::string& name, int begun, const std::string& more = "") const {
    const auto path = folder_.path() + "/" + name;
    write_text(path, R"({"t":)" + std::to_string(begun) +
                         R"(,"pid":1,"entry":"e","event":"run","version":1})"
                         "\n" +
                         more);
    return path;
  }

  [[nodiscard]] static std::string refusal(const std::string& where) {
    return tests::message_of<Error>([&] { static_cast<void>(read_run_logs(where)); });
  }

  tests::PrivateFolder folder_;
};

TEST_F(RunLogFiles, are_those_of_the_folder_with_the_newest_run_first) {
  const auto second = write("a.jsonl", 200);
  const auto newest = write("b.jsonl", 300);
  const auto oldest = write("c.jsonl", 100);
  static_cast<void>(write("d.json", 400));
  fs::create_directories(folder_.path() + "/e.jsonl");
  const auto logs = read_run_logs(folder_.path());
  ASSERT_THAT(logs, SizeIs(3));
  EXPECT_EQ(logs[0].path, newest);
  EXPECT_EQ(logs[0].begun, 300);
  EXPECT_EQ(logs[1].path, second);
  EXPECT_EQ(logs[2].path, oldest);
}

TEST_F(RunLogFiles, are_left_out_with_the_reason_if_they_cannot_be_read_and_so_are_single_lines) {
  const auto good = write("good.jsonl", 100, "{\n{\n");
  const auto other = folder_.path() + "/other.jsonl";
  write_text(other, "{}\n");
  testing::internal::CaptureStderr();
  EXPECT_THAT(read_run_logs(folder_.path()), SizeIs(1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gputest: left out: " + other + " is no run log: no line of it is one of gputest's\n" +
                "gputest: left out: 2 lines of " + good + " that cannot be read\n");
  EXPECT_EQ(read_run_logs(write("named.txt", 100)).at(0).events, 1U);
}

TEST_F(RunLogFiles, that_are_not_there_are_an_error) {
  const auto missing = folder_.path() + "/missing";
  EXPECT_EQ(refusal(missing), "there is no run log in " + missing +
                                  ". Run the tests with ctest, and write --test-dir with the folder in which ctest was "
                                  "started, or --log with a log or a folder of logs");
  EXPECT_EQ(refusal(folder_.path()), "there is no run log in " + folder_.path() + ". Run the tests with ctest first");
  const auto other = folder_.path() + "/other.jsonl";
  write_text(other, "{}\n");
  EXPECT_EQ(refusal(folder_.path()), "there is no run log in " + folder_.path() + " that can be read: " + other +
                                         " is no run log: no line of it is one of gputest's. Run the tests with ctest "
                                         "first");
  EXPECT_EQ(refusal(other), other + " is no run log: no line of it is one of gputest's");
  write_text(other, R"({"t":1,"pid":1,"entry":"e","event":"run","version":9})");
  EXPECT_EQ(refusal(other).find(other + ": it is a log of version 9, and this gputest reads version 1."), 0U);
}

} // namespace
} // namespace gputest::insights
