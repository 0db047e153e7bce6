# SPDX-License-Identifier: BSD-3-Clause
# Configures properties/ and compares what ctest lists of its tests: commands, and the properties that ctest acts on.
#
#   cmake -DMODULES=<gputest's cmake folder> -DWORK=<scratch folder> -P properties.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/properties" -B "${WORK}" "-DMODULES=${MODULES}"
          -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(
  COMMAND "${CMAKE_CTEST_COMMAND}" --show-only=json-v1 -C Release
  WORKING_DIRECTORY "${WORK}"
  COMMAND_ERROR_IS_FATAL ANY
  OUTPUT_VARIABLE listing)
string(JSON listed LENGTH "${listing}" tests)
math(EXPR last "${listed} - 1")
foreach(index RANGE ${last})
  string(JSON name GET "${listing}" tests ${index} name)
  string(JSON "test_${name}" GET "${listing}" tests ${index})
endforeach()
set_property(GLOBAL PROPERTY expectations 0)
set_property(GLOBAL PROPERTY failures 0)

function(count what)
  get_property(number GLOBAL PROPERTY ${what})
  math(EXPR number "${number} + 1")
  set_property(GLOBAL PROPERTY ${what} ${number})
endfunction()

function(compare test what seen expected)
  count(expectations)
  string(JSON equal ERROR_VARIABLE problem EQUAL "${seen}" "${expected}")
  if(problem OR NOT equal)
    count(failures)
    message(NOTICE "FAILED ${test}: ${what}\n  expected: ${expected}\n  seen:     ${seen}\n")
  endif()
endfunction()

# The command as JSON; names of programs in angle brackets stand for their files.
function(expect_command test expected)
  string(REGEX REPLACE "<([a-z_]+)>" "${WORK}/\\1" expected "${expected}")
  string(JSON seen ERROR_VARIABLE problem GET "${test_${test}}" command)
  compare("${test}" command "${seen}" "${expected}")
endfunction()

# The value of a property as JSON, `null` for none.
function(expect_property test property expected)
  set(seen null)
  string(JSON count LENGTH "${test_${test}}" properties)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON name GET "${test_${test}}" properties ${index} name)
    if(name STREQUAL property)
      string(JSON seen GET "${test_${test}}" properties ${index} value)
      string(JSON type TYPE "${test_${test}}" properties ${index} value)
      if(type STREQUAL "STRING")
        set(seen "\"${seen}\"")
      elseif(type STREQUAL "BOOLEAN")
        string(REPLACE ON true seen "${seen}")
      endif()
    endif()
  endforeach()
  compare("${test}" "${property}" "${seen}" "${expected}")
endfunction()

# gputest's settings in ENVIRONMENT_MODIFICATION, without those that all have, and after THEN the limit and those of the user's.
function(expect_settings test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" THEN)
  set(settings "GPUTEST_DEPTH=string_append:+" ${arg_UNPARSED_ARGUMENTS} "GPUTEST_DEFAULT_LOG=set:Testing/gputest" "GPUTEST_TEST=set:${test}" ${arg_THEN})
  list(JOIN settings "\", \"" settings)
  expect_property("${test}" ENVIRONMENT_MODIFICATION "[\"${settings}\"]")
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/properties/expected.cmake")

get_property(expectations GLOBAL PROPERTY expectations)
get_property(failures GLOBAL PROPERTY failures)
message(NOTICE "${listed} tests, ${expectations} expectations, ${failures} failed")
if(expectations EQUAL 0 OR NOT failures EQUAL 0)
  message(FATAL_ERROR "some expectations failed: see above")
endif()
