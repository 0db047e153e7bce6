/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers and a process that wants the whole device: it waits to enter while two workers take work in turn. Two kills. */
#define PROCESSES 3
#define WORKER(p) (p != 0)
#define DEVICES 1
#define KILLS 2
#define CAPACITY(d) 4
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 2
#define WHOLE_DEVICES(p) (p == 0)
#define EXCLUSIVE(p, k) (p == 0)
#define LEASES(p) 1
#define BYTES(p, k) 2
#include "../ledger.pml"
