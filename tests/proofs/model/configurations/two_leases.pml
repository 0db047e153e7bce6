/* SPDX-License-Identifier: BSD-3-Clause */
/* Several leases: two processes on two devices, two leases each, of both devices, then of the first. A third takes the place of one of
   them; two kills. */
#define PROCESSES 3
#define IDENTICAL
#define AT_ONCE 2
#define DEVICES 2
#define KILLS 2
#define CAPACITY(d) 4
#define CANDIDATES(p) 3
#define GPUS(p) 2
#define OVERHEAD(p) 1
#define LARGEST(p) 2
#define LEASES(p) 2
#define LEASE_DEVICES(p, k) (k == 1 -> 3 : 1)
#define BYTES(p, k) 2
#include "../ledger.pml"
