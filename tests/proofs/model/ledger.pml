/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger's protocol as a Spin model: processes that enter, lease, release, wait, end, and are killed anywhere.
 * `check` verifies it in every configuration of configurations.txt (each asks one question of a small machine), and with
 * every seeded bug. Start reading at the process at the end of this file.
 *
 * What stands for what
 *   mutex              core/ledger/storage/file_lock: FileLock, a kernel lock; a killed holder loses it (slot_fifos.pml: die)
 *   owner, notified    core/ledger/storage/slot_fifos: the writer of a slot's liveness FIFO, and the bytes in its wake-up FIFO
 *   armed, cold        core/ledger/storage/slot_store: LivenessWatches, LivenessWatch and poll(2) (slot_fifos.pml: watch, hung_up)
 *   record[]           core/ledger/record: stage, ticket, owner's pid, devices, and which of its leases it is about. What else
 *                      is in a record (candidates, bytes, flags) is fixed by pid and lease, see the configuration.
 *   own_*[]            core/ledger/own_slot: OwnSlot::record_, what a process's record says or is about to say
 *   decide             core/policy/admission: decide_entering, decide_waiting; core/policy/queues (admission.pml)
 *   next_concerned     core/policy/queues: concerned
 *   reap_next          core/ledger/records: Records::reap, with core/ledger/device_probe: is_back
 *   observe            core/ledger/records: Records::observe, of the memory of those that were seen to end
 *   ahead, ignores     core/ledger/waiting: the waiting processes ahead, and those of them that were seen stopped
 *   grow               core/ledger/ledger: grow; core/policy/queues: with_growing. A lease that has grown is the process's next
 *                      lease: own_lease says so.
 *   process            core/ledger/ledger: enter, lease, release; core/ledger/own_slot: take; core/ledger/waiting: next_step, and what is done by it; core/ledger/records: look_at;
 *                      and its end
 *   in_use             the device's memory: the context from entering to the end, the lease's bytes while it is held
 *   go_idle, idle      core/ledger/ledger: set_idle, resume; and a worker that ends because it was asked to leave
 *
 * Steps
 * One step of a process has at most one effect that others can see (a record written, a process notified, a FIFO opened or
 * let go, memory taken or given back, the devices observed), with what the process reads and decides before, under the mutex
 * or of its own. Reading and the mutex itself need no steps: nobody else writes records meanwhile, and a process killed
 * between locking the mutex and its first write leaves what it would leave killed before. The last effect under the mutex
 * and unlocking are one step for the same reason. BUG_NO_MUTEX separates reading and writing. Before each step a process may
 * be killed. A process is one life; who replaces a killed process is another process with a number of its own.
 * Death has three steps: the mutex is free at once; the liveness FIFO falls silent later; the memory comes back later still,
 * or earlier, in any order. A normal end is a death that costs no kill.
 * Whoever waits for the mutex, sleeps, is inside or has ended keeps nothing in its variables that no later step reads.
 * The ticket of a process that neither waits nor holds a lease is 0 here: only the order of the others' counts.
 *
 * No time-outs: poll() here ends only by a notification, a hang-up, a deadline that came (so that the process gives up); by
 * the return of dead processes' memory, if the process waits for it (the code looks every 3 ms); or because a process
 * ahead was stopped or continued (the code looks every 500 ms). Time-outs that merely look again, `notice_at`, and the wait
 * for external processes are left out, so nothing is woken by them, and nobody enters before one that waits for them.
 *
 * Checked
 *   budget   in_use on a device never exceeds its capacity, the dead's memory included: allocate()
 *   crowd    nor do more processes have memory of a device than may be on it, the dead included
 *   order    nobody alive that arrived earlier in the same queue, and was not stopped, is passed where nobody may pass it:
 *            check_order()
 *   reserve  nobody waits for a lease because of the leases of later arrivals, or because others have grown since it
 *            waits: check_reservations()
 *   quiet    whenever only sleepers, stopped processes and processes busy with a test are left, the dead's memory is back, and
 *            nobody who sleeps could go on, by the truth and not by the records: oracle.pml
 *   deadlock in the same states, if nobody is busy with a test or stopped, nobody sleeps
 *   resumed  nobody takes work while it alone keeps out a claim that waits for its turn: check_resumed()
 *   excluded nobody is refused what it may not wait for because of processes that are idle: check_not_excluded()
 *   stuck    every other state has a step
 *
 * Variants, not bugs
 *   PROBE_WITHOUT_LIST    is_back() of a device whose driver lists no processes: nothing at all is in use. (That no more
 *                         is in use than the others claim is not enough: BUG_PROBE_COUNTS_CLAIMS. A claim whose
 *                         owner has not allocated yet hides memory of the dead.)
 *   PROBE_LISTS_CHILDREN  is_back() of a device whose list has ended processes that are not on the ledger, which the dead
 *                         may have started: none of those is listed. (BUG_PROBE_KNOWS_NO_CHILDREN: as if they were nobody's.)
 *
 * Left out: external processes' memory, and observations that are made again because of it; the age of an observation;
 * refusals; set_overhead and what is for contexts that grow (is_stuck, everybody_waits); a lease larger than announced
 * (may_raise); entering without room; forked children (a liveness FIFO that falls silent late stands for them); the parts of
 * other users; a ledger that is being built; failing system calls; more than 64 devices, 1024 slots, 2^64 tickets.
 */

#define OUTSIDE 0
#define ENTERING 1
#define INSIDE 2
#define WAITING 3
#define HOLDING 4
#define IDLE 5

#define NOBODY 15
#define BIT(n) (1 << (n))
#define HAS(set, n) (((set) >> (n)) & 1)

/* Defaults of what a configuration may define. `p` is a process, `k` its lease: 1, 2, ... */
#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef CANDIDATES
#define CANDIDATES(p) 1
#endif
#ifndef GPUS
#define GPUS(p) 1
#endif
#ifndef OVERHEAD
#define OVERHEAD(p) 1
#endif
#ifndef MOST_ON /* processes on a device; more than there are: as many as fit */
#define MOST_ON(d) 15
#endif
#ifndef LEASES
#define LEASES(p) 1
#endif
#ifndef SLOTS
#define SLOTS PROCESSES
#endif
#ifndef AT_ONCE /* the others replace processes that have ended */
#define AT_ONCE PROCESSES
#endif
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef STOPS
#define STOPS 0
#endif
#ifndef MAY_BE_STOPPED
#define MAY_BE_STOPPED(p) true
#endif
#ifndef WHOLE_DEVICES
#define WHOLE_DEVICES(p) false
#endif
#ifndef EXCLUSIVE
#define EXCLUSIVE(p, k) false
#endif
#ifndef MEDIUM_LOCK
#define MEDIUM_LOCK(p, k) false
#endif
#ifndef LEASE_DEVICES /* of those it entered */
#define LEASE_DEVICES(p, k) 3
#endif
#ifndef MAY_BE_KILLED
#define MAY_BE_KILLED(p) true
#endif
#ifdef WORKER /* stays idle between its leases and after them, until it is asked to leave */
#define WORKERS
#else
#define WORKER(p) false
#endif
#ifndef GROWS /* (p, k): while it holds the lease k, it may ask for the next one, of the same devices, in its place */
#define GROWS(p, k) false
#else
#define GROWING
#endif
#ifndef HAS_DEADLINE
#define HAS_DEADLINE(p) true
#endif
#ifndef MAY_WAIT
#define MAY_WAIT(p, k) true
#endif

typedef Record {
  byte stage;
  byte ticket;
  byte who;
  byte devices;
  byte lease;
  byte behind /* see decide() */
};

Record record[SLOTS];
byte mutex = NOBODY;
byte kills = KILLS;     /* that may still come */
#if DEADLINES
byte deadlines = DEADLINES;
#endif
byte owner[SLOTS] = NOBODY; /* who has a slot's liveness FIFO open for writing */
bool notified[SLOTS];
byte armed[PROCESSES];      /* slots whose hang-up would end the process's poll() */
byte cold[PROCESSES];       /* slots opened when nobody had their FIFO: no hang-up before somebody has come and gone */

byte own_stage[PROCESSES];
byte own_ticket[PROCESSES];
byte own_devices[PROCESSES];
byte own_lease[PROCESSES];
byte slot[PROCESSES] = NOBODY;

bool alive[PROCESSES];
bool asleep[PROCESSES];     /* in poll() */
bool busy[PROCESSES];       /* with a test or with its own affairs, for as long as it likes */
bool deadline[PROCESSES];   /* Patience::until has passed */
byte dead[PROCESSES];       /* processes whose memory the sleeper waits for */
#if STOPS
bool stopped[PROCESSES];
bool was_stopped[PROCESSES]; /* for the oracle: since it joined its queue */
byte ignores[PROCESSES];     /* those ahead of it that it saw stopped */
byte ahead[PROCESSES];       /* Waiting::ahead_among: those in the way that ask and come before */
#endif
byte in_use[PROCESSES];     /* of the device's memory: 0 nothing, 1 the context, 2 the lease as well */
#ifdef GROWING
byte grown_past[PROCESSES]; /* for the oracle: those that waited when its lease grew, and wait still */
#endif
byte arrival[PROCESSES];    /* for the oracle: place in the order of arrival of the queue it is in; 0: in none */
#if AT_ONCE < PROCESSES
byte ended; /* number of processes that have ended */
#endif
#ifdef IDENTICAL /* processes: then they may as well arrive in the order of their numbers */
#define IN_ORDER
#endif
#ifdef LEASES_IN_ORDER /* the processes ask for their one lease in the order of their numbers */
byte leased;
#endif
#ifdef IN_ORDER
byte arrived;
#endif

#define WANTED(p, k, devices) (LEASE_DEVICES(p, k) & (devices))

hidden byte x_ended, x_q;
hidden byte x_figure;

inline forget_who() {
  x_s = 0;
  do
  :: x_s < SLOTS -> who_in[x_s] = NOBODY; x_s++
  :: else -> break
  od;
  x_s = 0
}

/* As remember_who(), of everybody who is there. */
inline remember_slots() {
  x_s = 0;
  do
  :: x_s < SLOTS -> who_in[x_s] = (record[x_s].stage != OUTSIDE -> record[x_s].who : NOBODY); x_s++
  :: else -> break
  od;
  x_s = 0
}

#ifdef BUG_EVIDENCE_OF_THE_SLOT
#define FORGET_GONE_SLOTS gone_slots = 0
#define GONE_SLOTS gone_slots = gone_slots | x_ended_slots; x_ended_slots = 0
hidden byte x_ended_slots;
#define ADD_GONE_SLOTS(slots) gone_slots = gone_slots | (slots)
#else
#define FORGET_GONE_SLOTS skip
#define GONE_SLOTS skip
#define ADD_GONE_SLOTS(slots) skip
#endif

/* gone: those who were in these slots. */
inline add_gone(slots) {
  ADD_GONE_SLOTS(slots);
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: HAS(slots, x_s) && who_in[x_s] != NOBODY ->
        gone = gone | BIT(who_in[x_s])
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}

#if STOPS
#define RUNS(p) (!stopped[p])
#define IGNORE_STOPPED(p) me_ignores = ignores[p]
#define FORGET_STOPPED(p) ignores[p] = 0; ahead[p] = 0
#define LOOK_WHO_IS_STOPPED(p) look_who_is_stopped(p)
#define REMEMBER_WHO_IS_AHEAD(p) ahead_among_blockers(p)
#define IS_STOPPED(p) stopped[p]
#define WAS_STOPPED(p) was_stopped[p]
#else
#define RUNS(p) true
#define IGNORE_STOPPED(p) skip
#define FORGET_STOPPED(p) skip
#define LOOK_WHO_IS_STOPPED(p) skip
#define REMEMBER_WHO_IS_AHEAD(p) skip
#define IS_STOPPED(p) false
#define WAS_STOPPED(p) false
#endif

#ifdef GROWING
#define GROW(p)                                                                                                        \
  :: RUNS(p) && GROWS(p, own_lease[p]) -> goto grow
#define AFTER_ASKING(p)                                                                                                \
  if                                                                                                                   \
  :: own_stage[p] == HOLDING -> goto look_again                                                                        \
  :: else -> goto sleep                                                                                                \
  fi
#define FORGET_GROWTH(p) forget_growth(p)
#else
#define GROW(p)
#define AFTER_ASKING(p) goto sleep
#define FORGET_GROWTH(p) skip
#endif

#ifdef LEASES_IN_ORDER
#define ITS_TURN_TO_LEASE(p) (own_stage[p] != INSIDE || leased == p)
#define NEXT_MAY_LEASE leased++
#else
#define ITS_TURN_TO_LEASE(p) true
#define NEXT_MAY_LEASE skip
#endif

#ifdef BUG_DRAIN_AFTER_THE_LOOK
#define DRAIN(p) skip
#define DRAIN_BEFORE_SLEEPING(p) notified[slot[p]] = false
#else
#define DRAIN(p) notified[slot[p]] = false
#define DRAIN_BEFORE_SLEEPING(p) skip
#endif

#include "slot_fifos.pml"
#include "admission.pml"
#include "oracle.pml"
#include "device_probe.pml"

#ifdef BUG_NO_MUTEX
#define MUTEX_IS_FREE(p) true
#define TAKE_MUTEX(p) skip
#define UNLOCK(p) skip
#define BETWEEN_READING_AND_WRITING }; atomic {
#else
#define MUTEX_IS_FREE(p) (mutex == NOBODY || mutex == p)
#define TAKE_MUTEX(p) mutex = p
#define UNLOCK(p) mutex = NOBODY
#define BETWEEN_READING_AND_WRITING
#endif

/* Whom a process notifies. */
#define NONE 0
#define CONCERNED 1
#define QUEUED 2

#ifdef WORKERS
#define FIND_WHO_LEAVES                                                                                                \
  leave = x_leave & ~dead_slots;                                                                                       \
  goes_on = x_enough;                                                                                                  \
  x_s = 0;                                                                                                             \
  x_d = true;                                                                                                          \
  do                                                                                                                   \
  :: x_s < SLOTS -> x_d = x_d && (!HAS(blockers & ~dead_slots, x_s) || LEAVES(x_s)); x_s++                             \
  :: else -> break                                                                                                     \
  od;                                                                                                                  \
  goes_on = goes_on || x_d;                                                                                            \
  x_s = 0;                                                                                                             \
  x_d = 0
#ifdef BUG_EXCLUDED_BY_IDLE
#define GOES_ON false
#else
#define GOES_ON goes_on
#endif
#ifdef BUG_ASKS_NOBODY_TO_LEAVE
#define UNLOCK_UNLESS_SOMEBODY_LEAVES(p) LEAVES_NOBODY; UNLOCK(p)
#else
#define UNLOCK_UNLESS_SOMEBODY_LEAVES(p)                                                                               \
  goes_on = false;                                                                                                     \
  if                                                                                                                   \
  :: leave == 0 -> UNLOCK(p)                                                                                           \
  :: else                                                                                                              \
  fi
#endif
#define ASK_THEM_TO_LEAVE                                                                                              \
  if                                                                                                                   \
  :: leave != 0 -> goto ask                                                                                            \
  :: else                                                                                                              \
  fi
#define LEAVES_NOBODY leave = 0; goes_on = false
#define FORGET_WHO_LEAVES(p)                                                                                           \
  LEAVES_NOBODY;                                                                                                       \
  if                                                                                                                   \
  :: !granted && !deadline[p] && own_stage[p] == WAITING -> check_not_excluded(p)                                      \
  :: else                                                                                                              \
  fi
#else
#define FIND_WHO_LEAVES skip
#define GOES_ON false
#define UNLOCK_UNLESS_SOMEBODY_LEAVES(p) UNLOCK(p)
#define ASK_THEM_TO_LEAVE skip
#define LEAVES_NOBODY skip
#define FORGET_WHO_LEAVES(p) skip
#endif

/* What follows a look. */
#define DONE 0
#define SLEEPS 1
#define PROBES 2

/* Records::write(own_): one pwrite. */
inline clear_record(s) {
  record[s].stage = OUTSIDE;
  record[s].ticket = 0;
  record[s].who = 0;
  record[s].devices = 0;
  record[s].behind = 0;
  record[s].lease = 0
}

inline write_own(p, is_behind) {
  if
  :: own_stage[p] == OUTSIDE -> clear_record(slot[p])
  :: else ->
     record[slot[p]].stage = own_stage[p];
     record[slot[p]].ticket = own_ticket[p];
     record[slot[p]].who = p;
     record[slot[p]].devices = own_devices[p];
     record[slot[p]].behind = is_behind;
     record[slot[p]].lease = own_lease[p]
  fi
}

/* DeviceProbe::observe, without the mutex: x_back has the processes whose memory is not in use, by the driver's list,
   among those that were seen to end before. */
inline observe(seen_to_end) {
  x_back = 0;
  x_q = 0;
  do
  :: x_q < PROCESSES ->
     if
     :: HAS(seen_to_end, x_q) ->
#if defined(BUG_BYTES_OF_THE_DEAD_AT_ONCE)
        x_back = x_back | BIT(x_q)
#elif defined(PROBE_WITHOUT_LIST) || defined(PROBE_LISTS_CHILDREN)
        figure_is_back(x_q);
        x_back = x_back | (x_figure -> BIT(x_q) : 0)
#else
        x_back = x_back | (in_use[x_q] == 0 -> BIT(x_q) : 0)
#endif
     :: else
     fi;
     x_q++
  :: else -> break
  od;
  x_q = 0;
  x_figure = false
}
/* Without the mutex, after ends were seen. In one step with that: what comes back in between comes back later as well. */
#ifdef BUG_OBSERVED_BEFORE_THE_END_WAS_SEEN
#define LOOK_TOO_EARLY(p) observe(EVERYBODY); back = x_back; x_back = 0
#define LOOK_AT_DEVICES(p) LOOK_WHO_IS_STOPPED(p)
#else
#define LOOK_TOO_EARLY(p) skip
#define LOOK_AT_DEVICES(p) observe(SEEN_TO_END); back = x_back; x_back = 0; LOOK_WHO_IS_STOPPED(p)
#endif
#define EVERYBODY ((1 << PROCESSES) - 1)
#ifdef BUG_EVIDENCE_OF_THE_SLOT
#define SEEN_TO_END EVERYBODY
#else
#define SEEN_TO_END gone
#endif

#ifdef BUG_EVIDENCE_OF_THE_SLOT /* whoever has the slot now */
#define EVIDENCE(s) HAS(gone_slots, s)
#else
#define EVIDENCE(s) HAS(gone, record[s].who)
#endif

#ifdef WORKERS
#define GO_IDLE :: WORKER(i) -> goto go_idle
#else
#define GO_IDLE
#endif
#define NEXT_LEASE                                                                                                     \
  if                                                                                                                   \
  GO_IDLE                                                                                                              \
  :: own_lease[i] < LEASES(i) -> goto look /* also a worker that is kept for its next case */                          \
  :: else -> goto no_more_leases                                                                                       \
  fi

/* One step of a process is what nobody can tell apart from the outside: at most one write, notification or other thing
   that others may see, with all that it reads and decides before. Before each step it may be killed. */
inline kill_here(p) {
  d_step { kills > 0 && MAY_BE_KILLED(p) -> kills--; die(p); forget_all() }
}

inline forget_all() {
  n = 0;
  blockers = 0;
  forget_who();
  dead_slots = 0;
  gone = 0;
  back = 0;
  probed = 0;
  left = 0;
  behind = 0;
  granted = 0;
  queued = false;
  wrote = false;
  mode = NONE;
  LEAVES_NOBODY;
  FORGET_GONE_SLOTS
}

/* Records::reap up to its next write: `wrote`; n is the slot after that one. */
inline reap_next(p) {
  do
  :: n == SLOTS || wrote -> break
  :: else ->
     if
     :: record[n].stage != OUTSIDE && n != slot[p] && EVIDENCE(n) ->
        if
        :: record[n].devices == 0 || HAS(back, record[n].who) -> clear_record(n); wrote = true
        :: else ->
           wrote = record[n].stage == WAITING || record[n].stage == IDLE;
           record[n].stage = (wrote -> INSIDE : record[n].stage);
           dead_slots = dead_slots | BIT(n)
        fi
     :: else
     fi;
     n++
  od;
  n = (wrote -> n : 0)
}

/* Whom notify_concerned() and notify_all_queued() notify: the next one from slot n on, else n is NOBODY. */
inline next_to_notify() {
  if
  :: mode == CONCERNED -> next_concerned(n, left)
  :: mode == QUEUED -> next_queued(n)
  :: else -> n = SLOTS
  fi;
  if
  :: n == SLOTS -> n = NOBODY; mode = NONE; left = 0
  :: else
  fi
}

#if STOPS
/* Waiting::ahead_among: the processes in the way that ask and come before. Whoever waits looks every 500 ms, without the
   mutex, whether one of them is stopped, and whether those that it ignores still are. */
inline ahead_among_blockers(p) {
  ahead[p] = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: HAS(blockers, x_s) &&
        (record[x_s].stage == IDLE ||
         ((record[x_s].stage == ENTERING || record[x_s].stage == WAITING) &&
          (record[x_s].stage != own_stage[p] || record[x_s].ticket < own_ticket[p]))) &&
        !HAS(ignores[p], record[x_s].who) ->
        ahead[p] = ahead[p] | BIT(record[x_s].who)
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}

inline look_who_is_stopped(p) {
  o_q = 0;
  do
  :: o_q < PROCESSES ->
     if
     :: HAS(ignores[p] | ahead[p], o_q) && stopped[o_q] -> ignores[p] = ignores[p] | BIT(o_q)
     :: else -> ignores[p] = ignores[p] & ~BIT(o_q)
     fi;
     o_q++
  :: else -> break
  od;
  o_q = 0;
  ahead[p] = 0
}
#endif

/* Of whom the sleeper looks every 3 ms whether its memory is back: those in `gone` that are still on the ledger. */
inline waits_for_the_dead(p) {
  dead[p] = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: HAS(dead_slots, x_s) -> dead[p] = dead[p] | BIT(record[x_s].who)
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}

/* The identities of those in the way, which probes without the mutex are about. */
inline remember_who() {
  x_s = 0;
  do
  :: x_s < SLOTS -> who_in[x_s] = (HAS(blockers, x_s) -> record[x_s].who : NOBODY); x_s++
  :: else -> break
  od;
  x_s = 0
}

/* x_p: processes in who_in; x_ended: those of them whose liveness FIFO nobody holds. */
inline probe_blockers() {
  x_p = 0;
  x_ended = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: HAS(blockers, x_s) && who_in[x_s] != NOBODY ->
        x_p = x_p | BIT(who_in[x_s]);
#ifdef BUG_EVIDENCE_OF_THE_SLOT
        x_ended_slots = x_ended_slots | (LIVES(x_s) -> 0 : BIT(x_s));
#endif
        x_ended = x_ended | (LIVES(x_s) -> 0 : BIT(who_in[x_s]))
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}

/* Without the mutex: who of those in who_in has ended, and whose memory is back. */
inline probe_all() {
  blockers = (1 << SLOTS) - 1;
  probe_blockers();
  gone = x_ended;
  GONE_SLOTS;
  blockers = 0;
  forget_who();
  observe(SEEN_TO_END);
  back = x_back;
  x_back = 0
}

/* One notification is a step. */
inline notify_next() {
  notify(n);
  n++;
  next_to_notify()
}

/* After a decision that ends its waiting: those that it kept waiting. */
inline choose_whom_to_notify(p) {
  if
  :: queued && granted && own_stage[p] == WAITING ->
     mode = NONE;
#ifndef BUG_NO_NOTIFY_AFTER_GRANT
#ifndef BUG_NOTIFY_NO_FOLLOWER
     left = own_ticket[p];
#endif
     mode = CONCERNED
#endif
  :: queued && granted && own_stage[p] == ENTERING ->
     mode = NONE;
#if defined(BUG_NOTIFY_ONLY_HEADS_AFTER_ENTERING)
     mode = CONCERNED
#elif !defined(BUG_NO_NOTIFY_AFTER_GRANT)
     mode = QUEUED
#endif
  :: queued && !granted ->
     mode = NONE;
#if defined(BUG_NOTIFY_ONLY_HEADS_AFTER_GIVING_UP)
     mode = CONCERNED
#elif !defined(BUG_NO_NOTIFY_AFTER_GIVING_UP)
     mode = QUEUED
#endif
  :: else
  fi
}

/* poll() returns. It drains its FIFO, and looks at the devices before it takes the mutex. */
inline wake(p) {
  hung_up(p);
  add_gone(x_bytes);
  x_bytes = 0;
  DRAIN(p);
  LOOK_AT_DEVICES(p);
  asleep[p] = false;
  dead[p] = 0;
  blockers = 0;
  forget_who()
}

/* probed: those in the way that were not probed yet. */
inline not_yet_probed() {
  x_p = 0;
  x_s = 0;
  do
  :: x_s < SLOTS -> x_p = x_p | (who_in[x_s] != NOBODY -> BIT(who_in[x_s]) : 0); x_s++
  :: else -> break
  od;
  probed = (x_p & ~probed)
}

/* LivenessWatches::watch: opens and probes the next FIFO in the way that is not open since an earlier look; n is the slot
   after it. dead_slots: those that nobody has. */
inline watch_next(p) {
#ifdef BUG_NO_WATCH
  blockers = 0;
  forget_who();
#endif
  armed[p] = armed[p] & blockers;
  cold[p] = cold[p] & blockers;
  do
  :: n < SLOTS && !(HAS(blockers, n) && !HAS(armed[p] | cold[p], n)) -> n++
  :: else -> break
  od;
  if
  :: n < SLOTS ->
     watch(p, n);
#ifndef BUG_NO_PROBE_AFTER_OPENING
     if
     :: LIVES(n)
     :: else ->
        dead_slots = dead_slots | BIT(n)
#ifndef BUG_KEEPS_WATCHES_OF_THE_ENDED
        ; armed[p] = armed[p] & ~BIT(n);
        cold[p] = cold[p] & ~BIT(n)
#endif
     fi;
#endif
     n++;
#ifdef BUG_WATCH_ONE_BLOCKER
     n = SLOTS
#endif
  :: else
  fi;
  do
  :: n < SLOTS && !(HAS(blockers, n) && !HAS(armed[p] | cold[p], n)) -> n++
  :: else -> break
  od
}

/* The process begins to use what it was granted. */
inline allocate(p, what) {
  in_use[p] = what;
  x_d = 0;
  do
  :: x_d < DEVICES ->
     bytes_in_use(x_d);
     assert(x_bytes <= CAPACITY(x_d)); /* budget */
     processes_on(x_d);
     assert(o_beside <= MOST_ON(x_d)); /* crowd */
     x_d++
  :: else -> break
  od;
  x_d = 0;
  x_bytes = 0
}


#ifdef START_INSIDE /* everybody has entered, one after the other, before anybody leases */
inline begin_inside(p) {
  alive[p] = true;
  take(p);
  own_stage[p] = INSIDE;
  own_devices[p] = CANDIDATES(p);
  write_own(p, 0);
  in_use[p] = 1;
  busy[p] = true
}
#endif

proctype process(byte i) {
  byte n;                      /* of loops */
  byte blockers;               /* Evaluation::living, by slot */
  byte who_in[SLOTS] = NOBODY; /* and the processes that were there */
  byte dead_slots;             /* Evaluation::dead: those in the way that have ended and whose memory is not back */
  byte gone;                   /* processes in the way that were seen to end: wait_for_grant's `ended` */
  byte back;                   /* those of them whose memory a later look at the devices showed to be back */
  byte probed;                 /* processes that were probed before giving up, and were alive */
#ifdef BUG_EVIDENCE_OF_THE_SLOT
  byte gone_slots;
#endif
  byte granted;                /* devices; 0: wait */
  bool queued;                 /* others may have seen this claim wait */
  byte mode = NONE;            /* whom it notifies before it lets the mutex go */
  byte left;                   /* the ticket that was granted a lease, for next_concerned() */
  byte behind;                 /* see decide() */
  bool wrote;
#ifdef WORKERS
  byte leave;                  /* slots of the idle that it asks to leave before it lets the mutex go */
  bool goes_on;                /* it may not wait, but for those that leave */
#endif

#ifdef START_INSIDE
#ifdef WORKERS
  NEXT_LEASE;
#else
  goto look;
#endif
#endif
  /* OwnSlot::take: reads who is there under the mutex; without it probes them all, and looks at the devices. */
  atomic {
#if AT_ONCE < PROCESSES
    i < AT_ONCE || ended > i - AT_ONCE;
#endif
#ifdef IN_ORDER
    arrived == i;
    arrived++;
#endif
    MUTEX_IS_FREE(i);
    d_step {
      alive[i] = true;
      remember_slots()
    }
  };
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) ->
       d_step {
         probe_all()
       }
    fi
  };
  /* Then Records::reap, and the first slot that nobody has. */
