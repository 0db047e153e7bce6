/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers, which stay idle until they are asked to leave: two of three fit on the device with the lease that each may wait for. Any may wait for
   another to leave, or be asked to leave while it is given work. One kill. */
#define PROCESSES 3
#define IDENTICAL
#define WORKER(p) true
#define DEVICES 1
#define KILLS 1
#define CAPACITY(d) 4
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 2
#define LEASES(p) 1
#define BYTES(p, k) 2
#include "../ledger.pml"
