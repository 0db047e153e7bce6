/*
 * The ledger's protocol as a Spin model: processes that enter, lease, release, wait, end, and are killed anywhere.
 * `check` verifies every file in configurations/ (each defines a small machine and includes this file), and every
 * seeded bug. Start reading at the process at the end of this file.
 *
 * What stands for what
 *   mutex           system/file_lock: FileLock, a kernel lock; a killed holder loses it (bells.pml: die)
 *   owner, rung     system/bell: the flock on a slot's FIFO and the bytes in it (take, ring, hush)
 *   armed, cold     system/bell: BellWatch and poll(2) (bells.pml: watch, hung_up)
 *   record[]        ledger/record: stage, ticket, owner's pid, devices, and which of its leases it is about. What else
 *                   is in a record (candidates, bytes, flags) is fixed by pid and lease, see the configuration.
 *   own_*[]         ledger/place: Place::own_, what a process's record says or is about to say
 *   decide, heads   policy/admission: decide_entering, decide_waiting, heads (admission.pml)
 *   reap_one        ledger/roll: the body of the loop in Roll::reap, with devices/witness: is_back
 *   ring_heads      ledger/roll: Roll::ring_heads; ring_all_queued: Roll::ring_all_queued
 *   process         ledger/ledger: enter, lease, release; ledger/place: take, settle, look, sleep; and its end
 *   in_use          the device's memory: the context from entering to the end, the lease's bytes while it is held
 *   life_and_death  kills, and deadlines of those who wait (Patience::until)
 *
 * Every step between two `;` of a process may be its last: life_and_death may kill it before any of them. What several
 * system calls do in one step cannot be told apart by others: they are reads under the mutex, or facts that stay as
 * they are. A process is one life; who replaces a killed process is another process with a number of its own.
 * Death has three steps: the mutex is free at once; the bell falls silent later; the memory comes back later still,
 * or earlier, in any order. A normal end is a death that costs no kill.
 *
 * No time-outs: poll() here ends only by a ring, a hang-up, a deadline that came (so that the process gives up), or,
 * where a sleeper waits for memory of the dead, by that memory being back (the code looks every 3 ms). Time-outs that
 * merely look again, `notice_at`, and the wait for strangers are left out, so nothing is woken by them.
 *
 * Checked
 *   budget   in_use on a device never exceeds its capacity, the dead's memory included: allocate()
 *   order    nobody alive that arrived earlier in the same queue wants a device that is granted: check_order()
 *   quiet    whenever only sleepers and processes busy with a test are left, the dead's memory is back, and nobody who
 *            sleeps could go on, by the truth and not by the records: oracle.pml
 *   deadlock in the same states, if nobody is busy with a test, nobody sleeps; and no state without a step but the end
 *
 * Variants, not bugs
 *   WITNESS_WITHOUT_LIST      is_back() of a device whose driver lists no processes: nothing at all is in use. (That no more
 *                             is in use than the others claim is not enough: BUG_WITNESS_COUNTS_CLAIMS. A claim whose
 *                             owner has not allocated yet hides memory of the dead.)
 *
 * Left out: strangers' memory; refusals; set_overhead and what is for contexts that grow (is_stuck, everybody_waits); a
 * lease larger than announced (may_raise); forked children (a bell that falls silent late stands for them); a ledger
 * that is being built, and its mark of slots ever used; failing system calls; more than 64 devices, 1024 slots, 2^64
 * tickets.
 */

#define OUTSIDE 0
#define ENTERING 1
#define INSIDE 2
#define WAITING 3
#define HOLDING 4

#define NOBODY 15
#define BIT(n) (1 << (n))
#define HAS(set, n) (((set) >> (n)) & 1)

/* Defaults of what a configuration may define. `p` is a process, `k` its lease: 1, 2, ... */
#ifndef SLOTS
#define SLOTS PROCESSES
#endif
#ifndef AT_ONCE /* the others replace processes that have ended */
#define AT_ONCE PROCESSES
#endif
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef WHOLE_DEVICES
#define WHOLE_DEVICES(p) false
#endif
#ifndef EXCLUSIVE
#define EXCLUSIVE(p, k) false
#endif
#ifndef SEAT
#define SEAT(p, k) false
#endif
#ifndef LEASE_DEVICES /* of those it entered */
#define LEASE_DEVICES(p, k) 3
#endif
#ifndef MAY_BE_KILLED
#define MAY_BE_KILLED(p) true
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
  byte lease
};

