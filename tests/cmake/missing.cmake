# SPDX-License-Identifier: BSD-3-Clause
# What CMake says of a library that is missing, when it configures a project that needs it; and ways to bring GoogleTest.
#
#   cmake -DSOURCES=<this project> -DPACKAGE=<folder with gputest-config.cmake> -DWORK=<scratch folder> -P missing.cmake
cmake_minimum_required(VERSION 3.25)

set(failures 0)

# expect(<library> <what the project does with gputest> <its target links> <regular expression of the result> [<option of CMake>...])
function(expect library get_gputest links expression)
  if(NOT keeps_build_tree)
    file(REMOVE_RECURSE "${WORK}/${library}")
  endif()
  file(WRITE "${WORK}/${library}/main.cpp" "")
  file(WRITE "${WORK}/${library}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(missing LANGUAGES CXX)
set(CMAKE_DISABLE_FIND_PACKAGE_${library} ON)
${get_gputest}
add_subdirectory(tests)\n")
  file(WRITE "${WORK}/${library}/tests/CMakeLists.txt" "add_library(helper STATIC ../main.cpp)
target_link_libraries(helper PUBLIC ${links})
add_executable(tests ../main.cpp)
target_link_libraries(tests PRIVATE helper)\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/${library}" -B "${WORK}/${library}/build" ${ARGN}
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${result}: ${output}")
  if(NOT output MATCHES "${expression}")
    message(NOTICE "FAILED ${library}, expected ${expression}: ${output}")
    math(EXPR failures "${failures} + 1")
    set(failures ${failures} PARENT_SCOPE)
  endif()
endfunction()

set(package "find_package(gputest REQUIRED CONFIG PATHS \"${PACKAGE}\" NO_DEFAULT_PATH)")
expect(GTest "${package}" gputest::core "^0: $")
expect(GTest "${package}" gputest::main "^1: .*gputest: the target helper links one of gputest::main.gputest::gputest, and there \
is no GoogleTest: install it \\(Debian: libgtest-dev\\)")
expect(GTest "add_library(gtest STATIC main.cpp)
set_target_properties(gtest PROPERTIES VERSION 1.11.0) # as GoogleTest's own does
${package}" gputest::main "^1: .*gputest: the target helper links one of gputest::main.gputest::gputest, and there is no GoogleTest 1.12 or newer \
but 1.11.0: add a newer one to the project, by find_package\\(\\)")
expect(Catch2 "${package}" gputest::catch2 "^1: .*gputest: the target helper links one of gputest::catch2, and there is no Catch2 3.3")
expect(CLI11 "add_subdirectory(\"${SOURCES}\" gputest)" gputest::core
  "^1: .*gputest: it is built with CLI11 [0-9.]+ or newer, and CMake does not find it. Type: apt install libcli11-dev .*without \
its tool, which needs it: -DGPUTEST_BUILD_CLI=OFF")
expect(Boost "add_subdirectory(\"${SOURCES}\" gputest)" gputest::core
  "^1: .*gputest: it is built with Boost [0-9.]+ or newer, and CMake does not find it. Type: apt install libboost-dev [^;]*$")

# GoogleTest that comes when it is looked for, as a directory of the project. What is installed must not take its place.
file(WRITE "${WORK}/googletest/CMakeLists.txt" "file(WRITE \"\${CMAKE_CURRENT_BINARY_DIR}/own.cpp\" \"\")
add_library(gtest STATIC \"\${CMAKE_CURRENT_BINARY_DIR}/own.cpp\")
add_library(GTest::gtest ALIAS gtest)
set_target_properties(gtest PROPERTIES VERSION 1.12.1)\n")
set(is_linked "\nif(NOT TARGET gtest)\n  message(FATAL_ERROR \"another one was found\")\nendif()")
expect(Unused "include(FetchContent)
FetchContent_Declare(GTest SOURCE_DIR \"${WORK}/googletest\" OVERRIDE_FIND_PACKAGE)
${package}${is_linked}" gputest::main "^0: $")
file(WRITE "${WORK}/provider.cmake" "macro(provide method package)
  if(\"\${package}\" STREQUAL \"GTest\")
    add_subdirectory(\"${WORK}/googletest\" \"\${CMAKE_BINARY_DIR}/googletest\")
    set(GTest_FOUND TRUE)
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER provide SUPPORTED_METHODS FIND_PACKAGE)\n")
expect(Unused "${package}${is_linked}" gputest::main "^0: $" "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${WORK}/provider.cmake")

# One that the project adds after gputest, when its build tree knows another one from an earlier configuration or from the user.
# So is a Catch2 that is too old for gputest.
file(WRITE "${WORK}/cached/GTestConfig.cmake" "add_library(GTest::gtest INTERFACE IMPORTED)\nset(GTest_VERSION 1.12.1)\n")
file(WRITE "${WORK}/cached/Catch2Config.cmake" "")
file(WRITE "${WORK}/cached/Catch2ConfigVersion.cmake" "set(PACKAGE_VERSION 2.13.10)\nset(PACKAGE_VERSION_COMPATIBLE FALSE)\n")
set(is_cached "")
foreach(name IN ITEMS GTest Catch2)
  string(APPEND is_cached "\nif(NOT \"\$CACHE{${name}_DIR}\" STREQUAL \"${WORK}/cached\")\n  message(FATAL_ERROR \"${name} is lost\")\nendif()")
endforeach()
set(cached "-DGTest_DIR=${WORK}/cached;-DCatch2_DIR=${WORK}/cached")
foreach(options IN ITEMS "${cached}" "--log-level=STATUS") # the second time, only the cache says so
  expect(Unused "${package}${is_cached}" gputest::main "^0: $" ${options})
  set(keeps_build_tree ON)
endforeach()
expect(Unused "${package}
add_subdirectory(\"${WORK}/googletest\" googletest)${is_linked}" gputest::main "^0: $")
set(keeps_build_tree OFF)

# Other libraries of a framework that is installed, in a directory below the one that finds gputest, and in one beside it.
# It is looked for once: in another directory a second look may find something else, or fail.
file(WRITE "${WORK}/installed/GTestConfig.cmake" "add_custom_target(GTest_found_once)\nadd_library(GTest::gtest INTERFACE IMPORTED)
add_library(GTest::gmock INTERFACE IMPORTED)\nset(GTest_VERSION 1.12.1)\n")
file(WRITE "${WORK}/installed/Catch2Config.cmake" "add_custom_target(Catch2_found_once)\nadd_library(Catch2::Catch2 INTERFACE IMPORTED)\n")
file(WRITE "${WORK}/installed/Catch2ConfigVersion.cmake" "set(PACKAGE_VERSION 3.7.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
set(installed "-DGTest_DIR=${WORK}/installed;-DCatch2_DIR=${WORK}/installed")
file(WRITE "${WORK}/beside/CMakeLists.txt" "${package}\n")
set(beside "add_subdirectory(\"${WORK}/beside\" beside)")
foreach(finds IN ITEMS "${package}" "${beside}")
  expect(Unused "${finds}" "gputest::main GTest::gmock gputest::catch2 Catch2::Catch2" "^0: $" ${installed})
endforeach()
expect(Unused "${beside}\nadd_subdirectory(\"${WORK}/googletest\" googletest)" "gputest::main GTest::gtest" "^0: $" ${installed})
expect(Unused "${beside}\nadd_library(GTest::gmock INTERFACE IMPORTED GLOBAL)" "gputest::main GTest::gmock" "^0: $" ${installed})
# The top directory finds it, too, when the other directories have been added.
file(WRITE "${WORK}/above/CMakeLists.txt" "${package}\nadd_subdirectory(below)\n")
file(WRITE "${WORK}/above/below/CMakeLists.txt" "add_executable(below main.cpp)\ntarget_link_libraries(below PRIVATE gputest::main GTest::gtest)\n")
file(WRITE "${WORK}/above/below/main.cpp" "")
expect(Unused "add_subdirectory(\"${WORK}/above\" above)\nfind_package(GTest REQUIRED)" GTest::gtest "^0: $" "-DGTest_DIR=${WORK}/cached")

# A GoogleTest of the project's under a name of its own, which the project tells by an alias, in place of the installed one.
expect(Unused "add_library(own_gtest STATIC main.cpp)\nadd_library(GTest::gtest ALIAS own_gtest)
${package}" "gputest::main own_gtest" "^0: $")

if(CMAKE_VERSION VERSION_LESS 4.0) # later versions do not know the policies of such a project
  expect(Unused "cmake_policy(VERSION 3.2)\n${package}" gputest::main "^0: $" -Wno-deprecated)
endif()
if(failures GREATER 0)
  message(FATAL_ERROR "${failures} failed")
endif()
