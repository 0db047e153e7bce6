# SPDX-License-Identifier: BSD-3-Clause
# Keeps CTest from starting more tests of a size at once than fit on the devices. Runs when ctest starts, before the entries of a
# directory are added. The script that includes it sets gputest_tool, gputest_needs_files and
# gputest_processes_per_device.
#
# `gputest devices --for-ctest` says what the devices of this ctest have. An entry's request is its property GPUTEST_REQUEST, which
# CTest itself ignores. It becomes RESOURCE_LOCK and COST here, and not when CMake configures, because these depend on the
# devices. For that, set_tests_properties() is replaced for this ctest.
#
# Where there is no device, an entry of gpu_add_test() whose executable can use none (GPUTEST_EXECUTABLE) is told so, and runs.
#
# Whatever is missing, the entries stay as they are, and the ledger alone decides when a test runs.
cmake_policy(VERSION 3.25)

if(DEFINED gputest_devices)
  return() # a directory above has done it
endif()
set(gputest_devices "")
if(NOT EXISTS "${gputest_tool}" OR COMMAND __set_tests_properties)
  return()
endif()
set_property(GLOBAL PROPERTY "gputest functions" "") # these may be another gputest's than those of discover.cmake
# Where nothing runs, nothing has to be scheduled, unless somebody wants to see how it would be.
include("${CMAKE_CURRENT_LIST_DIR}/ctest_arguments.cmake")
get_property(gputest_arguments GLOBAL PROPERTY "gputest arguments")
get_property(gputest_places GLOBAL PROPERTY "gputest places")
if(gputest_arguments MATCHES "\n(-N|--show-only|--show-only=[^\n]*|--print-labels)\n" AND NOT "$ENV{GPUTEST_SCHEDULING}" STREQUAL "ctest")
  return()
endif()

set(gputest_needs "")
if(NOT gputest_needs_files STREQUAL "")
  set(gputest_needs --needs ${gputest_needs_files})
endif()
set(ENV{GPUTEST_DEFAULT_PROCESSES_PER_DEVICE} "${gputest_processes_per_device}") # entries have it as a property
execute_process(COMMAND "${gputest_tool}" devices --for-ctest ${gputest_needs}
  TIMEOUT 30 OUTPUT_VARIABLE gputest_facts ERROR_VARIABLE gputest_why RESULT_VARIABLE gputest_ended)
unset(ENV{GPUTEST_DEFAULT_PROCESSES_PER_DEVICE}) # which all tests would inherit
if(NOT gputest_ended MATCHES "^[0-9]+$") # such as a timeout
  string(APPEND gputest_why "gputest: ${gputest_tool} devices --for-ctest: ${gputest_ended}\n")
endif()
string(STRIP "${gputest_why}" gputest_why)
if(NOT gputest_why STREQUAL "")
  message("${gputest_why}") # on standard error; such as a line of a NEEDS file that cannot be read
endif()
if(NOT gputest_ended STREQUAL "0")
  return()
endif()
if("$ENV{GPUTEST_SCHEDULING}" STREQUAL "ledger" AND NOT gputest_facts STREQUAL "") # there are devices
  return()
endif()
cmake_language(EVAL CODE "${gputest_facts}")
set(gputest_set_tests_properties __set_tests_properties) # what discover.cmake calls: CTest's own, which is ten times as fast
include("${CMAKE_CURRENT_LIST_DIR}/values.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/requests.cmake")

# In place of CTest's own. CMake keeps a command that is replaced as _<name>, although no manual says so. There is no other way:
# CTest evaluates no text in a property, and has no command that changes a test later. This is the one place that relies on it.
#
# CMake keeps the last one only, and a project may replace set_tests_properties() too, before or after this. So CTest's own
# becomes __set_tests_properties(), which nobody else replaces.
#
# The arguments of the call stay as they are; what is kept is the code for so many of them.
set(gputest_replaced set_tests_properties)
if(COMMAND _set_tests_properties) # the project's own calls this
  set(gputest_replaced _set_tests_properties)
endif()
function(${gputest_replaced})
  set(more "")
  if("${ARGV}" MATCHES ";GPUTEST_REQUEST;")
    set(index 1)
    while(index LESS ARGC AND NOT "${ARGV${index}}" STREQUAL "PROPERTIES")
      math(EXPR index "${index} + 1")
    endwhile()
    math(EXPR index "${index} + 1")
    while(index LESS ARGC)
      if("${ARGV${index}}" MATCHES "^(GPUTEST_REQUEST|GPUTEST_EXECUTABLE|COST|ENVIRONMENT|ENVIRONMENT_MODIFICATION)$")
        math(EXPR next "${index} + 1")
        set(gputest_set_${CMAKE_MATCH_1} "${ARGV${next}}")
      endif()
      math(EXPR index "${index} + 2")
    endwhile()
    set(learns "")
    if(gputest_set_ENVIRONMENT_MODIFICATION MATCHES "(^|;)GPUTEST_MEMORY=set:(auto|medium)(;|$)" AND
       gputest_set_GPUTEST_REQUEST MATCHES "^[^ ]+ [^ ]+ ([0-9]+) ")
      set(learns ${CMAKE_MATCH_1})
    endif()
    _gputest_scheduled("${ARGV0}" "${learns}" "${gputest_set_GPUTEST_REQUEST}" more)
    list(JOIN more " " more) # CTest adds lists to the user's
    if(DEFINED gputest_set_COST)
      string(REGEX REPLACE " ?COST .*$" "" more "${more}")
    endif()
    if(gputest_facts STREQUAL "" AND NOT "${gputest_set_GPUTEST_EXECUTABLE}" STREQUAL "" AND
       NOT "$ENV{GPUTEST_DEVICES}" MATCHES "^simulated") # no device: it would be skipped. Simulated ones need no library
      set(search "$ENV{LD_LIBRARY_PATH}") # of the entry's libraries
      foreach(change IN LISTS gputest_set_ENVIRONMENT gputest_set_ENVIRONMENT_MODIFICATION)
        if(change MATCHES "^LD_LIBRARY_PATH=(set:|path_list_prepend:|path_list_append:)?(.*)" AND NOT change MATCHES "=(reset|unset):")
          string(REGEX REPLACE ":$" "" search "${CMAKE_MATCH_2}:${search}") # an empty folder is the working directory
        endif()
      endforeach()
      set(answer "gputest may use ${gputest_set_GPUTEST_EXECUTABLE} ${search}") # large libraries take tens of ms
      get_property(may_use_gpu GLOBAL PROPERTY "${answer}")
      if("${may_use_gpu}" STREQUAL "")
        execute_process(COMMAND env "LD_LIBRARY_PATH=${search}" sh -c [[exec "$@"]] sh "${gputest_tool}" devices --may-use "${gputest_set_GPUTEST_EXECUTABLE}"
          OUTPUT_VARIABLE may_use_gpu)
        set_property(GLOBAL PROPERTY "${answer}" "${may_use_gpu}.")
      endif()
      if(may_use_gpu MATCHES "^no")
        string(APPEND more " ENVIRONMENT_MODIFICATION GPUTEST_MEMORY=set:unseen ENVIRONMENT_MODIFICATION GPUTEST_GPUS=unset:")
      endif()
    endif()
  endif()
  get_property(code GLOBAL PROPERTY gputest_arguments_${ARGC})
  if("${code}" STREQUAL "")
    math(EXPR last "${ARGC} - 1")
    foreach(index RANGE ${last})
      string(APPEND code " \"\${ARGV${index}}\"")
    endforeach()
    set_property(GLOBAL PROPERTY gputest_arguments_${ARGC} "${code}")
  endif()
  cmake_language(EVAL CODE "__set_tests_properties(${code} ${more})")
endfunction()
if(gputest_replaced STREQUAL "set_tests_properties")
  function(_set_tests_properties) # until a project's own is defined, which calls the one above by this name
    __set_tests_properties(${ARGV})
  endfunction()
endif()
