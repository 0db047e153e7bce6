/* SPDX-License-Identifier: BSD-3-Clause */
/* core/ledger/device_probe where the driver's list does not say whose memory it is. That what is in use a second later counts
   as an external process's is left out, as all time is. */

#ifdef PROBE_LISTS_CHILDREN
/* All memory is that of children of those on the ledger, which have ended as well: the list has pids that nobody here knows. */
inline figure_is_back(q) {
  x_figure = true;
#ifndef BUG_PROBE_KNOWS_NO_CHILDREN
  x_s = 0;
  do
  :: x_s < PROCESSES ->
     x_figure = x_figure && (alive[x_s] || in_use[x_s] == 0 || (own_devices[x_s] & own_devices[q]) == 0);
     x_s++
  :: else -> break
  od;
  x_s = 0
#endif
}
#else
/* There is no list: memory is back when nothing at all is in use. */

#ifdef BUG_PROBE_COUNTS_CLAIMS
/* As if the living had allocated all that they claim, and more than that were the dead's. */
hidden byte x_claimed_by_others;

inline claims_of_others(q, d) {
  x_claimed_by_others = 0;
  x_s = 0;
  do
  :: x_s < SLOTS ->
     if
     :: record[x_s].who != q && IS_INSIDE(record[x_s]) && HAS(record[x_s].devices, d) ->
        x_claimed_by_others = x_claimed_by_others + OVERHEAD(record[x_s].who) +
                              (record[x_s].stage == HOLDING &&
                                   HAS(LEASE_DEVICES(record[x_s].who, record[x_s].lease), d)
                                 -> BYTES(record[x_s].who, record[x_s].lease)
                                 : 0)
     :: else
     fi;
     x_s++
  :: else -> break
  od;
  x_s = 0
}
#else
#define x_claimed_by_others 0
#endif

/* x_figure: whether the memory of process q, which has ended, is back on all its devices. */
inline figure_is_back(q) {
  x_figure = true;
  x_d = 0;
  do
  :: x_d < DEVICES ->
     if
     :: HAS(own_devices[q], x_d) ->
#ifdef BUG_PROBE_COUNTS_CLAIMS
        claims_of_others(q, x_d);
#endif
        bytes_in_use(x_d);
        x_figure = x_figure && x_bytes <= x_claimed_by_others
     :: else
     fi;
     x_d++
  :: else -> break
  od;
  x_d = 0;
  x_bytes = 0
}
#endif
