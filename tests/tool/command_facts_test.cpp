// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_facts.hpp"

#include "support/private_folder.hpp"
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

namespace {

std::string program(const std::string& name) { return std::string{GPUTEST_PROGRAMS} + "/" + name; }

/// How often this process has called read() so far; nullopt if the kernel does not count that.
std::optional<unsigned long> reads() {
  std::ifstream counters{"/proc/self/io"};
  unsigned long count = 0;
  for (std::string name; counters >> name >> count;) {
    if (name == "syscr:") {
      return count;
    }
  }
  return std::nullopt;
}

class CommandPath : public ::testing::Test {
protected:
  CommandPath() {
    folder_.write("runs", "#!/bin/sh\n", 0755);
    folder_.write("data", "", 0644);
    folder_.make_folder("folder");
  }

  [[nodiscard]] std::string in_folder(const std::string& name) const { return folder_.path() + "/" + name; }

  tests::PrivateFolder folder_;
};

} // namespace

TEST_F(CommandPath, is_a_file_by_its_path_or_the_first_in_path_that_can_be_executed_or_an_error) {
  folder_.write("folder/runs", "#!/bin/sh\n", 0755);
  folder_.write("folder/data", "#!/bin/sh\n", 0755);
  const auto both = "/nowhere:" + folder_.path() + ":" + in_folder("folder");
  struct Row {
    std::string command;
    std::string path;
    std::string file; ///< empty: an error
    int error = 0;
  };
  const std::vector<Row> rows{
      {in_folder("runs"), "/nowhere", in_folder("runs")},
      {in_folder("missing"), both, "", ENOENT},
      {in_folder("runs/below"), both, "", ENOTDIR},
      {in_folder("data"), both, "", EACCES},
      {in_folder("folder"), both, "", EACCES},
      {"runs", both, in_folder("runs")},
      {"data", both, in_folder("folder/data")},
      {"data", folder_.path() + ":/nowhere", "", EACCES},
      {"missing", both, "", ENOENT},
      {"", folder_.path(), "", ENOENT},
  };
  for (const auto& row : rows) {
    const auto found = find_command(row.command, row.path);
    EXPECT_EQ(found.file, row.file) << row.command;
    EXPECT_EQ(found.error, row.error) << row.command;
  }
}

TEST_F(CommandPath, takes_an_empty_folder_of_path_for_the_working_directory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* const path : {"", ":/nowhere", "/nowhere:", "/nowhere::/nowhere"}) {
    EXPECT_EQ(find_command("runs", path).error, 0) << path;
  }
  EXPECT_EQ(find_command("runs", "/nowhere:").file, "./runs");
  std::filesystem::current_path(before);
}

TEST_F(CommandPath, takes_the_usual_folders_where_path_is_not_set) {
  EXPECT_EQ(find_command("sh", std::nullopt).error, 0);
}

TEST_F(CommandPath, leads_to_a_script_or_a_program_also_behind_programs_that_run_others) {
  const auto script = in_folder("runs");
  const auto executable = program("plain");
  const auto is_script = [&](const std::vector<std::string>& command) {
    return runs_script(command, "/usr/bin:/bin:" + folder_.path());
  };
  const std::vector<std::vector<std::string>> scripts{
      {script},
      {"runs"},
      {"sh", in_folder("data"), executable},
      {"env", "A=1", script},
      {"env", "A=1", "timeout", "60", script, executable},
      {"timeout", "60", "sh", "-c", executable},
      {"env", "-S", executable + " 1"},
  };
  for (const auto& command : scripts) {
    EXPECT_TRUE(is_script(command)) << ::testing::PrintToString(command);
  }
  for (const std::vector<std::string>& command : {std::vector{executable},
                                                  {executable, script},
                                                  {"timeout", "60", executable, script},
                                                  {"nice", "-n", "5", executable}}) {
    EXPECT_FALSE(is_script(command)) << ::testing::PrintToString(command);
  }
}

