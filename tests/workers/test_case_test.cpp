// SPDX-License-Identifier: BSD-3-Clause
#include "workers/test_case.hpp"

#include "support/child_text.hpp"

#include "support/leave_a_processor.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <grp.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

namespace fs = std::filesystem;

using tests::text_of_child;

using Variables = std::map<std::string, std::string>;

void set_environment(const Variables& variables) {
  ::clearenv();
  for (const auto& [name, value] : variables) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
}

const Variables of_an_entry{{"GPUTEST_ENTRY", "ctest"}, {"GPUTEST_TEST", "sorts"}};

Variables and_also(const Variables& more) {
  auto all = of_an_entry;
  for (const auto& [name, value] : more) {
    all[name] = value;
  }
  return all;
}

std::string reason_for_own_process(const Variables& variables, const std::vector<std::string>& arguments) {
  return text_of_child([&] {
    set_environment(variables);
    const auto test = read_test_case(arguments);
    return (test.prints_reason ? "" : "(not printed) ") + test.reason_for_own_process;
  });
}

TEST(TestCase, runs_alone_for_each_reason_that_its_environment_gives) {
  const std::vector<std::string> arguments{"/bin/sort_tests", "--gtest_filter=Sort.a"};
  const auto tool = [](const std::string& name) { return "a tool is attached to it (" + name + ")"; };
  const auto rank = [](const std::string& name) { return "it is a rank of an MPI program (" + name + ")"; };
  const auto preloaded = tool("LD_PRELOAD") + ". valgrind checks it only with VALGRIND_OPTS=--trace-children=yes";
  const std::vector<std::pair<Variables, std::string>> rows{
      {{}, ""},
      {{{"GPUTEST_GPUS", "1"}, {"GPUTEST_MEMORY", "2GiB"}, {"LD_PRELOAD", "libjemalloc.so"}}, ""},
      {{{"GPUTEST_ENTRY", ""}}, "CTest has not started it"},
      {{{"GPUTEST_ENTRY", "will_fail"}}, "it is expected to fail (WILL_FAIL)"},
      {{{"GPUTEST_ENTRY", "by_output"}}, "it is judged by its output (PASS_, FAIL_ or SKIP_REGULAR_EXPRESSION)"},
      {{{"GPUTEST_MEMORY", "large"}}, "it is large"},
      {{{"GPUTEST_GPUS", "2"}}, "it needs several GPUs"},
      {{{"GPUTEST_HEAP", "8MiB"}}, "it sets the device heap"},
      {{{"GPUTEST_LEASE_OF", "17"}}, "it runs under a lease of another process (GPUTEST_LEASE_OF)"},
      {{{"OMPI_COMM_WORLD_RANK", "0"}}, rank("OMPI_COMM_WORLD_RANK")},
      {{{"PMI_RANK", "0"}}, rank("PMI_RANK")},
      {{{"PMIX_RANK", "0"}}, rank("PMIX_RANK")},
      {{{"CUDA_INJECTION64_PATH", "/tool.so"}}, tool("CUDA_INJECTION64_PATH")},
      {{{"CUDA_INJECTION32_PATH", "/tool.so"}}, tool("CUDA_INJECTION32_PATH")},
      {{{"LD_PRELOAD", "/lib/libcompute-sanitizer.so:/lib/libSanitizerCollection.so"}}, preloaded},
      {{{"LD_PRELOAD", "/lib/valgrind/vgpreload_core.so"}}, preloaded},
      {{{"GTEST_OUTPUT", "xml"}}, "GTEST_OUTPUT is set"},
      {{{"XML_OUTPUT_FILE", "a.xml"}}, "XML_OUTPUT_FILE is set"},
      {{{"GTEST_BREAK_ON_FAILURE", "1"}}, "GTEST_BREAK_ON_FAILURE is set"},
      {{{"GTEST_FLAGFILE", "flags"}}, "GTEST_FLAGFILE is set"},
      {{{"GPUTEST_TIMEOUT", "9 SIGINT 2"}}, "of its property TIMEOUT_SIGNAL_NAME"},
      {{{"GPUTEST_ISOLATION", "process"}}, "(not printed) GPUTEST_ISOLATION=process"},
      {{{"GPUTEST_ISOLATION", "worker"}}, ""},
  };
  for (const auto& [settings, why] : rows) {
    EXPECT_EQ(reason_for_own_process(and_also(settings), arguments), why);
  }
}

TEST(TestCase, runs_alone_where_its_processor_time_is_limited) {
  EXPECT_EQ(text_of_child([&] {
              set_environment(of_an_entry);
              const rlimit time{3600, RLIM_INFINITY};
              return ::setrlimit(RLIMIT_CPU, &time) != 0
                         ? "it could not be limited"
                         : read_test_case({"/bin/sort_tests", "--gtest_filter=Sort.a"}).reason_for_own_process;
            }),
            "its processor time is limited (ulimit -t)");
}

