# SPDX-License-Identifier: BSD-3-Clause
# Writes a script that runs when ctest starts; in a build of several configurations one for each, and one that includes that of
# ctest's. `otherwise` is code for a ctest that names none of them.
function(_gputest_generate_script base text otherwise)
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT is_multi_config)
    file(GENERATE OUTPUT "${base}.cmake" CONTENT "${text}")
    return()
  endif()
  file(GENERATE OUTPUT "${base}-$<LOWER_CASE:$<CONFIG>>.cmake" CONTENT "${text}")
  cmake_path(GET base FILENAME name)
  file(WRITE "${base}.cmake" "# Written by gputest's CMake functions; runs when ctest starts.
string(TOLOWER \"\${CTEST_CONFIGURATION_TYPE}\" gputest_of_configuration) # as CTest compares it
set(gputest_of_configuration \"\${CMAKE_CURRENT_LIST_DIR}/${name}-\${gputest_of_configuration}.cmake\")
if(EXISTS \"\${gputest_of_configuration}\")
  include(\"\${gputest_of_configuration}\")
else()
  ${otherwise}
endif()\n")
endfunction()

# The script of a call of gpu_discover_tests(). If ctest names no configuration, it adds an entry that fails.
function(_gputest_generate_discovery base text target)
  _gputest_code_of_failing_entry("${target}" "the configuration is not known. Write ctest -C <configuration>" code)
  _gputest_generate_script("${base}" "${text}" "${code}")
endfunction()

# Code that adds an entry that fails and says why, in place of the tests of a call of gpu_discover_tests().
function(_gputest_code_of_failing_entry target why result)
  string(GENEX_STRIP "${ARG_TEST_PREFIX}${target}_NOT_LISTED${ARG_TEST_SUFFIX}" name) # without what the configuration decides
  _gputest_quote("${name}" name)
  _gputest_quote("${CMAKE_COMMAND}" cmake)
  _gputest_quote("gputest: ${why}" why)
  _gputest_labels_of_not_listed("${ARG_MEMORY}" labels)
  set(${result} "add_test(${name} ${cmake} -E echo ${why})
  set_tests_properties(${name} PROPERTIES WILL_FAIL ON LABELS \"${labels}\"${ARG_PAIRS_OF_LABELS})" PARENT_SCOPE)
endfunction()

# The file of NEEDS, else of GPUTEST_NEEDS_FILE; empty if neither is given.
function(_gputest_needs_file result)
  set(needs "${ARG_NEEDS}")
  if(needs STREQUAL "")
    set(needs "${GPUTEST_NEEDS_FILE}")
  endif()
  if(NOT needs STREQUAL "")
    cmake_path(ABSOLUTE_PATH needs BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  endif()
  set(${result} "${needs}" PARENT_SCOPE)
endfunction()

# The class in the label of an entry of gpu_add_test() that asks for this one.
function(_gputest_label_of_add_test class result)
  if("${ARG_MEMORY}" MATCHES "^auto")
    _gputest_needs_file(needs)
    _gputest_class_in_needs("${needs}" "${ARG_NAME}" class)
    if(EXISTS "${needs}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${needs}")
    endif()
  endif()
  set(${result} ${class} PARENT_SCOPE)
endfunction()

# Adds a value, if there is one, to what all calls of the project have noted. The result is all of them, also those of later calls: CMake
# reads it when it generates.
function(_gputest_note_for_all property value result)
  if(NOT TARGET gputest_noted)
    add_library(gputest_noted INTERFACE IMPORTED GLOBAL) # no target of the project's own (BUILDSYSTEM_TARGETS)
  endif()
  get_property(noted TARGET gputest_noted PROPERTY ${property})
  list(APPEND noted ${value})
  list(REMOVE_DUPLICATES noted)
  set_property(TARGET gputest_noted PROPERTY ${property} "${noted}")
  set(${result} "$<TARGET_PROPERTY:gputest_noted,${property}>" PARENT_SCOPE)
endfunction()

# Makes ctest run schedule.cmake before it adds the tests of the current directory, and of those above: it may be started
# in each of them. `needs` is a file that `gputest needs --export` writes, or empty. Does nothing if the tool is not there. Whoever builds
# the target of the test, which may be empty, builds the tool.
function(_gputest_let_ctest_schedule needs target)
  set(most "${GPUTEST_PROCESSES_PER_DEVICE}")
  if(NOT most STREQUAL "" AND (NOT most MATCHES "^[0-9][0-9]?[0-9]?[0-9]?$" OR most GREATER 1024))
    _gputest_fail("GPUTEST_PROCESSES_PER_DEVICE is \"${most}\". Set it to the number of test processes that may use a GPU at once, from 1 to 1024, or to 0 for any number.")
  endif()
  _gputest_text_of_needs("${needs}" _) # an error is one of the file's
  if(NOT TARGET gputest::cli)
    return()
  endif()
  _gputest_build_program(gputest::cli "${target}")
  _gputest_note_for_all(GPUTEST_NEEDS_FILES "${needs}" needs_files)
  set(folder "${CMAKE_BINARY_DIR}/gputest")
  get_property(written GLOBAL PROPERTY GPUTEST_SCHEDULE_WRITTEN)
  if(NOT written)
    set_property(GLOBAL PROPERTY GPUTEST_SCHEDULE_WRITTEN ON)
    _gputest_quote("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/schedule.cmake" quoted_script)
    _gputest_generate_script("${folder}/at_start" "# Written by gputest's CMake functions; runs when ctest starts.
set(gputest_processes_per_device \"${most}\")
set(gputest_tool [======[$<TARGET_FILE:gputest::cli>]======])
set(gputest_needs_files [======[${needs_files}]======])
include(${quoted_script} OPTIONAL)\n" "")
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