take_slot:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) && MUTEX_IS_FREE(i) -> TAKE_MUTEX(i)
    fi;
    d_step { reap_next(i) };
    if
    :: wrote -> wrote = false; goto take_slot
    :: else
    fi;
    d_step {
      dead_slots = 0;
      gone = 0;
      back = 0;
      FORGET_GONE_SLOTS;
      take(i);
      own_stage[i] = ENTERING;
#ifndef BUG_NO_NOTIFY_AFTER_TAKING
      mode = QUEUED;
#endif
      next_to_notify()
    };
    if
    :: n == NOBODY -> n = 0; goto look
    :: else
    fi
  };
notify_after_taking:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) -> d_step { notify_next() }
    fi;
    if
    :: n == NOBODY -> n = 0
    :: else -> goto notify_after_taking
    fi
  };

  /* wait_for_grant, for enter() and then for each lease(). */
look:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) && !asleep[i] && MUTEX_IS_FREE(i) && ITS_TURN_TO_LEASE(i) -> TAKE_MUTEX(i)
    :: RUNS(i) && asleep[i] && AWAKE(i) -> d_step { wake(i) }; goto look
#if STOPS /* it looked who is stopped less than 500 ms ago */
    :: RUNS(i) && asleep[i] && NOTIFIED_OR_HUNG_UP(i) -> d_step { ahead[i] = 0; wake(i) }; goto look
