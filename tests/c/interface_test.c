/* SPDX-License-Identifier: BSD-3-Clause */
/* What gputest.h promises, on simulated devices: interface_test <folder for a ledger>. */
#include <gputest/gputest.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures = 0;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s; last message: %s\n", __FILE__, __LINE__, #condition, gputest_message());     \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

static gputest_settings settings;

static gputest_session* opened(void) {
  gputest_session* session = NULL;
  if (gputest_open(&settings, &session) != GPUTEST_OK) {
    fprintf(stderr, "%s\n", gputest_message());
    exit(1);
  }
  return session;
}

static gputest_request of_memory(const char* memory) {
  gputest_request request;
  memset(&request, 0, sizeof request);
  request.size = sizeof request;
  request.memory = memory;
  return request;
}

static gputest_session* entered(const char* memory) {
  gputest_session* const session = opened();
  const gputest_request request = of_memory(memory);
  CHECK(gputest_enter(session, &request, 1, NULL) == GPUTEST_OK);
  return session;
}

/* What a program that was compiled earlier relies on: each member takes 8 bytes, in this order. Another layout needs
   another SOVERSION. */
static void check_layout(const char* type, size_t size, const size_t* offsets, size_t count) {
  size_t i = 0;
  while (i < count && offsets[i] == 8 * i) {
    ++i;
  }
  if (i < count || size != 8 * count) {
    fprintf(stderr, "%s has another layout: member %zu of %zu, size %zu\n", type, i, count, size);
    ++failures;
  }
}

