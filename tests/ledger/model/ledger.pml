/*
 * The ledger's protocol as a Spin model: processes that enter, lease, release, wait, end, and are killed anywhere.
 * `check` verifies every file in configurations/ (each defines a small machine and includes this file), and every
 * seeded bug. Start reading at the process at the end of this file.
 *
 * What stands for what
 *   mutex           platform/file_lock: FileLock, a kernel lock; a killed holder loses it (wake_fifos.pml: die)
 *   owner, notified     platform/wake_fifo: the flock on a slot's FIFO and the bytes in it (take, notify, drain)
 *   armed, cold     platform/wake_fifo: LivenessWatch and poll(2) (wake_fifos.pml: watch, hung_up)
 *   record[]        ledger/record: stage, ticket, owner's pid, devices, and which of its leases it is about. What else
 *                   is in a record (candidates, bytes, flags) is fixed by pid and lease, see the configuration.
 *   own_*[]         ledger/client: Client::own_, what a process's record says or is about to say
 *   decide, heads   policy/admission: decide_entering, decide_waiting, heads (admission.pml)
 *   reap_one        ledger/records: the body of the loop in Records::reap, with ledger/backend_probe: is_back
 *   notify_heads      ledger/records: Records::notify_heads; notify_all_queued: Records::notify_all_queued
 *   process         ledger/ledger: enter, lease, release; ledger/client: take, wait_for_grant, look, sleep; and its end
 *   in_use          the device's memory: the context from entering to the end, the lease's bytes while it is held
 *   life_and_death  kills, and deadlines of those who wait (Patience::until)
 *
 * Every step between two `;` of a process may be its last: life_and_death may kill it before any of them. What several
 * system calls do in one step cannot be told apart by others: they are reads under the mutex, or facts that stay as
 * they are. A process is one life; who replaces a killed process is another process with a number of its own.
 * Death has three steps: the mutex is free at once; the wake-up FIFO falls silent later; the memory comes back later still,
 * or earlier, in any order. A normal end is a death that costs no kill.
 *
 * No time-outs: poll() here ends only by a ring, a hang-up, a deadline that came (so that the process gives up), or,
 * where a sleeper waits for memory of the dead, by that memory being back (the code looks every 3 ms). Time-outs that
 * merely look again, `notice_at`, and the wait for external processs are left out, so nothing is woken by them.
 *
 * Checked
 *   budget   in_use on a device never exceeds its capacity, the dead's memory included: allocate()
 *   order    nobody alive that arrived earlier in the same queue wants a device that is granted: check_order()
 *   quiet    whenever only sleepers and processes busy with a test are left, the dead's memory is back, and nobody who
 *            sleeps could go on, by the truth and not by the records: oracle.pml
 *   deadlock in the same states, if nobody is busy with a test, nobody sleeps; and no state without a step but the end
 *
 * Variants, not bugs
 *   PROBE_WITHOUT_LIST      is_back() of a device whose driver lists no processes: nothing at all is in use. (That no more
 *                             is in use than the others claim is not enough: BUG_PROBE_COUNTS_CLAIMS. A claim whose
 *                             owner has not allocated yet hides memory of the dead.)
 *
 * Left out: external processs' memory; refusals; set_overhead and what is for contexts that grow (is_stuck, everybody_waits); a
 * lease larger than announced (may_raise); forked children (a wake-up FIFO that falls silent late stands for them); a ledger
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
byte owner[SLOTS] = NOBODY; /* who holds the flock on a slot's wake-up FIFO */
bool notified[SLOTS];
byte armed[PROCESSES];      /* slots whose hang-up would end the process's poll() */
byte cold[PROCESSES];       /* slots opened when nobody had their wake-up FIFO: no hang-up before somebody has come and gone */

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
byte ignores[PROCESSES];     /* those ahead in its queue that it saw stopped */
#endif
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

