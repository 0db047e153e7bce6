# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs the projects that docs/migrate shows, before and after: the same tests pass, in parallel.
#
#   cmake -DPACKAGE=<folder with gputest-config.cmake> -DWORK=<scratch folder> [-DOPTIONS=<options of the configure step>]
#         -P migrate.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../cmake/ctest_run.cmake")
set(ENV{GPUTEST_DEVICES} simulated:2x16GiB)
foreach(state IN ITEMS before after)
  set(build "${WORK}/${state}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/migrate" -B "${build}" "-DSTATE=${state}"
      "-Dgputest_DIR=${PACKAGE}" ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${build}" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${build}" --output-on-failure -j4
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  message(NOTICE "${output}")
  string(REGEX MATCHALL "Test +#[0-9]+: [^ ]+ [.]+ +Passed" tests_${state} "${output}")
  list(TRANSFORM tests_${state} REPLACE ".*#[0-9]+: ([^ ]+) .*" "\\1")
  list(SORT tests_${state})
endforeach()
list(REMOVE_ITEM tests_after JOIN_TEST) # whose project needs rapids-cmake before
require([["${tests_before}" STREQUAL "${tests_after}"]] "before: ${tests_before}\nafter: ${tests_after}")
list(LENGTH tests_before count)
require("${count} EQUAL 7" "${tests_before}")
