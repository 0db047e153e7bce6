# SPDX-License-Identifier: BSD-3-Clause
# Builds results/ and compares what ctest says of each entry with what is expected of it.
#
#   cmake -DPACKAGE=<folder with gputest-config.cmake> -DWORK=<scratch folder> [-DOPTIONS=<options of the configure step>]
#         -P results.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/ctest_run.cmake")
set(ENV{GPUTEST_DEVICES} simulated:1x16GiB)
unset(ENV{CTEST_OUTPUT_ON_FAILURE}) # output is counted

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/results" -B "${WORK}/build" "-Dgputest_DIR=${PACKAGE}"
  ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" -V -j 2 -E "^hangs_|_of_script$"
  OUTPUT_VARIABLE log ERROR_QUIET) # many fail

set_property(GLOBAL PROPERTY expectations 0)
set_property(GLOBAL PROPERTY failures 0)
string(REGEX REPLACE "[][;\\]" " " log "${log}") # none of a list's characters
string(REPLACE "\n" ";" lines "${log}")
foreach(line IN LISTS lines)
  if(line MATCHES "^ *[0-9]+/[0-9]+ Test +#([0-9]+): ([a-z0-9_]+) \\.+(.*)$")
    set(number_of_${CMAKE_MATCH_2} ${CMAKE_MATCH_1})
    set(line_of_${CMAKE_MATCH_2} "${CMAKE_MATCH_3}")
  elseif(line MATCHES "^([0-9]+): (.*)$")
    string(APPEND output_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}\n")
  endif()
endforeach()

function(expect name expected text)
  get_property(expectations GLOBAL PROPERTY expectations)
  math(EXPR expectations "${expectations} + 1")
  set_property(GLOBAL PROPERTY expectations ${expectations})
  set(line "${line_of_${name}}")
  set(seen none)
  if(line MATCHES "(Passed|Skipped|Failed|Exception)")
    string(REPLACE Exception Failed seen "${CMAKE_MATCH_1}")
  endif()
  set(output "${line}\n${output_${number_of_${name}}}")
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  string(FIND "${output}" "${text}" position)
  string(LENGTH "${line}" length)
  if(NOT seen STREQUAL expected OR position EQUAL -1 OR length GREATER 100) # a reason is a word or two
    set_property(GLOBAL APPEND PROPERTY failures ${name})
    message(NOTICE "FAILED ${name}\n  expected: ${expected}, '${text}'\n  seen:     ${seen}: ${output}")
  endif()
endfunction()
include("${WORK}/build/expectations.cmake")

# Without a GPU, what declares nothing and can use none runs. Its program is not started to find that out.
# Simulated devices that cannot be used skip it: they need no library.
foreach(devices_and_scheduling IN ITEMS none/ctest none/ledger simulated:1x16GiB,lost/ctest)
  string(REGEX MATCH "^(.*)/(.*)$" _ ${devices_and_scheduling})
  set(ENV{GPUTEST_DEVICES} ${CMAKE_MATCH_1})
  set(ENV{GPUTEST_SCHEDULING} ${CMAKE_MATCH_2})
  set(expected "fails: Failed;own_main: Skipped;passes: Passed;passes_small: Skipped")
  if(devices_and_scheduling MATCHES simulated)
    string(REGEX REPLACE "Failed|Passed" Skipped expected "${expected}")
  endif()
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" -R "^(passes|passes_small|fails|own_main)$" OUTPUT_VARIABLE log ERROR_QUIET)
  string(REGEX MATCHALL "(passes|passes_small|fails|own_main) [.]+[* ]*(Passed|Failed|Skipped)" ended "${log}")
  string(REGEX REPLACE " [.]+[* ]*" ": " ended "${ended}")
  list(SORT ended)
  if(NOT "${ended}" STREQUAL "${expected}")
    set_property(GLOBAL APPEND PROPERTY failures without_a_gpu)
    message(NOTICE "FAILED without a GPU, ${devices_and_scheduling}: ${ended}")
  endif()
endforeach()
set(ENV{GPUTEST_DEVICES} simulated:1x16GiB)
unset(ENV{GPUTEST_SCHEDULING})

# A PATH that a script of ctest's sets, which /proc does not show.
file(WRITE "${WORK}/script.cmake" "set(ENV{PATH} \"${WORK}/build/folder_of_script:\$ENV{PATH}\")
set(CTEST_SOURCE_DIRECTORY \"${CMAKE_CURRENT_LIST_DIR}/results\")
set(CTEST_BINARY_DIRECTORY \"${WORK}/build\")
ctest_start(Experimental)
ctest_test(INCLUDE _of_script\$)\n")
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" -S "${WORK}/script.cmake" -V OUTPUT_VARIABLE log ERROR_QUIET)
if(NOT log MATCHES "100% tests passed.* out of 1\n")
  set_property(GLOBAL APPEND PROPERTY failures found_in_path_of_script)
  message(NOTICE "FAILED found_in_path_of_script:\n${log}")
endif()

# With a folder for reports, each entry has one by its name; a command that may start several programs has a folder.
set(ENV{GTEST_OUTPUT} "xml:${WORK}/reports/")
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" -j 4 -R "^(passes|fails|skips|own_main|own_main_launched)$"
  OUTPUT_QUIET ERROR_QUIET)
unset(ENV{GTEST_OUTPUT})
file(GLOB_RECURSE reports RELATIVE "${WORK}/reports" "${WORK}/reports/*")
list(SORT reports)
if(NOT "${reports}" STREQUAL "fails.xml;own_main.xml;own_main_launched/own_main.xml;passes.xml;skips.xml")
  set_property(GLOBAL APPEND PROPERTY failures reports)
  message(NOTICE "FAILED: the reports are ${reports}")
endif()

# Those whose time is over, twice.
include("${WORK}/build/hanging.cmake")
list(LENGTH names_of_hanging count)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" -V -j ${count} -R "^hangs_" --repeat until-pass:2
  OUTPUT_VARIABLE log ERROR_VARIABLE log)
foreach(name IN LISTS names_of_hanging)
  string(REGEX MATCHALL "gputest: timed out: ${name}[ :]" messages "${log}")
  list(LENGTH messages attempts)
  if(NOT attempts EQUAL 2)
    set_property(GLOBAL APPEND PROPERTY failures ${name})
    message(NOTICE "FAILED ${name}\n  ended ${attempts} times, expected: 2")
  endif()
endforeach()
if(NOT log MATCHES "0% tests passed, ${count} tests failed out of ${count}")
  set_property(GLOBAL APPEND PROPERTY failures hanging)
  message(NOTICE "FAILED: not all of ${names_of_hanging} failed:\n${log}")
endif()

get_property(expectations GLOBAL PROPERTY expectations)
get_property(failures GLOBAL PROPERTY failures)
message(NOTICE "${expectations} entries, wrong: ${failures}")
if(expectations EQUAL 0 OR NOT failures STREQUAL "0")
  message(FATAL_ERROR "some entries did not end as expected: see above")
endif()
