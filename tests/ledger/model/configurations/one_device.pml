/* Three processes inside one device that has room for one lease at a time. One of the first two may be killed; the second
   may give up. */
#define PROCESSES 3
#define IDENTICAL
#define DEVICES 1
#define KILLS 1
#define DEADLINES 1
#define MAY_BE_KILLED(p) (p < 2)
#define HAS_DEADLINE(p) (p == 1)
#define CAPACITY(d) 6
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) 3
#define LEASES(p) 1
#define BYTES(p, k) 3
#include "../ledger.pml"
