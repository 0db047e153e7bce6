# SPDX-License-Identifier: BSD-3-Clause
# Configures one tiny project for each case of a table and compares its error, word for word.
#
#   cmake -DTABLE=<file of cases> -DMODULES=<gputest's cmake folder> -DWORK=<scratch folder> -P should_fail.cmake
#
# A table calls should_fail(<case> <code> <message>), should_pass(<case> <code>) and should_warn(<case> <code> <warning>). Its projects enable no language, so
# their targets are imported or interface ones; that makes a case cost a tenth of a second.
cmake_minimum_required(VERSION 3.25)

set(preamble [[
cmake_minimum_required(VERSION 3.25)
project(should_fail LANGUAGES NONE)
enable_testing()
include("@MODULES@/gputest.cmake")
add_library(gputest INTERFACE)
add_library(gputest::gputest ALIAS gputest)
add_library(gputest_main INTERFACE)
add_library(gputest::main ALIAS gputest_main)
add_executable(gputest::cli IMPORTED)
set_target_properties(gputest::cli PROPERTIES IMPORTED_LOCATION /bin/true)
add_executable(gputest::client IMPORTED)
set_target_properties(gputest::client PROPERTIES IMPORTED_LOCATION /bin/client)
add_executable(exe IMPORTED)
set_target_properties(exe PROPERTIES IMPORTED_LOCATION /bin/true)
add_library(library INTERFACE)
]])
string(CONFIGURE "${preamble}" preamble @ONLY)
set_property(GLOBAL PROPERTY cases 0)
set_property(GLOBAL PROPERTY failures 0)

# Configures a project that holds the code. Results: its exit code, and its first error as one line.
function(configure case code exit_code error)
  file(REMOVE_RECURSE "${WORK}/${case}")
  file(WRITE "${WORK}/${case}/CMakeLists.txt" "${preamble}${code}\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${WORK}/${case}" -B "${WORK}/${case}/build"
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
  string(REGEX MATCHALL "CMake Warning" warnings "${output}")
  list(LENGTH warnings warnings)
  set(warning_count ${warnings} PARENT_SCOPE)
  # CMake breaks and indents the lines of a message, and writes a call stack under it.
  string(REGEX REPLACE "^.*CMake Error[^\n]*:\n" "" output "${output}")
  string(REGEX REPLACE "Call Stack \\(most recent.*$" "" output "${output}")
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(STRIP "${output}" output)
  set(${exit_code} "${result}" PARENT_SCOPE)
  set(${error} "${output}" PARENT_SCOPE)
  get_property(cases GLOBAL PROPERTY cases)
  math(EXPR cases "${cases} + 1")
  set_property(GLOBAL PROPERTY cases ${cases})
endfunction()

function(report case text)
  message(NOTICE "FAILED ${case}: ${text}")
  get_property(failures GLOBAL PROPERTY failures)
  math(EXPR failures "${failures} + 1")
  set_property(GLOBAL PROPERTY failures ${failures})
endfunction()

function(should_fail case code message)
  configure("${case}" "${code}" exit_code error)
  if(exit_code EQUAL 0)
    report("${case}" "was accepted\n")
  elseif(NOT "${error}" STREQUAL "${message}")
    report("${case}" "other message\n  expected: ${message}\n  seen:     ${error}\n")
  endif()
endfunction()

function(should_pass case code)
  configure("${case}" "${code}" exit_code error)
  if(NOT exit_code EQUAL 0)
    report("${case}" "was refused\n  ${error}\n")
  endif()
endfunction()

# One warning, or none if the text is empty.
function(should_warn case code message)
  configure("${case}" "${code}" exit_code error)
  string(REGEX REPLACE "^CMake Warning[^:]*:[0-9]+ \\(message\\): " "" warning "${error}")
  if(NOT exit_code EQUAL 0)
    report("${case}" "was refused\n  ${error}\n")
  elseif(warning_count GREATER 1)
    report("${case}" "${warning_count} warnings\n")
  elseif(NOT "${warning}" STREQUAL "${message}")
    report("${case}" "other warning\n  expected: ${message}\n  seen:     ${warning}\n")
  endif()
endfunction()

include("${TABLE}")

get_property(cases GLOBAL PROPERTY cases)
get_property(failures GLOBAL PROPERTY failures)
message(NOTICE "${cases} cases, ${failures} failed")
if(cases EQUAL 0 OR NOT failures EQUAL 0)
  message(FATAL_ERROR "some cases failed: see above")
endif()
