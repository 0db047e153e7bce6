# SPDX-License-Identifier: BSD-3-Clause
# Builds unaware/, a project that knows nothing of gputest, without and with the launcher before its tests, and compares what
# ctest knows and does.
#
#   cmake -DGPUTEST=<the tool> -DWORK=<scratch folder> [-DOPTIONS=<options of the configure step>] -P unaware.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/ctest_run.cmake")
set(ENV{GPUTEST_DEVICES} simulated:1x16GiB)

# Up to 3.28 CMAKE_CROSSCOMPILING_EMULATOR goes before tests also if nothing is cross-compiled.
set(variable CMAKE_TEST_LAUNCHER)
if(CMAKE_VERSION VERSION_LESS 3.29)
  set(variable CMAKE_CROSSCOMPILING_EMULATOR)
endif()
foreach(way IN ITEMS plain launched)
  set(launcher "")
  if(way STREQUAL "launched")
    set(launcher "-D${variable}=${GPUTEST}\\;run\\;--if-gpu")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/unaware" -B "${WORK}/${way}" ${OPTIONS} ${launcher}
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/${way}" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/${way}" -N OUTPUT_VARIABLE names_${way}
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "(Test project|Internal ctest)[^\n]*\n" "" names_${way} "${names_${way}}") # the folders
endforeach()
require([["${names_plain}" STREQUAL "${names_launched}"]] "${names_plain}\n${names_launched}")
require([["${names_plain}" MATCHES "Total Tests: 15"]] "${names_plain}")
require([[NOT EXISTS "${WORK}/ledger"]] "a listing has made a ledger")

# Runs all tests whose names match, and says how ctest ended.
function(ctest way expression result)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/${way}" -R "${expression}" --no-tests=error
    --output-on-failure -j 4 RESULT_VARIABLE ended OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message(NOTICE "${output}")
  set(${result} ${ended} PARENT_SCOPE)
endfunction()

set(ENV{LEASE_IS_WANTED} 1)
ctest(launched ^host ended)
require("${ended} EQUAL 0")
require([[NOT EXISTS "${WORK}/ledger"]] "tests that use no GPU have made a ledger")
ctest(launched ^gpu ended)
require("${ended} EQUAL 0")
require([[EXISTS "${WORK}/ledger"]])
ctest(plain ^gpu ended)
require("NOT ${ended} EQUAL 0" "the tests see no lease, and pass")
unset(ENV{LEASE_IS_WANTED})
ctest(launched ^gpu ended)
require("NOT ${ended} EQUAL 0" "the tests see a lease that is not wanted, and pass")

set(ENV{GPUTEST_MEMORY} nonsense)
ctest(launched ^expects ended)
require("NOT ${ended} EQUAL 0" "a test that did not run passes by WILL_FAIL")
unset(ENV{GPUTEST_MEMORY})

# Where there is no GPU the project's tests run as they did.
set(ENV{GPUTEST_DEVICES} none)
ctest(launched . ended)
require("${ended} EQUAL 0")
