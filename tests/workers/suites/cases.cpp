// SPDX-License-Identifier: BSD-3-Clause
// What client_test.cpp has run by workers. Each case writes `@process <pid> <parent's pid>`.

#include "core/policy/verdict.hpp"
#include "support/fake_cuda.hpp"
#include "support/leave_a_processor.hpp"

#include <gputest/gputest.hpp>
#include <gputest/session.hpp>
#include <gputest/simulated_buffer.hpp>
#include <gputest/test_run.hpp>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

const bool waits_before_its_tests = [] {
  const char* const fifo = std::getenv("CLOSE_ALL_AND_WAIT_AT");
  if (fifo != nullptr && *fifo != '\0' && std::getenv("GPUTEST_WORKER") != nullptr) {
    for (int number = 3; number < 1024; ++number) {
      ::close(number);
    }
    std::ofstream{fifo} << ::getpid() << std::endl;
    ::pause();
  }
  return fifo != nullptr;
}();

/// A worker ends when it is given its first case, before it begins it.
const bool ends_before_its_first_case = [] {
  const char* const worker = std::getenv("END_BEFORE_FIRST_CASE") == nullptr ? nullptr : std::getenv("GPUTEST_WORKER");
  if (worker != nullptr) {
    std::signal(SIGIO, [](int) {
      static_cast<void>(::write(STDERR_FILENO, "@ended too soon\n", 16));
      ::_exit(66);
    });
    const int socket = std::atoi(std::strchr(worker, ':') + 1);
    ::fcntl(socket, F_SETOWN, ::getpid());
    ::fcntl(socket, F_SETFL, O_ASYNC);
  }
  return worker != nullptr;
}();

const bool writes_before_its_tests = [] {
  const char* const text = std::getenv("WRITE_BEFORE_TESTS");
  return text != nullptr && std::puts(text) >= 0;
}();

/// Only in a worker with WRITE_FROM: a thread that writes what it reads from that FIFO, and answers in another one.
const bool writes_between_its_tests = [] {
  const char* const fifo = std::getenv("GPUTEST_WORKER") == nullptr ? nullptr : std::getenv("WRITE_FROM");
  if (fifo != nullptr) {
    std::thread{[name = std::string{fifo}] {
      const std::string text{std::istreambuf_iterator<char>{std::ifstream{name}.rdbuf()}, {}};
      static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
      std::ofstream{name + "_answer"};
      ::pause();
    }}.detach();
  }
  return fifo != nullptr;
}();

/// Takes more than it leases before main().
const bool has_session_before_its_tests = [] {
  if (std::getenv("SESSION_BEFORE_TESTS") == nullptr) {
    return false;
  }
  auto session = gputest::Session::from_environment();
  gputest::Request request;
  request.bytes = gputest::Bytes{256U << 20U};
  static_cast<void>(session.enter({{request}, {}, false, ""}));
  auto lease = session.lease(request, "before main()");
  const gputest::SimulatedBuffer buffer{gputest::Bytes{1U << 30U}};
  return true;
}();

// NOLINTBEGIN: what the cases leave to each other is what is tested
int cases_begun = 0;
bool is_poisoned = false;
int set_ups = 0;

void begin() {
  ++cases_begun;
  std::printf("@process %d %d\n", ::getpid(), ::getppid());
  std::fflush(stdout);
}

