# SPDX-License-Identifier: BSD-3-Clause
# For the scripts that build a project and run its tests in the folder WORK: begins with an empty folder, a ledger of its own, and
# nothing of the environment that would change a result.
file(REMOVE_RECURSE "${WORK}")
foreach(variable IN ITEMS GPUTEST_MEMORY GPUTEST_GPUS GPUTEST_LARGE GPUTEST_TEST GPUTEST_ENTRY GPUTEST_RUN_MODE GPUTEST_TIMEOUT
        GPUTEST_FORBID_SKIP GPUTEST_REQUIRE_GPU GPUTEST_WAIT_LIMIT GPUTEST_LEASE_OF GPUTEST_USES_GPU GPUTEST_LOG GPUTEST_METER CUDA_VISIBLE_DEVICES
        CTEST_PARALLEL_LEVEL GTEST_FILTER GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX DESTDIR)
  unset(ENV{${variable}})
endforeach()
set(ENV{GPUTEST_DIR} "${WORK}/ledger")

# Ends with the further arguments as a message unless the condition, CMake code, holds.
function(require condition)
  cmake_language(EVAL CODE "if(${condition})\nset(holds TRUE)\nelse()\nset(holds FALSE)\nendif()")
  if(NOT holds)
    message(FATAL_ERROR "not true: ${condition}\n${ARGN}")
  endif()
endfunction()
