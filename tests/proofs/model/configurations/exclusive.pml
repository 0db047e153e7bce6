/* SPDX-License-Identifier: BSD-3-Clause */
/* A lease of a whole device: process 0 asks for it; process 1 uses both devices, process 2 the second one only. Two
   kills. */
#define PROCESSES 3
#define DEVICES 2
#define KILLS 2
#define CAPACITY(d) 5
#define CANDIDATES(p) (p == 2 -> 2 : 3)
#define GPUS(p) (p == 1 -> 2 : 1)
#define OVERHEAD(p) 1
#define LARGEST(p) (p == 0 -> 4 : 2)
#define WHOLE_DEVICES(p) (p == 0)
#define EXCLUSIVE(p, k) (p == 0)
#define LEASES(p) 1
#define BYTES(p, k) (p == 0 -> 4 : 2)
#include "../ledger.pml"
