# SPDX-License-Identifier: BSD-3-Clause
# Runs at the end of the directory of a gpu_add_test() call, with gputest's settings of the test, its labels, and its program.
# `by_link` says that what the target links decides on the launcher. Restores the properties that set_tests_properties() has
# replaced since, and checks the others.
function(_gputest_complete_test name settings own_labels program target by_link memory_class)
  set(gputest_call "gpu_add_test(NAME ${name})")
  foreach(property IN ITEMS ENVIRONMENT ENVIRONMENT_MODIFICATION LABELS SKIP_RETURN_CODE WILL_FAIL PASS_REGULAR_EXPRESSION
          SKIP_REGULAR_EXPRESSION FAIL_REGULAR_EXPRESSION TIMEOUT TIMEOUT_AFTER_MATCH TIMEOUT_SIGNAL_NAME TIMEOUT_SIGNAL_GRACE_PERIOD)
    get_property(${property} TEST "${name}" PROPERTY ${property})
  endforeach()

  _gputest_watcher("" watcher)
  set(links_main FALSE)
  if(by_link) # gputest::gputest is not enough: a helper library may bring it into a program that never calls it
    _gputest_links("${target}" "gputest_main|gputest_catch2|gputest::main|gputest::catch2" links_main)
  endif()
  set(may_be_foreign FALSE)
  if(target STREQUAL "" OR (by_link AND NOT links_main))
    set(may_be_foreign TRUE)
  endif()
  # 77 is how gputest says that a test was skipped. With another code a skip would be a failure, so a command of the launcher that has
  # a code of its own for it is told to gputest. A program that nobody watches may mean anything by 77, so gputest says a skip by a code
  # of its own there, unless the project has set one.
  set(skip_code 77)
  if(memory_class STREQUAL "host")
    set(skip_code 219) # unwatched_skip_code in gputest/outcome.hpp
    if(may_be_foreign) # such as a script, for which a program's 219 would be a failure
      if("${SKIP_RETURN_CODE}" MATCHES "^[1-9][0-9]*$")
        string(APPEND watcher ":${SKIP_RETURN_CODE}")
      endif()
      string(APPEND watcher " script")
    endif()
  elseif(may_be_foreign AND "${SKIP_RETURN_CODE}" MATCHES "^[0-9]+$" AND NOT SKIP_RETURN_CODE EQUAL 77 AND NOT SKIP_RETURN_CODE EQUAL 0)
    string(APPEND watcher ":${SKIP_RETURN_CODE}")
    set(SKIP_RETURN_CODE 77)
  endif()
  if("${SKIP_RETURN_CODE}" STREQUAL "" OR ("${SKIP_RETURN_CODE}" STREQUAL "77" AND NOT (memory_class STREQUAL "host" AND may_be_foreign)))
    set_property(TEST "${name}" PROPERTY SKIP_RETURN_CODE ${skip_code})
  elseif(NOT memory_class STREQUAL "host" OR NOT may_be_foreign)
    _gputest_fail("SKIP_RETURN_CODE is ${SKIP_RETURN_CODE}, but gputest says 77 when it skips a test, and CTest knows only one code. Remove the property. To skip a test for a reason of its own, use its framework's macro (GTEST_SKIP), or print a line and set SKIP_REGULAR_EXPRESSION.")
  endif()

  # gputest's settings come first: what follows may have an unmatched bracket, and replaces what it sets again.
  string(REPLACE "${settings}" "" of_the_user "${ENVIRONMENT_MODIFICATION}")
  string(REPLACE "GPUTEST_ENTRY=set:ctest" "GPUTEST_ENTRY=set:${watcher}" settings "${settings}")
  # In portable mode programs cannot tell whether ctest has started them.
  if((target STREQUAL "" OR watcher MATCHES ":") AND COMMAND _gputest_use_portable_mode)
    string(APPEND settings ";GPUTEST_ENTRY=set:${watcher}")
  endif()
  if(NOT memory_class STREQUAL "host") # else its limit is CTest's own
    _gputest_complete_limit("${settings}" "${TIMEOUT}" "${TIMEOUT_AFTER_MATCH}" "${TIMEOUT_SIGNAL_NAME}" "${TIMEOUT_SIGNAL_GRACE_PERIOD}"
      with_limit limit)
    if(NOT limit STREQUAL "") # it is, too, if only CTest can read it, such as a generator expression
      set(settings "${with_limit}")
      set_property(TEST "${name}" PROPERTY TIMEOUT ${limit})
    endif()
  endif()
  foreach(setting IN LISTS settings ITEMS GPUTEST_TEST=) # which an odd name is not in settings for
    string(REGEX REPLACE "=.*" "" variable "${setting}")
    if(";${ENVIRONMENT}" MATCHES ";${variable}=" AND setting MATCHES "=unset:$")
      list(REMOVE_ITEM settings "${setting}") # only those of an entry above are not this one's
    elseif(";${ENVIRONMENT}" MATCHES ";(${variable}=[^;]*)")
      _gputest_fail("the property ENVIRONMENT has ${CMAKE_MATCH_1}, which has no effect: gpu_add_test() sets ${variable} itself. Write a keyword of gpu_add_test() in its place.")
    endif()
  endforeach()
  if(NOT memory_class STREQUAL "host") # else nobody looks for its program but CTest
    _gputest_changes_of_path("${ENVIRONMENT}" "${of_the_user}" changes)
    string(APPEND settings "${changes}")
  endif()
  _gputest_prepend_list("${settings}" "${of_the_user}" ENVIRONMENT_MODIFICATION)
  if("gpu" IN_LIST own_labels AND COMMAND _gputest_use_portable_mode)
    get_property(locks TEST "${name}" PROPERTY RESOURCE_LOCK)
    list(REMOVE_ITEM locks gpu)
    _gputest_prepend_list(gpu "${locks}" locks)
    set_property(TEST "${name}" PROPERTY RESOURCE_LOCK "${locks}")
  endif()
  list(REMOVE_ITEM own_labels "" ${LABELS})
  _gputest_prepend_list("${own_labels}" "${LABELS}" LABELS)
  foreach(property IN ITEMS ENVIRONMENT_MODIFICATION LABELS)
    set_property(TEST "${name}" PROPERTY ${property} "${${property}}")
  endforeach()

  set(type "")
  if(target STREQUAL "" AND TARGET "${program}")
    get_target_property(type "${program}" TYPE)
  endif()
  if(type STREQUAL "EXECUTABLE")
    _gputest_fail("COMMAND \"${program}\" was a program when gpu_add_test() was called, and is a target now. Call gpu_add_test() after add_executable(${program}), or write the program's path.")
  endif()
  if(NOT by_link)
    return()
  elseif(links_main)
    set_property(TARGET "${target}" PROPERTY GPUTEST_MAIN_LINKED ON)
  elseif(NOT memory_class STREQUAL "host")
    _gputest_launcher_words("${target}" unused)
  endif()
