# SPDX-License-Identifier: BSD-3-Clause
# Types what README.md says, and sees what it says.
#
#   cmake -DPACKAGE=<folder with gputest-config.cmake> -DGPUTEST=<the tool> -DWORK=<scratch folder>
#         [-DOPTIONS=<options of the configure step>] -P five_minutes.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/../cmake/ctest_run.cmake")
set(ENV{GPUTEST_DEVICES} simulated:1x16GiB)
file(COPY "${CMAKE_CURRENT_LIST_DIR}/five_minutes/" DESTINATION "${WORK}/sort")
set(build "${WORK}/sort/build")

function(build)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${build}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# ctest(<argument>...): runs it; `ended` becomes its exit code, `output` what it has written.
macro(ctest)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${build}" --no-tests=error ${ARGN}
    RESULT_VARIABLE ended OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message(NOTICE "${output}")
endmacro()

# gputest(<variable> <argument>...): the output of the tool.
function(gputest variable)
  execute_process(COMMAND "${GPUTEST}" ${ARGN} WORKING_DIRECTORY "${WORK}/sort" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/sort" -B "${build}" "-Dgputest_DIR=${PACKAGE}" ${OPTIONS}
  COMMAND_ERROR_IS_FATAL ANY)
build()
foreach(run IN ITEMS first second)
  ctest(-j16)
  require("${ended} EQUAL 0" "every test is to pass in the ${run} run, but the large one")
  require([["${output}" MATCHES "SortAll.fills_the_gpu \\(Skipped\\)"]])
endforeach()
gputest(needs needs --test-dir build)
require([["${needs}" MATCHES "of_seed/7 +simulated 16 GiB +- +3 GiB +3 GiB +2"]])
gputest(ignored report --test-dir build)
require([[EXISTS "${WORK}/sort/gputest_report.html"]])
ctest(-L gpu_large -j1)
require("${ended} EQUAL 0")
require([[NOT "${output}" MATCHES "Skipped"]])

file(APPEND "${WORK}/sort/sort_test.cpp" "GPUTEST_NEEDS(SortPairs, by_key, small);\n")
build()
ctest(-j16 --output-on-failure)
require("${ended} EQUAL 8" "one test is to fail")
require([["${output}" MATCHES "SortPairs.by_key \\(Failed\\)"]])
require([["${output}" MATCHES "Declare what it needs: GPUTEST_NEEDS\\(SortPairs, by_key, 1_GiB\\)"]])
