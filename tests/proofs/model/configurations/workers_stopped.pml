/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of which one may be stopped at any moment and continued: two of three processes fit on the device. The third is
   no worker. */
#define PROCESSES 3
#define WORKER(p) (p != 2)
#define DEVICES 1
#define KILLS 0
#define STOPS 1
#define MAY_BE_STOPPED(p) (p == 0)
#define CAPACITY(d) 4
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 2
#define LEASES(p) 1
#define BYTES(p, k) 2
#include "../ledger.pml"
