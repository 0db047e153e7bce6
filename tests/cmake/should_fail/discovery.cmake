# SPDX-License-Identifier: BSD-3-Clause
# The arguments of gpu_discover_tests().
set(keywords "GRANULARITY, ISOLATION, MEMORY, GPUS, HEAP, KEEPS, LARGE, LAUNCHER, TIMEOUT, WAIT_LIMIT, WORKING_DIRECTORY, TEST_PREFIX, TEST_SUFFIX, TEST_FILTER, TEST_LIST, XML_OUTPUT_DIR, DISCOVERY_TIMEOUT, DISCOVERY_MODE, REQUIRES, LABELS, EXTRA_ARGS, DISCOVERY_EXTRA_ARGS, PROPERTIES, NO_PRETTY_TYPES, NO_PRETTY_VALUES")

should_pass(a_whole_call [[gpu_discover_tests(exe GRANULARITY class MEMORY 3GiB GPUS 2 HEAP 64MiB KEEPS 64MiB REQUIRES sm_80 LARGE wait LAUNCHER on TIMEOUT 2.5
  WAIT_LIMIT 1h LABELS a b EXTRA_ARGS --flag "" WORKING_DIRECTORY / TEST_PREFIX "" TEST_SUFFIX s TEST_FILTER A.* TEST_LIST list
  NO_PRETTY_TYPES NO_PRETTY_VALUES XML_OUTPUT_DIR "" DISCOVERY_TIMEOUT 5 DISCOVERY_EXTRA_ARGS x DISCOVERY_MODE PRE_TEST
  PROPERTIES LABELS "a;b" TIMEOUT 3 COST GPUS RESOURCE_LOCK "")]])
should_pass(a_keyword_after_properties [[gpu_discover_tests(exe PROPERTIES COST 3 MEMORY 3GiB)]])
should_pass(twice [[
gpu_discover_tests(exe TEST_PREFIX a)
gpu_discover_tests(exe TEST_PREFIX b)]])

should_fail(no_target [[gpu_discover_tests()]]
  "gpu_discover_tests: the target is missing. Write gpu_discover_tests(<target> ...).")
should_fail(unknown_target [[gpu_discover_tests(exee)]]
  "gpu_discover_tests(exee): \"exee\" is not a target. Call gpu_discover_tests() after add_executable(exee).")
should_fail(a_library [[gpu_discover_tests(library)]]
  "gpu_discover_tests(library): \"library\" is a target, but of type INTERFACE_LIBRARY; allowed: an executable target.")
should_fail(unknown_argument [[gpu_discover_tests(exe NAME t)]]
  "gpu_discover_tests(exe): unknown argument \"NAME\"; allowed: ${keywords}. Arguments of the program follow EXTRA_ARGS.")
should_fail(second_value [[gpu_discover_tests(exe MEMORY small --flag)]]
  "gpu_discover_tests(exe): unknown argument \"--flag\"; allowed: ${keywords}. Arguments of the program follow EXTRA_ARGS.")
should_fail(misspelt_keyword [[gpu_discover_tests(exe EXTRA_ARGS --flag MEMROY 3GiB)]]
  "gpu_discover_tests(exe): unknown keyword \"MEMROY\"; did you mean MEMORY? If the word is an argument of the program, write $<1:MEMROY>.")
should_fail(keyword_twice [[gpu_discover_tests(exe MEMORY small MEMORY large)]]
  "gpu_discover_tests(exe): MEMORY is given twice. Give it once; if the word is an argument of the program, write $<1:MEMORY>.")
should_fail(argument_after_an_option [[gpu_discover_tests(exe NO_PRETTY_TYPES on)]]
  "gpu_discover_tests(exe): unknown argument \"on\"; allowed: ${keywords}. Arguments of the program follow EXTRA_ARGS.")
set(allowed_DISCOVERY_MODE "POST_BUILD or PRE_TEST; tests are listed when ctest starts in either case")
set(allowed_EXTRA_ARGS "arguments of the executable")
set(allowed_DISCOVERY_EXTRA_ARGS "arguments of the executable, for the listing only")
set(allowed_TEST_PREFIX "the text that names of entries begin with")
set(allowed_TEST_SUFFIX "the text that names of entries end with")
set(allowed_TEST_FILTER "a filter as for --gtest_filter")
set(allowed_TEST_LIST "the name of a variable")
set(allowed_XML_OUTPUT_DIR "a directory")
foreach(keyword IN ITEMS EXTRA_ARGS DISCOVERY_EXTRA_ARGS TEST_PREFIX TEST_SUFFIX TEST_FILTER TEST_LIST XML_OUTPUT_DIR DISCOVERY_MODE)
  should_fail(no_value_of_${keyword} "gpu_discover_tests(exe ${keyword} GPUS 2)"
    "gpu_discover_tests(exe): ${keyword} has no value; allowed: ${allowed_${keyword}}.")
endforeach()
should_fail(empty_value [[gpu_discover_tests(exe TEST_LIST "")]]
  "gpu_discover_tests(exe): TEST_LIST has an empty value; allowed: the name of a variable.")
should_fail(empty_entry_of_a_list [[gpu_discover_tests(exe LABELS "a;;b")]]
  "gpu_discover_tests(exe): LABELS has an empty value; allowed: one or more labels, none of them empty.")
