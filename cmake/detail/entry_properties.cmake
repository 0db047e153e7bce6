# SPDX-License-Identifier: BSD-3-Clause
# The properties that gputest sets on each of its CTest entries. Also used when ctest starts.

# GPUTEST_ENTRY for an entry of which the variables <prefix>WILL_FAIL and so on are the user's properties. With WILL_FAIL, CTest
# inverts exit codes; with an expression it judges by the output, and may not look at them. Who watches the entry then ends by a
# signal if what fails is not the test, and with an expression nothing else of gputest's is in the output.
function(_gputest_watcher prefix result)
  set(watcher ctest)
  if(NOT "${${prefix}PASS_REGULAR_EXPRESSION}${${prefix}FAIL_REGULAR_EXPRESSION}${${prefix}SKIP_REGULAR_EXPRESSION}${${prefix}TIMEOUT_AFTER_MATCH}"
     STREQUAL "")
    set(watcher by_output)
  elseif(${prefix}WILL_FAIL)
    set(watcher will_fail)
  endif()
  set(${result} ${watcher} PARENT_SCOPE)
endfunction()

# Elements for ENVIRONMENT_MODIFICATION, each after a `;`, if the user's properties of these names change PATH. They change GPUTEST_PATH
# likewise, in which `*` is the PATH of ctest: CTest looks for a program there, and no test sees it otherwise. It is empty if ctest's is
# replaced, and if a folder has a bracket, which would join the elements that follow.
function(_gputest_changes_of_path environment modification result)
  string(REGEX MATCHALL ";PATH=([^;\\]|\\\\.)*" changes ";${modification}")
  if(";${environment}" MATCHES ";PATH=" OR "${changes}" MATCHES "[][]")
    set(changes ";GPUTEST_PATH=set:")
  elseif(NOT "${changes}" STREQUAL "")
    string(REGEX REPLACE ";+PATH=" ";GPUTEST_PATH=" changes "${changes}")
    string(REGEX REPLACE "(;GPUTEST_PATH=)(reset|unset):" "\\1set:" changes "${changes}")
    string(PREPEND changes ";GPUTEST_PATH=set:*")
  endif()
  set(${result} "${changes}" PARENT_SCOPE)
endfunction()

# The labels of a class; tests that use no GPU have none.
function(_gputest_labels_of class result)
  set(${result} gpu gpu_${class} PARENT_SCOPE)
  if(class STREQUAL "host")
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

# The labels of the entry that fails because the tests of a call with this MEMORY cannot be listed. gpu_large is none of them, so that
# ctest -LE gpu_large does not leave it out; nor must -LE gpu, if the tests use none.
function(_gputest_labels_of_not_listed memory result)
  set(${result} gpu gpu_small gpu_medium PARENT_SCOPE)
  if(memory STREQUAL "none")
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

