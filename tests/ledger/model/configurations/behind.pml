/* Four processes inside one device; the leases of the first two do not fit together. One of these two may be killed; the
   third may give up, with the fourth behind it. */
#define PROCESSES 4
#define IN_ORDER
#define LEASES_IN_ORDER
#define START_INSIDE
#define STAYS
#define DEVICES 1
#define KILLS 1
#define DEADLINES 1
#define MAY_BE_KILLED(p) (p < 2)
#define HAS_DEADLINE(p) (p == 2)
#define CAPACITY(d) 8
#define CANDIDATES(p) 1
#define GPUS(p) 1
#define OVERHEAD(p) 1
#define LARGEST(p) (p == 1 -> 3 : 2)
#define LEASES(p) 1
#define BYTES(p, k) (p == 1 -> 3 : 2)
#include "../ledger.pml"