static void test_layout(void) {
#define AT(type, member) offsetof(gputest_##type, member)
#define CHECK_LAYOUT(type, ...)                                                                                        \
  do {                                                                                                                 \
    const size_t offsets[] = {__VA_ARGS__};                                                                            \
    check_layout(#type, sizeof(gputest_##type), offsets, sizeof offsets / sizeof *offsets);                            \
  } while (0)
  CHECK_LAYOUT(settings, AT(settings, size), AT(settings, devices), AT(settings, folder), AT(settings, log),
               AT(settings, name), AT(settings, memory), AT(settings, large), AT(settings, run_mode),
               AT(settings, wait_limit), AT(settings, forbid_skip), AT(settings, overuse), AT(settings, leaks),
               AT(settings, meter), AT(settings, notation));
  CHECK_LAYOUT(request, AT(request, size), AT(request, memory), AT(request, bytes), AT(request, gpus),
               AT(request, capabilities), AT(request, heap), AT(request, keeps));
  CHECK_LAYOUT(wait, AT(wait, size), AT(wait, limit), AT(wait, on_wait), AT(wait, data));
  CHECK_LAYOUT(device, AT(device, uuid), AT(device, name), AT(device, total_bytes), AT(device, simulated));
  CHECK_LAYOUT(findings, AT(findings, size), AT(findings, peak_bytes), AT(findings, left_bytes), AT(findings, evidence),
               AT(findings, overuse), AT(findings, problems), AT(findings, problem_count));
  CHECK_LAYOUT(claimant, AT(claimant, who), AT(claimant, pid), AT(claimant, stage), AT(claimant, lease_bytes),
               AT(claimant, whole_devices), AT(claimant, overhead_bytes), AT(claimant, devices));
  CHECK_LAYOUT(test_end, AT(test_end, size), AT(test_end, suite), AT(test_end, name), AT(test_end, result),
               AT(test_end, seconds), AT(test_end, reason), AT(test_end, file), AT(test_end, line));
  CHECK(GPUTEST_ERROR == 8);
}

static void test_texts_and_sizes(void) {
  uint64_t bytes = 0;
  CHECK(strlen(gputest_version()) > 0);
  CHECK(gputest_parse_bytes("1.5GiB", &bytes) == GPUTEST_OK && bytes == 3ULL << 29);
  CHECK(gputest_parse_bytes("3GB", &bytes) == GPUTEST_INVALID);
  CHECK(strstr(gputest_message(), "unknown unit 'GB'") != NULL);
}

static void test_refuses_a_struct_without_its_size(void) {
  gputest_session* session = NULL;
  gputest_settings other = settings;
  other.size = 0;
  CHECK(gputest_open(&other, &session) == GPUTEST_INVALID && session == NULL);
  CHECK(strstr(gputest_message(), "gputest_settings.size is not set") != NULL);
  other.size = sizeof other;
  other.devices = "many";
  CHECK(gputest_open(&other, &session) == GPUTEST_INVALID && session == NULL);
  CHECK(strstr(gputest_message(), "gputest_settings.devices='many' is unknown") == gputest_message());
  other.devices = settings.devices;
  other.notation = "words";
  CHECK(gputest_open(&other, &session) == GPUTEST_INVALID && session == NULL);
  CHECK(strstr(gputest_message(), "allowed are annotations, tags and marks") != NULL);
}

static void test_says_which_request_cannot_be_read(void) {
  gputest_request request = of_memory("1GiB");
  CHECK(gputest_check(&request) == GPUTEST_OK);
  request.capabilities = "tensor_cores";
  CHECK(gputest_check(&request) == GPUTEST_INVALID && strstr(gputest_message(), "memory_pools") != NULL);
  request.capabilities = NULL;
  request.gpus = 17;
  CHECK(gputest_check(&request) == GPUTEST_INVALID && strstr(gputest_message(), "allowed are 1 to 16") != NULL);
}

static void test_leases_and_examines(void) {
  gputest_session* const session = entered("3GiB");
  gputest_request request = of_memory("1GiB");
  gputest_session* second = NULL;
  gputest_simulated_buffer* buffer = NULL;
  gputest_findings findings;
  gputest_device device;

  CHECK(gputest_open(&settings, &second) == GPUTEST_ERROR && second == NULL);
  CHECK(gputest_device_count(session) == 1);
  CHECK(gputest_get_device(session, 0, &device) == GPUTEST_OK && device.simulated && device.total_bytes == 16ULL << 30);
  CHECK(gputest_get_device(session, 1, &device) == GPUTEST_INVALID);
  CHECK(strcmp(getenv("CUDA_VISIBLE_DEVICES"), device.uuid) == 0);

  CHECK(gputest_begin(session, &request, "fits", NULL) == GPUTEST_OK);
  CHECK(gputest_begin(session, &request, "nested", NULL) == GPUTEST_NESTED);
  CHECK(gputest_simulated_take(1ULL << 30, 0, &buffer) == GPUTEST_OK);
  CHECK(gputest_allocated(session) == 1LL << 30);
  gputest_simulated_give_back(buffer);
  CHECK(gputest_allocated(session) == 0);
  findings.size = sizeof findings;
  CHECK(gputest_end(session, "fits", &findings) == GPUTEST_OK);
  CHECK(gputest_allocated(session) == -1);
  CHECK(findings.problem_count == 0 && findings.peak_bytes == 1LL << 30 && findings.left_bytes == 0);
  CHECK(strcmp(findings.evidence, "exact") == 0 && strcmp(findings.overuse, "") == 0);

  CHECK(gputest_begin(session, &request, "takes too much", NULL) == GPUTEST_OK);
  CHECK(gputest_simulated_take(2ULL << 30, 0, &buffer) == GPUTEST_OK);
  CHECK(gputest_end(session, "takes too much", &findings) == GPUTEST_OK);
  CHECK(findings.problem_count == 2 && findings.left_bytes == 2LL << 30);
  CHECK(strcmp(findings.overuse, "2 GiB of 1 GiB") == 0);
  gputest_simulated_give_back(buffer);

  request.memory = "40GiB";
  CHECK(gputest_begin(session, &request, "too large", NULL) == GPUTEST_SKIP);
  CHECK(gputest_simulated_take(40ULL << 30, 0, &buffer) == GPUTEST_OUT_OF_MEMORY);
  CHECK(getenv("GPUTEST_LEASE_OF") != NULL);
  gputest_close(session);
  CHECK(getenv("GPUTEST_LEASE_OF") == NULL);
  CHECK(gputest_open(&settings, &second) == GPUTEST_ERROR && second == NULL);
  CHECK(strstr(gputest_message(), "has closed its gputest_session") != NULL);
}

/* With a session that is NULL or closed, every function answers as its comment says. */
static void check_refused(gputest_session* session, const char* why) {
  const gputest_request request = of_memory("1GiB");
  gputest_findings findings;
  gputest_device device;
  gputest_test_end end;
  memset(&end, 0, sizeof end);
  findings.size = sizeof findings;
  end.size = sizeof end;
#define CHECK_REFUSED(call) CHECK((call) == GPUTEST_INVALID && strstr(gputest_message(), why) != NULL)
  CHECK_REFUSED(gputest_enter(session, &request, 1, NULL));
  CHECK_REFUSED(gputest_get_device(session, 0, &device));
  CHECK_REFUSED(gputest_begin(session, &request, "refused", NULL));
  CHECK_REFUSED(gputest_end(session, "refused", &findings));
  CHECK_REFUSED(gputest_lease(session, &request, "refused", NULL));
  CHECK_REFUSED(gputest_examine(session, "refused", &findings));
  CHECK_REFUSED(gputest_count_unleased(session, "refused"));
  CHECK_REFUSED(gputest_test_begins(session, "refused"));
  gputest_release(session);
  CHECK_REFUSED(gputest_test_ended(session, &end));
  CHECK(gputest_device_count(session) == 0);
  CHECK(gputest_allocated(session) == -1);
  CHECK(strcmp(gputest_explain_out_of_memory(session, "refused"), "") == 0);
  gputest_close(session);
}

static void test_refuses_a_session_that_is_null_or_closed(void) {
  gputest_session* session = opened();
  gputest_device device;
  check_refused(NULL, "is NULL");
  CHECK(gputest_device_count(session) == 0);
  CHECK(gputest_get_device(session, 0, &device) == GPUTEST_INVALID);
  gputest_close(session);
  check_refused(session, "is not open");
  session = entered("1GiB");
  gputest_close(session);
  check_refused(session, "is not open");
}

static void test_refuses_null_in_place_of_a_result(void) {
  gputest_session* session = NULL;
  CHECK(gputest_parse_bytes("1GiB", NULL) == GPUTEST_INVALID);
  CHECK(gputest_open(&settings, NULL) == GPUTEST_INVALID);
  CHECK(gputest_simulated_take(1, 0, NULL) == GPUTEST_INVALID);
  CHECK(gputest_status(&settings, NULL, NULL) == GPUTEST_INVALID);
  CHECK(gputest_check(NULL) == GPUTEST_INVALID);
  session = entered("1GiB");
  CHECK(gputest_get_device(session, 0, NULL) == GPUTEST_INVALID);
  CHECK(gputest_end(session, "", NULL) == GPUTEST_INVALID);
  CHECK(gputest_test_ended(session, NULL) == GPUTEST_INVALID);
  CHECK(gputest_begin(session, NULL, "", NULL) == GPUTEST_INVALID);
  CHECK(gputest_parse_bytes(NULL, NULL) == GPUTEST_INVALID);
  gputest_close(session);
}

static void test_can_go_step_by_step(void) {
  gputest_session* const session = entered("1GiB");
  const gputest_request request = of_memory("1GiB");
  gputest_findings findings;
  findings.size = sizeof findings;
  CHECK(gputest_test_begins(session, "steps") == GPUTEST_OK);
  CHECK(gputest_count_unleased(session, "steps") == GPUTEST_OK);
  CHECK(gputest_lease(session, &request, "steps", NULL) == GPUTEST_OK);
  gputest_release(session);
  CHECK(gputest_allocated(session) == -1);
  CHECK(gputest_examine(session, "steps", &findings) == GPUTEST_OK && findings.problem_count == 0);
  gputest_close(session);
}

static void test_a_forked_child_may_not_use_the_session(void) {
  gputest_session* const session = entered("1GiB");
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    const gputest_request request = of_memory("1GiB");
    const int result = gputest_begin(session, &request, "child", NULL);
    CHECK(gputest_device_count(session) == 0);
    gputest_close(session);
    _exit(failures == 0 ? result : 1);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == GPUTEST_ERROR);
  {
    const gputest_request request = of_memory("1GiB");
    CHECK(gputest_begin(session, &request, "parent", NULL) == GPUTEST_OK);
  }
  gputest_close(session);
}