TEST(TestCase, runs_alone_for_each_reason_that_its_arguments_give) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{"--gtest_filter=Sort.a", "--gtest_output=xml:a.xml", "--verbose"}, ""},
      {{"--verbose"}, "it has no --gtest_filter"},
      {{"--gtest_filter="}, "it has no --gtest_filter"},
      {{"--gtest_filter=Sort.a", "--gtest_output=xml"}, "GoogleTest chooses the name of its report"},
      {{"--gtest_filter=Sort.a", "--gtest_output=xml:"}, "GoogleTest chooses the name of its report"},
      {{"--gtest_filter=Sort.a", "--gtest_output=xml:reports/"}, "GoogleTest chooses the name of its report"},
      {{"--gtest_filter=Sort.a", "--gtest_break_on_failure"}, "of its argument --gtest_break_on_failure"},
      {{"--gtest_filter=Sort.a", "--gtest_list_tests"}, "of its argument --gtest_list_tests"},
      {{"--gtest_filter=Sort.a", "--gtest_flagfile=flags"}, "of its argument --gtest_flagfile=flags"},
      {{"--gtest_filter=Sort.a", "--help"}, "of its argument --help"},
  };
  for (auto [arguments, why] : rows) {
    arguments.insert(arguments.begin(), "/bin/sort_tests");
    EXPECT_EQ(reason_for_own_process(of_an_entry, arguments), why);
  }
  const std::vector<std::string> alone{"--own-process=it is a death test", "/bin/sort_tests", "--gtest_filter=Sort.a"};
  EXPECT_EQ(reason_for_own_process(of_an_entry, alone), "it is a death test");
  EXPECT_EQ(reason_for_own_process(and_also({{"GPUTEST_MEMORY", "large"}}), alone), "it is a death test");
  EXPECT_EQ(reason_for_own_process(and_also({{"GPUTEST_ISOLATION", "process"}}), alone),
            "(not printed) GPUTEST_ISOLATION=process");
}

/// What decides whether two cases share a worker, of a process that is its test's child.
class Identity : public ::testing::Test {
protected:
  Identity() {
    folder_.write("tests", "an executable", 0755);
    folder_.make_folder("folder");
    folder_.make_folder("other");
  }

  /// Of a case in a process in which `change` was called before; empty if that has failed.
  [[nodiscard]] std::string after(const std::function<bool()>& change, const Variables& variables = {},
                                  const std::vector<std::string>& arguments = {"--gtest_filter=Sort.a",
                                                                               "--gtest_output=xml:a.xml"}) const {
    return text_of_child([&]() -> std::string {
      set_environment(and_also(variables));
      auto command = arguments;
      command.insert(command.begin(), executable());
      return change() ? worker_key_of(read_test_case(command)) : "";
    });
  }
  [[nodiscard]] std::string with(const Variables& variables) const {
    return after([] { return true; }, variables);
  }
  [[nodiscard]] std::string with(const std::vector<std::string>& arguments) const {
    return after([] { return true; }, {}, arguments);
  }
  [[nodiscard]] std::string executable() const { return folder_.path() + "/tests"; }

  tests::PrivateFolder folder_;
};

TEST_F(Identity, is_the_same_for_cases_that_differ_in_what_belongs_to_a_case) {
  const auto usual = with(Variables{});
  EXPECT_NE(usual, "");
  EXPECT_EQ(with(Variables{{"GPUTEST_TEST", "other"},
                           {"GPUTEST_MEMORY", "1GiB"},
                           {"GPUTEST_TIMEOUT", "5"},
                           {"GPUTEST_LARGE", "wait"},
                           {"GPUTEST_WAIT_LIMIT", "1"}}),
            usual);
  EXPECT_EQ(with(std::vector<std::string>{"--gtest_filter=Sort.b", "--gtest_output=xml:b.xml"}), usual);
}

TEST_F(Identity, tells_arguments_variables_and_resources_apart) {
  const std::vector<std::string> all{
      with(Variables{}),
      with(Variables{{"OTHER", "1"}}),
      with(Variables{{"OTHER", "2"}}),
      with(Variables{{"GPUTEST_DEVICES", "0"}}),
      with(Variables{{"CTEST_RESOURCE_GROUP_0_GPUS", "id:0,slots:5"}}),
      with(Variables{{"CTEST_RESOURCE_GROUP_0_GPUS", "id:1,slots:5"}}),
      with(std::vector<std::string>{"--gtest_filter=Sort.a"}), // no report
      with(std::vector<std::string>{"--gtest_filter=Sort.a", "--gtest_output=json:a.json"}),
      with(std::vector<std::string>{"--gtest_filter=Sort.a", "--ab", "c"}),
      with(std::vector<std::string>{"--gtest_filter=Sort.a", "--a", "bc"}),
      with(std::vector<std::string>{"--gtest_filter=Sort.a", "c", "--ab"}),
      with(std::vector<std::string>{"--gtest_filter=Sort.a", "--ab"}),
  };
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(with(Variables{{"CTEST_RESOURCE_GROUP_0_GPUS", "id:0,slots:7"}}), all[4]);
}

