/* SPDX-License-Identifier: BSD-3-Clause */
/* Passing: four processes inside one device, which ask in the order of their numbers. The first holds 4, the second waits for
   5; the third asks for 1, which never delays the second, and the fourth for 2, which may: not while somebody else's context
   or lease may go. Two kills. */
#define PROCESSES 4
#define LEASES_IN_ORDER
#define START_INSIDE
#define STAYS
#define DEVICES 1
#define KILLS 2
#define CAPACITY(d) 10
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 5
#define LEASES(p) 1
#define BYTES(p, k) (p == 0 -> 4 : (p == 1 -> 5 : p - 1))
#include "../ledger.pml"
