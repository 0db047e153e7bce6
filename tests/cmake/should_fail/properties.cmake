# SPDX-License-Identifier: BSD-3-Clause
# Properties that are set on the test, and words that are meant to be properties.
should_fail(another_skip_code [[
gpu_add_test(NAME t COMMAND exe)
set_tests_properties(t PROPERTIES SKIP_RETURN_CODE 4)]]
  "gpu_add_test(NAME t): SKIP_RETURN_CODE is 4, but gputest says 77 when it skips a test, and CTest knows only one code. Remove the property. To skip a test for a reason of its own, use its framework's macro (GTEST_SKIP), or print a line and set SKIP_REGULAR_EXPRESSION.")
should_pass(the_same_skip_code [[
gpu_add_test(NAME t COMMAND exe)
set_tests_properties(t PROPERTIES SKIP_RETURN_CODE 77)]])

should_fail(memory_in_the_environment [[
gpu_add_test(NAME t COMMAND exe)
set_tests_properties(t PROPERTIES ENVIRONMENT "A=1;GPUTEST_MEMORY=3GiB")]]
  "gpu_add_test(NAME t): the property ENVIRONMENT has GPUTEST_MEMORY=3GiB, which has no effect: gpu_add_test() sets GPUTEST_MEMORY itself. Write MEMORY in gpu_add_test().")
should_fail(limit_in_the_environment [[
gpu_add_test(NAME t COMMAND exe WAIT_LIMIT 90s)
set_tests_properties(t PROPERTIES ENVIRONMENT GPUTEST_WAIT_LIMIT=5s)]]
  "gpu_add_test(NAME t): the property ENVIRONMENT has GPUTEST_WAIT_LIMIT=5s, which has no effect: gpu_add_test() sets GPUTEST_WAIT_LIMIT itself. Write WAIT_LIMIT in gpu_add_test().")
should_fail(name_in_the_environment [[
gpu_add_test(NAME t COMMAND exe)
set_tests_properties(t PROPERTIES ENVIRONMENT GPUTEST_TEST=other)]]
  "gpu_add_test(NAME t): the property ENVIRONMENT has GPUTEST_TEST=other, which has no effect: gpu_add_test() sets GPUTEST_TEST itself. It is the NAME of the test.")
should_fail(entry_in_the_environment [[
gpu_add_test(NAME t COMMAND exe)
set_tests_properties(t PROPERTIES ENVIRONMENT "GPUTEST_LARGE=wait;A=1;GPUTEST_ENTRY=other")]]
  "gpu_add_test(NAME t): the property ENVIRONMENT has GPUTEST_ENTRY=other, which has no effect: gpu_add_test() sets GPUTEST_ENTRY itself. Remove it.")
should_pass(same_memory_in_the_environment [[
gpu_add_test(NAME t COMMAND exe MEMORY 3GiB)
set_tests_properties(t PROPERTIES ENVIRONMENT GPUTEST_MEMORY=3GiB)]])
should_pass(other_variables_in_the_environment [[
gpu_add_test(NAME t COMMAND exe)
set_tests_properties(t PROPERTIES ENVIRONMENT "GPUTEST_LARGE=wait;GPUTEST_WAIT_LIMIT=90s;MEMORY=3GiB")]])

should_fail(properties_in_the_call [[gpu_add_test(NAME t COMMAND exe -x PROPERTIES TIMEOUT 3)]]
  "gpu_add_test(NAME t): unknown keyword \"PROPERTIES\". Properties are set afterwards: set_tests_properties(t PROPERTIES <property> <value>). If the word is an argument of the program, write $<1:PROPERTIES>.")
foreach(property IN ITEMS ENVIRONMENT WILL_FAIL RESOURCE_LOCK FIXTURES_REQUIRED PASS_REGULAR_EXPRESSION)
  should_fail(${property}_in_the_call "gpu_add_test(NAME t COMMAND exe -x ${property} A=1)"
    "gpu_add_test(NAME t): unknown keyword \"${property}\". Properties are set afterwards: set_tests_properties(t PROPERTIES ${property} <value>). If the word is an argument of the program, write $<1:${property}>.")
