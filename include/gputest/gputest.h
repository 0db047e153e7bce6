/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPUTEST_GPUTEST_H
#define GPUTEST_GPUTEST_H

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): C99, and its names. */
#include <stddef.h>
#include <stdint.h>

/* gputest for C, and for every language that can call C. The library is libgputest.so.0. A program opens a session,
   asks it for GPU memory before each test (a lease), and gives the memory back afterwards. `examples/c` is a complete
   program.

   Results: a function that can fail returns one of enum gputest_result. For other results than GPUTEST_OK,
   gputest_message() has an explanation. A failed call changes nothing, unless its comment says otherwise.

   Texts are UTF-8 and end with NUL. The library copies texts that it is given. Texts and arrays that it returns belong
   to the library; each comment says for how long they are valid.

   Sizes are given as texts with a unit, such as "3GiB" or "256MiB", and returned as numbers of bytes.

   Threads: every function may be called by any thread. Calls with the same session run one after the other.
   gputest_close() must be the last. A thread may end while it waits, by pthread_cancel(), or by pthread_exit() in
   on_wait: its request is withdrawn. It does not end before an earlier wait with the same session has ended. C
   functions that it has called need unwind tables then, which compilers make by default.

   exit(): a thread may call it while another one waits. gputest_close() does nothing then, and the end of the process
   gives everything back.

   Signal handlers: one that has interrupted a function of the library may call exit(), as a thread may. Functions with
   the session return GPUTEST_ERROR. No other function may be called.

   Forks: a child process must not use its parent's session: calls return GPUTEST_ERROR. It may open its own, and it may
   use the devices while the parent holds a lease. If on_wait forks, the child has no part in the wait.

   Pointers: a session that is NULL or closed, and NULL in place of a result, are refused (GPUTEST_INVALID).

   Structs: fill a struct with zeros, and set its member `size`, if it has one, to its sizeof. The library refuses a
   struct of another version of this header. A member that is 0 or NULL has its default. */