struct Plain : gputest::SmallTest {
  void SetUp() override { begin(); }
  static void SetUpTestSuite() { std::printf("@suite %d\n", ++set_ups); }
};
TEST_F(Plain, a) {}
TEST_F(Plain, b) {}
TEST_F(Plain, c) {}
TEST_F(Plain, d) {}
TEST_F(Plain, prints_and_prints) {
  std::signal(SIGPIPE, SIG_IGN);
  while (std::puts("more") >= 0) {
  }
  FAIL();
}
TEST_F(Plain, turns_its_streams_away) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null, stream);
  }
  ::close(null);
}
TEST_F(Plain, passes_once) { EXPECT_EQ(::mkdir("passes-once", 0700), 0); }
TEST_F(Plain, ends_once) {
  if (::mkdir("ends-once", 0700) != 0) {
    ::pause();
  }
}
TEST_F(Plain, is_in_its_folder) { EXPECT_EQ(::access("CTestTestfile.cmake", F_OK), 0); }
TEST_F(Plain, takes_five_seconds) { ::sleep(5); }
TEST_F(Plain, leaves_a_thread_that_reads_a_stream) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE* const stream = ::fdopen(ends[0], "r");
  std::thread{[stream] { std::fgetc(stream); }}.detach();
  while (::ftrylockfile(stream) == 0) { // until the thread has the lock
    ::funlockfile(stream);
  }
}
TEST_F(Plain, skips) { GTEST_SKIP(); }
TEST_F(Plain, needs_a_slice) {}
GPUTEST_NEEDS(Plain, needs_a_slice, mig);
TEST_F(Plain, fails) { FAIL(); }
TEST_F(Plain, fails_otherwise_alone) { FAIL() << "@failure of case " << cases_begun; }
TEST_F(Plain, fails_and_dies_alone) {
  ADD_FAILURE() << "@failure";
  if (cases_begun == 1) {
    std::abort();
  }
}
TEST_F(Plain, fails_after_others_and_leaves_a_process_alone) {
  ASSERT_EQ(cases_begun, 1);
  if (::fork() == 0) {
    ::pause();
    std::_Exit(0);
  }
}
TEST_F(Plain, says_what_ctest_has_allocated) {
  std::cout << "@sees " << std::getenv("CUDA_VISIBLE_DEVICES") << ", " << std::getenv("CTEST_RESOURCE_GROUP_0_GPUS")
            << std::endl;
}
TEST_F(Plain, has_the_usual_signals) {
  for (const int signal : {SIGPIPE, SIGCHLD}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    EXPECT_TRUE(action.sa_handler == SIG_DFL) << signal;
  }
}
GPUTEST_NEEDS(Plain, takes_some, 1_GiB);
GPUTEST_NEEDS(Plain, takes_most, 3_GiB);
TEST_F(Plain, takes_most) { const gputest::SimulatedBuffer buffer{gputest::Bytes{3U << 30U}}; }
TEST_F(Plain, takes_some) { const gputest::SimulatedBuffer buffer{gputest::Bytes{100U << 20U}}; }
TEST_F(Plain, shows_what_it_has) {
  std::string input;
  std::getline(std::cin, input);
  char folder[4096];
  const char* const memory = std::getenv("GPUTEST_MEMORY");
  std::printf("@entry %s @memory %s @settings %s @folder %s @input %s\n", std::getenv("GPUTEST_TEST"),
              memory == nullptr ? "none" : memory, std::getenv("OF_ALL"), ::getcwd(folder, sizeof folder),
              input.c_str());
  std::fprintf(stderr, "@err\n");
}
GPUTEST_NEEDS(Plain, medium, 1_GiB);
TEST_F(Plain, medium) {}

struct Undeclared : ::testing::Test {
  void SetUp() override { begin(); }
};
TEST_F(Undeclared, takes_most) { const gputest::SimulatedBuffer buffer{gputest::Bytes{3ULL << 30U}}; }
TEST_F(Undeclared, exchanges_200_mib) {
  static std::unique_ptr<gputest::SimulatedBuffer> cache;
  cache.reset();
  cache = std::make_unique<gputest::SimulatedBuffer>(gputest::Bytes{200U << 20U});
}
TEST_F(Undeclared, leaves_200_mib) { static_cast<void>(new gputest::SimulatedBuffer{gputest::Bytes{200U << 20U}}); }

struct Large : gputest::LargeTest {
  void SetUp() override { begin(); }
};
TEST_F(Large, takes_the_device) {}

struct Host : gputest::HostTest {
  void SetUp() override { begin(); }
};
TEST_F(Host, a) {}
TEST_F(Host, closes_all_files) {
  for (int number = 3; number < 1024; ++number) {
    ::close(number);
  }
}