endforeach()
should_pass(properties_as_arguments [[gpu_add_test(NAME t COMMAND exe $<1:ENVIRONMENT> environment "ENVIRONMENT=1")]])

# Without enable_testing(), CMake drops the tests. A warning, as whoever includes the project may not want its tests.
set(no_testing "gpu_add_test(NAME t): this test does not exist for ctest, because enable_testing() was not called. Call it in the top-level CMakeLists.txt, before add_subdirectory() and before tests are added.")
should_warn(enabled "gpu_add_test(NAME t COMMAND exe)" "")
string(REPLACE "enable_testing()\n" "" preamble "${preamble}")
should_warn(not_enabled "gpu_add_test(NAME t COMMAND exe)\ngpu_add_test(NAME u COMMAND exe)" "${no_testing}")
should_warn(enabled_later "gpu_add_test(NAME t COMMAND exe)\nenable_testing()" "")
should_warn(included_ctest "gpu_add_test(NAME t COMMAND exe)\ninclude(CTest)" "")
should_warn(testing_switched_off "set(BUILD_TESTING OFF)\ninclude(CTest)\ngpu_add_test(NAME t COMMAND exe)" "")
# Here the directory `below` is the only one in which it is called, or not.
set(add_below [[file(WRITE "${CMAKE_SOURCE_DIR}/below/CMakeLists.txt" "enable_testing()\ngpu_add_test(NAME t COMMAND exe)\ngpu_add_test(NAME u COMMAND exe)\n")
add_subdirectory(below)]])
should_warn(enabled_below "${add_below}"
  "gpu_add_test(NAME t): ctest finds this test only in the build directory of ${WORK}/enabled_below/below, because enable_testing() was not called in ${WORK}/enabled_below. Call it in the top-level CMakeLists.txt, before add_subdirectory().")
should_warn(enabled_above_of_discovered "enable_testing()\ngpu_discover_tests(exe)" "")
should_warn(not_enabled_for_discovered "gpu_discover_tests(exe)"
  "gpu_discover_tests(exe): this test does not exist for ctest, because enable_testing() was not called. Call it in the top-level CMakeLists.txt, before add_subdirectory() and before tests are added.")
# Two directories below: each that does not pass it on counts.
set(add_between [[file(WRITE "${CMAKE_SOURCE_DIR}/between/CMakeLists.txt" "${in_between}add_subdirectory(below)\n")
file(WRITE "${CMAKE_SOURCE_DIR}/between/below/CMakeLists.txt" "enable_testing()\ngpu_add_test(NAME t COMMAND exe)\n")
add_subdirectory(between)]])
should_warn(enabled_but_not_between "${add_between}\nenable_testing()"
  "gpu_add_test(NAME t): ctest finds this test only in the build directory of ${WORK}/enabled_but_not_between/between/below, because enable_testing() was not called in ${WORK}/enabled_but_not_between/between. Call it in the top-level CMakeLists.txt, before add_subdirectory().")
should_warn(enabled_neither_there_nor_above "${add_between}"
  "gpu_add_test(NAME t): ctest finds this test only in the build directory of ${WORK}/enabled_neither_there_nor_above/between/below, because enable_testing() was not called in ${WORK}/enabled_neither_there_nor_above/between. Call it in the top-level CMakeLists.txt, before add_subdirectory().")
should_warn(enabled_between "set(in_between [[enable_testing()\n]])\n${add_between}"
  "gpu_add_test(NAME t): ctest finds this test only in the build directory of ${WORK}/enabled_between/between/below, because enable_testing() was not called in ${WORK}/enabled_between. Call it in the top-level CMakeLists.txt, before add_subdirectory().")
should_warn(enabled_above "enable_testing()\n${add_below}" "")
should_warn(enabled_above_later "${add_below}\nenable_testing()" "")
should_warn(switched_off_above "set(BUILD_TESTING OFF)\ninclude(CTest)\n${add_below}" "")
