# SPDX-License-Identifier: BSD-3-Clause
# Catch2::Catch2: one that can skip a test case (3.3 and newer), or a stand-in for it.
find_package(Catch2 3.3 QUIET)
if(NOT Catch2_FOUND)
  message(STATUS "tests/catch2: no Catch2 3.3 or newer, so its tests use a stand-in")
  add_library(catch2_stand_in STATIC "${CMAKE_CURRENT_LIST_DIR}/stand_in.cpp")
  add_library(Catch2::Catch2 ALIAS catch2_stand_in)
  target_compile_features(catch2_stand_in PUBLIC cxx_std_17)
  target_include_directories(catch2_stand_in SYSTEM PUBLIC "${CMAKE_CURRENT_LIST_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/stand_in")
  foreach(header IN ITEMS catch_session catch_test_case_info catch_test_macros catch_test_spec catch_version_macros
      interfaces/catch_interfaces_config interfaces/catch_interfaces_testcase internal/catch_test_case_registry_impl
      reporters/catch_reporter_event_listener reporters/catch_reporter_registrars)
    file(CONFIGURE OUTPUT "stand_in/catch2/${header}.hpp" CONTENT "#include <stand_in.hpp>\n")
  endforeach()
endif()