endfunction()

# Joins two lists as they are written. Without an empty element between them, which would be a label.
function(_gputest_prepend_list first second result)
  string(REGEX REPLACE "^;+" "" second "${second}")
  set(separator ";")
  if(first STREQUAL "" OR second STREQUAL "")
    set(separator "")
  endif()
  set(${result} "${first}${separator}${second}" PARENT_SCOPE)
endfunction()

# Once for each directory, at the end of the top-level one: without enable_testing() there and in each directory below, CMake
# drops its tests. include(CTest) with BUILD_TESTING=OFF and EXCLUDE_FROM_ALL do so because somebody asked for it.
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
  _gputest_is_left_out("${directory}" is_left_out)
  if(is_left_out)
    return()
  endif()
  set(above "${directory}")
  while(NOT "${above}" STREQUAL "")
    get_directory_property(is_enabled DIRECTORY "${above}" DEFINITION CMAKE_TESTING_ENABLED)
    get_directory_property(wanted DIRECTORY "${above}" DEFINITION BUILD_TESTING)
    if(is_enabled)
      get_property(above DIRECTORY "${above}" PROPERTY PARENT_DIRECTORY)
      continue()
    endif()
    if(NOT "${wanted}" STREQUAL "" AND NOT wanted)
      return()
    elseif(above STREQUAL directory)
      message(WARNING "${call}: this test does not exist for ctest, because enable_testing() was not called. Call it in the top-level CMakeLists.txt, before add_subdirectory() and before tests are added.")
    else()
      message(WARNING "${call}: ctest finds this test only in the build directory of ${directory}, because enable_testing() was not called in ${above}. Call it in the top-level CMakeLists.txt, before add_subdirectory().")
    endif()
    return()
  endwhile()
endfunction()
