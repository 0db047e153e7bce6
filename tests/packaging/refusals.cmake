# SPDX-License-Identifier: BSD-3-Clause
# What gputest says where it cannot be used: what was found, what it needs, and what to type.
#
#   cmake -DSOURCES=<this project> -DPACKAGE=<its build tree> -DWORK=<scratch folder> -P refusals.cmake
cmake_minimum_required(VERSION 3.25)
include("${SOURCES}/cmake/detail/requirements.cmake")
set(failures 0)

# expect(<regular expression> <text>): the text, with its white space as single blanks, has to match.
function(expect expression text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(NOT text MATCHES "${expression}")
    message(NOTICE "FAILED, expected ${expression}: ${text}")
    math(EXPR failures "${failures} + 1")
    set(failures ${failures} PARENT_SCOPE)
  endif()
endfunction()

# CMake's version, the system, and what _gputest_unmet() then says.
foreach(row IN ITEMS "3.25.1|Linux|^$"
        "3.24.4|Linux|^this is CMake 3.24.4, and gputest needs 3.25 or newer. Type: pip install cmake"
        "3.25.1|Darwin|^$"
        "3.25.1|Darwin|run on Darwin, and GPUTEST_MODE=full needs Linux|full"
        "3.25.1|Linux|^GPUTEST_MODE is fast. It is full, portable, or not set|fast")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 CMAKE_VERSION)
  list(GET row 1 CMAKE_SYSTEM_NAME)
  list(GET row 2 expression)
  set(GPUTEST_MODE "")
  list(LENGTH row columns)
  if(columns GREATER 3)
    list(GET row 3 GPUTEST_MODE)
  endif()
  _gputest_unmet(unmet 0.1.0)
  expect("${expression}" "${unmet}")
endforeach()
set(GPUTEST_MODE "")

# Two versions in one project, by either way to get gputest. The second is this one.
foreach(way IN ITEMS "find_package(gputest REQUIRED PATHS \"${PACKAGE}\" NO_DEFAULT_PATH)" "add_subdirectory(\"${SOURCES}\" gputest)")
  file(WRITE "${WORK}/two/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(two LANGUAGES CXX)
include(\"${SOURCES}/cmake/detail/requirements.cmake\")
_gputest_stop_if_unmet(0.0.9)
${way}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/two" -B "${WORK}/two/build" OUTPUT_QUIET ERROR_VARIABLE output RESULT_VARIABLE ended)
  expect("^1: .*gputest: the project uses gputest 0.0.9 of ${WORK}/two, and then gputest [0-9.]+ of (${SOURCES}|${PACKAGE})\\. \
It may use one version. Type: cmake -Dgputest_DIR=" "${ended}: ${output}")
endforeach()

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCES}" -B "${WORK}/compiler" -DGPUTEST_HAS_FROM_CHARS=OFF OUTPUT_QUIET ERROR_VARIABLE output
  RESULT_VARIABLE ended)
expect("^1: .*gputest: [^ ]+ \\([A-Za-z]+ [0-9.]+\\) cannot build it: .*which g.. 11 and libc.. 20 .*Type: cmake -DCMAKE_CXX_COMPILER=" "${ended}: ${output}")

# Not even root can write there.
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${PACKAGE}" --prefix /proc/gputest OUTPUT_QUIET ERROR_VARIABLE output RESULT_VARIABLE ended)
expect("^1: .*gputest: this user cannot write to /proc/gputest/[a-z0-9_/-]+. Type: cmake --install <build folder> --prefix" "${ended}: ${output}")
if(failures GREATER 0)
  message(FATAL_ERROR "${failures} failed")
endif()
