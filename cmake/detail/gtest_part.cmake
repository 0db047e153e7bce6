# SPDX-License-Identifier: BSD-3-Clause
# Builds gputest's part for GoogleTest from its sources, against the GoogleTest of the current project. A compiled
# library would work only with the GoogleTest that it was compiled against, and no error would report a mismatch.
#
# Targets, unless they exist already: gputest::gputest and gputest::main, static libraries. They are built only if a
# target links them. Need the target gputest::core.

# _gputest_add_gtest_part(<folder of the sources> <directory that may still add GoogleTest>)
function(_gputest_add_gtest_part sources directory)
  if(TARGET gputest)
    return()
  endif()
  add_library(gputest STATIC EXCLUDE_FROM_ALL
    "${sources}/current_session.cpp"
    "${sources}/fixtures.cpp"
    "${sources}/known_needs.cpp"
    "${sources}/listing.cpp"
    "${sources}/no_test_ran.cpp"
    "${sources}/run_all_tests.cpp"
    "${sources}/test_part.cpp")
  add_library(gputest::gputest ALIAS gputest)
  target_compile_features(gputest PUBLIC cxx_std_17)
  target_link_libraries(gputest PUBLIC gputest::core)
  set_target_properties(gputest PROPERTIES POSITION_INDEPENDENT_CODE ON)

  add_library(gputest_main STATIC EXCLUDE_FROM_ALL "${sources}/main.cpp")
  add_library(gputest::main ALIAS gputest_main)
  # gpu_add_test() reads this from any target that links gputest::main, directly or not: such a target needs no launcher.
  set_target_properties(gputest_main PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    INTERFACE_GPUTEST_MAIN_LINKED ON
    COMPATIBLE_INTERFACE_BOOL GPUTEST_MAIN_LINKED)
  target_link_libraries(gputest_main PUBLIC gputest)

  _gputest_use_own_flags(gputest gputest_main)

  if(TARGET GTest::gtest OR TARGET gtest)
    _gputest_link_googletest()
  else()
    # FetchContent or add_subdirectory() may add GoogleTest later in that directory, and fail if an imported one exists.
    cmake_language(DEFER DIRECTORY "${directory}" CALL _gputest_link_googletest)
  endif()
endfunction()

# A project's warnings, checks and -fno-exceptions apply to its own code only. Its -fno-rtti holds here, too: a GoogleTest
# that was built so lacks what code with RTTI links. One translation unit of all sources takes a third of the time.
function(_gputest_use_own_flags)
  if(NOT GPUTEST_DEVELOPER_MODE)
    foreach(part IN LISTS ARGN)
      target_compile_options(${part} PRIVATE "$<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-fexceptions;-w>")
      set_target_properties(${part} PROPERTIES CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE "" UNITY_BUILD ON)
    endforeach()
  endif()
endfunction()

# Stops the configuration if a target of this directory, or of one below it, links one of `parts`, a regular expression:
# there is no `framework` (a text). Projects that use only other targets need none.
function(_gputest_refuse_users_of parts framework directory)
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  list(REMOVE_ITEM targets gputest gputest_main)
  foreach(target IN LISTS targets)
    _gputest_links("${target}" "${parts}" links)
    if(links)
      message(FATAL_ERROR "gputest: the target ${target} links one of ${parts}, and there is no ${framework}, by \
find_package(), FetchContent or add_subdirectory()")
    endif()
  endforeach()
  get_property(directories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS directories)
    _gputest_refuse_users_of("${parts}" "${framework}" "${below}")
  endforeach()
endfunction()

# Links gputest with the GoogleTest target that exists now, else with the one that find_package() finds.
function(_gputest_link_googletest)
  if(NOT TARGET GTest::gtest AND NOT TARGET gtest)
    find_package(GTest QUIET)
  endif()
  if(TARGET GTest::gtest)
    target_link_libraries(gputest PUBLIC GTest::gtest)
  elseif(TARGET gtest)
    target_link_libraries(gputest PUBLIC gtest)
  else()
    _gputest_refuse_users_of("gputest::main|gputest::gputest"
      "GoogleTest: install it (Debian: libgtest-dev), or add it to the project, 1.12 or newer" "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
endfunction()