#ifdef __cplusplus
extern "C" {
#endif

enum gputest_result {
  GPUTEST_OK = 0,
  GPUTEST_SKIP = 1,          /* skip the test: it cannot run here; the message has the reason */
  GPUTEST_FAIL = 2,          /* fail the test; the message has the reason */
  GPUTEST_STOPPED = 3,       /* gputest_wait.on_wait ended the wait */
  GPUTEST_INVALID = 4,       /* an argument or a setting is invalid */
  GPUTEST_LEDGER = 5,        /* the ledger cannot be created, cannot be opened, or is damaged */
  GPUTEST_NESTED = 6,        /* this process already holds a lease */
  GPUTEST_OUT_OF_MEMORY = 7, /* a simulated device has too little free memory */
  GPUTEST_ERROR = 8          /* any other error */
};

/* The version of the library, such as "0.1.0". Valid until the process exits. */
const char* gputest_version(void);

/* Explains the last result other than GPUTEST_OK that this thread got; empty before the first. Never NULL. Valid until
   this thread calls another function. */
const char* gputest_message(void);

/* Converts a size such as "1.5GiB" to bytes. GPUTEST_INVALID: it is not a size; `bytes` is unchanged. */
int gputest_parse_bytes(const char* text, uint64_t* bytes);

/* ---- The session ---- */

/* This process's use of the devices. A process has at most one session at a time. It cannot open another one after it
   has closed one that had chosen devices (GPUTEST_ERROR), because its CUDA context takes memory until it exits. */
typedef struct gputest_session gputest_session;

/* Each member has the same meaning and values as an environment variable, and takes precedence over it. */
typedef struct gputest_settings {
  size_t size;
  const char* devices;     /* GPUTEST_DEVICES */
  const char* folder;      /* GPUTEST_DIR: folder of the ledger */
  const char* log;         /* GPUTEST_LOG: folder of the run log */
  const char* name;        /* GPUTEST_TEST: name of this process in messages */
  const char* memory;      /* GPUTEST_MEMORY: for requests without `memory`; here "small" if it is not set */
  const char* large;       /* GPUTEST_LARGE: "exclude", "serial", "wait" */
  const char* run_mode;    /* GPUTEST_RUN_MODE: "serial", "parallel" */
  const char* wait_limit;  /* GPUTEST_WAIT_LIMIT: "20min" */
  const char* forbid_skip; /* GPUTEST_FORBID_SKIP */
  const char* overuse;     /* GPUTEST_OVERUSE: "fail", "warn", "off"; "stop" is taken for "fail" */
  const char* leaks;       /* GPUTEST_LEAKS */
  const char* meter;       /* GPUTEST_METER */
  /* No variable: how messages say what to write, "annotations" (GoogleTest; NULL: this), "tags" (Catch2) or "marks"
     (pytest). */
  const char* notation;
} gputest_settings;

/* Opens the session, and stores it in `session`. `settings` may be NULL: the environment then has all settings. Uses no
   device and does not block. GPUTEST_INVALID: a setting is invalid, or the environment has an unknown variable
   GPUTEST_…; `session` is unchanged. */
int gputest_open(const gputest_settings* settings, gputest_session** session);

/* Releases the lease, closes the session and frees it. GPUTEST_LEASE_OF gets its earlier value back. The memory of the
   process's CUDA context stays counted until the process exits. Does nothing for NULL, for a closed session, and in a
   forked child. Does nothing either while another thread waits, and in a signal handler that has interrupted another
   function. */
void gputest_close(gputest_session* session);

/* Chooses `gpus` devices (1 to 16), fewer if this process may use fewer, and sets CUDA_VISIBLE_DEVICES to them. It
   prefers devices that few processes of the ledger use; processes with successive values of `turn` get different
   devices, if there are enough. A program needs it only if CUDA may start before the needs of its tests are known:
   otherwise gputest_enter() chooses. Call it before gputest_open(), and before other threads run. It opens NVML, which
   takes about 20 ms. It does nothing on a machine without a GPU, or if this process runs under the lease of another
   one. `usable_bytes` may be NULL; it becomes the memory that a process can use on the smallest chosen device, or 0 if
   none was chosen. */
int gputest_choose(const gputest_settings* settings, int gpus, unsigned turn, uint64_t* usable_bytes);

/* What a test needs. Sizes are per device. */
typedef struct gputest_request {
  size_t size;
  /* "small", "medium", "large", "auto" or a size, and " alone" behind it; NULL: gputest_settings.memory. With "auto"
     the lease is no limit: it grows before an allocation, if there is room and each allocation is seen. It begins with
     `bytes`, which the test took in an earlier run; with 0, it is half of a device, one such lease at a time. */
  const char* memory;
  uint64_t bytes;           /* a number of bytes in place of the size of the class in `memory`; 0: none */
  int gpus;                 /* number of devices, 1 to 16; 0: GPUTEST_GPUS, or 1 */
  const char* capabilities; /* what the devices must support, such as "memory_pools sm_80" */
  const char* heap;         /* size of the heap for malloc() in kernels */
  const char* keeps;        /* how much memory may stay allocated after the test */
} gputest_request;

/* Checks the form of a request, whatever devices there are. GPUTEST_INVALID: for example a size without a unit, or an
   unknown capability. gputest_enter() accepts none of its requests if one is invalid; this function tells which one. */
int gputest_check(const gputest_request* request);

/* How to wait. A function that takes it accepts NULL: then all members have their defaults. */
typedef struct gputest_wait {
  size_t size;
  const char* limit; /* the longest wait: "90s", "20min", up to "24h"; NULL: gputest_settings.wait_limit */
  /* Called about every 0.1 s during a wait, by the waiting thread. `text` says what it waits for and, but in
     tests of CTest, which may judge their output, which processes hold it. To end the wait, return a value other than
     0: the request is withdrawn, and the waiting function returns GPUTEST_STOPPED. It must not call functions with this
     session. */
  int (*on_wait)(const char* text, void* data);
  void* data; /* for on_wait */
} gputest_wait;

/* Chooses devices, sets CUDA_VISIBLE_DEVICES and GPUTEST_LEASE_OF, and registers this process in the ledger. `requests`
   are the `count` requests of all tests that will run, as far as they are known. A later request that is larger is
   granted only if it fits beside the contexts of all processes. Call it once in a session, before CUDA starts and
   before other threads run.

   Blocks until a device has room for another process. After GPUTEST_SKIP or GPUTEST_FAIL every gputest_begin() returns
   the same. After GPUTEST_STOPPED only gputest_close() is useful. */
int gputest_enter(gputest_session* session, const gputest_request* requests, size_t count, const gputest_wait* wait);

/* One device. */
typedef struct gputest_device {
  const char* uuid;
  const char* name;
  uint64_t total_bytes;
  int simulated;
} gputest_device;

/* The number of chosen devices; 0 before gputest_enter(), and for a session that is refused. */
size_t gputest_device_count(const gputest_session* session);

/* Describes the device that has the number `index` in CUDA. The texts are valid until gputest_close(). */
int gputest_get_device(const gputest_session* session, size_t index, gputest_device* device);

/* ---- Leases ---- */

/* The test `who` begins: leases memory for it, and blocks until that is free. The lease belongs to the whole process,
   which can hold one at a time (GPUTEST_NESTED). Memory that this process has allocated without a lease before counts
   as its overhead; if it is more than a small test may use, stderr says how much. */
int gputest_begin(gputest_session* session, const gputest_request* request, const char* who, const gputest_wait* wait);

/* How many bytes the test has allocated under its lease and not freed yet, on all devices together. -1: no lease is
   held, or the number is not known exactly. A language with garbage collection can use it to free unused objects before
   gputest_end(). */
int64_t gputest_allocated(gputest_session* session);

/* What the last gputest_end() found. */
typedef struct gputest_findings {
  size_t size;
  int64_t peak_bytes;          /* the most that was allocated on one device at the same time; -1: not known */
  int64_t left_bytes;          /* still allocated at the end of the lease, on all devices together; -1: not known */
  const char* evidence;        /* "exact", "sampled" (the peak may be higher), "unknown"; "": there was no lease */
  const char* overuse;         /* used and leased memory, such as "5 GiB of 256 MiB"; "": no overuse was seen */
  const char* const* problems; /* reasons to fail the test: overuse, leaks, a CUDA error, closed files of gputest */
  size_t problem_count;
} gputest_findings;

/* The test `who` has ended: waits until the devices have finished, trims CUDA's memory pools, releases the lease, if
   one is held, and examines what the test has left. Memory that is still allocated counts from then on as overhead of
   this process. Set `findings->size` before. The texts are valid until the next gputest_end() or gputest_close(). */
int gputest_end(gputest_session* session, const char* who, gputest_findings* findings);

/* The steps of gputest_begin() and gputest_end(), for programs that need them one by one. */

/* Names the test that runs now, for messages and the run log. "" or NULL: none runs. */
int gputest_test_begins(gputest_session* session, const char* who);

/* Counts memory that this process has allocated without a lease as its overhead, and prints on stderr how much it was;
   `where` names the code that allocated it. Does nothing while a lease is held. */
int gputest_count_unleased(gputest_session* session, const char* where);

/* Leases memory for the test `who`, and blocks until it is free (GPUTEST_NESTED: one is held). */
int gputest_lease(gputest_session* session, const gputest_request* request, const char* who, const gputest_wait* wait);

/* Waits until the devices have finished, trims CUDA's memory pools, and releases the lease, if one is held. */
void gputest_release(gputest_session* session);

/* Examines the test `who` after its gputest_release(). The texts are valid as those of gputest_end(). */
int gputest_examine(gputest_session* session, const char* who, gputest_findings* findings);

/* Explains why the test `who` ran out of memory under its lease: which processes use more than they leased, and what to
   do. Empty if there is no explanation. Valid until the next call or gputest_close(). */
const char* gputest_explain_out_of_memory(gputest_session* session, const char* who);

/* ---- Processes in the ledger ---- */

/* One process in the ledger. */
typedef struct gputest_claimant {
  const char* who; /* its test or its command */
  int64_t pid;
  const char* stage;       /* "entering", "inside" (without a lease), "waiting" (for one), "holding" (one), "idle" */
  uint64_t lease_bytes;    /* of the lease that it holds or waits for, per device */
  int whole_devices;       /* whether that lease is for whole devices */
  uint64_t overhead_bytes; /* what the process uses outside of leases, such as its context, per device */
  const char* devices;     /* UUIDs, separated by blanks */
} gputest_claimant;

/* Calls `each` for every process in the ledger, before it returns; `data` is passed on. The struct and its texts are
   valid during that call. Needs no session, does not block, and creates no files. */
int gputest_status(const gputest_settings* settings, void (*each)(const gputest_claimant* claimant, void* data),
                   void* data);

/* ---- For test frameworks ---- */

/* How a test ended, for the run log. */
typedef struct gputest_test_end {
  size_t size;
  const char* suite;
  const char* name;
  const char* result; /* "passed", "failed", "skipped" */
  double seconds;     /* how long it ran */
  const char* reason; /* why it was skipped, or failed */
  const char* file;   /* source file of the test */
  int line;
} gputest_test_end;

/* Writes to the run log how a test ended. */
int gputest_test_ended(gputest_session* session, const gputest_test_end* end);

/* Call it after the last test, with the exit code of the process; 77 means that no test could run. Returns that code.
   In an entry that the launcher does not run, CTest knows by this call that the process did not exit during a test. */
int gputest_report_end(int exit_code);

/* Whether an adapter may write notes, which say nothing is wrong, into the output of this process: 1 or 0. 0 where
   CTest judges an entry by its output (PASS_, FAIL_ or SKIP_REGULAR_EXPRESSION), and in a test of CTest's that is no
   entry of gputest, which CTest may judge so: gputest writes nothing there, or only warnings. */
int gputest_may_write_notes(void);

/* ---- Simulated devices ---- */

/* Memory of a simulated device. It is only counted; no real memory is allocated. */
typedef struct gputest_simulated_buffer gputest_simulated_buffer;

/* Allocates `bytes` of the simulated device with the number `device` in CUDA. Does not wait. GPUTEST_OUT_OF_MEMORY:
   they are not free; `buffer` is unchanged. */
int gputest_simulated_take(uint64_t bytes, int device, gputest_simulated_buffer** buffer);

/* Frees a buffer. Does nothing for NULL. */
void gputest_simulated_give_back(gputest_simulated_buffer* buffer);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif
