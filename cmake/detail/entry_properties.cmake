# SPDX-License-Identifier: BSD-3-Clause
# The properties that gputest sets on each of its CTest entries. Also used when ctest starts.

# GPUTEST_ENTRY for an entry with these properties. With the first, CTest inverts exit codes; with the second it does
# not look at them, or takes a failure for a skip (PASS_REGULAR_EXPRESSION, SKIP_REGULAR_EXPRESSION). Who watches the entry then ends by a signal if what fails is not the test.
function(_gputest_watcher will_fail by_output result)
  set(watcher ctest)
  if(will_fail)
    set(watcher will_fail)
  elseif(NOT by_output STREQUAL "")
    set(watcher by_output)
  endif()
  set(${result} ${watcher} PARENT_SCOPE)
endfunction()

# GPUTEST_TEST for an entry with this name, as an element of ENVIRONMENT_MODIFICATION.
function(_gputest_name_setting name result)
  string(REPLACE ";" "\\;" name "${name}")
  set(${result} "GPUTEST_TEST=set:${name}" PARENT_SCOPE)
endfunction()

# _gputest_entry_properties(<prefix> <watcher> <labels> <settings> <properties>)
#
# What the entry asks for is in <prefix>MEMORY and so on. Results: the settings as a list for ENVIRONMENT_MODIFICATION, to which the
# user's can be added, and the other properties as code for set_tests_properties().
function(_gputest_entry_properties prefix watcher labels settings_result result)
  set(settings "")
  set(timeout "${${prefix}TIMEOUT}")
  set(wait_limit "${${prefix}WAIT_LIMIT}")
  if(NOT wait_limit STREQUAL "" AND timeout STREQUAL "")
    set(timeout 1500) # as include(CTest) says, which counts the time spent waiting
  endif()
  set(${prefix}ENTRY ${watcher})
  set(${prefix}TIMEOUT "${timeout}")
  set(${prefix}DEFAULT_LOG Testing/gputest) # where ctest runs, so that installed tests need no other one; GPUTEST_LOG overrides it
  foreach(keyword IN ITEMS ENTRY MEMORY GPUS LARGE HEAP KEEPS REQUIRES WAIT_LIMIT TIMEOUT DEFAULT_LOG)
    if(NOT "${${prefix}${keyword}}" STREQUAL "")
      list(JOIN ${prefix}${keyword} " " value)
      list(APPEND settings "GPUTEST_${keyword}=set:${value}")
    endif()
  endforeach()

  _gputest_quote("${labels}" quoted)
  set(properties " LABELS ${quoted} SKIP_RETURN_CODE 77")
  if(NOT timeout STREQUAL "")
    # gputest ends the test itself. CTest's own limit, which counts the time spent waiting, ends what gputest cannot:
    # processes that outlive a killed watcher. A process may wait several times, and each time for as long as WAIT_LIMIT
    # says, or for 20 minutes (the default of GPUTEST_WAIT_LIMIT).
    set(longest_wait_seconds 1200)
    if(NOT wait_limit STREQUAL "")
      _gputest_seconds("${wait_limit}" longest_wait_seconds)
    endif()
    string(REGEX MATCH "^([0-9]+)(.*)$" _ "${timeout}")
    math(EXPR whole_seconds "${CMAKE_MATCH_1} + 10 * ${longest_wait_seconds} + 60")
    string(APPEND properties " TIMEOUT ${whole_seconds}${CMAKE_MATCH_2}")
    # The watcher fails the test by itself. CTest prints the expression as the reason. It would invert a match (WILL_FAIL).
    if(NOT watcher STREQUAL "will_fail")
      string(APPEND properties " FAIL_REGULAR_EXPRESSION [[gputest: timed out:]]")
    endif()
  endif()
  if("${${prefix}LARGE}" STREQUAL "serial" AND "gpu_large" IN_LIST labels)
    string(APPEND properties " RUN_SERIAL ON")
  endif()
  set(${settings_result} "${settings}" PARENT_SCOPE)
  set(${result} "${properties}" PARENT_SCOPE)
endfunction()