#endif
#if DEADLINES
    :: RUNS(i) && asleep[i] && deadlines > 0 && !deadline[i] && HAS_DEADLINE(i) ->
       d_step { deadlines--; deadline[i] = true; wake(i) };
       goto look
#endif
    fi;
    d_step {
      if
      :: own_stage[i] == INSIDE -> /* Ledger::lease */
         busy[i] = false;
         own_lease[i] = own_lease[i] + 1;
         own_stage[i] = WAITING;
         NEXT_MAY_LEASE
      :: else
      fi;
      reap_next(i)
    };
    if
    :: wrote -> wrote = false; goto look
    :: else
    fi;
    d_step {
      if
      :: !queued -> arrive(i)
      :: else
      fi;
      me_is(slot[i], own_stage[i], own_ticket[i], i, own_devices[i], own_lease[i]);
      IGNORE_STOPPED(i);
      decide();
      granted = x_granted;
      blockers = x_blockers;
      behind = x_behind;
      FIND_WHO_LEAVES;
      forget_decision();
      dead_slots = dead_slots & blockers;
      blockers = blockers & ~dead_slots; /* from here on Evaluation::living */
      waits_for_the_dead(i);
      gone = dead[i];
      dead_slots = 0;
      back = 0;
      FORGET_GONE_SLOTS;
      remember_who();
      REMEMBER_WHO_IS_AHEAD(i);
      not_yet_probed();
      n = (granted != 0 -> DONE : (!(deadline[i] || (!MAY_WAIT(i, own_lease[i]) && blockers != 0 && !GOES_ON))
                                     -> SLEEPS : (probed == 0 -> DONE : PROBES)))
    };
    BETWEEN_READING_AND_WRITING
    if
    :: n == SLEEPS ->
       d_step {
         n = 0;
         probed = 0;
         if
         :: !queued -> write_own(i, behind); queued = true
#ifndef BUG_OLD_PLACE_IN_THE_RECORD
         :: queued && behind != record[slot[i]].behind -> write_own(i, behind)
#endif
         :: else
         fi;
         behind = 0;
         UNLOCK_UNLESS_SOMEBODY_LEAVES(i)
       };
       ASK_THEM_TO_LEAVE;
       goto sleep
    :: n == PROBES ->
       d_step {
         n = 0;
         LEAVES_NOBODY;
         behind = 0;
         if
         :: !queued -> arrival[i] = 0; own_ticket[i] = 0 /* it is in no queue */
         :: else
         fi;
         UNLOCK(i)
       };
       goto probe
    :: else ->
       d_step {
         n = 0;
         FORGET_WHO_LEAVES(i);
         check_order(i);
         depart(i);
         choose_whom_to_notify(i);
         if
         :: granted && own_stage[i] == ENTERING -> own_stage[i] = INSIDE; own_devices[i] = granted
         :: granted && own_stage[i] == WAITING -> own_stage[i] = HOLDING
         :: !granted && own_stage[i] == ENTERING -> own_stage[i] = OUTSIDE
         :: !granted && own_stage[i] == WAITING -> own_stage[i] = INSIDE
         fi;
         own_ticket[i] = (own_stage[i] == HOLDING -> own_ticket[i] : 0);
         granted = 0;
         queued = false;
         blockers = 0;
         gone = 0;
         back = 0;
         probed = 0;
         forget_who();
         dead[i] = 0;
         armed[i] = 0;
         cold[i] = 0;
         deadline[i] = false;
         FORGET_STOPPED(i);
         behind = 0;
         write_own(i, behind);
         check_reservations();
         next_to_notify()
       };
       if
       :: n == NOBODY -> n = 0; UNLOCK(i); goto granted_or_not
       :: else
       fi
    fi
  };