TEST(GpuUse, is_what_a_program_and_its_libraries_show) {
  const std::map<std::string, GpuUse> table{
      {"plain", GpuUse::no},
      {"with_kernels", GpuUse::yes},
      {"loads_cuda", GpuUse::yes},
      {"loads_something", GpuUse::yes}, // a plug-in may do anything
      {"with_session", GpuUse::leases_itself},
      {"linked_with_cudart", GpuUse::yes},
      {"linked_with_kernels", GpuUse::yes},
      {"linked_with_loader_of_cuda", GpuUse::yes},
      {"linked_with_loader", GpuUse::no}, // many libraries have plug-ins of their own
      {"linked_with_around_kernels", GpuUse::yes},
      {"with_another_linker", GpuUse::yes},
      {"linked_with_OpenCL", GpuUse::yes},
      {"linked_with_python3.13", GpuUse::yes}, // it reads at run time what to do
      {"linked_with_perl", GpuUse::yes},
      {"linked_with_jvm", GpuUse::yes},
      {"linked_with_tcl8.6", GpuUse::yes},
      {"linked_with_luajit-5.1", GpuUse::yes},
      {"linked_with_node_graph", GpuUse::no},
      {"with_sources_of_cuda", GpuUse::no},
      {"with_GOMP_target_ext", GpuUse::yes},
      {"with_GOACC_parallel_keyed", GpuUse::yes},
      {"linked_with_offloads", GpuUse::yes},
      {"linked_with_omptarget", GpuUse::yes},
      {"linked_with_gomp", GpuUse::no}, // as each program with OpenMP
      {"linked_with_cuda", GpuUse::yes},
#ifdef GPUTEST_HAS_STATIC_PROGRAMS
      {"static", GpuUse::yes},
#endif
  };
  for (const auto& [name, use] : table) {
    EXPECT_EQ(find_gpu_use(program(name)), use) << name;
  }
}

TEST(GpuUse, of_a_test_executable_is_shown_by_the_names_of_libraries_of_which_gputest_brings_none) {
  EXPECT_TRUE(names_no_gpu(program("with_session")));
  EXPECT_TRUE(names_no_gpu(program("loads_something")));
  EXPECT_TRUE(names_no_gpu(program("linked_with_perl"))) << "nor does that of an interpreter";
  for (const char* const name :
       {"with_kernels", "loads_cuda", "linked_with_kernels", "linked_with_OpenCL", "missing"}) {
    EXPECT_FALSE(names_no_gpu(program(name))) << name;
  }
}

TEST(GpuUse, is_found_with_few_reads_also_in_large_libraries) {
  const auto before = reads();
  if (!before) {
    GTEST_SKIP() << "the kernel does not count reads (/proc/self/io)";
  }
  EXPECT_EQ(find_gpu_use(program("plain")), GpuUse::no);
  EXPECT_LT(*reads() - *before, 150U) << "the C++ library alone has more than 500 pages";
}

TEST(GpuUse, of_what_is_no_program_of_this_machine_is_not_known) {
  const tests::Tool tool;
  tool.folder().write("script", "#!/bin/sh\ntrue\n", 0755);
  tool.folder().write("empty", "", 0755);
  tool.folder().write("cut",
                      "\x7f"
                      "ELF\x02\x01\x01",
                      0755);
  for (const char* const name : {"script", "empty", "cut", "missing"}) {
    EXPECT_EQ(find_gpu_use(tool.folder().path() + "/" + name), GpuUse::yes) << name;
  }
  EXPECT_EQ(find_gpu_use("/bin/sh"), GpuUse::yes);
  EXPECT_EQ(find_gpu_use(tool.folder().path()), GpuUse::yes);
}

TEST(GpuUse, is_taken_for_granted_of_programs_that_run_others) {
  const tests::Tool tool;
  const auto use_by_name = [&](const std::string& name) {
    const auto path = tool.folder().path() + "/" + name;
    std::filesystem::create_symlink(program("plain"), path);
    return find_gpu_use(path);
  };
  for (const char* const name : {"mpirun", "valgrind", "timeout", "flock", "setsid", "unshare", "find", "sudo"}) {
    EXPECT_EQ(use_by_name(name), GpuUse::yes) << name;
  }
  EXPECT_EQ(use_by_name("sh_test"), GpuUse::no);
}

TEST(GpuUse, is_not_asked_for_a_listing) {
  for (const char* const option : {"--gtest_list_tests", "--list-tests", "--list-test-cases", "--list_content"}) {
    EXPECT_TRUE(only_lists_tests({"program", "-x", option})) << option;
    EXPECT_TRUE(only_lists_tests({"program", option, "-x"})) << option;
  }
  EXPECT_FALSE(only_lists_tests({"program", "--gtest_list_tests=0", "--list", "list-tests"}));
}

