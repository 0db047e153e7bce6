/* SPDX-License-Identifier: BSD-3-Clause */
/* core/policy/admission and core/policy/queues over the records: who may go on, who is in the way, who has to be notified. Pure. */

/* The claim that is decided about, with_own: its record need not say yet what it asks for. */
hidden byte me_slot, me_stage, me_ticket, me_pid, me_devices, me_lease;
#ifdef GROWING
hidden byte me_held;
#endif
hidden byte x_w, x_granted, x_blockers, x_ahead, x_last, x_rooms, x_free, x_best;
hidden byte l_overheads, l_leased, l_largest, l_slots, l_count, x_claimed;
hidden byte l_holders, l_held, l_locked;
hidden byte l_whole;
hidden int h_sums;
hidden short h_capacity, h_later;
hidden byte h_hit;

/* Stopped processes whose place in the queue me ignores, and those that wait for the release of a lease that grows. */
#if STOPS || defined(GROWING)
hidden byte me_ignores;
#define IN_QUEUE(s) (!HAS(me_ignores, record[s].who))
#else
#define IN_QUEUE(s) true
#endif
hidden byte x_behind;

/* Slots whose processes count as gone: what would be if these had left. */
hidden byte h_without;
/* What decide() finds besides: the idle processes that have to leave; whether that is enough. */
hidden byte h_down, x_leave, x_enough, h_next, h_granted, h_blockers, h_behind, h_x, x_in_the_way;

/* Leaves when asked. One that was seen stopped does not. */
#define LEAVES(s) (record[s].stage == IDLE && IN_QUEUE(s))

inline me_is(a_slot, a_stage, a_ticket, a_pid, a_devices, a_lease) {
  me_slot = a_slot;
  me_stage = a_stage;
  me_ticket = a_ticket;
  me_pid = a_pid;
  me_devices = a_devices;
#if STOPS || defined(GROWING)
  me_ignores = 0;
#endif
#ifdef GROWING
  me_held = 0;
#endif
  me_lease = a_lease
}

/* A lease that grows asks for the difference; what it has held already counts like context. */
#ifdef GROWING
#define ME_OVERHEAD (OVERHEAD(me_pid) + me_held)
#define ME_BYTES (BYTES(me_pid, me_lease) - me_held)
#else
#define ME_OVERHEAD OVERHEAD(me_pid)
#define ME_BYTES BYTES(me_pid, me_lease)
#endif

#define IS_INSIDE(r) (r.stage >= INSIDE)
#define ASKED(r)                                                                                                       \
  (r.stage == ENTERING -> CANDIDATES(r.who) : (r.stage == WAITING -> WANTED(r.who, r.lease, r.devices) : 0))
#define WANTS(r) WANTED(r.who, r.lease, r.devices)
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* x_ahead: the slot of the last of those who are ahead on device d, or nothing. */
inline next_ahead(d) {
  x_ahead = 0;
  x_last = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: x_s != me_slot && record[x_s].stage == me_stage && record[x_s].ticket < me_ticket && IN_QUEUE(x_s) &&
        HAS(ASKED(record[x_s]), d) && record[x_s].ticket > x_last ->
        x_ahead = BIT(x_s);
        x_last = record[x_s].ticket
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_last = 0
}

/* l_*: the claims of everybody else on device d, added up. */
inline load_of_others(d) {
  l_overheads = 0;
  l_leased = 0;
  l_largest = 0;
  l_slots = 0;
  l_count = 0;
  l_whole = false;
  l_locked = 0;  /* slots of those who hold the medium lock; of those who hold a lease, and all that these have */
  l_holders = 0;
  l_held = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: x_s != me_slot && IS_INSIDE(record[x_s]) && HAS(record[x_s].devices, d) && !HAS(h_without, x_s) ->
        l_slots = l_slots | BIT(x_s);
        l_count++;
        l_overheads = l_overheads + OVERHEAD(record[x_s].who);
        l_largest = MAX(l_largest, LARGEST(record[x_s].who));
        l_whole = l_whole || WHOLE_DEVICES(record[x_s].who);
        if
        :: record[x_s].stage == HOLDING && HAS(LEASE_DEVICES(record[x_s].who, record[x_s].lease), d) ->
           l_leased = l_leased + BYTES(record[x_s].who, record[x_s].lease);
           l_holders = l_holders | BIT(x_s);
           l_held = l_held + OVERHEAD(record[x_s].who) + BYTES(record[x_s].who, record[x_s].lease);
           l_whole = l_whole || EXCLUSIVE(record[x_s].who, record[x_s].lease);
           l_locked = l_locked | (MEDIUM_LOCK(record[x_s].who, record[x_s].lease) -> BIT(x_s) : 0)
        :: else
        fi
     :: else
     fi;
     x_s++
  :: else -> break
  od
}