notify_after_waiting:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) -> d_step { notify_next() }
    fi;
    if
    :: n == NOBODY -> n = 0; UNLOCK(i); goto granted_or_not
    :: else -> goto notify_after_waiting
    fi
  };

  /* Not because of those who have ended and were not seen to: it probes those in the way, without the mutex, and looks
     again. */
probe:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) ->
       d_step {
         probe_blockers();
         gone = gone | x_ended;
         GONE_SLOTS;
         probed = x_p & ~x_ended;
         LOOK_AT_DEVICES(i);
         blockers = 0;
         forget_who()
       };
       goto look
    fi
  };

  /* Waiting::sleep: watches the living among those in the way, without the mutex. */
sleep:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) ->
       d_step {
         LOOK_TOO_EARLY(i);
         DRAIN_BEFORE_SLEEPING(i);
         watch_next(i);
         if
         :: n < SLOTS
         :: n == SLOTS && dead_slots != 0 ->
            add_gone(dead_slots);
            dead_slots = 0;
            LOOK_AT_DEVICES(i);
            blockers = 0;
            forget_who();
            n = 0
         :: else -> asleep[i] = true; n = 0
         fi
       }
    fi;
    if
    :: n != 0 -> goto sleep
    :: else -> goto look
    fi
  };

granted_or_not:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) && own_stage[i] == OUTSIDE -> d_step { die(i); forget_all() }; goto has_ended
    :: RUNS(i) && own_stage[i] == HOLDING -> d_step { allocate(i, 2); busy[i] = true }
    :: RUNS(i) && own_stage[i] == INSIDE -> d_step { allocate(i, 1); busy[i] = true }; NEXT_LEASE
    fi
  };
  /* Frees its memory, then Ledger::release. */