TEST(RunIfGpu, starts_a_program_that_uses_no_gpu_without_lease_and_ledger) {
  tests::Tool tool;
  tool.set("GPUTEST_MEMORY", "3GB"); // an error, if it were read
  const auto ended = tool.run({"run", "--if-gpu", program("plain"), "--memory", "", "a b"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "--memory\n\na b\nhas no lease\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_FALSE(std::filesystem::exists(tool.ledger()));
}

TEST(RunIfGpu, leases_for_a_program_that_uses_one) {
  const tests::Tool tool;
  for (const char* const name : {"with_kernels", "linked_with_kernels", "loads_cuda"}) {
    const auto ended = tool.run({"run", "--if-gpu", "--memory", "3GiB", program(name)});
    EXPECT_NE(ended.out.find("has a lease\n"), std::string::npos) << name;
    EXPECT_NE(ended.err.find(std::string{"admitted "} + name + ": 3 GiB on SIM-"), std::string::npos) << ended.err;
  }
}

TEST(RunIfGpu, writes_nothing_into_the_output_of_a_test_of_ctest) {
  tests::Tool tool;
  tool.set("DASHBOARD_TEST_FROM_CTEST", "3.25.1");
  tool.set("GPUTEST_DEVICE_MEMORY", "8GiB");
  tool.set("GPUTEST_LOG", "/proc/no/such/folder");
  const auto ended = tool.run({"run", "--if-gpu", program("with_kernels")});
  EXPECT_NE(ended.out.find("has a lease\n"), std::string::npos);
  EXPECT_EQ(ended.err, "");
}

TEST(RunIfGpu, changes_nothing_of_a_listing) {
  tests::Tool tool;
  tool.set("GPUTEST_MEMORY", "3GB");
  const auto direct = tool.start_program({program("with_kernels"), "--gtest_list_tests"}).finish();
  const auto launched = tool.run({"run", "--if-gpu", program("with_kernels"), "--gtest_list_tests"});
  EXPECT_EQ(launched.exit_code, direct.exit_code);
  EXPECT_EQ(launched.out, direct.out);
  EXPECT_EQ(launched.err, direct.err);
  EXPECT_FALSE(std::filesystem::exists(tool.ledger()));
}

TEST(RunIfGpu, looks_at_the_program_that_path_names) {
  tests::Tool tool;
  tool.set("PATH", std::string{"/nowhere:"} + GPUTEST_PROGRAMS + ":/usr/bin:/bin");
  EXPECT_EQ(tool.run({"run", "--if-gpu", "plain"}).out, "has no lease\n");
  EXPECT_EQ(tool.run({"run", "--if-gpu", "with_kernels"}).out, "has a lease\n");
}

TEST(RunIfGpu, leaves_a_program_that_leases_for_itself_and_one_that_only_lists_its_tests_without_a_lease) {
  tests::Tool tool;
  EXPECT_EQ(tool.run({"run", "--if-gpu", program("with_session")}).out, "has no lease\n");
  tool.set("GPUTEST_LIST_FILE", tool.folder().path() + "/list");
  EXPECT_EQ(tool.run({"run", "--if-gpu", program("with_kernels")}).out, "has no lease\n");
  EXPECT_EQ(tool.run({"run", program("with_kernels")}).out, "has a lease\n");
}

TEST(RunIfGpu, believes_the_user_more_than_the_file) {
  tests::Tool tool;
  tool.set("GPUTEST_USES_GPU", "yes");
  EXPECT_EQ(tool.run({"run", "--if-gpu", program("plain")}).out, "has a lease\n");
  tool.set("GPUTEST_USES_GPU", "no");
  EXPECT_EQ(tool.run({"run", "--if-gpu", program("with_kernels")}).out, "has no lease\n");
  EXPECT_EQ(tool.run({"run", program("with_kernels")}).out, "has a lease\n");
  tool.set("GPUTEST_USES_GPU", "maybe");
  const auto ended = tool.run({"run", "--if-gpu", program("plain")});
  EXPECT_EQ(ended.exit_code, to_int(ExitCode::unusable_setting));
  EXPECT_EQ(ended.err, "gputest: GPUTEST_USES_GPU='maybe' is unknown; it is one of auto, yes, no\n");
}

TEST(RunIfGpu, runs_the_command_where_there_is_no_gpu_unless_one_is_required) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "none");
  const auto ended = tool.run({"run", "--if-gpu", program("with_kernels")});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "has no lease\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(tool.run({"run", program("with_kernels")}).exit_code, to_int(ExitCode::skipped));
  tool.set("GPUTEST_REQUIRE_GPU", "1");
  EXPECT_EQ(tool.run({"run", "--if-gpu", program("with_kernels")}).exit_code, to_int(ExitCode::no_gpu));
  tool.set("GPUTEST_REQUIRE_GPU", "0");
  tool.set("GPUTEST_ENTRY", "ctest");
  EXPECT_EQ(tool.run({"run", "--if-gpu", program("with_kernels")}).exit_code, to_int(ExitCode::skipped))
      << "an entry of gpu_add_test() has SKIP_RETURN_CODE";
}

TEST(RunIfGpu, ends_as_its_command_does) {
  tests::Tool tool;
  for (const char* const uses : {"yes", "no"}) {
    tool.set("GPUTEST_USES_GPU", uses);
    EXPECT_EQ(tool.run({"run", "--if-gpu", "sh", "-c", "exit 77"}).exit_code, 77);
    EXPECT_EQ(tool.run({"run", "--if-gpu", "sh", "-c", "kill -SEGV $$"}).signal, SIGSEGV);
    EXPECT_EQ(tool.run({"run", "--if-gpu", "no-such-command-here"}).exit_code, to_int(ExitCode::not_found));
  }
}

} // namespace gputest::tool
