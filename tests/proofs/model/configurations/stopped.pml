/* SPDX-License-Identifier: BSD-3-Clause */
/* Stopped processes: one of the first two may be stopped at any moment and continued, in either queue, with or without the
   mutex; two of three are inside at once, one has a lease at a time. One kill. */
#define PROCESSES 3
#define IN_ORDER
#define DEVICES 1
#define KILLS 1
#define STOPS 1
#define MAY_BE_STOPPED(p) (p < 2)
#define CAPACITY(d) 5
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 3
#define LEASES(p) 1
#define BYTES(p, k) 3
#include "../ledger.pml"