holds:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    GROW(i)
    :: RUNS(i) -> d_step { busy[i] = false; in_use[i] = 1 }
    fi
  };
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) && MUTEX_IS_FREE(i) -> TAKE_MUTEX(i)
    fi;
    d_step {
      own_stage[i] = INSIDE;
      own_ticket[i] = 0;
      arrival[i] = 0;
      FORGET_GROWTH(i);
      write_own(i, behind);
      check_reservations();
#ifndef BUG_NO_NOTIFY_AFTER_RELEASE
      mode = CONCERNED;
#endif
      next_to_notify()
    };
    if
    :: n == NOBODY -> n = 0; UNLOCK(i); busy[i] = true; NEXT_LEASE
    :: else
    fi
  };
notify_after_release:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) -> d_step { notify_next() }
    fi;
    if
    :: n == NOBODY -> n = 0; UNLOCK(i); busy[i] = true; NEXT_LEASE
    :: else -> goto notify_after_release
    fi
  };

#ifdef GROWING
  /* Ledger::grow: it holds all the time, and asks again, with what it has seen, or goes on as it is. */
grow:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) && MUTEX_IS_FREE(i) -> TAKE_MUTEX(i)
    fi;
    d_step { reap_next(i) };
    if
    :: wrote -> wrote = false; goto grow
    :: else
    fi;
    d_step {
      decide_growth(i);
      granted = x_granted;
      blockers = x_blockers;
      FIND_WHO_LEAVES;
      forget_decision();
      gone = 0;
      back = 0;
      dead_slots = 0;
      FORGET_GONE_SLOTS;
      blockers = 0;
      if
      :: granted ->
         own_lease[i] = own_lease[i] + 1;
         write_own(i, 0);
         remember_growth(i);
         check_reservations()
      :: else -> remember_slots()
      fi
    };
    if
    :: granted -> granted = 0; UNLOCK(i)
    :: !granted -> ASK_THEM_TO_LEAVE; UNLOCK(i); goto look_again
    fi
  };
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) -> d_step { allocate(i, 2) }; goto holds
    fi
  };