/* A grant is told to those whom the claim kept waiting, too: see next_concerned(). */
#ifdef BUG_NOTIFY_NO_FOLLOWER
#define LEAVES(p) skip
#else
#define LEAVES(p) left = own_ticket[p]
#endif
#define LEAVES_NONE left = 0

#if STOPS
#define RUNS provided (!stopped[_pid - 2] || !alive[_pid - 2])
#define IGNORE_STOPPED(p) me_ignores = ignores[p]
#define FORGET_STOPPED(p) ignores[p] = 0
#define LOOK_WHO_IS_STOPPED(p) look_who_is_stopped(p)
#define IS_STOPPED(p) stopped[p]
#define WAS_STOPPED(p) was_stopped[p]
#else
#define RUNS
#define IGNORE_STOPPED(p) skip
#define FORGET_STOPPED(p) skip
#define LOOK_WHO_IS_STOPPED(p) skip
#define IS_STOPPED(p) false
#define WAS_STOPPED(p) false
#endif

#include "wake_fifos.pml"
#include "admission.pml"
#include "oracle.pml"
#include "device_probe.pml"

#ifdef BUG_NO_MUTEX
#define LOCK(p) true
#define UNLOCK(p) skip
#else
#define LOCK(p) mutex == NOBODY -> mutex = p
#define UNLOCK(p) mutex = NOBODY
#endif

/* Records::write(own_): one pwrite. */
inline write_own(p) {
  record[slot[p]].stage = own_stage[p];
  record[slot[p]].ticket = own_ticket[p];
  record[slot[p]].who = p;
  record[slot[p]].devices = own_devices[p];
  record[slot[p]].behind = behind;
  record[slot[p]].lease = own_lease[p]
}