TEST_F(Plain, poisons) { is_poisoned = true; }
TEST_F(Plain, fails_if_poisoned) { EXPECT_FALSE(is_poisoned); }
TEST_F(Plain, fails_in_a_used_process_and_skips_alone) {
  if (cases_begun > 1) {
    FAIL();
  }
  GTEST_SKIP();
}
TEST_F(Plain, crashes_if_poisoned) {
  if (is_poisoned) {
    std::abort();
  }
}
TEST_F(Plain, needs_an_earlier_case) { EXPECT_GT(cases_begun, 1); }

/// The two meet only if they run at the same time.
TEST_F(Plain, meets_the_other) { EXPECT_EQ(::close(::open(std::getenv("MEET_AT"), O_WRONLY)), 0); }
TEST_F(Plain, meets_twice) {
  for (const std::string& gate :
       {std::string{std::getenv("MEET_AT")}, std::string{std::getenv("MEET_AT")} + "_again"}) {
    const int met = ::open(gate.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::close(met), 0);
  }
}
TEST_F(Plain, meets_the_first) { EXPECT_EQ(::close(::open(std::getenv("MEET_AT"), O_RDONLY)), 0); }

TEST_F(Plain, leaks) { static gputest::SimulatedBuffer left{gputest::Bytes{100U << 20U}}; }

struct Heap : Plain {};
GPUTEST_NEEDS(Heap, is_set, heap(8_MiB));
TEST_F(Heap, is_set) {}

TEST_F(Plain, fails_after_a_process_that_it_forked_has_returned) {
  const pid_t child = ::fork();
  if (child == 0) {
    return;
  }
  ::waitpid(child, nullptr, 0);
  FAIL();
}
TEST_F(Plain, stops_its_supervisor) {
  const std::string stat = "/proc/" + std::to_string(::getppid()) + "/stat";
  ::kill(::getppid(), SIGSTOP);
  const auto is_stopped = [&] { // it may run on for a moment on another processor
    std::ifstream file{stat};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    return text.find(") T ") != std::string::npos;
  };
  while (!is_stopped()) {
    ::sched_yield();
  }
}
TEST_F(Plain, fails_after_others_and_closes_all_files) {
  for (int number = 3; number < 1024 && cases_begun > 1; ++number) {
    ::close(number);
  }
  EXPECT_EQ(cases_begun, 1);
}
TEST_F(Plain, leaves_what_it_prints_in_a_buffer) {
  std::ios::sync_with_stdio(false);
  std::clog << "@in a buffer"; // nothing flushes it, as std::cerr does std::cout
}
TEST_F(Plain, fails_once) {
  if (const int file = ::open(std::getenv("FAIL_ONCE"), O_CREAT | O_EXCL | O_CLOEXEC, 0600); file >= 0) {
    ::close(file);
    FAIL();
  }
}

struct Crash : Plain {};
TEST_F(Crash, by_segv) { ::raise(SIGSEGV); }
TEST_F(Crash, by_abort) { std::abort(); }
TEST_F(Crash, by_exit_0) { std::exit(0); }
TEST_F(Crash, by_quick_exit_0) { ::_exit(0); }
TEST_F(Crash, by_quick_exit_3) { ::_exit(3); }
TEST_F(Crash, by_quick_exit_77) { ::_exit(77); }
TEST_F(Crash, after_others) {
  if (cases_begun > 1) {
    std::abort();
  }
}
TEST_F(Crash, of_its_supervisor_after_others) {
  if (cases_begun > 1) {
    ::kill(::getppid(), SIGKILL);
    ::pause();
  }
}
TEST_F(Crash, at_the_end) {
  std::atexit([] { std::abort(); });
  ::chdir("/"); // so it is its process's last
}
TEST_F(Crash, at_an_idle_end) {
  std::atexit([] {
    static_cast<void>(::write(STDERR_FILENO, "@at the end\n", 12));
    std::abort();
  });
}
[[noreturn]] void crash_in_a_line() {
  static_cast<void>(::write(STDERR_FILENO, "@unfinished", 11));
  std::abort();
}
TEST_F(Crash, in_a_line) { crash_in_a_line(); }
TEST_F(Crash, in_a_line_at_an_idle_end) { std::atexit(crash_in_a_line); }
TEST_F(Crash, by_code_66_at_an_idle_end) { // as a sanitizer's
  std::atexit([] { ::_exit(66); });
}
TEST_F(Crash, by_code_66_at_an_idle_end_and_fails) { // it leaks because it fails
  std::atexit([] { ::_exit(66); });
  FAIL();
}
TEST_F(Crash, by_a_signal_at_an_idle_end) {
  std::atexit([] { ::raise(SIGTERM); });
}

