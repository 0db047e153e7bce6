/* SPDX-License-Identifier: BSD-3-Clause */
/* Wake-up FIFOs, and what the kernel does when a process ends. */

hidden byte x_p, x_s, x_d, x_bytes;
hidden byte x_back;

/* owner_lives() */
#ifdef BUG_PROBE_SAYS_ALIVE
#define LIVES(s) true
#else
#define LIVES(s) (owner[s] != NOBODY)
#endif

/* A FIFO's reader that opened it with no writer there is told of a hang-up only once a writer has come and gone. */
inline writer_comes(s) {
  x_p = 0;
  do
  :: x_p < PROCESSES ->
     if
     :: HAS(cold[x_p], s) -> cold[x_p] = cold[x_p] & ~BIT(s); armed[x_p] = armed[x_p] | BIT(s)
     :: else
     fi;
     x_p++
  :: else -> break
  od;
  x_p = 0
}

/* notify(): who notifies is a writer for a moment too. */
inline notify(s) {
  writer_comes(s);
  notified[s] = owner[s] != NOBODY
}

/* SlotStore takes the first slot without a record whose liveness FIFO nobody has open for writing. */
inline take(p) {
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
#ifdef BUG_SLOT_TAKEN_WHILE_MEMORY_IS_OUT
     :: owner[x_s] == NOBODY -> break
#else
     :: record[x_s].stage == OUTSIDE && owner[x_s] == NOBODY -> break
#endif
     :: else -> x_s++
     fi
  :: else -> assert(false) /* a configuration must have enough slots */
  od;
  owner[x_s] = p;
  slot[p] = x_s;
  notified[x_s] = false;
  writer_comes(x_s);
  x_s = 0
}

/* LivenessWatch: opens a liveness FIFO for poll(). */
inline watch(p, s) {
  if
  :: owner[s] != NOBODY -> armed[p] = armed[p] | BIT(s)
  :: else -> cold[p] = cold[p] | BIT(s)
  fi
}

/* poll() looks at what is now: a new owner of the liveness FIFO hides the end of the last one. */
#define HUNG_UP(p, s) (HAS(armed[p], s) && owner[s] == NOBODY)
#ifdef PROBE_WITHOUT_LIST /* looks every 3 ms, and so is never quiet */
#define BACK(p, q) HAS(dead[p], q)
#else
#define BACK(p, q) (HAS(dead[p], q) && in_use[q] == 0)
#endif
#if PROCESSES == 2
#define ANY_PROCESS(f, p) (f(p, 0) || f(p, 1))
#elif PROCESSES == 3
#define ANY_PROCESS(f, p) (f(p, 0) || f(p, 1) || f(p, 2))
#else
#define ANY_PROCESS(f, p) (f(p, 0) || f(p, 1) || f(p, 2) || f(p, 3))
#endif
#if SLOTS == 2
#define ANY_SLOT(f, p) (f(p, 0) || f(p, 1))
#elif SLOTS == 3
#define ANY_SLOT(f, p) (f(p, 0) || f(p, 1) || f(p, 2))
#else
#define ANY_SLOT(f, p) (f(p, 0) || f(p, 1) || f(p, 2) || f(p, 3))
#endif
/* One of those ahead is stopped, or one that it ignores is not any more: it looks every 500 ms. */
#if STOPS && !defined(BUG_NEVER_LOOKS_WHO_IS_STOPPED)
#define NEWS_OF_STOPS(p, q) ((HAS(ahead[p], q) && stopped[q]) || (HAS(ignores[p], q) && !stopped[q]))
#define NEWS_FOR(p) ANY_PROCESS(NEWS_OF_STOPS, p)
#else
#define NEWS_FOR(p) false
#endif
#define NOTIFIED_OR_HUNG_UP(p) (notified[slot[p]] || ANY_SLOT(HUNG_UP, p) || ANY_PROCESS(BACK, p))
#define AWAKE(p) (NEWS_FOR(p) || NOTIFIED_OR_HUNG_UP(p))

/* Which of those it watches poll() reports: x_bytes. */
inline hung_up(p) {
  x_bytes = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: HUNG_UP(p, x_s) -> x_bytes = x_bytes | BIT(x_s)
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}

/* The process ends. Its mutex is free at once; its liveness FIFO and its memory stay for now. */
inline die(p) {
  alive[p] = false;
  asleep[p] = false;
  busy[p] = false;
  deadline[p] = false;
  armed[p] = 0;
  cold[p] = 0;
  dead[p] = 0;
  arrival[p] = 0;
#if STOPS
  stopped[p] = false;
  was_stopped[p] = false;
  ignores[p] = 0;
  ahead[p] = 0;
#endif
  own_stage[p] = OUTSIDE;
  own_ticket[p] = 0;
  FORGET_GROWTH(p);
#if AT_ONCE < PROCESSES
  ended++;
#endif
#ifndef BUG_MUTEX_OUTLIVES_ITS_HOLDER
  if
  :: mutex == p -> mutex = NOBODY
  :: else
  fi
#endif
}

/* The last descriptor of the dead process's liveness FIFO is closed. */
inline silence(p) {
  owner[slot[p]] = NOBODY;
  notified[slot[p]] = false;
  slot[p] = NOBODY
}
