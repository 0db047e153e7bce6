/* SPDX-License-Identifier: BSD-3-Clause */
/* Several devices at once: process 0 needs both devices and leases both at once; the others take the one with more room. Two processes fit on a
   device, with one lease of 3 at a time. Two kills. */
#define PROCESSES 3
#define DEVICES 2
#define KILLS 2
#define CAPACITY(d) 5
#define CANDIDATES(p) 3
#define GPUS(p) (p == 0 -> 2 : 1)
#define OVERHEAD(p) 1
#define LARGEST(p) (p == 0 -> 2 : 3)
#define LEASES(p) 1
#define BYTES(p, k) (p == 0 -> 2 : 3)
#include "../ledger.pml"