look_again:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) -> d_step { probe_all() }; goto grow
    :: RUNS(i) -> d_step { forget_who() }; goto holds
    fi
  };
#endif

#ifdef WORKERS
ask:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) ->
       d_step {
         do
         :: !HAS(leave, n) -> n++
         :: else -> break
         od;
         notify(n);
         leave = leave & ~BIT(n);
         n = 0
       }
    fi;
    if
    :: leave == 0 -> UNLOCK(i); AFTER_ASKING(i)
    :: else -> goto ask
    fi
  };

  /* Ledger::set_idle */
go_idle:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) && MUTEX_IS_FREE(i) -> TAKE_MUTEX(i)
    fi;
    d_step {
      busy[i] = false;
#ifndef BUG_DRAINS_AFTER_IT_IS_SEEN_IDLE
      notified[slot[i]] = false;
#endif
      own_stage[i] = IDLE;
      write_own(i, 0);
#ifndef BUG_NO_NOTIFY_OF_IDLE
      mode = CONCERNED;
#endif
      next_to_notify()
    };
    if
    :: n == NOBODY -> n = 0; UNLOCK(i); goto is_idle
    :: else
    fi
  };
notify_of_idle:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) -> d_step { notify_next() }
    fi;
    if
    :: n == NOBODY -> n = 0; UNLOCK(i); goto is_idle
    :: else -> goto notify_of_idle
    fi
  };