struct Hides : Plain {};
void leave_exit() { ::_exit(0); }
TEST_F(Hides, by_a_handler) {
  std::signal(SIGTERM, [](int) { ::_exit(0); });
}
TEST_F(Hides, by_ignoring_and_fails) {
  std::signal(SIGTERM, SIG_IGN);
  FAIL();
}
TEST_F(Hides, by_a_mask) {
  sigset_t all{};
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
}
TEST_F(Hides, by_an_exit_handler) { std::atexit(leave_exit); }
TEST_F(Hides, by_quick_exit) {
  std::atexit([] { std::quick_exit(0); });
}
TEST_F(Hides, by_another_program) {
  std::atexit([] { ::execl("/bin/true", "true", nullptr); });
}
const bool never_ends_exit = std::getenv("LEAVE_EXIT") != nullptr && std::atexit(leave_exit) == 0;

struct Changes : Plain {};
TEST_F(Changes, folder) { ::chdir("/"); }
TEST_F(Changes, descriptors) { ::open("/dev/null", O_RDONLY); }
const int early_file = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
TEST_F(Changes, files) { ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), early_file); }
TEST_F(Changes, streams) { ::close(STDOUT_FILENO); }
TEST_F(Changes, output) {
  std::fclose(stdout);
  ::open("/dev/null", O_WRONLY | O_CLOEXEC); // which gets its number
}
TEST_F(Changes, mask) { ::umask(0); }
TEST_F(Changes, rounding) { std::fesetround(FE_DOWNWARD); }
TEST_F(Changes, locale) { ASSERT_NE(std::setlocale(LC_ALL, "C.UTF-8"), nullptr); }
TEST_F(Changes, handler) {
  std::signal(SIGUSR1, [](int) {});
}
TEST_F(Changes, blocked_signals) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}
TEST_F(Changes, variables) { ::setenv("SET_BY_A_CASE", "1", 1); }
TEST_F(Changes, environments) {}
TEST_F(Changes, properties) {}
TEST_F(Changes, results) {}
struct SkippingEnvironment : testing::Environment {
  void SetUp() override {
    if (testing::GTEST_FLAG(filter) == "Changes.environments") {
      GTEST_SKIP() << "as it was told";
    }
    if (testing::GTEST_FLAG(filter) == "Changes.properties") {
      testing::Test::RecordProperty("told", "to record it");
    }
  }
};
const auto* const skipping_environment = testing::AddGlobalTestEnvironment(new SkippingEnvironment);

bool environment_is_set_up = false;
struct CountedEnvironment : testing::Environment {
  ~CountedEnvironment() override { std::printf("@environment ends\n"); }
  void SetUp() override { environment_is_set_up = true; }
  void TearDown() override { environment_is_set_up = false; }
};
const auto* const counted_environment = testing::AddGlobalTestEnvironment(new CountedEnvironment);
struct Told : testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest&) override {
    std::printf("@told of the end\n");
    if (testing::GTEST_FLAG(filter) == "Changes.results") {
      ADD_FAILURE() << "too late for a result";
    }
    const char* const cases = std::getenv("EXIT_WHEN_TOLD");
    if (cases != nullptr && testing::GTEST_FLAG(filter).find(cases) == 0) {
      std::fflush(stdout);
      ::_exit(0);
    }
  }
};
const bool tells = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Told);
  return true;
}();
struct Environments : Plain {};
TEST_F(Environments, are_set_up) { EXPECT_TRUE(environment_is_set_up); }

