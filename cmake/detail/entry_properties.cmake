# SPDX-License-Identifier: BSD-3-Clause
# The properties that gputest sets on each of its CTest entries. Also used when ctest starts.
#
#   _gputest_entry_properties(<name> <GPUTEST_ENTRY> <settings> <properties>)
#
# They come from ARG_<keyword> and `own_labels`. Results: the settings as a list for ENVIRONMENT_MODIFICATION, and all
# properties as code for set_tests_properties(). `user_settings`, if it is set, is a list of the user's own, which come
# first and are not replaced.
function(_gputest_entry_properties name watcher settings_result result)
  set(settings ${user_settings})
  set(ARG_ENTRY ${watcher})
  foreach(keyword IN ITEMS ENTRY MEMORY GPUS LARGE HEAP REQUIRES WAIT_LIMIT)
    if(NOT "${ARG_${keyword}}" STREQUAL "" AND NOT ";${user_settings}" MATCHES ";GPUTEST_${keyword}=")
      list(JOIN ARG_${keyword} " " value)
      list(APPEND settings "GPUTEST_${keyword}=set:${value}")
    endif()
  endforeach()
  # The name comes last: a name with an unmatched bracket would join the settings after it in a list.
  string(REPLACE ";" "\\;" escaped_name "${name}")
  list(APPEND settings "GPUTEST_TEST=set:${escaped_name}")
  set(labels ${own_labels} ${ARG_LABELS})
  list(REMOVE_DUPLICATES labels)

  _gputest_quote("${settings}" quoted_settings ====) # five: discover.cmake puts names into it
  _gputest_quote("${labels}" quoted_labels)
  set(properties " ENVIRONMENT_MODIFICATION ${quoted_settings} LABELS ${quoted_labels} SKIP_RETURN_CODE 77")
  if(NOT watcher STREQUAL "will_fail") # see sentinel.cmake
    get_property(sentinel GLOBAL PROPERTY GPUTEST_SENTINEL)
    _gputest_quote("${sentinel}" quoted_sentinel)
    string(APPEND properties " FAIL_REGULAR_EXPRESSION ${quoted_sentinel}")
  endif()
  if(NOT "${ARG_TIMEOUT}" STREQUAL "" OR NOT "${ARG_WAIT_LIMIT}" STREQUAL "")
    # CTest's TIMEOUT counts from the start until the line is printed, so it limits the wait. It must not be shorter
    # than gputest's own limit: WAIT_LIMIT, or 20 minutes (the default of GPUTEST_WAIT_LIMIT).
    set(longest_wait_seconds 1200)
    if(NOT "${ARG_WAIT_LIMIT}" STREQUAL "")
      _gputest_seconds("${ARG_WAIT_LIMIT}" longest_wait_seconds)
    endif()
    if("${ARG_TIMEOUT}" STREQUAL "")
      set(ARG_TIMEOUT 1500)
    endif()
    string(REGEX MATCH "^([0-9]+)(.*)$" _ "${ARG_TIMEOUT}")
    math(EXPR whole_seconds "${CMAKE_MATCH_1} + ${longest_wait_seconds}")
    string(APPEND properties " TIMEOUT ${whole_seconds}${CMAKE_MATCH_2}")
    # At the beginning of a line: the name of another test in a message could hold the same words.
    string(APPEND properties " TIMEOUT_AFTER_MATCH [[${ARG_TIMEOUT};(^|\n)gputest: admitted]]")
  endif()
  if("${ARG_LARGE}" STREQUAL "serial" AND "gpu_large" IN_LIST own_labels)
    string(APPEND properties " RUN_SERIAL ON")
  endif()
  set(${settings_result} "${settings}" PARENT_SCOPE)
  set(${result} "${properties}" PARENT_SCOPE)
endfunction()
