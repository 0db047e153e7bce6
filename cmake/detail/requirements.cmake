# SPDX-License-Identifier: BSD-3-Clause
# What gputest needs of the machine and of the project that uses it. Included before cmake_minimum_required().
if(NOT CMAKE_VERSION VERSION_LESS 3.25)
  cmake_policy(VERSION 3.25)
endif()

# _gputest_unmet(<variable> [<version of gputest>]): why it cannot be used here, or nothing. The version is known after
# project(), and with it the system.
function(_gputest_unmet result)
  set(unmet "")
  get_property(used GLOBAL PROPERTY GPUTEST_VERSION_IN_USE)
  get_property(folder GLOBAL PROPERTY GPUTEST_FOLDER_IN_USE)
  if(CMAKE_VERSION VERSION_LESS 3.25)
    set(unmet "this is CMake ${CMAKE_VERSION}, and gputest needs 3.25 or newer. Type: pip install cmake, and configure again in an empty folder")
  elseif(ARGC EQUAL 1)
  elseif(NOT "${GPUTEST_MODE}" MATCHES "^(full|portable)?$")
    set(unmet "GPUTEST_MODE is ${GPUTEST_MODE}. It is full, portable, or not set: then full on Linux, else portable")
  elseif("${GPUTEST_MODE}" STREQUAL "full" AND NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(unmet "the tests are to run on ${CMAKE_SYSTEM_NAME}, and GPUTEST_MODE=full needs Linux. Without it, tests are plain entries of CTest that take turns: GPUTEST_MODE=portable")
  elseif(NOT "${used}" STREQUAL "" AND NOT used STREQUAL ARGV1)
    set(unmet "the project uses gputest ${used} of ${folder}, and then gputest ${ARGV1} of ${CMAKE_CURRENT_LIST_DIR}. It may use one version. Type: cmake -Dgputest_DIR=<folder of its gputest-config.cmake>, or give FetchContent the same version everywhere")
  else()
    set_property(GLOBAL PROPERTY GPUTEST_VERSION_IN_USE "${ARGV1}")
    set_property(GLOBAL PROPERTY GPUTEST_FOLDER_IN_USE "${CMAKE_CURRENT_LIST_DIR}")
  endif()
  set(${result} "${unmet}" PARENT_SCOPE)
endfunction()

# Whether entries are plain tests of CTest, see portable.cmake.
function(_gputest_is_portable result)
  set(${result} FALSE PARENT_SCOPE)
  if("${GPUTEST_MODE}" STREQUAL "portable" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(_gputest_stop_if_unmet)
  _gputest_unmet(unmet ${ARGV})
  if(NOT unmet STREQUAL "")
    message(FATAL_ERROR "gputest: ${unmet}")
  endif()
endfunction()

# The newest of what the sources use of C++17.
function(_gputest_stop_without_from_chars)
  include(CheckCXXSourceCompiles)
  set(CMAKE_CXX_STANDARD 17)
  check_cxx_source_compiles("#include <charconv>
int main(int, char** text) { double value = 0; return std::from_chars(*text, *text, value).ptr == *text; }" GPUTEST_HAS_FROM_CHARS)
  if(NOT GPUTEST_HAS_FROM_CHARS)
    message(FATAL_ERROR "gputest: ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) cannot build it: its C++ \
library has no std::from_chars() for double, which g++ 11 and libc++ 20 and newer have. Type: cmake -DCMAKE_CXX_COMPILER=<a newer \
one>, in an empty folder")
  endif()
endfunction()

# _gputest_find_needed(<CMake package> <Debian's package> <another way out>): find_package() of the version in CMakeLists.txt.
function(_gputest_find_needed package debian otherwise)
  find_package(${package} ${gputest_needs_${package}} CONFIG QUIET)
  if(NOT ${package}_FOUND)
    set(seen "does not find it")
    if(${package}_CONSIDERED_VERSIONS)
      set(seen "finds only ${${package}_CONSIDERED_VERSIONS} (${${package}_CONSIDERED_CONFIGS})")
    endif()
    message(FATAL_ERROR "gputest: it is built with ${package} ${gputest_needs_${package}} or newer, and CMake ${seen}. \
Type: apt install ${debian} (elsewhere: -D${package}_DIR=<folder of its CMake package>)${otherwise}")
  endif()
endfunction()