struct waits {
  int calls;
  int at_most;
  char text[512];
};

static int on_wait(const char* text, void* data) {
  struct waits* const waits = data;
  snprintf(waits->text, sizeof waits->text, "%s", text);
  return ++waits->calls >= waits->at_most;
}

static void count_holders(const gputest_claimant* claimant, void* data) {
  if (strcmp(claimant->stage, "holding") == 0 && claimant->lease_bytes == 12ULL << 30) {
    ++*(int*)data;
  }
}

/* A process that holds 12 GiB until the end of a pipe is closed. */
struct holder {
  pid_t pid;
  int end;
};

static struct holder start_holder(void) {
  int ready[2];
  int end[2];
  char byte = 0;
  struct holder holder = {0, 0};
  CHECK(pipe(ready) == 0 && pipe(end) == 0);
  holder.pid = fork();
  holder.end = end[1];
  if (holder.pid == 0) {
    gputest_session* const session = entered("12GiB");
    const gputest_request request = of_memory("12GiB");
    close(end[1]);
    CHECK(gputest_begin(session, &request, "holder", NULL) == GPUTEST_OK);
    CHECK(write(ready[1], &byte, 1) == 1);
    CHECK(read(end[0], &byte, 1) == 0);
    gputest_close(session);
    _exit(failures);
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  return holder;
}

static void end_of_holder(struct holder holder) {
  int status = 0;
  close(holder.end);
  CHECK(waitpid(holder.pid, &status, 0) == holder.pid && status == 0);
}

static gputest_session* session_of_handler;

static void close_session(void) { gputest_close(session_of_handler); }

static void exit_in_handler(int signal) {
  const gputest_request request = of_memory("1GiB");
  (void)signal;
  CHECK(gputest_begin(session_of_handler, &request, "handler", NULL) == GPUTEST_ERROR);
  CHECK(strstr(gputest_message(), "signal handler") != NULL);
  close_session();
  exit(failures == 0 ? 3 : 1);
}

static int raise_signal(const char* text, void* data) {
  (void)text;
  (void)data;
  return raise(SIGUSR1);
}

static void* exit_in_thread(void* data) {
  (void)data;
  gputest_release(session_of_handler);
  close_session();
  exit(3);
}

static int wait_for_thread(const char* text, void* data) {
  pthread_t thread;
  (void)text;
  (void)data;
  return pthread_create(&thread, NULL, exit_in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static void test_exit_may_be_called_during_a_wait(int (*on_wait)(const char*, void*)) {
  const struct holder holder = start_holder();
  int status = 0;
  int holders = 0;
  const pid_t child = fork();
  if (child == 0) {
    const gputest_request request = of_memory("12GiB");
    const gputest_wait wait = {sizeof wait, NULL, on_wait, NULL};
    session_of_handler = entered("12GiB");
    atexit(close_session);
    signal(SIGUSR1, exit_in_handler);
    gputest_begin(session_of_handler, &request, "waiter", &wait);
    _exit(1);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
  CHECK(gputest_status(&settings, count_holders, &holders) == GPUTEST_OK && holders == 1);
  end_of_holder(holder);
}

static void test_a_signal_handler_may_exit_during_a_wait(void) { test_exit_may_be_called_during_a_wait(raise_signal); }

static void test_another_thread_may_exit_during_a_wait(void) { test_exit_may_be_called_during_a_wait(wait_for_thread); }

/* The library asks for it in the middle of its calls, with and without its mutexes. */
static int pids_until_signal;

long syscall(long number, ...);

pid_t getpid(void) {
  if (pids_until_signal > 0 && --pids_until_signal == 0) {
    raise(SIGUSR1);
  }
  return (pid_t)syscall(SYS_getpid);
}

static int signals;

static void begin_in_handler(int number) {
  const gputest_request request = of_memory("1GiB");
  signal(number, begin_in_handler); /* again: it is for one signal */
  ++signals;
  CHECK(gputest_begin(session_of_handler, &request, "handler", NULL) == GPUTEST_ERROR);
  CHECK(gputest_allocated(session_of_handler) == -1);
  gputest_close(session_of_handler);
}

static void test_a_signal_handler_is_refused_wherever_it_has_interrupted_a_call(void) {
  const gputest_request request = of_memory("1GiB");
  gputest_findings findings;
  int asked = 0;
  findings.size = sizeof findings;
  session_of_handler = entered("1GiB");
  signal(SIGUSR1, begin_in_handler);
  while (signals == asked) {
    pids_until_signal = ++asked;
    CHECK(gputest_begin(session_of_handler, &request, "interrupted", NULL) == GPUTEST_OK);
    CHECK(gputest_end(session_of_handler, "interrupted", &findings) == GPUTEST_OK);
    pids_until_signal = 0;
  }
  CHECK(signals > 1);
  gputest_close(session_of_handler);
}

/* on_wait forks, and ends the wait in the child or goes on with it. */
struct fork {
  struct holder holder;
  int calls;
  int result; /* in the child */
  int status; /* of the child */
};

static void count_waiters(const gputest_claimant* claimant, void* data) {
  *(int*)data += strcmp(claimant->stage, "waiting") == 0 && claimant->lease_bytes == 12ULL << 30;
}

static int fork_and_see(const char* text, void* data) {
  struct fork* const forks = data;
  int waiters = 0;
  pid_t child = 0;
  (void)text;
  if (forks->calls++ < 2) {
    forks->result = forks->calls == 1;
    child = fork();
    if (child == 0) {
      return forks->result;
    }
    CHECK(waitpid(child, &forks->status, 0) == child && WIFEXITED(forks->status) && WEXITSTATUS(forks->status) == 3);
    CHECK(gputest_status(&settings, count_waiters, &waiters) == GPUTEST_OK && waiters == 1);
  } else if (forks->calls == 3) {
    close(forks->holder.end);
  }
  return 0;
}

static void test_a_child_that_is_forked_in_a_wait_leaves_it_to_its_parent(void) {
  struct fork forks = {{0, 0}, 0, 0, 0};
  const gputest_request request = of_memory("12GiB");
  const gputest_wait wait = {sizeof wait, NULL, fork_and_see, &forks};
  const pid_t parent = getpid();
  gputest_session* session = NULL;
  int result = 0;
  forks.holder = start_holder();
  session = entered("12GiB");
  result = gputest_begin(session, &request, "waiter", &wait);
  if (getpid() != parent) {
    CHECK(result == (forks.result ? GPUTEST_STOPPED : GPUTEST_ERROR));
    unsetenv("GPUTEST_LEASE_OF");
    gputest_close(entered("1GiB")); /* of its own */
    _exit(failures == 0 ? 3 : 1);
  }
  CHECK(result == GPUTEST_OK && forks.calls >= 3);
  gputest_close(session);
  CHECK(waitpid(forks.holder.pid, &forks.status, 0) == forks.holder.pid && forks.status == 0);
}

/* How a thread ends while it waits. */
struct ends {
  int exits; /* or is cancelled */
  int waits[2];
};

static int end_or_say(const char* text, void* data) {
  const struct ends* const ends = data;
  (void)text;
  if (ends->exits) {
    pthread_exit(NULL);
  }
  CHECK(write(ends->waits[1], "w", 1) == 1);
  return 0;
}

static void* waits_in_a_thread(void* data) {
  const gputest_request request = of_memory("12GiB");
  const gputest_wait wait = {sizeof wait, NULL, end_or_say, data};
  gputest_begin(session_of_handler, &request, "waiter", &wait);
  CHECK(!"reached: the thread has ended");
  return NULL;
}

static void test_a_thread_may_end_while_it_waits(void) {
  const struct holder holder = start_holder();
  struct ends ends = {0, {0, 0}};
  char byte = 0;
  session_of_handler = entered("12GiB");
  CHECK(pipe(ends.waits) == 0);
  for (ends.exits = 0; ends.exits < 2; ++ends.exits) {
    const gputest_request request = of_memory("1GiB");
    gputest_findings findings;
    pthread_t thread;
    findings.size = sizeof findings;
    CHECK(pthread_create(&thread, NULL, waits_in_a_thread, &ends) == 0);
    if (!ends.exits) {
      CHECK(read(ends.waits[0], &byte, 1) == 1 && pthread_cancel(thread) == 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(gputest_begin(session_of_handler, &request, "next", NULL) == GPUTEST_OK);
    CHECK(gputest_end(session_of_handler, "next", &findings) == GPUTEST_OK);
  }
  gputest_close(session_of_handler);
  end_of_holder(holder);
}

static void test_a_wait_can_be_ended(void) {
  const struct holder holder = start_holder();
  int holders = 0;
  {
    gputest_session* const session = entered("12GiB");
    gputest_request request = of_memory("12GiB");
    struct waits waits = {0, 2, ""};
    gputest_wait wait = {sizeof wait, NULL, on_wait, NULL};
    gputest_findings findings;
    findings.size = sizeof findings;
    wait.data = &waits;
    CHECK(gputest_status(&settings, count_holders, &holders) == GPUTEST_OK && holders == 1);
    CHECK(gputest_begin(session, &request, "waiter", &wait) == GPUTEST_STOPPED && waits.calls == 2);
    CHECK(strstr(waits.text, "waiter waits for 12 GiB") != NULL);
    CHECK((strstr(waits.text, "holder") != NULL) == gputest_may_write_notes()); /* CTest may judge what is printed */
    /* The request was taken back: a small one is granted beside the holder, and the next one waits again. */
    request.memory = "1GiB";
    CHECK(gputest_begin(session, &request, "small", &wait) == GPUTEST_OK);
    CHECK(gputest_end(session, "small", &findings) == GPUTEST_OK);
    request.memory = "12GiB";
    wait.limit = "1s";
    waits.at_most = 1000;
    CHECK(gputest_begin(session, &request, "waits too long", &wait) == GPUTEST_FAIL);
    CHECK(strstr(gputest_message(), "1 s") != NULL);
    close(holder.end);
    wait.limit = NULL;
    CHECK(gputest_begin(session, &request, "has waited", &wait) == GPUTEST_OK);
    gputest_close(session);
  }
  {
    int status = 0;
    CHECK(waitpid(holder.pid, &status, 0) == holder.pid && status == 0);
  }
}

static void test_devices_are_shared_out(void) {
  static const char* const expected[] = {"SIM-2x16384MiB-0", "SIM-2x16384MiB-1", "SIM-2x16384MiB-0"};
  gputest_settings two = settings;
  unsigned turn = 0;
  two.devices = "simulated:2x16GiB";
  for (turn = 0; turn < 3; ++turn) {
    uint64_t usable = 0;
    unsetenv("CUDA_VISIBLE_DEVICES");
    CHECK(gputest_choose(&two, 1, turn, &usable) == GPUTEST_OK && usable == 16ULL << 30);
    CHECK(strcmp(getenv("CUDA_VISIBLE_DEVICES"), expected[turn]) == 0);
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(gputest_choose(&two, 0, 0, NULL) == GPUTEST_INVALID);
}

static void in_a_process(void (*test)(void)) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    failures = 0;
    test();
    _exit(failures);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char** argv) {
  settings.size = sizeof settings;
  settings.devices = "simulated:1x16GiB";
  settings.folder = argc > 1 ? argv[1] : NULL;
  settings.log = "off";
  settings.overuse = "fail";
  settings.leaks = "fail";
  test_layout();
  test_texts_and_sizes();
  test_refuses_a_struct_without_its_size();
  test_says_which_request_cannot_be_read();
  test_devices_are_shared_out();
  /* A process has one session in its life. */
  in_a_process(test_a_wait_can_be_ended);
  in_a_process(test_a_signal_handler_may_exit_during_a_wait);
  in_a_process(test_another_thread_may_exit_during_a_wait);
  in_a_process(test_a_signal_handler_is_refused_wherever_it_has_interrupted_a_call);
  in_a_process(test_a_child_that_is_forked_in_a_wait_leaves_it_to_its_parent);
  in_a_process(test_a_thread_may_end_while_it_waits);
  in_a_process(test_leases_and_examines);
  in_a_process(test_refuses_a_session_that_is_null_or_closed);
  in_a_process(test_refuses_null_in_place_of_a_result);
  in_a_process(test_can_go_step_by_step);
  in_a_process(test_a_forked_child_may_not_use_the_session);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
