# SPDX-License-Identifier: BSD-3-Clause
# A migration: runs a suite that says nothing of its memory, applies what `gputest classify --patch` prints, builds, and runs
# it again.
#
#   cmake -DPACKAGE=<folder with gputest-config.cmake> -DGPUTEST=<the tool> -DSOURCE=<the suite> -DWORK=<scratch folder>
#         [-DOPTIONS=<options of the configure step>] -P classify.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/ctest_run.cmake")
set(ENV{GPUTEST_DEVICES} simulated:1x16GiB)
find_program(GIT git REQUIRED)

file(COPY "${SOURCE}/" DESTINATION "${WORK}/source")
execute_process(COMMAND "${GIT}" init -q "${WORK}/source" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/source" -B "${WORK}/build" "-Dgputest_DIR=${PACKAGE}" ${OPTIONS}
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)

# Builds and runs the suite; `ended` becomes ctest's exit code, `output` what it has written.
macro(build_and_run)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --parallel 2 COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" -j2 --output-on-failure
    RESULT_VARIABLE ended OUTPUT_VARIABLE output)
endmacro()

build_and_run()
if(ended EQUAL 0)
  message(FATAL_ERROR "no test fails although none declares its memory:\n${output}")
endif()
foreach(advice IN ITEMS "Sort, keys, 1000_MiB" "Graph, has_a_definition_of_two_lines, 2_GiB" "Sizes, have_one_definition, 900_MiB"
        "Joined, is_too_small, 304_MiB")
  if(NOT output MATCHES "GPUTEST_NEEDS\\(${advice}")
    message(FATAL_ERROR "no test says ${advice}:\n${output}")
  endif()
endforeach()

execute_process(COMMAND "${GPUTEST}" classify --test-dir "${WORK}/build" --patch WORKING_DIRECTORY "${WORK}/build"
  RESULT_VARIABLE ended OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(ended EQUAL 0 OR NOT output STREQUAL "" OR NOT errors MATCHES "cd ${WORK}/source && gputest classify --test-dir ${WORK}/build --patch")
  message(FATAL_ERROR "git apply would leave files out that are not below its folder: ${ended}\n${output}\n${errors}")
endif()
execute_process(COMMAND "${GPUTEST}" classify --test-dir "${WORK}/build" --patch WORKING_DIRECTORY "${WORK}/source"
  OUTPUT_FILE "${WORK}/patch" ERROR_VARIABLE errors COMMAND_ERROR_IS_FATAL ANY)
if(NOT errors MATCHES "not in the patch: [^\n]*large, 1088_MiB[^\n]*may be too small" OR NOT errors MATCHES "gputest: 6 changes in 3 files\\.")
  message(FATAL_ERROR "not what was to be changed: ${errors}")
endif()
execute_process(COMMAND "${GIT}" apply "${WORK}/patch" WORKING_DIRECTORY "${WORK}/source" COMMAND_ERROR_IS_FATAL ANY)

function(expect file)
  file(READ "${WORK}/source/${file}" text)
  file(READ "${SOURCE}/${file}" expected)
  set(changes "${ARGN}")
  while(changes)
    list(POP_FRONT changes from to)
    string(REPLACE "${from}" "${to}" expected "${expected}")
  endwhile()
  string(REPLACE "@" ";" expected "${expected}") # no element of a list
  if(NOT text STREQUAL expected)
    message(FATAL_ERROR "${file} is\n${text}\nand not\n${expected}")
  endif()
endfunction()
expect(suite.cpp
  "#include <gtest/" "#include <gputest/gputest.hpp>\n#include <gtest/"
  "TEST(Sort, keys)" "GPUTEST_NEEDS(Sort, keys, 1000_MiB)@\nTEST(Sort, keys)"
  "TEST_F(Graph" "GPUTEST_NEEDS(Graph, has_a_definition_of_two_lines, 2_GiB)@\nTEST_F(Graph"
  "TEST_P(Sizes" "GPUTEST_NEEDS(Sizes, have_one_definition, 900_MiB)@\nTEST_P(Sizes"
  "TYPED_TEST(Types" "GPUTEST_NEEDS(Types, have_one_definition, 800_MiB)@\nTYPED_TEST(Types")
expect(joined.cpp "small, 300" "small, 304")
expect(CMakeLists.txt "MEMORY 512MiB" "MEMORY 700MiB")

build_and_run()
if(NOT ended EQUAL 0)
  message(FATAL_ERROR "the second run is not clean:\n${output}")
endif()
execute_process(COMMAND "${GPUTEST}" classify --test-dir "${WORK}/build" --check --patch WORKING_DIRECTORY "${WORK}/source"
  RESULT_VARIABLE ended OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT ended EQUAL 0 OR NOT output STREQUAL "" OR NOT errors MATCHES "gputest: no changes\n")
  message(FATAL_ERROR "there is something to change after the second run: ${ended}\n${output}\n${errors}")
endif()
