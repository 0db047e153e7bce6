/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots that are taken again: four lives, three at once, one kill. Who ends is replaced by a process that takes its slot. One fits at a time, so
   that the others wait to enter. */
#define PROCESSES 4
#define IDENTICAL
#define AT_ONCE 3
#define DEVICES 1
#define KILLS 1
#define CAPACITY(d) 3
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 2
#define LARGEST(p) 0
#define LEASES(p) 0
#define BYTES(p, k) 0
#include "../ledger.pml"
