# SPDX-License-Identifier: BSD-3-Clause
# The form of the arguments: every one belongs to a keyword, no keyword twice, none without a value.
set(keywords "NAME, MEMORY, GPUS, HEAP, KEEPS, LARGE, LAUNCHER, TIMEOUT, WAIT_LIMIT, WORKING_DIRECTORY, COMMAND, REQUIRES, LABELS, CONFIGURATIONS, COMMAND_EXPAND_LISTS")
set(form "Write gpu_add_test(NAME <name> COMMAND <target|program> [<arg>...] ...).")

should_pass(a_whole_call [[gpu_add_test(NAME t COMMAND exe --flag word MEMORY 3GiB GPUS 2 LAUNCHER on TIMEOUT 2.5 LABELS a b
  WORKING_DIRECTORY / CONFIGURATIONS Debug Release COMMAND_EXPAND_LISTS)]])

should_fail(no_arguments [[gpu_add_test()]] "gpu_add_test: NAME is missing. ${form}")
should_fail(name_is_missing [[gpu_add_test(COMMAND exe)]] "gpu_add_test: NAME is missing. ${form}")
should_fail(command_is_missing [[gpu_add_test(NAME t)]] "gpu_add_test(NAME t): COMMAND is missing. ${form}")

should_fail(argument_before_any_keyword [[gpu_add_test(t COMMAND exe)]]
  "gpu_add_test: unknown argument \"t\"; allowed: ${keywords}. Arguments of the program follow it, after COMMAND.")
should_fail(unknown_keyword_first [[gpu_add_test(CLASS small NAME t COMMAND exe)]]
  "gpu_add_test(NAME t): unknown argument \"CLASS\"; allowed: ${keywords}. Arguments of the program follow it, after COMMAND.")
should_fail(second_value [[gpu_add_test(NAME t COMMAND exe MEMORY small --flag)]]
  "gpu_add_test(NAME t): unknown argument \"--flag\"; allowed: ${keywords}. Arguments of the program follow it, after COMMAND.")
should_fail(value_after_an_option [[gpu_add_test(NAME t COMMAND exe COMMAND_EXPAND_LISTS on)]]
  "gpu_add_test(NAME t): unknown argument \"on\"; allowed: ${keywords}. Arguments of the program follow it, after COMMAND.")
should_fail(empty_argument_before_any_keyword [[gpu_add_test("" NAME t COMMAND exe)]]
  "gpu_add_test(NAME t): unknown argument \"\"; allowed: ${keywords}. Arguments of the program follow it, after COMMAND.")

foreach(slip IN ITEMS MEMROY MEMORYS MEMRY MEMOTY)
  should_fail(misspelt_${slip} "gpu_add_test(NAME t COMMAND exe ${slip} large)"
    "gpu_add_test(NAME t): unknown keyword \"${slip}\"; did you mean MEMORY? If the word is an argument of the program, write $<1:${slip}>.")
endforeach()
should_fail(misspelt_GPU [[gpu_add_test(NAME t COMMAND exe GPU 2)]]
  "gpu_add_test(NAME t): unknown keyword \"GPU\"; did you mean GPUS? If the word is an argument of the program, write $<1:GPU>.")
should_pass(words_unlike_any_keyword [[gpu_add_test(NAME t COMMAND exe memory Memory RELEASE GPU_2 $<1:GPU> A "")]])

should_fail(keyword_twice [[gpu_add_test(NAME t COMMAND exe MEMORY small MEMORY large)]]
  "gpu_add_test(NAME t): MEMORY is given twice. Give it once; if the word is an argument of the program, write $<1:MEMORY>.")
should_fail(option_twice [[gpu_add_test(NAME t COMMAND exe COMMAND_EXPAND_LISTS COMMAND_EXPAND_LISTS)]]
  "gpu_add_test(NAME t): COMMAND_EXPAND_LISTS is given twice. Give it once; if the word is an argument of the program, write $<1:COMMAND_EXPAND_LISTS>.")