is_idle:
#ifdef BUG_DRAINS_AFTER_IT_IS_SEEN_IDLE
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) -> notified[slot[i]] = false
    fi
  };
#endif
  /* It leaves when it is asked to. Or there is work: Ledger::resume. */
idle:
  atomic {
    if
    :: kill_here(i) -> goto has_ended
    :: RUNS(i) && notified[slot[i]] -> d_step { die(i); forget_all() }; goto has_ended
    :: RUNS(i) && own_lease[i] < LEASES(i) && MUTEX_IS_FREE(i) -> TAKE_MUTEX(i)
    fi;
    d_step {
      own_stage[i] = INSIDE;
      write_own(i, 0);
#ifndef BUG_RESUMES_IN_THE_WAY
      in_the_way(slot[i]);
#endif
#ifndef BUG_RESUMES_THOUGH_ASKED
      x_in_the_way = x_in_the_way || notified[slot[i]];
#endif
      if
      :: x_in_the_way ->
         own_stage[i] = IDLE;
         write_own(i, 0);
         n = 1
      :: else -> check_resumed(i); busy[i] = true
      fi;
      x_in_the_way = false;
      UNLOCK(i)
    };
    if
    :: n == 1 -> d_step { n = 0; die(i); forget_all() }; goto has_ended
    :: else -> goto look
    fi
  };
