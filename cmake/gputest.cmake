# SPDX-License-Identifier: BSD-3-Clause
# gputest's CMake functions. Including this file defines them and changes nothing else.
#
#   gpu_add_test()         adds a test that shares the machine's GPUs by memory
#   gpu_discover_tests()   adds the tests of a GoogleTest executable, one by one
#   gpu_install_tests()    installs tests, so that ctest runs them elsewhere
#
# find_package(gputest), add_subdirectory() and FetchContent include it.

# The functions keep the policies of the place where they are defined, so the caller's policies do not affect them. One is
# CMake's to apply when it writes for ctest: a name with a space needs CMP0110 in the caller's directory, as with add_test().
cmake_policy(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/detail/messages.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/quote.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/check_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/check_values.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/bytes.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/memory_class.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/check_requires.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/entry_properties.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/resource_groups.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/let_ctest_schedule.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/links_main.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/resolve_program.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/test_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/complete_test.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/discovery_arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/discovery_script.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/install_tests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/gtest_part.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/catch2_part.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/gpu_add_test.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/gpu_discover_tests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/gpu_install_tests.cmake")
