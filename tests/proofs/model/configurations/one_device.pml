/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole lives: three processes enter one device that has room for one lease at a time, lease, and end. Two kills, and one
   that gives up. */
#define PROCESSES 3
#define IDENTICAL
#define DEVICES 1
#define KILLS 2
#define DEADLINES 1
#define CAPACITY(d) 6
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 3
#define LEASES(p) 1
#define BYTES(p, k) 3
#include "../ledger.pml"
