# SPDX-License-Identifier: BSD-3-Clause
# Runs at the end of the directory of a gpu_add_test() call, with gputest's settings of the test, its labels, and its program.
# `by_link` says that what the target links decides on the launcher. Restores the properties that set_tests_properties() has
# replaced since, and checks the others.
function(_gputest_complete_test name settings own_labels program target by_link)
  set(gputest_call "gpu_add_test(NAME ${name})")
  foreach(property IN ITEMS ENVIRONMENT ENVIRONMENT_MODIFICATION LABELS SKIP_RETURN_CODE WILL_FAIL PASS_REGULAR_EXPRESSION
          FAIL_REGULAR_EXPRESSION)
    get_property(${property} TEST "${name}" PROPERTY ${property})
  endforeach()

  _gputest_watcher("${WILL_FAIL}" "${PASS_REGULAR_EXPRESSION}" watcher)
  string(REPLACE "GPUTEST_ENTRY=set:ctest" "GPUTEST_ENTRY=set:${watcher}" settings "${settings}")
  string(REPLACE "GPUTEST_ENTRY=set:ctest" "GPUTEST_ENTRY=set:${watcher}" ENVIRONMENT_MODIFICATION "${ENVIRONMENT_MODIFICATION}")
  set_property(TEST "${name}" PROPERTY ENVIRONMENT_MODIFICATION "${ENVIRONMENT_MODIFICATION}")
  foreach(setting IN LISTS settings)
    string(REGEX REPLACE "=.*" "" variable "${setting}")
    if(";${ENVIRONMENT}" MATCHES ";(${variable}=[^;]*)")
      _gputest_fail("the property ENVIRONMENT has ${CMAKE_MATCH_1}, which has no effect: gpu_add_test() sets ${variable} itself. Write a keyword of gpu_add_test() in its place.")
    elseif(NOT ";${ENVIRONMENT_MODIFICATION}" MATCHES ";${variable}=")
      string(REPLACE ";" "\\;" setting "${setting}")
      set_property(TEST "${name}" APPEND PROPERTY ENVIRONMENT_MODIFICATION "${setting}")
    endif()
  endforeach()
  if(WILL_FAIL)
    list(REMOVE_ITEM FAIL_REGULAR_EXPRESSION "gputest: timed out:")
    set_property(TEST "${name}" PROPERTY FAIL_REGULAR_EXPRESSION "${FAIL_REGULAR_EXPRESSION}")
  endif()
  list(REMOVE_ITEM own_labels "" ${LABELS})
  set_property(TEST "${name}" APPEND PROPERTY LABELS ${own_labels})

  # 77 is how gputest says that a test was skipped. With another code a skip would be a failure.
  if(SKIP_RETURN_CODE STREQUAL "")
    set_property(TEST "${name}" PROPERTY SKIP_RETURN_CODE 77)
  elseif(NOT SKIP_RETURN_CODE EQUAL 77)
    _gputest_fail("SKIP_RETURN_CODE is ${SKIP_RETURN_CODE}, but gputest says 77 when it skips a test, and CTest knows only one code. Remove the property. To skip a test for a reason of its own, use its framework's macro (GTEST_SKIP), or print a line and set SKIP_REGULAR_EXPRESSION.")
  endif()

  if(target STREQUAL "" AND TARGET "${program}")
    _gputest_fail("COMMAND \"${program}\" was a program in PATH when gpu_add_test() was called, and is a target now. Call gpu_add_test() after add_executable(${program}), or write the program's path.")
  endif()
  if(NOT by_link)
    return()
  endif()
  _gputest_links_main("${target}" links_main)
  if(links_main)
    set_property(TARGET "${target}" PROPERTY GPUTEST_MAIN_LINKED ON)
  elseif(NOT TARGET gputest::cli)
    _gputest_launcher_words(unused) # an error
  endif()
endfunction()

# Once for each directory, at the end of the top-level one: without enable_testing() there and in each directory below, CMake
# drops its tests. include(CTest) with BUILD_TESTING=OFF does so because somebody asked for it.
function(_gputest_warn_if_testing_is_off call)
  get_property(is_noted DIRECTORY PROPERTY GPUTEST_TESTING_CHECKED)
  if(NOT is_noted)
    set_property(DIRECTORY PROPERTY GPUTEST_TESTING_CHECKED ON)
    _gputest_quote("${call}" quoted_call)
    _gputest_quote("${CMAKE_CURRENT_SOURCE_DIR}" quoted_directory)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [=[${CMAKE_SOURCE_DIR}]=]
      CALL _gputest_check_testing ${quoted_call} ${quoted_directory})")
  endif()
endfunction()

function(_gputest_check_testing call directory)
  while(NOT "${directory}" STREQUAL "")
    get_directory_property(is_enabled DIRECTORY "${directory}" DEFINITION CMAKE_TESTING_ENABLED)
    get_directory_property(wanted DIRECTORY "${directory}" DEFINITION BUILD_TESTING)
    if(NOT is_enabled)
      if("${wanted}" STREQUAL "" OR wanted)
        message(WARNING "${call}: this test does not exist for ctest, because enable_testing() was not called in ${directory}. Call it in the top-level CMakeLists.txt, before add_subdirectory() and before tests are added.")
      endif()
      return()
    endif()
    get_property(directory DIRECTORY "${directory}" PROPERTY PARENT_DIRECTORY)
  endwhile()
endfunction()