TEST_F(Changes, reporter) { // never deleted
  static auto& hidden = *new testing::TestPartResultArray;
  static_cast<void>(new testing::ScopedFakeTestPartResultReporter{
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &hidden});
}
TEST_F(Changes, alarm) { ::alarm(3600); }
TEST_F(Changes, limit) {
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  --limit.rlim_cur;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}
TEST_F(Changes, group) { ::setresgid(-1, -1, 65534); }
TEST_F(Changes, processors) { gputest::tests::leave_a_processor(); }
TEST_F(Changes, threads) {
  std::thread{[] { ::pause(); }}.detach();
}
TEST_F(Changes, processes) {
  if (::fork() == 0) {
    for (int number = 0; number < 1024; ++number) {
      ::close(number); // ctest would wait for it
    }
    ::alarm(20);
    ::pause();
  }
}

void leave_a_process_without_a_parent(int first_closed = 0) {
  int ends[2];
  static_cast<void>(::pipe(ends));
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t orphan = ::fork();
    if (orphan == 0) {
      for (int number = first_closed; number < 1024; ++number) {
        ::close(number);
      }
      ::alarm(60);
      ::pause();
    }
    static_cast<void>(::write(ends[1], &orphan, sizeof orphan));
    ::_exit(0);
  }
  pid_t orphan = 0;
  static_cast<void>(::read(ends[0], &orphan, sizeof orphan));
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  std::printf("@orphan %d\n", orphan);
  std::fflush(stdout);
}
TEST_F(Plain, leaves_a_process_without_a_parent) { leave_a_process_without_a_parent(); }
TEST_F(Plain, leaves_a_process_with_its_output) { leave_a_process_without_a_parent(3); }
/// The process has a socket to which the output was sent, and has not received it: no file of it is the output.
TEST_F(Plain, leaves_its_output_on_the_way_to_a_process) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
  const int output = STDOUT_FILENO;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof output)] = {};
  char byte = 0;
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof output);
  std::memcpy(CMSG_DATA(rights), &output, sizeof output);
  ASSERT_EQ(::sendmsg(ends[0], &message, 0), 1);
  const int input = ::dup(STDIN_FILENO);
  ::dup2(ends[1], STDIN_FILENO);
  leave_a_process_without_a_parent(1);
  ::dup2(input, STDIN_FILENO);
  for (const int number : {input, ends[0], ends[1]}) {
    ::close(number);
  }
}
TEST_F(Crash, by_abort_after_much_output) {
  for (int line = 0; line < 20'000; ++line) {
    std::fprintf(line % 2 == 0 ? stdout : stderr, "@line %d\n", line);
    std::fflush(stdout);
  }
  std::abort();
}
TEST_F(Plain, writes_much_and_blocks) {
  for (int line = 0; line < 12'000; ++line) {
    std::printf("@line %d\n", line);
  }
  std::fflush(stdout);
  std::ofstream{"blocks"} << ::getpid() << std::endl;
  ::pause();
}
TEST_F(Crash, by_abort_beside_a_process_without_a_parent) {
  leave_a_process_without_a_parent();
  std::abort();
}
TEST_F(Plain, fails_beside_a_process_without_a_parent) {
  leave_a_process_without_a_parent();
  FAIL();
}
TEST_F(Crash, by_segv_beside_a_process_that_gputest_stops) {
  const pid_t child = ::fork();
  if (child == 0) {
    gputest::detail::TestRun::of_process().run_again({gputest::policy::StopCause::small_lease});
  }
  ::waitpid(child, nullptr, 0);
  ::raise(SIGSEGV);
}

