/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of those that exclude each other: four processes inside one device that has room for one lease at a time. They
   ask in the order of their numbers, so that each waits behind the one before it. One of them may be killed, one may give
   up. */
#define PROCESSES 4
#define LEASES_IN_ORDER
#define START_INSIDE
#define STAYS
#define DEVICES 1
#define KILLS 1
#define DEADLINES 1
#define CAPACITY(d) 8
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 4
#define LEASES(p) 1
#define BYTES(p, k) 4
#include "../ledger.pml"
