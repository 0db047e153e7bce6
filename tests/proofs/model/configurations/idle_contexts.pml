/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom to watch where no lease alone is in the way: three processes inside one device that has room for two leases, or for one lease and the contexts of
   the others. Two kills. */
#define PROCESSES 3
#define IDENTICAL
#define START_INSIDE
#define STAYS
#define DEVICES 1
#define KILLS 2
#define CAPACITY(d) 6
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 2
#define LEASES(p) 1
#define BYTES(p, k) 2
#include "../ledger.pml"
