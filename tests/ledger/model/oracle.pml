/* What is true, whatever the records say: by process, of the living, and of memory really in use. */


hidden byte o_p, o_q, o_d, o_overheads, o_leased, o_largest, o_rooms;
hidden byte o_alone, o_seat_free, o_may, o_somebody_busy;

#define O_INSIDE(q) (alive[q] && own_stage[q] >= INSIDE)
#define O_ASKED(q)                                                                                                     \
  (!alive[q] || arrival[q] == 0                                                                                        \
     -> 0                                                                                                              \
     : (own_stage[q] == ENTERING -> CANDIDATES(q) : WANTED(q, own_lease[q], own_devices[q])))

/* x_bytes: what is really in use on device d, by the living and by the dead. */
inline bytes_in_use(d) {
  x_bytes = 0;
  x_p = 0;
  do
  :: x_p < PROCESSES ->
     if
     :: in_use[x_p] > 0 && HAS(own_devices[x_p], d) ->
        x_bytes = x_bytes + OVERHEAD(x_p) +
                  (in_use[x_p] == 2 && HAS(LEASE_DEVICES(x_p, own_lease[x_p]), d) -> BYTES(x_p, own_lease[x_p]) : 0)
     :: else
     fi;
     x_p++
  :: else -> break
  od;
  x_p = 0
}

/* A process joins its queue: the ticket is the code's, the arrival is the oracle's. */
inline arrive(p) {
  own_ticket[p] = 1;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     own_ticket[p] = MAX(own_ticket[p], (record[x_s].stage == OUTSIDE -> 0 : record[x_s].ticket + 1));
     x_s++
  :: else -> break
  od;
  x_s = 0;
  arrival[p] = 1;
  o_q = 0;
  do
  :: o_q < PROCESSES ->
     arrival[p] = MAX(arrival[p], (o_q != p && arrival[o_q] != 0 -> arrival[o_q] + 1 : 0));
     o_q++
  :: else -> break
  od;
  o_q = 0
}

inline depart(p) { arrival[p] = 0 }

inline check_order(p) {
  o_q = 0;
  do
  :: o_q < PROCESSES ->
     assert(!(granted && o_q != p && own_stage[o_q] == own_stage[p] && arrival[o_q] < arrival[p] &&
              (O_ASKED(o_q) & granted) != 0)); /* order */
     o_q++
  :: else -> break
  od;
  o_q = 0
}

/* Nothing but the living will change anything: everybody has not come yet, is busy, sleeps with nothing to wake it, or
   is gone with its bell and its memory. */
#define QUIET_PROCESS(p) (alive[p] -> (busy[p] || (asleep[p] && !AWAKE(p))) : (slot[p] == NOBODY && in_use[p] == 0))
#if PROCESSES == 2
#define QUIET (QUIET_PROCESS(0) && QUIET_PROCESS(1))
#elif PROCESSES == 3
#define QUIET (QUIET_PROCESS(0) && QUIET_PROCESS(1) && QUIET_PROCESS(2))
#else
#define QUIET (QUIET_PROCESS(0) && QUIET_PROCESS(1) && QUIET_PROCESS(2) && QUIET_PROCESS(3))
#endif

/* Whether process o_p, which waits on device o_d, could have it: o_may. */
inline room_on_device() {
  o_overheads = OVERHEAD(o_p);
  o_leased = 0;
  o_largest = LARGEST(o_p);
  o_alone = true;
  o_seat_free = true;
  o_may = true;
  o_q = 0;
  do
  :: o_q < PROCESSES ->
     if
     :: o_q != o_p && own_stage[o_q] == own_stage[o_p] && arrival[o_q] < arrival[o_p] && HAS(O_ASKED(o_q), o_d) ->
        o_may = false /* its turn has not come */
     :: else
     fi;
     if
     :: o_q != o_p && O_INSIDE(o_q) && HAS(own_devices[o_q], o_d) ->
        o_overheads = o_overheads + OVERHEAD(o_q);
        o_largest = MAX(o_largest, LARGEST(o_q));
        o_alone = false;
        o_may = o_may && !(own_stage[o_p] == ENTERING && WHOLE_DEVICES(o_q));
        if
        :: own_stage[o_q] == HOLDING && HAS(LEASE_DEVICES(o_q, own_lease[o_q]), o_d) ->
           o_leased = o_leased + BYTES(o_q, own_lease[o_q]);
           o_seat_free = o_seat_free && !SEAT(o_q, own_lease[o_q]);
           o_may = o_may && !(own_stage[o_p] == ENTERING && EXCLUSIVE(o_q, own_lease[o_q]))
        :: else
        fi
     :: else
     fi;
     o_q++
  :: else -> break
  od;
  if
  :: own_stage[o_p] == ENTERING ->
     o_may = o_may && o_overheads + o_largest <= CAPACITY(o_d) && o_overheads + o_leased <= CAPACITY(o_d) &&
             (o_alone || !WHOLE_DEVICES(o_p))
  :: else ->
     o_may = o_may && o_overheads + o_leased + BYTES(o_p, own_lease[o_p]) <= CAPACITY(o_d) &&
             (o_alone || !EXCLUSIVE(o_p, own_lease[o_p])) && (o_seat_free || !SEAT(o_p, own_lease[o_p]))
  fi
}

inline check_quiet() {
  o_p = 0;
  o_somebody_busy = false;
  do
  :: o_p < PROCESSES -> o_somebody_busy = o_somebody_busy || busy[o_p]; o_p++
  :: else -> break
  od;
  o_p = 0;
  do
  :: o_p < PROCESSES ->
     if
     :: asleep[o_p] ->
        assert(o_somebody_busy); /* deadlock */
        o_rooms = 0; /* devices that it could have, or does not need */
        o_d = 0;
        do
        :: o_d < DEVICES ->
           if
           :: HAS(O_ASKED(o_p), o_d) -> room_on_device(); o_rooms = o_rooms + o_may
           :: else -> o_rooms = o_rooms + (own_stage[o_p] == WAITING)
           fi;
           o_d++
        :: else -> break
        od;
        /* lost wake-up */
        assert(!(own_stage[o_p] == ENTERING && o_rooms >= GPUS(o_p)));
        assert(!(own_stage[o_p] == WAITING && o_rooms == DEVICES))
     :: else
     fi;
     o_p++
  :: else -> break
  od;
  o_p = 0
}
