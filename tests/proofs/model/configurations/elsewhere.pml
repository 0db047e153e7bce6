/* SPDX-License-Identifier: BSD-3-Clause */
/* Entering one of several devices: processes wait for the first device; one in the midst of them may enter the second one
   instead, when it is free. One kill. */
#define PROCESSES 4
#define IN_ORDER
#define DEVICES 2
#define KILLS 1
#define CAPACITY(d) (d == 0 -> 4 : 3)
#define CANDIDATES(p) (p == 0 || p == 2 -> 3 : 1)
#define GPUS(p) (p == 0 -> 2 : 1)
#define OVERHEAD(p) (p == 1 -> 3 : 2)
#define LARGEST(p) 0
#define LEASES(p) 0
#define BYTES(p, k) 0
#include "../ledger.pml"