#define EXCLUDES(s, d)                                                                                                 \
  (d < DEVICES && HAS(WANTS(record[s]) & WANTED(me_pid, me_lease, me_devices), d) &&                                   \
   (EXCLUSIVE(record[s].who, record[s].lease) ||                                                                       \
    (MEDIUM_LOCK(record[s].who, record[s].lease) && MEDIUM_LOCK(me_pid, me_lease)) ||                                  \
    OVERHEAD(record[s].who) + BYTES(record[s].who, record[s].lease) + ME_OVERHEAD + ME_BYTES >     \
      CAPACITY(d)))

/* x_ahead, x_last: slot and ticket of the last of those ahead beside which me can never have its lease: the two do not fit
   on a device together, want the same medium lock, or one wants the whole device. Static: nothing but these two matters. */
inline nearest_excluder() {
  x_ahead = 0;
  x_last = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: x_s != me_slot && record[x_s].stage == WAITING && record[x_s].ticket < me_ticket &&
        record[x_s].ticket > x_last && IN_QUEUE(x_s) &&
        (EXCLUDES(x_s, 0) || EXCLUDES(x_s, 1)) ->
        x_ahead = BIT(x_s);
        x_last = record[x_s].ticket
     :: else
     fi;
     x_s++
  :: else -> break
  od
}

/* h_hit: whether what me asks for would stand in the way of the waiting claim in slot a on device d. It would if some of
   those that come before a (leases held or asked for by earlier arrivals, and everybody's contexts) leave room for a, but
   not beside me and the later arrivals that hold leases already. h_sums: bit n is set if some of them have n together. */
inline stands_in_the_way_of(a, d) {
  h_hit = false;
  h_capacity = CAPACITY(d) - OVERHEAD(record[a].who) - BYTES(record[a].who, record[a].lease);
  h_later = (me_stage == WAITING -> ME_BYTES : 0);
  h_sums = 1 << ME_OVERHEAD;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: x_s != me_slot && x_s != a && IS_INSIDE(record[x_s]) && HAS(record[x_s].devices, d) &&
        !HAS(h_without, x_s) ->
        if
        :: (record[x_s].stage == HOLDING || record[x_s].stage == WAITING) && record[x_s].ticket < record[a].ticket &&
           HAS(LEASE_DEVICES(record[x_s].who, record[x_s].lease), d) ->
           h_sums = h_sums | (h_sums << OVERHEAD(record[x_s].who)) |
                    (h_sums << (OVERHEAD(record[x_s].who) + BYTES(record[x_s].who, record[x_s].lease)))
        :: else ->
           h_sums = h_sums | (h_sums << OVERHEAD(record[x_s].who));
           h_later = h_later + (record[x_s].stage == HOLDING &&
                                        HAS(LEASE_DEVICES(record[x_s].who, record[x_s].lease), d)
                                      -> BYTES(record[x_s].who, record[x_s].lease)
                                      : 0)
        fi
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  if
  :: h_capacity >= 0 && h_later > 0 ->
     h_sums = h_sums & ((1 << (h_capacity + 1)) - 1);
     h_hit = (h_sums >> MAX(0, h_capacity - h_later + 1)) != 0
  :: else
  fi;
  h_sums = 0;
  h_capacity = 0;
  h_later = 0
}

/* l_passes: whether me stands in nobody's way on device d of those who wait there for a lease and came before it. */
hidden byte l_passes;
hidden byte x_a;
inline passes_on(d) {
  l_passes = true;
  x_a = 0;
  do
  :: x_a < SLOTS ->
     if
     :: x_a != me_slot && record[x_a].stage == WAITING && IN_QUEUE(x_a) && HAS(ASKED(record[x_a]), d) &&
        (me_stage == ENTERING || record[x_a].ticket < me_ticket) ->
        stands_in_the_way_of(x_a, d);
        l_passes = l_passes && !h_hit
     :: else
     fi;
     x_a++
  :: else -> break
  od;
  h_hit = false;
  x_a = 0;
#ifdef BUG_NO_RESERVATION
  l_passes = true
#endif
}

