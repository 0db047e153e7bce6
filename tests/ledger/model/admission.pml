/* policy/admission over the records: who may go on, who is in the way, who is a head. Pure. */

/* The claim that is decided about, with_own: its record need not say yet what it asks for. */
hidden byte me_slot, me_stage, me_ticket, me_pid, me_devices, me_lease;
hidden byte x_granted, x_blockers, x_ahead, x_last, x_rooms, x_free, x_best, x_asked;
hidden byte l_overheads, l_leased, l_largest, l_slots, x_claimed;
hidden byte l_holders, l_held, l_seated;
hidden byte l_whole;

inline me_is(a_slot, a_stage, a_ticket, a_pid, a_devices, a_lease) {
  me_slot = a_slot;
  me_stage = a_stage;
  me_ticket = a_ticket;
  me_pid = a_pid;
  me_devices = a_devices;
  me_lease = a_lease
}

#define IS_INSIDE(r) (r.stage >= INSIDE)
#define ASKED(r)                                                                                                       \
  (r.stage == ENTERING -> CANDIDATES(r.who) : (r.stage == WAITING -> WANTED(r.who, r.lease, r.devices) : 0))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* x_ahead: slots of those who arrived earlier in the same queue and want one of these devices. */
inline ahead_of(wanted_devices) {
  x_ahead = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: x_s != me_slot && record[x_s].stage == me_stage && record[x_s].ticket < me_ticket &&
        (ASKED(record[x_s]) & (wanted_devices)) != 0 ->
        x_ahead = x_ahead | BIT(x_s)
     :: else
     fi;
     x_s++
  :: else -> break
  od
}

/* x_ahead: the slot of the last of those who are ahead on device d, or nothing. */
inline next_ahead(d) {
  x_ahead = 0;
  x_last = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: x_s != me_slot && record[x_s].stage == me_stage && record[x_s].ticket < me_ticket &&
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
  l_whole = false;
  l_seated = 0;  /* slots of those who hold the seat; of those who hold a lease, and all that these have */
  l_holders = 0;
  l_held = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: x_s != me_slot && IS_INSIDE(record[x_s]) && HAS(record[x_s].devices, d) ->
        l_slots = l_slots | BIT(x_s);
        l_overheads = l_overheads + OVERHEAD(record[x_s].who);
        l_largest = MAX(l_largest, LARGEST(record[x_s].who));
        l_whole = l_whole || WHOLE_DEVICES(record[x_s].who);
        if
        :: record[x_s].stage == HOLDING && HAS(LEASE_DEVICES(record[x_s].who, record[x_s].lease), d) ->
           l_leased = l_leased + BYTES(record[x_s].who, record[x_s].lease);
           l_holders = l_holders | BIT(x_s);
           l_held = l_held + OVERHEAD(record[x_s].who) + BYTES(record[x_s].who, record[x_s].lease);
           l_whole = l_whole || EXCLUSIVE(record[x_s].who, record[x_s].lease);
           l_seated = l_seated | (SEAT(record[x_s].who, record[x_s].lease) -> BIT(x_s) : 0)
        :: else
        fi
     :: else
     fi;
     x_s++
  :: else -> break
  od
}

inline decide_entering() {
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
        load_of_others(x_d);
        l_overheads = l_overheads + OVERHEAD(me_pid);
        x_claimed = l_overheads + l_leased;
#ifndef BUG_NO_ENTRY_RULE
        x_claimed = MAX(x_claimed, l_overheads + MAX(l_largest, LARGEST(me_pid)));
#endif
        if
        :: x_ahead != 0 -> x_blockers = x_blockers | x_ahead
        :: x_ahead == 0 && x_claimed <= CAPACITY(x_d) && !l_whole && !(WHOLE_DEVICES(me_pid) && l_slots != 0) ->
           x_rooms++;
           /* The roomiest first, the earlier of two equal ones. */
           x_free = CAPACITY(x_d) - l_overheads - l_leased;
           if
           :: GPUS(me_pid) == 2 -> x_granted = x_granted | BIT(x_d)
           :: GPUS(me_pid) == 1 && (x_granted == 0 || x_free > x_best) -> x_granted = BIT(x_d); x_best = x_free
           :: else
           fi
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
  x_d = 0;
#ifndef BUG_NO_ORDER
  do
  :: x_d < DEVICES ->
     if
     :: HAS(x_granted, x_d) -> next_ahead(x_d); x_blockers = x_blockers | x_ahead
     :: else
     fi;
     x_d++
  :: else -> break
  od;
  x_d = 0;
#endif
  x_ahead = x_blockers;
  do
  :: x_ahead != 0 -> x_granted = 0; break
  :: x_ahead == 0 && x_d < DEVICES ->
     if
     :: HAS(WANTED(me_pid, me_lease, me_devices), x_d) ->
        load_of_others(x_d);
        if
        :: OVERHEAD(me_pid) + BYTES(me_pid, me_lease) + l_overheads + l_leased > CAPACITY(x_d) ||
           (EXCLUSIVE(me_pid, me_lease) && l_slots != 0) || (SEAT(me_pid, me_lease) && l_seated != 0) ->
           x_granted = 0;
           /* While some keep it out by themselves, nobody else is in the way. */
           if
           :: SEAT(me_pid, me_lease) && l_seated != 0 -> x_blockers = x_blockers | l_seated
           :: !(SEAT(me_pid, me_lease) && l_seated != 0) && l_holders != 0 &&
              (OVERHEAD(me_pid) + BYTES(me_pid, me_lease) + l_held > CAPACITY(x_d) || EXCLUSIVE(me_pid, me_lease)) ->
              x_blockers = x_blockers | l_holders
#ifdef BUG_WATCH_ONLY_HOLDERS
           :: l_holders != 0 -> x_blockers = x_blockers | l_holders
#endif
           :: else -> x_blockers = x_blockers | l_slots
           fi
        :: else
        fi
     :: else
     fi;
     x_d++
  :: else -> break
  od
}

/* x_granted: the devices, or 0: wait, for x_blockers (slots). */
inline decide() {
  x_granted = 0;
  x_blockers = 0;
  if
  :: me_stage == ENTERING -> decide_entering()
  :: else -> decide_waiting()
  fi
}

inline forget_decision() {
  x_granted = 0;
  x_blockers = 0
}

/* The first head from slot s on, or SLOTS. */
inline next_head(s) {
  do
  :: s < SLOTS && record[s].stage != ENTERING && record[s].stage != WAITING -> s++
  :: s < SLOTS && (record[s].stage == ENTERING || record[s].stage == WAITING) ->
     me_is(s, record[s].stage, record[s].ticket, record[s].who, record[s].devices, record[s].lease);
#ifdef BUG_RING_ONLY_WHO_SEEMS_ADMISSIBLE
     decide();
     if
     :: x_granted != 0 -> break
     :: else -> s++
     fi
#else
     /* taken: what those ahead ask for. */
     x_asked = ASKED(record[s]);
     ahead_of(x_asked);
     x_rooms = 0;
     x_s = 0;
     do
     :: x_s < SLOTS ->
        if
        :: HAS(x_ahead, x_s) -> x_rooms = x_rooms | ASKED(record[x_s])
        :: else
        fi;
        x_s++
     :: else -> break
     od;
     if
     :: record[s].stage == WAITING && x_rooms == 0 -> break
     :: record[s].stage == ENTERING && (x_asked & ~x_rooms) != 0 -> break
     :: else -> s++
     fi
#endif
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
