# SPDX-License-Identifier: BSD-3-Clause
# Builds a project that uses gputest, from nothing, and runs its tests on simulated devices.
#
#   cmake -DSOURCE=<project> -DWORK=<scratch folder> [-DPACKAGE=<folder with gputest-config.cmake>]
#         [-DOPTIONS=<options of the configure step>] [-DMORE_OPTIONS=<more of them>] -P consumer.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/ctest_run.cmake")
set(options ${OPTIONS} ${MORE_OPTIONS})
if(PACKAGE)
  # A consumer of the finished library needs no Boost: the second option proves it.
  list(APPEND options "-Dgputest_DIR=${PACKAGE}" -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON)
endif()

set(ENV{GPUTEST_DEVICES} simulated:2x16GiB)
set(ENV{GPUTEST_REQUIRE_GPU} 1) # the tests are to run, not to be skipped for want of the simulated devices

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" ${options} COMMAND_ERROR_IS_FATAL ANY)
if(PACKAGE)
  # find_package() falls back on other places without a word.
  load_cache("${WORK}/build" READ_WITH_PREFIX used_ gputest_DIR)
  file(REAL_PATH "${PACKAGE}" expected)
  file(REAL_PATH "${used_gputest_DIR}" used)
  if(NOT used STREQUAL expected)
    message(FATAL_ERROR "the project used gputest from ${used}, not from ${expected}")
  endif()
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" --output-on-failure --no-tests=error -j 4
  COMMAND_ERROR_IS_FATAL ANY)