inline decide_entering() {
  x_behind = 1;
  x_d = 0;
  x_rooms = 0;
  x_best = 0;
  do
  :: x_d < DEVICES ->
     if
     :: HAS(CANDIDATES(me_pid), x_d) ->
        next_ahead(x_d);
#ifdef BUG_NO_ORDER
        x_ahead = 0;
#endif
        passes_on(x_d);
        load_of_others(x_d);
        l_overheads = l_overheads + ME_OVERHEAD;
        x_claimed = l_overheads + l_leased;
#ifndef BUG_NO_ENTRY_RULE
        x_claimed = MAX(x_claimed, l_overheads + MAX(l_largest, LARGEST(me_pid)));
#endif
        if
        :: x_ahead != 0 -> x_blockers = x_blockers | x_ahead
        :: else -> x_behind = 0
        fi;
#ifdef BUG_NO_CAP
        l_count = 0;
#endif
        if
        :: x_ahead != 0
        :: x_ahead == 0 && l_passes && x_claimed <= CAPACITY(x_d) && !l_whole && !(WHOLE_DEVICES(me_pid) && l_slots != 0) &&
           l_count < MOST_ON(x_d) ->
           x_rooms++;
           /* The roomiest first, the earlier of two equal ones. */
           x_free = CAPACITY(x_d) - l_overheads - l_leased;
           if
           :: GPUS(me_pid) == 2 -> x_granted = x_granted | BIT(x_d)
           :: GPUS(me_pid) == 1 && (x_granted == 0 || x_free > x_best) -> x_granted = BIT(x_d); x_best = x_free
           :: else
           fi
#ifdef BUG_CAP_HAS_NO_BLOCKERS
        :: x_ahead == 0 && l_count >= MOST_ON(x_d)
#endif
        :: else -> x_blockers = x_blockers | l_slots
        fi
     :: else
     fi;
     x_d++
  :: else -> break
  od;
  if
  :: x_rooms < GPUS(me_pid) -> x_granted = 0
  :: else
  fi
}

inline decide_waiting() {
  x_granted = WANTED(me_pid, me_lease, me_devices);
  nearest_excluder();
#ifdef BUG_NO_ORDER
  x_ahead = 0;
  x_last = 0;
#endif
  x_behind = x_last;
  x_last = 0;
  x_blockers = x_ahead;
  x_granted = (x_ahead != 0 -> 0 : x_granted);
  x_d = 0;
  do
  :: x_ahead == 0 && x_d < DEVICES ->
     if
     :: HAS(WANTED(me_pid, me_lease, me_devices), x_d) ->
        passes_on(x_d);
#ifdef BUG_NO_ORDER
        l_passes = true;
#endif
        load_of_others(x_d);
        if
        :: ME_OVERHEAD + ME_BYTES + l_overheads + l_leased > CAPACITY(x_d) ||
           (EXCLUSIVE(me_pid, me_lease) && l_slots != 0) || (MEDIUM_LOCK(me_pid, me_lease) && l_locked != 0) ->
           x_granted = 0;
           /* While some keep it out by themselves, nobody else is in the way. */
           if
           :: MEDIUM_LOCK(me_pid, me_lease) && l_locked != 0 -> x_blockers = x_blockers | l_locked
           :: !(MEDIUM_LOCK(me_pid, me_lease) && l_locked != 0) && l_holders != 0 &&
              (ME_OVERHEAD + ME_BYTES + l_held > CAPACITY(x_d) || EXCLUSIVE(me_pid, me_lease)) ->
              x_blockers = x_blockers | l_holders
#ifdef BUG_WATCH_ONLY_HOLDERS
           :: l_holders != 0 -> x_blockers = x_blockers | l_holders
#endif
           :: else -> x_blockers = x_blockers | l_slots
           fi
        :: else ->
           if
#ifdef BUG_WATCH_ONLY_THOSE_AHEAD
           :: !l_passes -> x_granted = 0; next_ahead(x_d); x_blockers = x_blockers | x_ahead; x_ahead = 0
#else
           :: !l_passes -> x_granted = 0; x_blockers = x_blockers | l_slots
#endif
           :: else
           fi
        fi
     :: else
     fi;
     x_d++
  :: else -> break
  od;
  x_ahead = 0
}

/* x_granted: the devices, or 0: wait, for x_blockers (slots). x_behind: not 0 if it waits for those ahead, whatever becomes
   of all others; for a lease it is the ticket of the one in x_blockers. x_leave: of x_blockers, idle processes that have to
   leave, the fewest; all that are idle if that is not x_enough. Which of them stay goes by how long they have not worked, which
   is not modelled: those in the first slots or those in the last. */