Record record[SLOTS];
byte mutex = NOBODY;
byte owner[SLOTS] = NOBODY; /* who holds the flock on a slot's bell */
bool rung[SLOTS];
byte armed[PROCESSES];      /* slots whose hang-up would end the process's poll() */
byte cold[PROCESSES];       /* slots opened when nobody had their bell: no hang-up before somebody has come and gone */

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
byte in_use[PROCESSES];     /* of the device's memory: 0 nothing, 1 the context, 2 the lease as well */
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

#include "bells.pml"
#include "admission.pml"
#include "oracle.pml"
#include "witness.pml"

#ifdef BUG_NO_MUTEX
#define LOCK(p) true
#define UNLOCK(p) skip
#else
#define LOCK(p) mutex == NOBODY -> mutex = p
#define UNLOCK(p) mutex = NOBODY
#endif

/* Roll::write(own_): one pwrite. */
inline write_own(p) {
  record[slot[p]].stage = own_stage[p];
  record[slot[p]].ticket = own_ticket[p];
  record[slot[p]].who = p;
  record[slot[p]].devices = own_devices[p];
  record[slot[p]].lease = own_lease[p]
}

inline clear_record(s) {
  record[s].stage = OUTSIDE;
  record[s].ticket = 0;
  record[s].who = 0;
  record[s].devices = 0;
  record[s].lease = 0
}

/* Witness::is_back: the driver's list does not name the process any more. */
inline is_back(s) {
#if defined(BUG_BYTES_OF_THE_DEAD_AT_ONCE)
  x_back = true
#elif defined(WITNESS_WITHOUT_LIST)
  figure_is_back(s)
#else
  x_back = record[s].devices == 0 || in_use[record[s].who] == 0
#endif
}

/* One turn of the loop in Roll::reap: the suspect in slot s. */
inline reap_one(p, s) {
  d_step {
    if
    :: record[s].stage != OUTSIDE && s != slot[p] && !LIVES(s) ->
       is_back(s);
       if
       :: x_back -> clear_record(s)
       :: else ->
          record[s].stage = (record[s].stage == WAITING -> INSIDE : record[s].stage);
          dead_slots = dead_slots | BIT(s)
       fi
    :: else
    fi;
    x_back = false
  }
}

/* Roll::ended_among of the blockers: x_p. */
inline ended_among() {
  x_p = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: HAS(blockers, x_s) && !LIVES(x_s) -> x_p = x_p | BIT(x_s)
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}

/* Of whom the sleeper looks every 3 ms whether its memory is back: those in `gone`. */
inline waits_for_the_dead(p) {
  dead[p] = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: HAS(gone, x_s) && record[x_s].stage != OUTSIDE -> dead[p] = dead[p] | BIT(record[x_s].who)
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}

/* Roll::ring_heads, or all who wait: one ring a step, since a kill may come between two. */
inline ring_queued(heads_only) {
  n = 0;
  do
  :: atomic {
       true;
       d_step {
         if
         :: heads_only -> next_head(n)
         :: else -> next_queued(n)
         fi;
         if
         :: n < SLOTS -> ring(n); n++
         :: else -> n = NOBODY
         fi
       };
       if
       :: n == NOBODY -> n = 0; break
       :: else
       fi
     }
  od
}

#define ring_heads() ring_queued(true)
#define ring_all_queued() ring_queued(false)

/* The process begins to use what it was granted. */
inline allocate(p, what) {
  in_use[p] = what;
  x_d = 0;
  do
  :: x_d < DEVICES ->
     bytes_in_use(x_d);
     assert(x_bytes <= CAPACITY(x_d)); /* budget */
     x_d++
  :: else -> break
  od;
  x_d = 0;
  x_bytes = 0
}

