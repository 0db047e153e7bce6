/* SPDX-License-Identifier: BSD-3-Clause */
/* Giving up, and the medium lock: process 0 tries to lease the whole device without waiting; 1 and 2 want the medium lock,
   and one of the three may give up. Two kills. */
#define PROCESSES 3
#define DEVICES 1
#define KILLS 2
#define DEADLINES 1
#define CAPACITY(d) 6
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) (p == 0 -> 0 : 1)
#define LEASES(p) 1
#define BYTES(p, k) (p == 0 -> 2 : 1)
#define MAY_WAIT(p, k) (p != 0)
#define EXCLUSIVE(p, k) (p == 0)
#define MEDIUM_LOCK(p, k) (p != 0)
#include "../ledger.pml"