#define LOOKED_AT ((h_down == 1 -> SLOTS + 1 - h_next : h_next - 2))
inline decide() {
#ifdef WORKERS
  if
  :: h_down = 0
  :: h_down = 1
  fi;
#endif
  h_without = 0;
  x_leave = 0;
  x_enough = 0;
  h_next = 0; /* 0: as it is; 1: without all that are idle; 2 + n: with the one in the nth slot of these */
  do
  :: x_granted = 0;
     x_blockers = 0;
     x_behind = 0;
     if
     :: me_stage == ENTERING -> decide_entering()
     :: else -> decide_waiting()
     fi;
     if
     :: h_next == 0 ->
        h_granted = x_granted;
        h_blockers = x_blockers;
        h_behind = x_behind;
        h_x = 0;
        do
        :: h_x < SLOTS ->
           x_leave = x_leave | (x_granted == 0 && HAS(x_blockers, h_x) && LEAVES(h_x) -> BIT(h_x) : 0);
           h_x++
        :: else -> break
        od;
        h_without = x_leave
     :: h_next == 1 ->
        x_enough = x_granted != 0;
#ifdef BUG_IDLE_IS_GONE
        h_granted = x_granted;
#endif
        skip
     :: else -> x_leave = (x_granted != 0 -> h_without : x_leave)
     fi;
     h_next = (h_next == 1 && !x_enough -> SLOTS + 1 : h_next);
     h_next++;
     do
     :: h_next >= 2 && h_next < SLOTS + 2 && !HAS(x_leave, LOOKED_AT) -> h_next++
     :: else -> break
     od;
     if
     :: x_leave == 0 || h_next >= SLOTS + 2 -> break
     :: h_next == 1 -> h_without = x_leave
     :: else -> h_without = x_leave & ~BIT(LOOKED_AT)
     fi
  od;
  x_granted = h_granted;
  x_blockers = h_blockers;
  x_behind = h_behind;
  h_without = 0;
  h_next = 0;
  h_granted = 0;
  h_blockers = 0;
  h_behind = 0;
  h_down = 0;
  h_x = 0
}

#ifdef GROWING
#define LAST_TICKET 255
/* with_growing: process p, which holds a lease, asks for what the next one is larger by, as if it arrived last. Who cannot
   have a lease beside the one that p holds waits for its release in any case. */
inline decide_growth(p) {
  me_is(slot[p], WAITING, LAST_TICKET, p, own_devices[p], own_lease[p]);
  x_w = 0;
  do
  :: x_w < SLOTS ->
     if
#ifndef BUG_GROWS_PAST_A_WAITER
     :: record[x_w].stage == WAITING && (EXCLUDES(x_w, 0) || EXCLUDES(x_w, 1)) ->
#else
     :: record[x_w].stage == WAITING ->
#endif
        me_ignores = me_ignores | BIT(record[x_w].who)
     :: else
     fi;
     x_w++
  :: else -> break
  od;
  x_w = 0;
  me_held = BYTES(p, own_lease[p]);
  me_lease = own_lease[p] + 1;
  decide();
  me_held = 0
}
#endif

inline forget_decision() {
  x_granted = 0;
  x_blockers = 0;
  x_behind = 0;
  x_leave = 0;
  x_enough = 0
}

/* x_in_the_way: whether the process in slot s, which is not idle any more, keeps out somebody who waits and is behind
   nobody, and whom those that are idle do not keep out. */
inline in_the_way(s) {
  x_in_the_way = false;
  x_w = 0;
  do
  :: x_w < SLOTS ->
     if
     :: x_w != s && (record[x_w].stage == ENTERING || record[x_w].stage == WAITING) && record[x_w].behind == 0 ->
        me_is(x_w, record[x_w].stage, record[x_w].ticket, record[x_w].who, record[x_w].devices, record[x_w].lease);
        decide();
        x_in_the_way = x_in_the_way || (x_granted == 0 && HAS(x_blockers, s) && !x_enough);
        forget_decision()
     :: else
     fi;
     x_w++
  :: else -> break
  od;
  x_w = 0
}

/* The first from slot s on who has to look again when something has changed, or SLOTS: who may go on, or does not know
   whom to watch any more since the claim with the ticket `left` (0: none) was granted its lease. Who is behind another
   one watches only that one, and so need not look before that one goes. */
inline next_concerned(s, left) {
  do
  :: s < SLOTS && record[s].stage != ENTERING && record[s].stage != WAITING -> s++
  :: s < SLOTS && (record[s].stage == ENTERING || record[s].stage == WAITING) ->
#ifdef BUG_NOTIFY_ONLY_WHO_SEEMS_ADMISSIBLE
     me_is(s, record[s].stage, record[s].ticket, record[s].who, record[s].devices, record[s].lease);
     decide();
     x_blockers = (x_granted == 0);
     x_granted = 0;
#else
     x_blockers = record[s].behind != 0 && !(left != 0 && record[s].stage == WAITING && record[s].behind == left);
#endif
     if
     :: x_blockers == 0 -> break
     :: else -> s++
     fi
  :: else -> break
  od;
  forget_decision()
}

/* The first who waits from slot s on, or SLOTS. */
inline next_queued(s) {
  do
  :: s < SLOTS && record[s].stage != ENTERING && record[s].stage != WAITING -> s++
  :: else -> break
  od
}