inline clear_record(s) {
  record[s].stage = OUTSIDE;
  record[s].ticket = 0;
  record[s].who = 0;
  record[s].devices = 0;
  record[s].behind = 0;
  record[s].lease = 0
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
#elif defined(PROBE_WITHOUT_LIST)
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
#define LOOK_AT_DEVICES(p) LOOK_WHO_IS_STOPPED(p)
#else
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

/* One turn of the loop in Records::reap: slot s, if its record is of one that was seen to end. */
inline reap_one(p, s) {
  d_step {
    if
    :: record[s].stage != OUTSIDE && s != slot[p] && EVIDENCE(s) ->
       if
       :: record[s].devices == 0 || HAS(back, record[s].who) -> clear_record(s)
       :: else ->
          record[s].stage = (record[s].stage == WAITING -> INSIDE : record[s].stage);
          dead_slots = dead_slots | BIT(s)
       fi
    :: else
    fi
  }
}

#if STOPS
/* Client looks at the states of those ahead of it in its queue, every 500 ms and without the mutex. */
inline look_who_is_stopped(p) {
  ignores[p] = 0;
  o_q = 0;
  do
  :: o_q < PROCESSES -> ignores[p] = ignores[p] | (AHEAD(p, o_q) && stopped[o_q] -> BIT(o_q) : 0); o_q++
  :: else -> break
  od;
  o_q = 0
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

/* x_p: processes in who_in; x_ended: those of them whose wake-up FIFO nobody holds. */
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

/* Records::notify_concerned, or all who wait: one notification a step, since a kill may come between two. */
inline notify_queued(concerned_only) {
  n = 0;
  do
  :: atomic {
       true;
       d_step {
         if
         :: concerned_only -> next_concerned(n, left)
         :: else -> next_queued(n)
         fi;
         if
         :: n < SLOTS -> notify(n); n++
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

#define notify_concerned() notify_queued(true)
#define notify_all_queued() notify_queued(false)

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

proctype process(byte i) RUNS {
  byte n;             /* of loops */
  byte blockers;      /* Look::blocked, by slot */
  byte who_in[SLOTS]; /* and the processes that were there */
  byte dead_slots;    /* Look::dead: those of them that have ended and whose memory is not back */
  byte gone;          /* processes in the way that were seen to end: wait_for_grant's `ended` */
  byte back;          /* those of them whose memory a later look at the devices showed to be back */
  byte probed;        /* processes that were probed before giving up, and were alive */
#ifdef BUG_EVIDENCE_OF_THE_SLOT
  byte gone_slots;
#endif
  byte granted;       /* devices; 0: wait */
  bool queued;        /* others may have seen this claim wait */
  bool enters;        /* what was granted is a place */
  byte left;          /* the ticket that was granted a lease, for next_concerned() */
  byte behind;        /* see decide() */

  atomic {
    x_s = 0;
    do
    :: x_s < SLOTS -> who_in[x_s] = NOBODY; x_s++
    :: else -> x_s = 0; break
    od;
#if AT_ONCE < PROCESSES
    i < AT_ONCE || ended > i - AT_ONCE;
#endif
#ifdef IN_ORDER
    arrived == i;
#endif
#if defined(START_INSIDE)
    LOCK(i);
#elif defined(BUG_NO_MUTEX)
    true;
#else
    mutex == NOBODY; /* reads under it, and lets it go */
#endif
#ifdef IN_ORDER
    arrived++;
#endif
    alive[i] = true
#ifndef START_INSIDE
    ; blockers = (1 << SLOTS) - 1;
    remember_slots()
#endif
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
    /* Client::take: reads who is there; without the mutex probes them all, and looks at the devices; then Records::reap,
       and the first slot that nobody has. */
    d_step {
      probe_blockers();
      gone = x_ended;
      GONE_SLOTS;
      x_ended = 0;
      x_p = 0;
      blockers = 0;
      forget_who();
      observe(SEEN_TO_END);
      back = x_back;
      x_back = 0
    };
    atomic { LOCK(i) };
    do
    :: n < SLOTS -> atomic { reap_one(i, n); n++ }
    :: n == SLOTS -> d_step { n = 0; dead_slots = 0; gone = 0; back = 0; FORGET_GONE_SLOTS }; break
    od;
    atomic { take(i) };
#ifndef BUG_NO_NOTIFY_AFTER_TAKING
    notify_all_queued();
#endif
    own_stage[i] = ENTERING;

    /* Client::wait_for_grant, for enter() and then for each lease(). */
    do
    :: queued = false;
look_again:
       notified[slot[i]] = false;
       /* Client::look: Records::reap of those seen to end. */
       do
       :: n < SLOTS && EVIDENCE(n) -> atomic { reap_one(i, n); n++ }
       :: n < SLOTS && !EVIDENCE(n) -> n++
       :: n == SLOTS -> n = 0; break
       od;
       atomic {
         skip; /* no jump goes into a d_step */
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
           forget_decision();
           dead_slots = dead_slots & blockers;
           blockers = blockers & ~dead_slots; /* from here on Look::living */
           waits_for_the_dead(i);
           gone = dead[i];
           dead_slots = 0;
           back = 0;
           remember_who();
           FORGET_GONE_SLOTS
         }
       };
       if
       :: granted -> skip
       :: else ->
          if
          :: deadline[i] || (!MAY_WAIT(i, own_lease[i]) && blockers != 0) ->
             /* Gives up, but not because of those who have ended and were not seen to: it probes those in the way,
                without the mutex, and looks again. */
             d_step {
               x_p = 0;
               x_s = 0;
               do
               :: x_s < SLOTS -> x_p = x_p | (who_in[x_s] != NOBODY -> BIT(who_in[x_s]) : 0); x_s++
               :: else -> break
               od;
               x_s = 0;
               probed = (x_p & ~probed);
               x_p = 0
             };
             if
             :: probed == 0 -> goto done
             :: else ->
                if
                :: !queued -> arrival[i] = 0 /* it is in no queue */
                :: else
                fi;
                UNLOCK(i);
                d_step {
                  probe_blockers();
                  gone = gone | x_ended;
                  GONE_SLOTS;
                  probed = x_p & ~x_ended;
                  x_ended = 0;
                  x_p = 0;
                  LOOK_AT_DEVICES(i)
                };
                goto lock_again
             fi
          :: else
          fi;
          if
          :: !queued -> d_step { write_own(i); queued = true }
#ifndef BUG_OLD_PLACE_IN_THE_RECORD
          :: queued && behind != record[slot[i]].behind -> d_step { write_own(i) }
#endif
          :: else
          fi;
          UNLOCK(i);
#ifdef BUG_OBSERVED_BEFORE_THE_END_WAS_SEEN
          d_step { observe(EVERYBODY); back = x_back; x_back = 0 };
#endif
          /* Client::sleep: watch the living among those in the way, without the mutex. */
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
          :: dead_slots != 0 -> d_step { add_gone(dead_slots); dead_slots = 0; LOOK_AT_DEVICES(i) }
          :: else ->
             asleep[i] = true;
end_asleep:
             atomic {
               AWAKE(i) ->
               d_step { hung_up(i); add_gone(x_bytes); x_bytes = 0; asleep[i] = false; dead[i] = 0; LOOK_AT_DEVICES(i) }
             }
          fi;
lock_again:
          atomic { LOCK(i); blockers = 0; forget_who() };
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
         back = 0;
         probed = 0;
         forget_who();
         dead[i] = 0;
         armed[i] = 0;
         cold[i] = 0;
         deadline[i] = false
         }
       };
       d_step { FORGET_STOPPED(i); behind = 0; write_own(i); check_reservations() };
#ifdef BUG_NO_NOTIFY_AFTER_GRANT
       queued = queued && !granted;
#endif
#ifdef BUG_NO_NOTIFY_AFTER_GIVING_UP
       queued = queued && granted;
#endif
       if
       :: queued && granted && !enters -> LEAVES(i); notify_concerned(); LEAVES_NONE
#ifdef BUG_NOTIFY_ONLY_HEADS_AFTER_ENTERING
       :: queued && granted && enters -> notify_concerned()
#else
       :: queued && granted && enters -> notify_all_queued()
#endif
#ifdef BUG_NOTIFY_ONLY_HEADS_AFTER_GIVING_UP
       :: queued && !granted -> notify_concerned()
#else
       :: queued && !granted -> notify_all_queued()
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
          d_step { own_stage[i] = INSIDE; arrival[i] = 0; write_own(i); check_reservations() };
#ifndef BUG_NO_NOTIFY_AFTER_RELEASE
          notify_concerned();
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
  d_step {
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
    enters = false
  };
  do
  :: d_step { slot[i] != NOBODY -> silence(i) }
  :: d_step { in_use[i] != 0 -> in_use[i] = 0; own_devices[i] = 0; own_lease[i] = 0; check_reservations() }
  :: slot[i] == NOBODY && in_use[i] == 0 -> break
  od
}

#if STOPS
inline stop(p) {
  stopped[p] = true;
  was_stopped[p] = arrival[p] != 0
}
#endif

proctype life_and_death() {
  byte kills = KILLS;
  byte deadlines = DEADLINES;
#if STOPS
  byte stops = STOPS;
#endif
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
#if STOPS
  :: d_step { stops > 0 && alive[0] && !stopped[0] && MAY_BE_STOPPED(0) -> stop(0); stops-- }
  :: d_step { stopped[0] -> stopped[0] = false }
  :: d_step { stops > 0 && alive[1] && !stopped[1] && MAY_BE_STOPPED(1) -> stop(1); stops-- }
  :: d_step { stopped[1] -> stopped[1] = false }
#if PROCESSES > 2
  :: d_step { stops > 0 && alive[2] && !stopped[2] && MAY_BE_STOPPED(2) -> stop(2); stops-- }
  :: d_step { stopped[2] -> stopped[2] = false }
#endif
#if PROCESSES > 3
  :: d_step { stops > 0 && alive[3] && !stopped[3] && MAY_BE_STOPPED(3) -> stop(3); stops-- }
  :: d_step { stopped[3] -> stopped[3] = false }
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
