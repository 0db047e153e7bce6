// Must not compile: there is no such capability.

#include <gputest/gtest/annotate.hpp>

GPUTEST_REQUIRES(Pools, needed, memory_pool);