TEST_F(Identity, tells_executables_and_folders_apart) {
  const auto usual = with(Variables{});
  const auto other_folder = after([&] { return ::chdir((folder_.path() + "/folder").c_str()) == 0; });
  EXPECT_NE(other_folder, usual);
  EXPECT_NE(after([&] { return ::chdir((folder_.path() + "/other").c_str()) == 0; }), other_folder);
  folder_.write("folder/what_a_test_writes", "", 0600);
  EXPECT_EQ(after([&] { return ::chdir((folder_.path() + "/folder").c_str()) == 0; }), other_folder);
  fs::last_write_time(executable(), fs::last_write_time(executable()) - std::chrono::hours{1});
  const auto older = with(Variables{});
  EXPECT_NE(older, usual);
  std::ofstream{executable(), std::ios::app} << "!";
  fs::last_write_time(executable(), fs::last_write_time(executable()) - std::chrono::hours{1});
  EXPECT_NE(with(Variables{}), older);
  fs::remove(executable());
  EXPECT_EQ(with(Variables{}), "") << "nobody can know what is not there";
}

bool lower_limit(int resource, bool also_the_highest) {
  rlimit limit{};
  const auto number = static_cast<__rlimit_resource>(resource);
  ::getrlimit(number, &limit);
  limit.rlim_cur = limit.rlim_cur == RLIM_INFINITY ? 1U << 20U : limit.rlim_cur - 1;
  limit.rlim_max = also_the_highest ? limit.rlim_cur : limit.rlim_max;
  return ::setrlimit(number, &limit) == 0;
}

TEST_F(Identity, tells_apart_what_processes_inherit) {
  // Each is false where it changes nothing, or may not.
  const auto ignores = [](int signal) { return std::signal(signal, SIG_IGN) == SIG_DFL; };
  const auto blocks = [](int signal) {
    sigset_t set{};
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    sigset_t before{};
    return ::sigprocmask(SIG_BLOCK, &set, &before) == 0 && ::sigismember(&before, signal) == 0;
  };
  const std::map<std::string, std::function<bool()>> changes{
      {"nothing", [] { return true; }},
      {"umask", [] { return ::umask(077) != 077; }},
      {"nice", [] { return ::getpriority(PRIO_PROCESS, 0) != 19 && ::setpriority(PRIO_PROCESS, 0, 19) == 0; }},
      {"scheduler",
       [] {
         const sched_param none{};
         return ::sched_getscheduler(0) == SCHED_OTHER && ::sched_setscheduler(0, SCHED_BATCH, &none) == 0;
       }},
      {"personality", [] { return ::personality(ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT) != -1; }},
      {"processors", tests::leave_a_processor},
      {"limit", [] { return lower_limit(RLIMIT_NOFILE, false); }},
      {"highest limit", [] { return lower_limit(RLIMIT_NOFILE, true); }},
      {"last limit", [] { return lower_limit(RLIM_NLIMITS - 1, false); }},
      {"ignored", [&] { return ignores(SIGUSR1); }},
      {"another ignored", [&] { return ignores(SIGUSR2); }},
      {"blocked", [&] { return blocks(SIGUSR1); }},
      {"no new privileges",
       [] { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; }},
      {"groups", // of root
       [] {
         const gid_t group = 4242;
         return ::setgroups(1, &group) == 0;
       }},
      {"group", [] { return ::geteuid() == 0 && ::setresgid(4242, 4242, 4242) == 0; }},
      {"user",
       [] {
         return ::geteuid() == 0 && ::setresuid(0, 0, 4242) == 0; // the executable stays readable
       }},
      {"rights", [] { return ::prctl(PR_CAPBSET_READ, 0, 0, 0, 0) == 1 && ::prctl(PR_CAPBSET_DROP, 0, 0, 0, 0) == 0; }},
      {"host name", [] { return ::unshare(CLONE_NEWUTS) == 0; }},
      {"messages", [] { return ::unshare(CLONE_NEWIPC) == 0; }},
      {"network", [] { return ::unshare(CLONE_NEWNET) == 0; }},
      {"mounts", [] { return ::unshare(CLONE_NEWNS) == 0; }},
  };
  std::map<std::string, std::string> identities;
  for (const auto& [name, change] : changes) {
    const auto worker_key = after(change);
    if (worker_key.empty()) {
      continue; // it changes nothing here, or this user may not
    }
    const auto [same, is_new] = identities.emplace(worker_key, name);
    EXPECT_TRUE(is_new) << name << " is like " << same->second;
  }
  EXPECT_GT(identities.size(), 9U);
}

TEST(Umask, is_for_its_owner_too_or_not) {
  for (const auto& [umask, is_for_owner] : {std::pair{022, false}, {0277, true}, {0177, true}}) {
    EXPECT_EQ(tests::in_child([&, umask = umask, expected = is_for_owner] {
                ::umask(static_cast<mode_t>(umask));
                return umask_is_for_owner() == expected ? 0 : 1;
              }),
              0)
        << umask;
  }
}

} // namespace
} // namespace gputest::workers
