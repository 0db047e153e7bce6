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

foreach(gputest_module IN ITEMS detail/quote detail/arguments detail/values detail/entry_properties detail/requests
        detail/let_ctest_schedule detail/command detail/complete_test detail/discovery_script detail/install_tests
        detail/framework_parts gpu_add_test gpu_discover_tests gpu_install_tests)
  include("${CMAKE_CURRENT_LIST_DIR}/${gputest_module}.cmake")
endforeach()
unset(gputest_module)