/// With the fake driver.
struct OnDriver : Plain {
  gputest::tests::FakeCuda& cuda() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW); // stays loaded, as by the CUDA runtime
    return *reinterpret_cast<gputest::tests::FakeCuda* (*)()>(dlsym(library, "fake_cuda"))();
  }
};
TEST_F(OnDriver, begins) {
  cuda().initialised = true;
  cuda().devices = 2;
  for (auto& device : {&cuda().device[0], &cuda().device[1]}) {
    device->active = true;
  }
  cuda().depth = 1;
}
/// As a driver does, with its own names.
TEST_F(OnDriver, begins_with_a_file_and_a_thread) {
  cuda().initialised = true;
  cuda().devices = 1;
  cuda().device[0].active = true;
  cuda().depth = 1;
  ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::thread{[] { ::pause(); }}.detach();
}
/// On a device that the process uses, maybe through a server of MPS.
struct OnServer : OnDriver {
  const char* server = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  void SetUp() override {
    OnDriver::SetUp();
    cuda().initialised = true;
    cuda().device[0].active = true;
    std::printf("@server %s\n", server == nullptr ? "none" : server);
  }
  /// What a fault of a kernel leaves in this process, and in all of the server.
  void fault() {
    cuda().device[0].synchronize_result = 700;
    if (server != nullptr) {
      std::ofstream{std::string{server} + "/error"};
    }
  }
};
TEST_F(OnServer, passes) {}
TEST_F(OnServer, fails) { FAIL(); }
TEST_F(OnServer, faults) { fault(); }
/// The other one has begun before the fault, and ends after it.
TEST_F(OnServer, faults_while_the_other_runs) {
  const int meeting = server == nullptr ? -1 : ::open(std::getenv("MEET_AT"), O_WRONLY);
  fault();
  ::close(meeting);
}
TEST_F(OnServer, runs_while_the_other_faults) {
  if (server != nullptr) {
    const int meeting = ::open(std::getenv("MEET_AT"), O_RDONLY);
    char none = 0;
    EXPECT_EQ(::read(meeting, &none, 1), 0); // it was closed behind the fault
    ::close(meeting);
  }
}
TEST_F(OnServer, is_aborted_in_workers) {
  if (server != nullptr) {
    std::abort();
  }
}
TEST_F(OnServer, blocks_in_workers) {
  if (server != nullptr) {
    ::pause();
  }
}
TEST_F(OnServer, looks_for_errors_at_its_end) {
  static const std::string file = std::string{server == nullptr ? "" : server} + "/error";
  std::atexit([] {
    if (::access(file.c_str(), F_OK) == 0) {
      std::abort();
    }
  });
}
TEST_F(OnDriver, skips_in_workers_that_have_a_server) {
  cuda(); // as if it had asked for devices
  if (std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr) {
    GTEST_SKIP() << "no device";
  }
  FAIL();
}
TEST_F(OnServer, fails_in_workers) { EXPECT_EQ(server, nullptr); }
TEST_F(OnDriver, sets_a_limit) { ++cuda().device[0].limits[1]; }
TEST_F(OnDriver, changes_the_device) { cuda().stack[0] = 1; }
TEST_F(OnDriver, changes_nothing) {}

/// Blocks until it is killed, and so does a process that it has started, whose parent has ended.
TEST_F(Plain, blocks) {
  int pipe_ends[2];
  static_cast<void>(::pipe(pipe_ends));
  if (::fork() == 0) {
    const pid_t orphan = ::fork();
    if (orphan != 0) {
      static_cast<void>(::write(pipe_ends[1], &orphan, sizeof orphan));
      ::_exit(0);
    }
    ::pause();
  }
  pid_t orphan = 0;
  static_cast<void>(::read(pipe_ends[0], &orphan, sizeof orphan));
  std::printf("@blocks %d\n", orphan);
  std::fflush(stdout);
  ::pause();
}

TEST(PlainDeathTest, dies) { EXPECT_DEATH(std::abort(), ""); }

/// Only with COUNT_ENDS_IN: where each end of a process that ran its exit handlers adds a line. With END_AT: a FIFO, at
/// which it waits before that.
struct Ends {
  ~Ends() {
    if (const char* const fifo = std::getenv("END_AT")) {
      ::open(fifo, O_WRONLY);
    }
    if (const char* const file = std::getenv("COUNT_ENDS_IN")) {
      std::ofstream{file, std::ios::app} << "ended\n";
    }
  }
} ends;
// NOLINTEND

} // namespace