#endif

no_more_leases:
#ifdef STAYS /* inside, after its last lease, until it is killed */
  atomic { kill_here(i); goto has_ended };
#else
  atomic {
    if
    :: kill_here(i)
    :: RUNS(i) -> d_step { die(i); forget_all() }
    fi
  };
#endif

  /* What the kernel and the driver do with a process that has ended. */
has_ended:
  do
  :: d_step { slot[i] != NOBODY -> silence(i) }
  :: d_step { in_use[i] != 0 -> in_use[i] = 0; own_devices[i] = 0; own_lease[i] = 0; check_reservations() }
  od
}

#if STOPS
#define STOP_OR_GO_ON(p)                                                                                               \
  :: d_step { stops > 0 && alive[p] && !stopped[p] && MAY_BE_STOPPED(p) ->                                             \
       stopped[p] = true; was_stopped[p] = arrival[p] != 0; stops-- }                                                  \
  :: d_step { stopped[p] -> stopped[p] = false }

proctype stops_and_goes_on() {
  byte stops = STOPS;
  do
  STOP_OR_GO_ON(0)
  STOP_OR_GO_ON(1)
#if PROCESSES > 2
  STOP_OR_GO_ON(2)
#endif
#if PROCESSES > 3
  STOP_OR_GO_ON(3)
#endif
  od
}
#endif

/* Changes nothing. */
proctype oracle() {
  do
  :: d_step { QUIET -> check_quiet() }
  :: timeout -> assert(false) /* stuck */
  od
}

init {
  atomic {
#ifdef START_INSIDE
    d_step {
      x_q = 0;
      do
      :: x_q < PROCESSES -> begin_inside(x_q); x_q++
      :: else -> break
      od;
      x_q = 0
    };
#endif
    run oracle();
#if STOPS
    run stops_and_goes_on();
#endif
    run process(0);
    run process(1);
#if PROCESSES > 2
    run process(2);
#endif
#if PROCESSES > 3
    run process(3)
#endif
  }
}