should_fail(empty_name_of_a_property [[gpu_discover_tests(exe PROPERTIES "" x)]]
  "gpu_discover_tests(exe): PROPERTIES has an empty name; allowed: pairs of a name and a value; several labels of one test are one value: \"a;b\".")
should_fail(property_as_an_argument [[gpu_discover_tests(exe EXTRA_ARGS -x WILL_FAIL ON)]]
  "gpu_discover_tests(exe): unknown keyword \"WILL_FAIL\". Write PROPERTIES WILL_FAIL <value>. If the word is an argument of the program, write $<1:WILL_FAIL>.")
should_fail(wrong_granularity [[gpu_discover_tests(exe GRANULARITY suite)]]
  "gpu_discover_tests(exe): GRANULARITY \"suite\" is unknown; allowed: case, class or executable (default: case).")
should_fail(wrong_isolation [[gpu_discover_tests(exe ISOLATION thread)]]
  "gpu_discover_tests(exe): ISOLATION \"thread\" is unknown; allowed: worker or process (default: process).")
should_fail(worker_of_several_cases [[gpu_discover_tests(exe GRANULARITY class ISOLATION worker)]]
  "gpu_discover_tests(exe): ISOLATION worker is for entries of one case, and GRANULARITY is class; write GRANULARITY case, or leave one of the two out; allowed: worker or process (default: process).")
should_fail(worker_with_launcher [[gpu_discover_tests(exe LAUNCHER on ISOLATION worker)]]
  "gpu_discover_tests(exe): ISOLATION worker is for executables that take their memory themselves, and LAUNCHER is on; allowed: worker or process (default: process).")
should_fail(wrong_memory [[gpu_discover_tests(exe MEMORY 3)]]
  "gpu_discover_tests(exe): MEMORY \"3\" is neither a class nor a size; allowed: small, medium, large, or a size from 1B to 1024TiB such as 3GiB or 1.5GiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB (default: small).")
should_fail(wrong_launcher [[gpu_discover_tests(exe LAUNCHER maybe)]]
  "gpu_discover_tests(exe): LAUNCHER \"maybe\" is unknown; allowed: on or off (default: on for a command that does not link gputest::main or gputest::catch2).")
should_fail(wrong_limit [[gpu_discover_tests(exe DISCOVERY_TIMEOUT 5s)]]
  "gpu_discover_tests(exe): DISCOVERY_TIMEOUT \"5s\" is no time limit; allowed: an integer from 1 to 99999, in seconds (default: 60).")
foreach(limit IN ITEMS 0 00 100000)
  should_fail(wrong_limit_${limit} "gpu_discover_tests(exe DISCOVERY_TIMEOUT ${limit})"
    "gpu_discover_tests(exe): DISCOVERY_TIMEOUT \"${limit}\" is no time limit; allowed: an integer from 1 to 99999, in seconds (default: 60).")
endforeach()
should_pass(limits [[gpu_discover_tests(exe DISCOVERY_TIMEOUT 99999)
gpu_discover_tests(exe DISCOVERY_TIMEOUT 1)]])
should_fail(wrong_limit_of_tests [[gpu_discover_tests(exe PROPERTIES TIMEOUT soon)]]
  "gpu_discover_tests(exe): TIMEOUT \"soon\" is no time limit; allowed: a positive number of seconds such as 90 or 2.5, up to 999999999, without the time spent waiting for a GPU.")
set(allowed_PROPERTIES "allowed: pairs of a name and a value; several labels of one test are one value: \"a;b\".")
should_fail(no_properties [[gpu_discover_tests(exe PROPERTIES)]]
  "gpu_discover_tests(exe): PROPERTIES has no value; ${allowed_PROPERTIES}")
should_fail(property_without_a_value [[gpu_discover_tests(exe PROPERTIES LABELS a b)]]
  "gpu_discover_tests(exe): PROPERTIES gives b no value; ${allowed_PROPERTIES}")
should_fail(another_skip_code [[gpu_discover_tests(exe PROPERTIES SKIP_RETURN_CODE 4)]]
  "gpu_discover_tests(exe): PROPERTIES sets SKIP_RETURN_CODE to 4, but gputest says 77 when it skips a test, and CTest knows only one code; ${allowed_PROPERTIES}")

# As in a build without the tool.
string(REGEX REPLACE "[^\n]*gputest::cli [^\n]*\n" "" preamble "${preamble}")
should_pass(no_tool_and_no_launcher [[gpu_discover_tests(exe LAUNCHER off)]])
should_fail(no_tool_for_launcher_on [[gpu_discover_tests(exe LAUNCHER on)]]
  "gpu_discover_tests(exe): LAUNCHER on, but there is no target gputest::cli here. Build gputest with GPUTEST_BUILD_CLI=ON, call find_package(gputest) in this directory or above, or leave LAUNCHER out.")

# As where gputest is not found.
string(REGEX REPLACE "[^\n]*gputest::client [^\n]*\n" "" preamble "${preamble}")
should_fail(without_client [[gpu_discover_tests(exe)]]
  "gpu_discover_tests(exe): there is no target gputest::client here, which runs the tests. Call find_package(gputest) in this directory or above.")
