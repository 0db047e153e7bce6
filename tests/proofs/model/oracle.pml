/* SPDX-License-Identifier: BSD-3-Clause */
/* What is true, whatever the records say: by process, of the living, and of memory really in use. */


hidden byte o_later, o_growth, o_a, o_r;
hidden int o_sums;
hidden short o_capacity;
hidden byte o_p, o_q, o_d, o_overheads, o_leased, o_largest, o_rooms;
hidden byte o_beside, o_lock_free, o_may, o_somebody_busy;

#define O_INSIDE(q) (alive[q] && own_stage[q] >= INSIDE)
/* Whoever is idle leaves when asked, so it keeps nobody out. */
#define O_STAYS(q) (O_INSIDE(q) && (own_stage[q] != IDLE || IS_STOPPED(q)))
#define O_WANTS(q) WANTED(q, own_lease[q], own_devices[q])
#define O_ASKED(q)                                                                                                     \
  (!alive[q] || arrival[q] == 0 || own_stage[q] == HOLDING                                                             \
     -> 0                                                                                                              \
     : (own_stage[q] == ENTERING -> CANDIDATES(q) : O_WANTS(q)))

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

/* o_beside: how many processes have memory of device d, of the living and of the dead. */
inline processes_on(d) {
  o_beside = 0;
  x_p = 0;
  do
  :: x_p < PROCESSES -> o_beside = o_beside + (in_use[x_p] > 0 && HAS(own_devices[x_p], d)); x_p++
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
     own_ticket[p] = MAX(own_ticket[p], (record[x_s].stage == OUTSIDE || x_s == slot[p] -> 0 : record[x_s].ticket + 1));
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

#ifdef GROWING
/* Process p has grown, past all that wait. */
inline remember_growth(p) {
  o_q = 0;
  do
  :: o_q < PROCESSES ->
     grown_past[p] = grown_past[p] | (alive[o_q] && own_stage[o_q] == WAITING && arrival[o_q] != 0 -> BIT(o_q) : 0);
     o_q++
  :: else -> break
  od;
  o_q = 0
}

/* Process p holds its lease, or waits, no longer. */
inline forget_growth(p) {
  grown_past[p] = 0;
  o_q = 0;
  do
  :: o_q < PROCESSES -> grown_past[o_q] = grown_past[o_q] & ~BIT(p); o_q++
  :: else -> break
  od;
  o_q = 0
}
#define GROWN_PAST(q, p) HAS(grown_past[q], p)
#else
#define GROWN_PAST(q, p) false
#endif

/* Who was granted a lease keeps its place in the order of arrival until it gives the lease back. */
inline depart(p) {
  FORGET_GROWTH(p);
#if STOPS
  was_stopped[p] = false;
#endif
  if
  :: granted && own_stage[p] == WAITING
  :: else -> arrival[p] = 0
  fi
}

/* Who enters passes nobody; who leases passes nobody that wants the same medium lock or the whole device. Those who were
   stopped meanwhile are passed. */
inline check_order(p) {
  o_q = 0;
  do
  :: o_q < PROCESSES ->
     assert(!(granted && o_q != p && own_stage[o_q] == own_stage[p] && arrival[o_q] < arrival[p] &&
              !WAS_STOPPED(o_q) && (O_ASKED(o_q) & granted) != 0 &&
              (own_stage[p] == ENTERING || EXCLUSIVE(o_q, own_lease[o_q]) ||
               (MEDIUM_LOCK(o_q, own_lease[o_q]) && MEDIUM_LOCK(p, own_lease[p]))))); /* order */
     o_q++
  :: else -> break
  od;
  o_q = 0
}

/* Nobody runs later for a later arrival, nor for the growth of an earlier one's lease since: whoever waits for a lease and would have room for it on a device beside the
   leases of earlier arrivals as they were when it began to wait, whatever of those are out now, has room beside all leases. */
inline check_reservations() {
#if STOPS == 0 /* else whoever goes on again finds those that have passed it */
  o_p = 0;
  do
  :: o_p < PROCESSES ->
     o_d = 0;
     do
     :: o_d < DEVICES ->
        if
        :: alive[o_p] && own_stage[o_p] == WAITING && HAS(O_ASKED(o_p), o_d) ->
           o_leased = BYTES(o_p, own_lease[o_p]);
           o_overheads = OVERHEAD(o_p);
           o_later = 0;
           o_q = 0;
           do
           :: o_q < PROCESSES ->
              if
              :: o_q != o_p && O_INSIDE(o_q) && HAS(own_devices[o_q], o_d) ->
                 o_overheads = o_overheads + OVERHEAD(o_q);
                 if
                 :: own_stage[o_q] == HOLDING && HAS(O_WANTS(o_q), o_d) && arrival[o_q] < arrival[o_p] ->
                    o_growth = (GROWN_PAST(o_q, o_p) &&
                                    !(MEDIUM_LOCK(o_q, own_lease[o_q]) && MEDIUM_LOCK(o_p, own_lease[o_p]))
                                  -> BYTES(o_q, own_lease[o_q]) - BYTES(o_q, own_lease[o_q] - 1)
                                  : 0);
                    o_leased = o_leased + BYTES(o_q, own_lease[o_q]) - o_growth;
                    o_later = o_later + o_growth
                 :: own_stage[o_q] == HOLDING && HAS(O_WANTS(o_q), o_d) && arrival[o_q] > arrival[o_p] ->
                    o_later = o_later + BYTES(o_q, own_lease[o_q])
                 :: else
                 fi
              :: else
              fi;
              o_q++
           :: else -> break
           od;
           o_q = 0;
           assert(o_overheads + o_leased > CAPACITY(o_d) || o_overheads + o_leased + o_later <= CAPACITY(o_d)) /* reserve */
        :: else
        fi;
        o_d++
     :: else -> break
     od;
     o_p++
  :: else -> break
  od;
  o_p = 0;
  o_d = 0;
  o_later = 0;
  o_growth = 0
#else
  skip
#endif
}

/* Nothing but the living will change anything: everybody has not come yet, is busy, sleeps with nothing to wake it, or
   is gone with its liveness FIFO and its memory. */
#define AT_REST(p) (own_stage[p] == IDLE && !notified[slot[p]])
#define QUIET_PROCESS(p)                                                                                               \
  (alive[p] -> (busy[p] || ((IS_STOPPED(p) || AT_REST(p)) && mutex != p) || (asleep[p] && !AWAKE(p)))                               \
            : (slot[p] == NOBODY && in_use[p] == 0))
#if PROCESSES == 2
#define QUIET (QUIET_PROCESS(0) && QUIET_PROCESS(1))
#elif PROCESSES == 3
#define QUIET (QUIET_PROCESS(0) && QUIET_PROCESS(1) && QUIET_PROCESS(2))
#else
#define QUIET (QUIET_PROCESS(0) && QUIET_PROCESS(1) && QUIET_PROCESS(2) && QUIET_PROCESS(3))
#endif

/* o_passes: whether what o_p waits for leaves room for o_a, which came earlier, in each state of those that came before
   o_a in which there is room for it without later arrivals. */
hidden byte o_passes;
inline room_left_for(a) {
  o_a = a;
  o_capacity = CAPACITY(o_d) - OVERHEAD(o_a) - BYTES(o_a, own_lease[o_a]);
  o_later = (own_stage[o_p] == WAITING -> BYTES(o_p, own_lease[o_p]) : 0);
  o_sums = 1 << OVERHEAD(o_p);
  o_r = 0;
  do
  :: o_r < PROCESSES ->
     if
     :: o_r != o_p && o_r != o_a && O_STAYS(o_r) && HAS(own_devices[o_r], o_d) ->
        if
        :: arrival[o_r] != 0 && arrival[o_r] < arrival[o_a] && HAS(O_WANTS(o_r), o_d) ->
           o_sums = o_sums | (o_sums << OVERHEAD(o_r)) | (o_sums << (OVERHEAD(o_r) + BYTES(o_r, own_lease[o_r])))
        :: else ->
           o_sums = o_sums | (o_sums << OVERHEAD(o_r));
           o_later = o_later + (own_stage[o_r] == HOLDING && HAS(O_WANTS(o_r), o_d) -> BYTES(o_r, own_lease[o_r]) : 0)
        fi
     :: else
     fi;
     o_r++
  :: else -> break
  od;
  o_passes = o_capacity < 0 || o_later == 0 ||
             ((o_sums & ((1 << (o_capacity + 1)) - 1)) >> MAX(0, o_capacity - o_later + 1)) == 0;
  o_passes = o_passes && (own_stage[o_p] == ENTERING ||
                          (!EXCLUSIVE(o_a, own_lease[o_a]) &&
                           !(MEDIUM_LOCK(o_a, own_lease[o_a]) && MEDIUM_LOCK(o_p, own_lease[o_p]))));
  o_r = 0;
  o_a = 0;
  o_sums = 0;
  o_capacity = 0;
  o_later = 0
}

/* Whether process o_p, which waits on device o_d, could have it: o_may. */
inline room_on_device() {
  o_overheads = OVERHEAD(o_p);
  o_leased = 0;
  o_largest = LARGEST(o_p);
  o_beside = 0;
  o_lock_free = true;
  o_may = true;
  o_q = 0;
  do
  :: o_q < PROCESSES ->
     if
     :: o_q != o_p && own_stage[o_q] == own_stage[o_p] && arrival[o_q] < arrival[o_p] && HAS(O_ASKED(o_q), o_d) &&
        !IS_STOPPED(o_q) ->
        room_left_for(o_q);
        o_may = o_may && own_stage[o_p] == WAITING && o_passes /* or its turn has not come */
     :: o_q != o_p && own_stage[o_p] == ENTERING && alive[o_q] && own_stage[o_q] == WAITING && HAS(O_ASKED(o_q), o_d) ->
        room_left_for(o_q);
        o_may = o_may && o_passes
     :: else
     fi;
     if
     :: o_q != o_p && O_STAYS(o_q) && HAS(own_devices[o_q], o_d) ->
        o_overheads = o_overheads + OVERHEAD(o_q);
        o_largest = MAX(o_largest, LARGEST(o_q));
        o_beside++;
        o_may = o_may && !(own_stage[o_p] == ENTERING && WHOLE_DEVICES(o_q));
        if
        :: own_stage[o_q] == HOLDING && HAS(LEASE_DEVICES(o_q, own_lease[o_q]), o_d) ->
           o_leased = o_leased + BYTES(o_q, own_lease[o_q]);
           o_lock_free = o_lock_free && !MEDIUM_LOCK(o_q, own_lease[o_q]);
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
             (o_beside == 0 || !WHOLE_DEVICES(o_p)) && o_beside < MOST_ON(o_d)
  :: else ->
     o_may = o_may && o_overheads + o_leased + BYTES(o_p, own_lease[o_p]) <= CAPACITY(o_d) &&
             (o_beside == 0 || !EXCLUSIVE(o_p, own_lease[o_p])) && (o_lock_free || !MEDIUM_LOCK(o_p, own_lease[o_p]))
  fi
}

/* o_rooms: how many devices o_p could have, or does not need. */
inline count_rooms() {
  o_rooms = 0;
  o_d = 0;
  do
  :: o_d < DEVICES ->
     if
     :: HAS(O_ASKED(o_p), o_d) -> room_on_device(); o_rooms = o_rooms + o_may
     :: else -> o_rooms = o_rooms + (own_stage[o_p] == WAITING)
     fi;
     o_d++
  :: else -> break
  od
}
#define O_GETS_IT                                                                                                      \
  ((own_stage[o_p] == ENTERING && o_rooms >= GPUS(o_p)) || (own_stage[o_p] == WAITING && o_rooms == DEVICES))

inline check_quiet() {
  o_p = 0;
  o_somebody_busy = false;
  do
  :: o_p < PROCESSES -> o_somebody_busy = o_somebody_busy || busy[o_p] || IS_STOPPED(o_p); o_p++
  :: else -> break
  od;
  o_p = 0;
  do
  :: o_p < PROCESSES ->
     if
     :: asleep[o_p] && !IS_STOPPED(o_p) ->
        assert(o_somebody_busy); /* deadlock */
        count_rooms();
        assert(!O_GETS_IT) /* lost wake-up: o_rooms */
     :: else
     fi;
     o_p++
  :: else -> break
  od;
  o_p = 0
}

#ifdef WORKERS
hidden byte o_resumes_in_the_way, o_somebody_stays;

/* Process i takes work: nobody who waits, is behind nobody, and is kept out by i alone. Not judged where somebody has ended
   that is on the ledger, or may be stopped: i goes by the records. */
inline check_resumed(i) {
#if STOPS == 0
  o_somebody_stays = false;
  o_p = 0;
  do
  :: o_p < SLOTS ->
     o_somebody_stays = o_somebody_stays || (record[o_p].stage != OUTSIDE && owner[o_p] != record[o_p].who) ||
                        (record[o_p].stage != OUTSIDE && !alive[record[o_p].who]);
     o_p++
  :: else -> break
  od;
  o_p = 0;
  do
  :: !o_somebody_stays && o_p < PROCESSES ->
     if
     :: alive[o_p] && arrival[o_p] != 0 && (own_stage[o_p] == ENTERING || own_stage[o_p] == WAITING) &&
        record[slot[o_p]].behind == 0 ->
        count_rooms();
        o_resumes_in_the_way = !O_GETS_IT;
        own_stage[i] = IDLE;
        count_rooms();
        own_stage[i] = INSIDE;
        assert(!O_GETS_IT || !o_resumes_in_the_way) /* resumed */
     :: else
     fi;
     o_p++
  :: else -> break
  od;
  o_resumes_in_the_way = 0;
  o_somebody_stays = 0;
  o_p = 0;
  o_d = 0;
  o_rooms = 0
#else
  skip
#endif
}

/* A request that may not wait is refused, and not because its limit has passed: somebody on its devices does not leave. */
inline check_not_excluded(p) {
  o_somebody_stays = false;
  o_q = 0;
  do
  :: o_q < SLOTS ->
     o_somebody_stays = o_somebody_stays ||
                        (o_q != slot[p] && IS_INSIDE(record[o_q]) && (record[o_q].devices & own_devices[p]) != 0 &&
                         (record[o_q].stage != IDLE || IS_STOPPED(record[o_q].who)));
     o_q++
  :: else -> break
  od;
  o_q = 0;
  assert(o_somebody_stays); /* excluded */
  o_somebody_stays = 0
}
#endif