proctype process(byte i) {
  byte n;          /* of loops */
  byte blockers;   /* Look::blocked, by slot */
  byte dead_slots; /* Look::dead: those of them that have ended and whose memory is not back */
  byte gone;       /* those in the way that were seen to end: settle's `ended` */
  byte granted;    /* devices; 0: wait */
  bool queued;     /* others may have seen this claim wait */
  bool enters;     /* what was granted is a place */

  atomic {
#if AT_ONCE < PROCESSES
    i < AT_ONCE || ended > i - AT_ONCE;
#endif
#ifdef IN_ORDER
    arrived == i;
#endif
    LOCK(i);
#ifdef IN_ORDER
    arrived++;
#endif
    alive[i] = true
  };
  {
#ifdef START_INSIDE /* everybody has entered, one after the other, before anybody leases */
    atomic {
      take(i);
      own_stage[i] = INSIDE;
      own_devices[i] = CANDIDATES(i);
      write_own(i);
      in_use[i] = 1;
      busy[i] = true;
      UNLOCK(i);
      goto next_lease
    };
#endif
    /* Place::take: Roll::reap of everybody, then the first slot that nobody has. */
    do
    :: n < SLOTS -> atomic { reap_one(i, n); n++ }
    :: n == SLOTS -> d_step { n = 0; dead_slots = 0 }; break
    od;
    atomic { take(i) };
#ifndef BUG_NO_RING_AFTER_TAKING
    ring_all_queued();
#endif
    own_stage[i] = ENTERING;

    /* Place::settle, for enter() and then for each lease(). */
    do
    :: atomic { arrive(i); queued = false };
look_again:
       rung[slot[i]] = false;
       /* Place::look: Roll::reap of those seen to end. */
       do
       :: n < SLOTS && HAS(gone, n) -> atomic { reap_one(i, n); n++ }
       :: n < SLOTS && !HAS(gone, n) -> n++
       :: n == SLOTS -> n = 0; break
       od;
       atomic {
         skip; /* no jump goes into a d_step */
         d_step {
           me_is(slot[i], own_stage[i], own_ticket[i], i, own_devices[i], own_lease[i]);
           decide();
           granted = x_granted;
           blockers = x_blockers;
           forget_decision();
           dead_slots = dead_slots & blockers;
           blockers = blockers & ~dead_slots; /* from here on Look::living */
           gone = dead_slots;
           dead_slots = 0;
           waits_for_the_dead(i)
         }
       };
       if
       :: granted -> skip
       :: else ->
          if
          :: deadline[i] || (!MAY_WAIT(i, own_lease[i]) && blockers != 0) ->
             /* Gives up, but not because of those who have ended and were not seen to. */
             d_step { ended_among() };
             if
             :: x_p != 0 -> gone = gone | x_p; x_p = 0; goto look_again
             :: else -> goto done
             fi
          :: else
          fi;
          if
          :: !queued -> d_step { write_own(i); queued = true }
          :: else
          fi;
          UNLOCK(i);
          /* Place::sleep: watch the living among those in the way, without the mutex. */
#ifdef BUG_NO_WATCH
          blockers = 0;
#endif
          d_step { armed[i] = armed[i] & blockers; cold[i] = cold[i] & blockers };
          do
          :: n < SLOTS && HAS(blockers, n) && HAS(armed[i] | cold[i], n) -> n++ /* open since an earlier look */
          :: n < SLOTS && HAS(blockers, n) && !HAS(armed[i] | cold[i], n) ->
             d_step { watch(i, n) };
#ifndef BUG_NO_PROBE_AFTER_OPENING
             if
             :: !LIVES(n) -> dead_slots = dead_slots | BIT(n)
             :: else
             fi;
#endif
             n++;
#ifdef BUG_WATCH_ONE_BLOCKER
             n = SLOTS
#endif
          :: n < SLOTS && !HAS(blockers, n) -> n++
          :: n == SLOTS -> n = 0; break
          od;
          if
          :: dead_slots != 0 -> gone = gone | dead_slots; dead_slots = 0
          :: else ->
             asleep[i] = true;
end_asleep:
             atomic {
               AWAKE(i) ->
               d_step { hung_up(i); gone = gone | x_bytes; x_bytes = 0; asleep[i] = false; dead[i] = 0 }
             }
          fi;
          atomic { LOCK(i) };
          blockers = 0;
          goto look_again
       fi;
done:
       atomic {
         skip;
         d_step {
         check_order(i);
         depart(i);
         enters = own_stage[i] == ENTERING;
         if
         :: granted && own_stage[i] == ENTERING -> own_stage[i] = INSIDE; own_devices[i] = granted
         :: granted && own_stage[i] == WAITING -> own_stage[i] = HOLDING
         :: !granted && own_stage[i] == ENTERING -> own_stage[i] = OUTSIDE
         :: !granted && own_stage[i] == WAITING -> own_stage[i] = INSIDE
         fi;
         blockers = 0;
         gone = 0;
         dead[i] = 0;
         armed[i] = 0;
         cold[i] = 0;
         deadline[i] = false
         }
       };
       d_step { write_own(i) };
#ifdef BUG_NO_RING_AFTER_GRANT
       queued = queued && !granted;
#endif
#ifdef BUG_NO_RING_AFTER_GIVING_UP
       queued = queued && granted;
#endif
       if
       :: queued && granted && !enters -> ring_heads()
#ifdef BUG_RING_ONLY_HEADS_AFTER_ENTERING
       :: queued && granted && enters -> ring_heads()
#else
       :: queued && granted && enters -> ring_all_queued()
#endif
#ifdef BUG_RING_ONLY_HEADS_AFTER_GIVING_UP
       :: queued && !granted -> ring_heads()
#else
       :: queued && !granted -> ring_all_queued()
#endif
       :: else
       fi;
       granted = 0;
       queued = false;
       UNLOCK(i);
       if
       :: own_stage[i] == OUTSIDE -> break
       :: own_stage[i] == HOLDING ->
          d_step { allocate(i, 2); busy[i] = true };
          d_step { busy[i] = false; in_use[i] = 1 };
          /* Ledger::release */
          atomic { LOCK(i) };
          d_step { own_stage[i] = INSIDE; write_own(i) };
#ifndef BUG_NO_RING_AFTER_RELEASE
          ring_heads();
#endif
          atomic { UNLOCK(i); busy[i] = true }
       :: own_stage[i] == INSIDE -> d_step { allocate(i, 1); busy[i] = true }
       fi;
next_lease:
       /* Ledger::lease */
       if
       :: own_lease[i] < LEASES(i) ->
          atomic {
#ifdef LEASES_IN_ORDER
            leased == i;
#endif
#ifdef START_INSIDE
            arrived == PROCESSES;
#endif
            LOCK(i);
#ifdef LEASES_IN_ORDER
            leased++;
#endif
            busy[i] = false;
            own_lease[i] = own_lease[i] + 1;
            own_stage[i] = WAITING
          }
       :: else ->
#ifdef STAYS /* inside, after its last lease, until it is killed */
end_inside:
          false;
#endif
          break
       fi
    od;
    atomic { die(i) }
  } unless { !alive[i] };

  /* What the kernel and the driver do with a process that has ended. */
  d_step { n = 0; blockers = 0; dead_slots = 0; gone = 0; granted = 0; queued = false; enters = false };
  do
  :: d_step { slot[i] != NOBODY -> silence(i) }
  :: d_step { in_use[i] != 0 -> in_use[i] = 0; own_devices[i] = 0; own_lease[i] = 0 }
  :: slot[i] == NOBODY && in_use[i] == 0 -> break
  od
}

