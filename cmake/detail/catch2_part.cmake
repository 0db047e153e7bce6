# SPDX-License-Identifier: BSD-3-Clause
# Builds gputest's part for Catch2 from its sources, against the Catch2 of the current project, as gtest_part.cmake
# does.
#
# Target, unless it exists already: gputest::catch2, a static library with a main(). It is built only if a target links
# it. Needs the target gputest::core.

# _gputest_add_catch2_part(<folder of the sources> <directory that may still add Catch2>)
function(_gputest_add_catch2_part sources directory)
  if(TARGET gputest_catch2)
    return()
  endif()
  add_library(gputest_catch2 STATIC EXCLUDE_FROM_ALL
    "${sources}/main.cpp"
    "${sources}/run_tests.cpp"
    "${sources}/tags.cpp")
  add_library(gputest::catch2 ALIAS gputest_catch2)
  target_compile_features(gputest_catch2 PUBLIC cxx_std_17)
  target_link_libraries(gputest_catch2 PUBLIC gputest::core)
  set_target_properties(gputest_catch2 PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    INTERFACE_GPUTEST_MAIN_LINKED ON
    COMPATIBLE_INTERFACE_BOOL GPUTEST_MAIN_LINKED)
  _gputest_use_own_flags(gputest_catch2)
  if(TARGET Catch2::Catch2)
    _gputest_link_catch2()
  else()
    cmake_language(DEFER DIRECTORY "${directory}" CALL _gputest_link_catch2)
  endif()
endfunction()

function(_gputest_link_catch2)
  if(NOT TARGET Catch2::Catch2)
    find_package(Catch2 3.3 QUIET)
  endif()
  if(TARGET Catch2::Catch2)
    target_link_libraries(gputest_catch2 PUBLIC Catch2::Catch2)
  else()
    _gputest_refuse_users_of("gputest::catch2"
      "Catch2 3.3 or newer: install it, or add it to the project (Debian 12 has 2.13)" "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
endfunction()
