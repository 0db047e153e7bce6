/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPUTEST_GPUTEST_H
#define GPUTEST_GPUTEST_H

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): C99, and its names. */
#include <stddef.h>
#include <stdint.h>

/* gputest for C, and for all languages that call C: the library libgputest.so.0. It opens this process's session,
   leases memory of the devices for its tests, and says what they left behind. `examples/c` is a whole program.

   Every function
   - returns one of enum gputest_result, if it can fail; gputest_message() then has the text for people. After anything
     but GPUTEST_OK nothing has changed, unless it says otherwise;
   - takes texts in UTF-8 that end with NUL, and copies what it keeps. A text or an array that it returns belongs to the
     library, and lives as long as it says;
   - takes sizes as texts with a unit ("3GiB", "256MiB"), and returns bytes;
   - may be called by any thread. One session serves one call at a time, and the others wait; gputest_close() has to be
     the last;
   - must not be called in a child that was forked after gputest_open(), with a session of the parent's: GPUTEST_ERROR.
     The child may use the devices while the parent holds a lease, and exits without gputest_close().

   A struct begins with its own size, so that later versions can add members: fill it with zeros, then set `size` to
   sizeof. A member that is 0 or NULL says nothing. */

#ifdef __cplusplus
extern "C" {
#endif

enum gputest_result {
  GPUTEST_OK = 0,
  GPUTEST_SKIP = 1,          /* not now and here: the test is to be skipped, with the text as its reason */
  GPUTEST_FAIL = 2,          /* the test has to fail, with the text as its reason */
  GPUTEST_STOPPED = 3,       /* gputest_wait.on_wait has ended the wait */
  GPUTEST_INVALID = 4,       /* an argument or a setting that cannot be used */
  GPUTEST_LEDGER = 5,        /* the ledger cannot be created, opened or trusted */
  GPUTEST_NESTED = 6,        /* this process holds a lease already */
  GPUTEST_OUT_OF_MEMORY = 7, /* a simulated device has no room */
  GPUTEST_ERROR = 8          /* any other error */
};

/* The version of the library, such as "0.1.0". Lives for ever. */
const char* gputest_version(void);

/* What the last function that this thread called, and that did not return GPUTEST_OK, says about it; never NULL. Lives
   until this thread calls the next function. */
const char* gputest_message(void);

/* Reads a size such as "1.5GiB". */
int gputest_parse_bytes(const char* text, uint64_t* bytes);

/* ---- The session ---- */

/* This process's use of the devices. A process has at most one at a time. After a session that had chosen devices was
   closed, gputest_open() returns GPUTEST_ERROR, because the process's CUDA context counts until it exits. */
typedef struct gputest_session gputest_session;

/* Each member stands for an environment variable, takes what that takes, and takes precedence over it. */
typedef struct gputest_settings {
  size_t size;
  const char* devices;     /* GPUTEST_DEVICES */
  const char* folder;      /* GPUTEST_DIR: of the ledger */
  const char* log;         /* GPUTEST_LOG: folder of the run log */
  const char* name;        /* GPUTEST_TEST: of this process in messages */
  const char* memory;      /* GPUTEST_MEMORY: of a request that says none */
  const char* large;       /* GPUTEST_LARGE: "exclude", "serial", "wait" */
  const char* run_mode;    /* GPUTEST_RUN_MODE: "serial", "parallel" */
  const char* wait_limit;  /* GPUTEST_WAIT_LIMIT: "20min" */
  const char* forbid_skip; /* GPUTEST_FORBID_SKIP */
  const char* overuse;     /* GPUTEST_OVERUSE: "fail", "warn", "off" */
  const char* leaks;       /* GPUTEST_LEAKS */
  const char* meter;       /* GPUTEST_METER */
} gputest_settings;

/* Opens the session. `settings` may be NULL: all by the environment. Touches no device, does not block. Also refuses an
   environment with a variable GPUTEST_… that gputest does not know. */
int gputest_open(const gputest_settings* settings, gputest_session** session);

/* Gives back what the session holds, and closes it; GPUTEST_LEASE_OF becomes what it was. The context of a process
 * counts until the process exits. NULL: nothing. In a forked child: nothing. */
void gputest_close(gputest_session* session);

/* Sets CUDA_VISIBLE_DEVICES to `gpus` of the devices that this process may use (fewer if there are fewer). Processes
   with different `turn` get different ones where there are enough; devices that fewer processes of the ledger use come
   first. For a program in which CUDA may start before it is known what its tests need; without it gputest_enter()
   chooses. Call it before gputest_open(), and before other threads run. Takes what opening NVML takes (20 ms). Does
   nothing without a GPU, and in a process that runs under another one's lease. `usable_bytes`, which may be NULL,
   becomes what a process can have of the smallest of them; 0 if nothing was chosen. */
int gputest_choose(const gputest_settings* settings, int gpus, unsigned turn, uint64_t* usable_bytes);

/* What a test needs. */
typedef struct gputest_request {
  size_t size;
  const char* memory;       /* "small", "medium", "large" or a size, per device; NULL: gputest_settings.memory */
  uint64_t bytes;           /* of a class, per device; 0: what the class says */
  int gpus;                 /* distinct devices, 1 to 16; 0: as the entry says, else 1 */
  const char* capabilities; /* such as "memory_pools sm_80" */
  const char* heap;         /* size of the heap for malloc() in kernels */
  const char* keeps;        /* size of what may stay allocated */
} gputest_request;

/* Whether a request can be read, on whatever machine: GPUTEST_INVALID for a size without a unit or an unknown
   capability. gputest_enter() refuses all of its requests for one that cannot. */
int gputest_check(const gputest_request* request);

/* How to wait. */
typedef struct gputest_wait {
  size_t size;
  const char* limit; /* such as "90s", "20min", up to "24h"; NULL: gputest_settings.wait_limit */
  /* Called every 0.1 s of a wait, in the thread that waits, with what it waits for and who has that. To return other
     than 0 takes the request back, and makes the call return GPUTEST_STOPPED. Must call no function with the session.
   */
  int (*on_wait)(const char* text, void* data);
  void* data;
} gputest_wait;

/* Chooses devices, sets CUDA_VISIBLE_DEVICES and GPUTEST_LEASE_OF, and enters the ledger. `requests` are all that will
   be asked for, as far as known: more may be had later only if there is room for it beside the contexts of all
   processes. Once in a session, before the first use of CUDA, and before other threads run.

   Blocks until a device has room for one more process. GPUTEST_SKIP and GPUTEST_FAIL: every gputest_lease() will say
   the same. After GPUTEST_STOPPED the session is of no more use. `wait` may be NULL. */
int gputest_enter(gputest_session* session, const gputest_request* requests, size_t count, const gputest_wait* wait);

/* One device. */
typedef struct gputest_device {
  const char* uuid;
  const char* name;
  uint64_t total_bytes;
  int simulated;
} gputest_device;

/* How many devices were chosen; 0 before gputest_enter(). */
size_t gputest_device_count(const gputest_session* session);

/* The device that CUDA calls `index`. Its texts live as long as the session. */
int gputest_get_device(const gputest_session* session, size_t index, gputest_device* device);

/* ---- Leases ---- */

/* Leases memory for the test `who`. Blocks until it is free. A lease belongs to the process, not to the thread; a
   process has one at a time (GPUTEST_NESTED). `wait` may be NULL. */
int gputest_lease(gputest_session* session, const gputest_request* request, const char* who, const gputest_wait* wait);

/* The bytes of all devices that the lease's test has allocated and not freed by now; -1: no lease is held, or it is not
   known exactly. For languages that free unused objects late: free them then, before gputest_release(). */
int64_t gputest_allocated(gputest_session* session);

/* Synchronises the devices, trims memory pools, and gives the lease back, if there is one. What is still allocated
   counts as this process's own from then on. */
void gputest_release(gputest_session* session);

/* What was found since the last gputest_examine(). */
typedef struct gputest_findings {
  size_t size;
  int64_t peak_bytes;          /* the most that a lease's test had of one device at a time; -1: not known */
  int64_t left_bytes;          /* of all devices, still allocated when the lease ended; -1: not known */
  const char* evidence;        /* "exact", "sampled" (the peak is a lower bound), "unknown"; "": there was no lease */
  const char* overuse;         /* beyond the lease, such as "5 GiB of 256 MiB"; "": not seen */
  const char* const* problems; /* why the test has to fail: overuse, leaks, an unusable CUDA, lost files */
  size_t problem_count;
} gputest_findings;

/* Call it at the end of each test, after gputest_release(), with `findings->size` set. The texts live until the next
   call, or gputest_close(). */
int gputest_examine(gputest_session* session, const char* who, gputest_findings* findings);

/* Counts memory that this process has taken without a lease as its own, and says on stderr how much `where` took. Call
   it before a lease when code has run that may have taken memory. Does nothing while a lease is held. */
int gputest_count_unleased(gputest_session* session, const char* where);

/* For a test that ran out of memory: who has memory beyond what was leased, and what to do. Lives until the next call.
 */
const char* gputest_explain_out_of_memory(gputest_session* session, const char* who);

/* ---- Who holds what ---- */

/* One process in the ledger. */
typedef struct gputest_claimant {
  const char* who; /* the test, or the command */
  int64_t pid;
  const char* stage;    /* "entering", "inside", "waiting", "holding", "idle" */
  uint64_t lease_bytes; /* held or waited for, per device */
  int whole_devices;
  uint64_t overhead_bytes; /* what the process takes by itself of each of its devices */
  const char* devices;     /* UUIDs, with blanks between them */
} gputest_claimant;

/* Calls `each` for every process in the ledger. The texts live until it returns. Needs no session, creates nothing. */
int gputest_status(const gputest_settings* settings, void (*each)(const gputest_claimant* claimant, void* data),
                   void* data);

/* ---- For test frameworks ---- */

/* How a test has ended. */
typedef struct gputest_test_end {
  size_t size;
  const char* suite;
  const char* name;
  const char* result; /* "passed", "failed", "skipped" */
  double seconds;
  const char* reason; /* of a skip */
  const char* file;   /* where the test is, and its line */
  int line;
  const char* declared_in; /* the source that says its memory, and its line */
  int declared_line;
} gputest_test_end;

/* The test `who` runs from now on; "" or NULL: none. For messages and the run log. */
int gputest_test_begins(gputest_session* session, const char* who);

/* Writes to the run log how a test has ended. */
int gputest_test_ended(gputest_session* session, const gputest_test_end* end);

/* Tells CTest that all tests have ended, in an entry that the launcher does not run. Returns `exit_code`: 0 means that
   tests ran and passed, 77 that none could run. */
int gputest_report_end(int exit_code);

/* ---- Simulated devices ---- */

/* Memory of a simulated device: counted, never touched. */
typedef struct gputest_simulated_buffer gputest_simulated_buffer;

/* Takes `bytes` of the simulated device number `device`. GPUTEST_OUT_OF_MEMORY if they do not fit; does not wait. */
int gputest_simulated_take(uint64_t bytes, int device, gputest_simulated_buffer** buffer);

/* Gives it back. NULL: nothing. */
void gputest_simulated_give_back(gputest_simulated_buffer* buffer);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif
