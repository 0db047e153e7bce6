# SPDX-License-Identifier: BSD-3-Clause
# Lets CTest start a test only when the memory that it asks for is there. Runs when ctest starts, before the entries of a
# directory are added. The script that includes it sets gputest_tool and gputest_schedule_folder.
#
# `gputest devices --resource-spec` writes a resource spec file for the devices that this ctest has. An entry's request is
# its property GPUTEST_REQUEST, which CTest itself ignores. It becomes RESOURCE_GROUPS and COST here, and not when CMake
# configures, because these depend on the devices. For that, set_tests_properties() is replaced for this ctest.
#
# Whatever is missing, the entries stay as they are, and the ledger alone decides when a test runs.
cmake_policy(VERSION 3.25)

if(DEFINED gputest_resource_spec)
  return() # a directory above has done it
endif()
set(gputest_resource_spec "")

# What the user has said takes precedence: their own resource spec file, or the setting. GPUTEST_SCHEDULING=ctest is for
# users who know that there is no other file.
if(NOT "${CTEST_RESOURCE_SPEC_FILE}" STREQUAL "" OR "$ENV{GPUTEST_SCHEDULING}" STREQUAL "ledger")
  return()
endif()
if(NOT "$ENV{GPUTEST_SCHEDULING}" STREQUAL "ctest")
  # A dashboard reads the file that was named when CMake configured.
  if(EXISTS /proc/self/cwd/DartConfiguration.tcl)
    file(STRINGS /proc/self/cwd/DartConfiguration.tcl gputest_lines REGEX "^ResourceSpecFile: *[^ ]")
    if(NOT "${gputest_lines}" STREQUAL "")
      return()
    endif()
  endif()
  # Nothing runs, so nothing has to be scheduled.
  include("${CMAKE_CURRENT_LIST_DIR}/ctest_arguments.cmake")
  _gputest_ctest_arguments(gputest_count)
  foreach(gputest_index RANGE ${gputest_count})
    get_property(gputest_argument GLOBAL PROPERTY "gputest argument ${gputest_index}")
    if(gputest_argument MATCHES "^(-N|--show-only|--show-only=.*|--print-labels)$")
      return()
    endif()
  endforeach()
endif()
if(NOT EXISTS "${gputest_tool}" OR COMMAND _set_tests_properties)
  return()
endif()

# Whether something else decides on a resource spec file later: a script in TEST_INCLUDE_FILES, or a test that generates one
# (CMake 3.28), beside which CTest takes none. It is in the files that CMake wrote, and in the scripts that they include. What
# these include in turn is not read.
function(_gputest_has_other_resource_spec folder result)
  set(has_other "")
  if(EXISTS "${folder}/CTestTestfile.cmake")
    file(STRINGS "${folder}/CTestTestfile.cmake" has_other REGEX " GENERATED_RESOURCE_SPEC_FILE ")
    file(STRINGS "${folder}/CTestTestfile.cmake" lines REGEX "^(subdirs|include)\\(\"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[a-z]+\\(\"(.*)\"\\)$" "\\1" path "${line}")
      cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${folder}")
      set(more "")
      if(line MATCHES "^subdirs")
        _gputest_has_other_resource_spec("${path}" more)
      elseif(EXISTS "${path}" AND NOT IS_DIRECTORY "${path}")
        file(STRINGS "${path}" more REGEX "^[^#]*[sS][eE][tT] *\\( *CTEST_RESOURCE_SPEC_FILE")
      endif()
      string(APPEND has_other "${more}")
    endforeach()
  endif()
  set(${result} "${has_other}" PARENT_SCOPE)
endfunction()
_gputest_has_other_resource_spec(/proc/self/cwd gputest_has_other)
if(NOT gputest_has_other STREQUAL "")
  return()
endif()

execute_process(COMMAND "${gputest_tool}" devices --resource-spec "${gputest_schedule_folder}"
  TIMEOUT 30 OUTPUT_VARIABLE gputest_facts ERROR_QUIET RESULT_VARIABLE gputest_ended)
if(NOT gputest_ended STREQUAL "0" OR gputest_facts STREQUAL "")
  return()
endif()
cmake_language(EVAL CODE "${gputest_facts}")
set(gputest_resource_spec "${gputest_schedule_folder}/${gputest_resource_spec}")
set(CTEST_RESOURCE_SPEC_FILE "${gputest_resource_spec}")
set(gputest_set_tests_properties _set_tests_properties) # what discover.cmake calls: CTest's own, which is ten times as fast
include("${CMAKE_CURRENT_LIST_DIR}/values.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/resource_groups.cmake")

# In place of CTest's own, which CMake keeps by this name, although no manual says so. There is no other way: CTest evaluates no
# text in a property, and has no command that changes a test later. This is the one place that relies on it.
#
# The arguments of the call stay as they are; what is kept is the code for so many of them.
function(set_tests_properties)
  set(more "")
  # Not if a script of the user's has set another file.
  if("${ARGV}" MATCHES ";(GPUTEST_REQUEST|RESOURCE_GROUPS);" AND CTEST_RESOURCE_SPEC_FILE STREQUAL gputest_resource_spec)
    set(index 1)
    while(index LESS ARGC AND NOT "${ARGV${index}}" STREQUAL "PROPERTIES")
      math(EXPR index "${index} + 1")
    endwhile()
    math(EXPR index "${index} + 1")
    while(index LESS ARGC)
      math(EXPR next "${index} + 1")
      # Without a file of their own, groups of the user's have no effect. With gputest's file, CTest would not run the test.
      if("${ARGV${index}}" STREQUAL "RESOURCE_GROUPS" AND NOT "${ARGV${next}}" MATCHES "gputest_mib")
        set(ARGV${index} GPUTEST_UNUSED_GROUPS)
      endif()
      set("gputest_set_${ARGV${index}}" "${ARGV${next}}")
      math(EXPR index "${index} + 2")
    endwhile()
    if(DEFINED gputest_set_GPUTEST_REQUEST)
      _gputest_schedule("${gputest_set_GPUTEST_REQUEST}" groups cost)
      if(NOT groups STREQUAL "" AND NOT DEFINED gputest_set_RESOURCE_GROUPS)
        set(more " RESOURCE_GROUPS \"${groups}\"")
      endif()
      if(NOT cost STREQUAL "" AND NOT DEFINED gputest_set_COST)
        string(APPEND more " COST ${cost}")
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
  cmake_language(EVAL CODE "_set_tests_properties(${code}${more})")
endfunction()
