# SPDX-License-Identifier: BSD-3-Clause
# The properties that gputest sets on each of its CTest entries. Also used when ctest starts.
#
#   _gputest_entry_properties(<name> <GPUTEST_ENTRY> <settings> <properties>)
#
# They come from ARG_<keyword> and `own_labels`. Results: the settings as a list for ENVIRONMENT_MODIFICATION, and all
# properties as code for set_tests_properties(). `user_settings`, if it is set, is a list of the user's own, which come
# first and are not replaced.
#
#   _gputest_watcher(<WILL_FAIL> <PASS_REGULAR_EXPRESSION> <result>)
#
# GPUTEST_ENTRY for an entry with these properties. With the first, CTest inverts exit codes, and with the second it does
# not look at them. Who watches the entry then ends by a signal if what fails is not the test.
function(_gputest_watcher will_fail by_output result)
  set(watcher ctest)
  if(will_fail)
    set(watcher will_fail)
  elseif(NOT by_output STREQUAL "")
    set(watcher by_output)
  endif()
  set(${result} ${watcher} PARENT_SCOPE)
endfunction()

function(_gputest_entry_properties name watcher settings_result result)
  set(settings ${user_settings})
  set(ARG_ENTRY ${watcher})
  if(NOT "${ARG_WAIT_LIMIT}" STREQUAL "" AND "${ARG_TIMEOUT}" STREQUAL "")
    set(ARG_TIMEOUT 1500) # as include(CTest) says, which counts the time spent waiting
  endif()
  foreach(keyword IN ITEMS ENTRY MEMORY GPUS LARGE HEAP KEEPS REQUIRES WAIT_LIMIT TIMEOUT)
    if(NOT "${ARG_${keyword}}" STREQUAL "" AND NOT ";${user_settings}" MATCHES ";GPUTEST_${keyword}=")
      list(JOIN ARG_${keyword} " " value)
      list(APPEND settings "GPUTEST_${keyword}=set:${value}")
    endif()
  endforeach()
  # Where ctest runs, so that installed tests need no other one. GPUTEST_LOG of the user's overrides it.
  if(NOT ";${user_settings}" MATCHES ";GPUTEST_DEFAULT_LOG=")
    list(APPEND settings "GPUTEST_DEFAULT_LOG=set:Testing/gputest")
  endif()
  # The name comes last: a name with an unmatched bracket would join the settings after it in a list.
  string(REPLACE ";" "\\;" escaped_name "${name}")
  list(APPEND settings "GPUTEST_TEST=set:${escaped_name}")
  set(labels ${own_labels} ${ARG_LABELS})
  list(REMOVE_DUPLICATES labels)

  _gputest_quote("${settings}" quoted_settings ====) # five: discover.cmake puts names into it
  _gputest_quote("${labels}" quoted_labels)
  set(properties " ENVIRONMENT_MODIFICATION ${quoted_settings} LABELS ${quoted_labels} SKIP_RETURN_CODE 77")
  if(NOT "${ARG_TIMEOUT}" STREQUAL "")
    # gputest ends the test itself. CTest's own limit, which counts the time spent waiting, ends what gputest cannot:
    # processes that outlive a killed watcher. A process may wait several times, and each time for as long as WAIT_LIMIT
    # says, or for 20 minutes (the default of GPUTEST_WAIT_LIMIT).
    set(longest_wait_seconds 1200)
    if(NOT "${ARG_WAIT_LIMIT}" STREQUAL "")
      _gputest_seconds("${ARG_WAIT_LIMIT}" longest_wait_seconds)
    endif()
    string(REGEX MATCH "^([0-9]+)(.*)$" _ "${ARG_TIMEOUT}")
    math(EXPR whole_seconds "${CMAKE_MATCH_1} + 10 * ${longest_wait_seconds} + 60")
    string(APPEND properties " TIMEOUT ${whole_seconds}${CMAKE_MATCH_2}")
    # The watcher fails the test by itself. CTest prints the expression as the reason. It would invert a match (WILL_FAIL).
    if(NOT watcher STREQUAL "will_fail")
      string(APPEND properties " FAIL_REGULAR_EXPRESSION [[gputest: timed out:]]")
    endif()
  endif()
  if("${ARG_LARGE}" STREQUAL "serial" AND "gpu_large" IN_LIST own_labels)
    string(APPEND properties " RUN_SERIAL ON")
  endif()
  set(${settings_result} "${settings}" PARENT_SCOPE)
  set(${result} "${properties}" PARENT_SCOPE)
endfunction()