set(allowed_NAME "a name that no other test has.")
set(allowed_COMMAND "an executable target or a program, then its arguments.")
set(allowed_MEMORY "small, medium, large, or a size from 1B to 1024TiB such as 3GiB or 1.5GiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB (default: small).")
set(allowed_GPUS "an integer from 1 to 16 (default: 1).")
set(allowed_LARGE "exclude, serial or wait (default: exclude, or the environment variable GPUTEST_LARGE).")
set(allowed_LAUNCHER "on or off (default: on for a command that does not link gputest::main or gputest::catch2).")
set(allowed_WAIT_LIMIT "a duration up to 24h such as 90s, 20min or 1h (default: the environment variable GPUTEST_WAIT_LIMIT, or 20min).")
set(allowed_TIMEOUT "a positive number of seconds such as 90 or 2.5, up to 999999999, without the time spent waiting for a GPU.")
set(allowed_LABELS "one or more labels, none of them empty.")
set(allowed_WORKING_DIRECTORY "a directory (default: the current binary directory).")
set(allowed_CONFIGURATIONS "one or more names of configurations such as Release, none of them empty.")
foreach(keyword IN ITEMS MEMORY GPUS LARGE LAUNCHER TIMEOUT WAIT_LIMIT LABELS WORKING_DIRECTORY CONFIGURATIONS)
  should_fail(missing_value_at_the_end_${keyword} "gpu_add_test(NAME t COMMAND exe ${keyword})"
    "gpu_add_test(NAME t): ${keyword} has no value; allowed: ${allowed_${keyword}}")
  should_fail(missing_value_${keyword} "gpu_add_test(NAME t ${keyword} COMMAND exe)"
    "gpu_add_test(NAME t): ${keyword} has no value; allowed: ${allowed_${keyword}}")
  should_fail(empty_value_${keyword} "gpu_add_test(NAME t COMMAND exe ${keyword} \"\")"
    "gpu_add_test(NAME t): ${keyword} has an empty value; allowed: ${allowed_${keyword}}")
endforeach()
should_fail(missing_value_NAME [[gpu_add_test(NAME COMMAND exe)]]
  "gpu_add_test: NAME has no value; allowed: ${allowed_NAME}")
should_fail(empty_value_NAME [[gpu_add_test(NAME "" COMMAND exe)]]
  "gpu_add_test: NAME has an empty value; allowed: ${allowed_NAME}")
should_fail(missing_value_COMMAND [[gpu_add_test(NAME t COMMAND MEMORY small)]]
  "gpu_add_test(NAME t): COMMAND has no value; allowed: ${allowed_COMMAND}")
should_fail(empty_value_COMMAND [[gpu_add_test(NAME t COMMAND "" --flag)]]
  "gpu_add_test(NAME t): COMMAND has an empty value; allowed: ${allowed_COMMAND}")
foreach(keyword IN ITEMS LABELS CONFIGURATIONS)
  should_fail(empty_entry_${keyword} "gpu_add_test(NAME t COMMAND exe ${keyword} a \"\" b)"
    "gpu_add_test(NAME t): ${keyword} has an empty value; allowed: ${allowed_${keyword}}")
  should_fail(empty_entry_of_a_list_${keyword} "gpu_add_test(NAME t COMMAND exe ${keyword} \"a\;\")"
    "gpu_add_test(NAME t): ${keyword} has an empty value; allowed: ${allowed_${keyword}}")
endforeach()
should_fail(empty_first_entry_of_a_list [[gpu_add_test(NAME t COMMAND exe LABELS x ";a")]]
  "gpu_add_test(NAME t): LABELS has an empty value; allowed: ${allowed_LABELS}")
should_fail(empty_entry_in_a_list [[gpu_add_test(NAME t COMMAND exe LABELS x "a;;b")]]
  "gpu_add_test(NAME t): LABELS has an empty value; allowed: ${allowed_LABELS}")

# ctest sets properties by name.
set(add_below [[file(WRITE "${CMAKE_SOURCE_DIR}/below/CMakeLists.txt" "gpu_add_test(NAME t COMMAND exe)\n")
add_subdirectory(below)]])
should_fail(one_name_in_two_directories "gpu_add_test(NAME t COMMAND exe)\n${add_below}"
  "gpu_add_test(NAME t): a test in ${WORK}/one_name_in_two_directories/build has this name, and ctest would give both tests the properties of both, such as their memory and WILL_FAIL. Give one of them another name.")
should_pass(two_names_in_two_directories "gpu_add_test(NAME u COMMAND exe)\n${add_below}")

# The caller's policies are not those of the functions. (CMake 4 has no policies as old as these.)
should_pass(old_policies_of_the_caller "if(CMAKE_VERSION VERSION_LESS 4)
  cmake_policy(VERSION 3.2)
endif()
include(\"${MODULES}/gputest.cmake\")
gpu_add_test(NAME t COMMAND exe MEMORY 3GiB LABELS a TIMEOUT 60 REQUIRES mig)")
