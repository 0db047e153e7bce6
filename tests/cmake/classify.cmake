# SPDX-License-Identifier: BSD-3-Clause
# Gives tests of a copy of examples/memory_classes wrong sizes, runs them, lets `gputest classify --apply` mend the sources, and
# builds and runs them again.
#
#   cmake -DPACKAGE=<folder with gputest-config.cmake> -DGPUTEST=<the tool> -DSOURCE=<the example> -DWORK=<scratch folder>
#         [-DOPTIONS=<options of the configure step>] -P classify.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
foreach(variable IN ITEMS GPUTEST_MEMORY GPUTEST_GPUS GPUTEST_TEST GPUTEST_ENTRY GPUTEST_RUN_MODE GPUTEST_LEASE_OF GPUTEST_LOG
        GPUTEST_METER CUDA_VISIBLE_DEVICES CTEST_PARALLEL_LEVEL GTEST_FILTER GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX)
  unset(ENV{${variable}})
endforeach()
set(ENV{GPUTEST_DIR} "${WORK}/ledger")
set(ENV{GPUTEST_DEVICES} simulated:1x16GiB)

file(COPY "${SOURCE}/" DESTINATION "${WORK}/source")
file(READ "${WORK}/source/medium_test.cpp" original)
string(REPLACE "GPUTEST_NEEDS(Sort, keys, units(6))" "GPUTEST_NEEDS(Sort, keys, 2_GiB)" wrong "${original}")
string(REPLACE "GPUTEST_NEEDS(Sort, segments, units(3))" "GPUTEST_NEEDS(Sort, segments, 14_GiB)" wrong "${wrong}")
file(WRITE "${WORK}/source/medium_test.cpp" "${wrong}")

function(build_and_run)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --parallel 2 COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" -R "^Sort\\." -j2) # some may fail
endfunction()
function(classify expected)
  execute_process(COMMAND "${GPUTEST}" classify --test-dir "${WORK}/build" --check ${ARGN}
    RESULT_VARIABLE ended OUTPUT_VARIABLE output)
  message(NOTICE "${output}")
  if(NOT ended STREQUAL expected)
    message(FATAL_ERROR "gputest classify --check ${ARGN} ended with ${ended}, not with ${expected}")
  endif()
endfunction()

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/source" -B "${WORK}/build" "-Dgputest_DIR=${PACKAGE}" ${OPTIONS}
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
build_and_run()
classify(1 --apply)
file(READ "${WORK}/source/medium_test.cpp" mended)
string(REPLACE "GPUTEST_NEEDS(Sort, keys, 2_GiB)" "GPUTEST_NEEDS(Sort, keys, 6656_MiB)" expected "${wrong}")
string(REPLACE "GPUTEST_NEEDS(Sort, segments, 14_GiB)" "GPUTEST_NEEDS(Sort, segments, 3328_MiB)" expected "${expected}")
if(NOT mended STREQUAL expected)
  message(FATAL_ERROR "the sources are not mended:\n${mended}")
endif()
build_and_run()
classify(0)
