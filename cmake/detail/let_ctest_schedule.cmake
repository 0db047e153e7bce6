# SPDX-License-Identifier: BSD-3-Clause
# Writes a script that runs when ctest starts; in a build of several configurations one for each, and one that includes that of
# ctest's. `otherwise` is code for a ctest that names none of them.
function(_gputest_generate_script base text otherwise)
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT is_multi_config)
    file(GENERATE OUTPUT "${base}.cmake" CONTENT "${text}")
    return()
  endif()
  file(GENERATE OUTPUT "${base}-$<CONFIG>.cmake" CONTENT "${text}")
  cmake_path(GET base FILENAME name)
  file(WRITE "${base}.cmake" "# Written by gputest's CMake functions; runs when ctest starts.
set(gputest_of_configuration \"\${CMAKE_CURRENT_LIST_DIR}/${name}-\${CTEST_CONFIGURATION_TYPE}.cmake\")
if(EXISTS \"\${gputest_of_configuration}\")
  include(\"\${gputest_of_configuration}\")
else()
  ${otherwise}
endif()\n")
endfunction()

# Makes ctest run schedule.cmake before it adds the tests of the current directory, and of those above: it may be started
# in each of them. Does nothing if the tool is not there.
function(_gputest_let_ctest_schedule)
  set(most "${GPUTEST_PROCESSES_PER_DEVICE}")
  if(NOT most STREQUAL "" AND (NOT most MATCHES "^[0-9][0-9]?[0-9]?[0-9]?$" OR most GREATER 1024))
    _gputest_fail("GPUTEST_PROCESSES_PER_DEVICE is \"${most}\". Set it to the number of test processes that may use a GPU at once, from 1 to 1024, or to 0 for any number.")
  endif()
  if(NOT TARGET gputest::cli)
    return()
  endif()
  set(folder "${CMAKE_BINARY_DIR}/gputest")
  get_property(written GLOBAL PROPERTY GPUTEST_SCHEDULE_WRITTEN)
  if(NOT written)
    set_property(GLOBAL PROPERTY GPUTEST_SCHEDULE_WRITTEN ON)
    _gputest_build_program(gputest::cli)
    _gputest_quote("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/schedule.cmake" quoted_script)
    _gputest_generate_script("${folder}/at_start" "# Written by gputest's CMake functions; runs when ctest starts.
set(gputest_processes_per_device \"${most}\")
set(gputest_tool [======[$<TARGET_FILE:gputest::cli>]======])
include(${quoted_script})\n" "")
  endif()

  set(directory "${CMAKE_CURRENT_SOURCE_DIR}")
  while(NOT "${directory}" STREQUAL "")
    get_property(scripts DIRECTORY "${directory}" PROPERTY TEST_INCLUDE_FILES)
    if("${folder}/at_start.cmake" IN_LIST scripts)
      break()
    endif()
    set_property(DIRECTORY "${directory}" PROPERTY TEST_INCLUDE_FILES "${folder}/at_start.cmake" ${scripts})
    get_property(directory DIRECTORY "${directory}" PROPERTY PARENT_DIRECTORY)
  endwhile()
endfunction()