proctype life_and_death() {
  byte kills = KILLS;
  byte deadlines = DEADLINES;
  byte p;
end:
  do
  :: d_step { kills > 0 && alive[0] && MAY_BE_KILLED(0) -> die(0); kills-- }
  :: d_step { kills > 0 && alive[1] && MAY_BE_KILLED(1) -> die(1); kills-- }
#if PROCESSES > 2
  :: d_step { kills > 0 && alive[2] && MAY_BE_KILLED(2) -> die(2); kills-- }
#endif
#if PROCESSES > 3
  :: d_step { kills > 0 && alive[3] && MAY_BE_KILLED(3) -> die(3); kills-- }
#endif
#if DEADLINES
  :: d_step { deadlines > 0 && asleep[0] && !deadline[0] && HAS_DEADLINE(0) -> deadline[0] = true; deadlines-- }
  :: d_step { deadlines > 0 && asleep[1] && !deadline[1] && HAS_DEADLINE(1) -> deadline[1] = true; deadlines-- }
#if PROCESSES > 2
  :: d_step { deadlines > 0 && asleep[2] && !deadline[2] && HAS_DEADLINE(2) -> deadline[2] = true; deadlines-- }
#endif
#if PROCESSES > 3
  :: d_step { deadlines > 0 && asleep[3] && !deadline[3] && HAS_DEADLINE(3) -> deadline[3] = true; deadlines-- }
#endif
#endif
  :: d_step { QUIET -> check_quiet() }
  od
}

init {
  atomic {
    run life_and_death();
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
