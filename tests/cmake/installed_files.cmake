# SPDX-License-Identifier: BSD-3-Clause
# Whether all that a user needs is in the install tree, and nothing that only this project's build needs.
#
#   cmake -DSOURCES=<gputest's sources> -DTREE=<the install tree> -DPACKAGE=<its folder with gputest-config.cmake>
#         -DFILES=<further files, relative to the tree> -P installed_files.cmake
cmake_minimum_required(VERSION 3.25)

# The same names in both folders, but for those that follow.
function(expect_same source installed)
  file(GLOB_RECURSE expected RELATIVE "${SOURCES}/${source}" "${SOURCES}/${source}/*")
  file(GLOB_RECURSE seen RELATIVE "${installed}" "${installed}/*")
  list(REMOVE_ITEM expected ${ARGN})
  list(SORT expected)
  list(SORT seen)
  if(expected STREQUAL "" OR NOT expected STREQUAL seen)
    message(SEND_ERROR "${source} has other files than ${installed}:\n${expected}\n${seen}")
  endif()
endfunction()
expect_same(include/gputest "${TREE}/include/gputest")
expect_same(cmake/detail "${PACKAGE}/detail" developer_mode.cmake install.cmake)
expect_same(src/gtest "${TREE}/share/gputest/gtest")
expect_same(src/catch2 "${TREE}/share/gputest/catch2")
foreach(file IN LISTS FILES)
  if(NOT EXISTS "${TREE}/${file}")
    message(SEND_ERROR "${file} is not installed")
  endif()
endforeach()

# Versions are compatible if the first two numbers are the same.
function(expect_compatible asked expected)
  set(PACKAGE_FIND_VERSION "${asked}")
  string(REPLACE "." ";" parts "${asked}")
  list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)
  list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)
  include("${PACKAGE}/gputest-config-version.cmake")
  if(NOT "${PACKAGE_VERSION_COMPATIBLE}" STREQUAL expected)
    message(SEND_ERROR "version ${PACKAGE_VERSION} for ${asked}: ${PACKAGE_VERSION_COMPATIBLE}, expected: ${expected}")
  endif()
endfunction()
include("${PACKAGE}/gputest-config-version.cmake")
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" _ "${PACKAGE_VERSION}")
set(major ${CMAKE_MATCH_1})
set(minor ${CMAKE_MATCH_2})
math(EXPR next_major "${major} + 1")
math(EXPR next_minor "${minor} + 1")
expect_compatible(${major}.${minor} TRUE)
expect_compatible(${major}.${next_minor} FALSE)
expect_compatible(${next_major}.${minor} FALSE)
