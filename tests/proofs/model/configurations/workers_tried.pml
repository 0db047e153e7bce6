/* SPDX-License-Identifier: BSD-3-Clause */
/* Process 0 is inside and tries to lease the whole device without waiting, beside two workers; one that gives up. Two kills. */
#define PROCESSES 3
#define START_INSIDE
#define WORKER(p) (p != 0)
#define STAYS
#define DEVICES 1
#define KILLS 2
#define DEADLINES 1
#define CAPACITY(d) 5
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) (p == 0 -> 0 : 2)
#define LEASES(p) 1
#define BYTES(p, k) 2
#define MAY_WAIT(p, k) (p != 0)
#define EXCLUSIVE(p, k) (p == 0)
#include "../ledger.pml"