# The text of a project's file (`gputest needs --export`); empty: there is none. What is not as the tool writes it is an error, as
# it would not be found.
function(_gputest_text_of_needs file result)
  get_property(text GLOBAL PROPERTY "gputest text of ${file}")
  if("${text}" STREQUAL "" AND EXISTS "${file}")
    file(READ "${file}" text)
    string(REGEX REPLACE "\n{\"test\":\"([^\"\\\n]|\\\\.)*\",\"needs\":{(\"[0-9]+GiB\":\"[0-9]+MiB\",?)*}}" "" other "\n${text}")
    string(STRIP "${other}" other)
    if(NOT "${other}" STREQUAL "")
      string(REGEX MATCH "^[^\r\n]*" other "${other}")
      message(FATAL_ERROR "gputest: ${file} has a line that gputest has not written:\n  ${other}\nThe labels come from lines such as\n\
  {\"test\":\"Sort.keys\",\"needs\":{\"80GiB\":\"1984MiB\"}}\nTo have all lines of the file written so, type\n\
  gputest needs --test-dir <build folder> --export ${file}")
    endif()
    set_property(GLOBAL PROPERTY "gputest text of ${file}" "${text}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The class in the label of an entry of which nobody declares the memory: by the project's file (`gputest needs --export`), which may
# be missing, else small. Large is more than half of the smallest device that the file names for it.
function(_gputest_class_in_needs file name result)
  set(${result} small PARENT_SCOPE)
  _gputest_text_of_needs("${file}" text)
  string(REPLACE "\\" "\\\\" name "${name}")
  string(REPLACE "\"" "\\\"" name "${name}")
  set(begin "{\"test\":\"${name}\",\"needs\":{")
  string(FIND "${text}" "${begin}" at)
  if(at EQUAL -1)
    return()
  endif()
  string(LENGTH "${begin}" length)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${text}" ${at} -1 figures)
  string(REGEX REPLACE "}.*$" "" figures "${figures}")
  string(REGEX MATCHALL "\"[0-9]+GiB\":\"[0-9]+MiB\"" figures "${figures}")
  set(smallest 0)
  foreach(figure IN LISTS figures)
    string(REGEX MATCH "([0-9]+)GiB\":\"([0-9]+)MiB" _ "${figure}")
    if(smallest EQUAL 0 OR CMAKE_MATCH_1 LESS smallest)
      set(smallest ${CMAKE_MATCH_1})
      set(mib ${CMAKE_MATCH_2})
    endif()
  endforeach()
  math(EXPR half "${smallest} * 512")
  if(smallest GREATER 0 AND mib GREATER half)
    set(${result} large PARENT_SCOPE)
  elseif(smallest GREATER 0 AND mib GREATER 256)
    set(${result} medium PARENT_SCOPE)
  endif()
endfunction()

# _gputest_complete_limit(<settings> <timeout> <after match> <signal> <grace period> <settings> <property>)
#
# The limit of an entry that gputest watches, of which these are the settings, from the project's TIMEOUT, TIMEOUT_AFTER_MATCH and so on:
# adds GPUTEST_TIMEOUT to the settings, and says what CTest's own TIMEOUT is to be. That is empty if the entry has no limit, or one that
# is no number.
#
# gputest ends the test itself. CTest's own limit, which counts the time spent waiting, ends what gputest cannot: processes that outlive
# a killed watcher. A process may wait several times, and each time for as long as WAIT_LIMIT says, or for 20 minutes (the default of
# GPUTEST_WAIT_LIMIT). Tests of undeclared memory may run three times.
#
# With TIMEOUT_AFTER_MATCH, CTest gives a test another limit from a line of its output on, and counts that itself. gputest does not
# see the line, so its limit becomes the longest that CTest allows: the sum of both. The signal and its seconds are those of
# TIMEOUT_SIGNAL_NAME and TIMEOUT_SIGNAL_GRACE_PERIOD, which CTest has, and checks, since 3.27.
function(_gputest_complete_limit settings timeout after_match signal grace_period settings_result property_result)
  string(STRIP "${timeout}" timeout) # that a generator expression says
  string(REGEX REPLACE "^[.]" "0." timeout "${timeout}")
  set(longest_wait_seconds 1200)
  if(settings MATCHES "(^|;)GPUTEST_WAIT_LIMIT=set:([^;]*)")
    _gputest_seconds("${CMAKE_MATCH_2}" longest_wait_seconds)
    if(timeout STREQUAL "")
      set(timeout 1500) # as include(CTest) says, which counts the time spent waiting
    endif()
  endif()
  set(attempts 1)
  if(settings MATCHES "(^|;)GPUTEST_MEMORY=set:auto")
    set(attempts 3)
  endif()
  set(property "")
  if(timeout MATCHES "^0+([.]0*)?$")
    set(timeout "")
    set(property 0) # as CTest says it
  elseif(timeout MATCHES "^([0-9]+)([.][0-9]*)?$" AND NOT timeout GREATER 999999999)
    set(seconds "${CMAKE_MATCH_1}")
    set(fraction "${CMAKE_MATCH_2}")
    math(EXPR property "${attempts} * ${seconds} + 10 * ${longest_wait_seconds} + 60")
    string(APPEND property "${fraction}")
    if(NOT after_match STREQUAL "")
      string(STRIP "${after_match}" more)
      string(REGEX MATCH "^([0-9]+)([.][0-9]*[1-9])?" _ "0${more}")
      set(more "${CMAKE_MATCH_1}")
      if(NOT "${CMAKE_MATCH_2}" STREQUAL "")
        math(EXPR more "${more} + 1")
      endif()
      math(EXPR sum "${seconds} + ${more}")
      set(timeout "${sum}${fraction}")
    endif()
  endif()
  if(NOT timeout STREQUAL "") # the tests fail for what is no number
    if(NOT signal STREQUAL "" AND NOT CMAKE_VERSION VERSION_LESS 3.27)
      string(APPEND timeout " ${signal} ${grace_period}")
      string(STRIP "${timeout}" timeout)
    endif()
    list(APPEND settings "GPUTEST_TIMEOUT=set:${timeout}")
  endif()
  set(${settings_result} "${settings}" PARENT_SCOPE)
  set(${property_result} "${property}" PARENT_SCOPE)
endfunction()

# _gputest_entry_properties(<prefix> <watcher> <labels> <settings> <properties>)
#
# What the entry asks for is in <prefix>MEMORY and so on. If <prefix>PLAIN is true, its tests use no GPU (MEMORY none), and it is
# an entry as add_test() makes one: nobody watches it. Results: the settings as a list for ENVIRONMENT_MODIFICATION, to which the user's
# can be added, and the other properties as code for set_tests_properties(). TIMEOUT is the project's: see _gputest_complete_limit().
function(_gputest_entry_properties prefix watcher labels settings_result result)
  set(settings "GPUTEST_DEPTH=string_append:+") # so that no test of a ctest which the entry runs has the same (core/settings/settings.hpp)
  set(keywords ENTRY MEMORY GPUS LARGE HEAP KEEPS REQUIRES WAIT_LIMIT DEFAULT_LOG DEFAULT_PROCESSES_PER_DEVICE)
  set(not_those_above "") # of an entry whose command is this ctest
  if(${prefix}PLAIN) # the launcher knows it by the log that it lacks (src/tool/launcher.cpp)
    set(keywords ENTRY MEMORY)
    set(not_those_above GPUTEST_GPUS=unset: GPUTEST_DEFAULT_LOG=unset:)
  endif()
  set(${prefix}ENTRY ${watcher})
  set(${prefix}DEFAULT_LOG Testing/gputest) # where ctest runs, so that installed tests need no other one; GPUTEST_LOG overrides it
  foreach(keyword IN LISTS keywords)
    if(NOT "${${prefix}${keyword}}" STREQUAL "")
      list(JOIN ${prefix}${keyword} " " value)
      list(APPEND settings "GPUTEST_${keyword}=set:${value}")
    endif()
  endforeach()
  list(APPEND settings ${not_those_above})

  _gputest_quote("${labels}" quoted)
  set(properties " LABELS ${quoted}")
  if(NOT ${prefix}PLAIN)
    string(APPEND properties " SKIP_RETURN_CODE 77")
  endif()
  if(NOT "${${prefix}TIMEOUT}" STREQUAL "")
    _gputest_quote("${${prefix}TIMEOUT}" quoted)
    string(APPEND properties " TIMEOUT ${quoted}")
  endif()
  if("${${prefix}LARGE}" STREQUAL "serial" AND "gpu_large" IN_LIST labels)
    string(APPEND properties " RUN_SERIAL ON")
  endif()
  set(${settings_result} "${settings}" PARENT_SCOPE)
  set(${result} "${properties}" PARENT_SCOPE)
endfunction()
