/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry rule: three processes for one device, two at once. All contexts would fit, but not with the lease that each
   waits for. Two kills. */
#define PROCESSES 3
#define IDENTICAL
#define DEVICES 1
#define KILLS 2
#define CAPACITY(d) 5
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 4
#define LEASES(p) 1
#define BYTES(p, k) 4
#include "../ledger.pml"
