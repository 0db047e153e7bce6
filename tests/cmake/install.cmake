# SPDX-License-Identifier: BSD-3-Clause
# Builds and installs install/, takes the build tree and the sources away, moves what is installed to another place, and runs
# ctest there on simulated devices of other sizes.
#
#   cmake -DPACKAGE=<folder with gputest-config.cmake> -DGPUTEST=<the tool> -DSOURCES=<gputest's sources> -DWORK=<scratch folder>
#         [-DOPTIONS=<options of the configure step>] -P install.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/ctest_run.cmake")
set(ENV{GPUTEST_RUN_MODE} serial)
set(ENV{GPUTEST_DEVICES} simulated:1x4GiB)

# What ctest knows of its tests.
function(entries_of folder result)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${folder}" --show-only=json-v1 OUTPUT_VARIABLE json
    COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${json}" PARENT_SCOPE)
endfunction()

# How each of the tests ended, in the order of ctest: "<name>: Passed", sorted.
function(run_in folder result)
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${folder}" --output-on-failure
    OUTPUT_VARIABLE log ERROR_QUIET) # one fails
  message(NOTICE "${log}")
  file(GLOB logs "${folder}/Testing/gputest/run-*.jsonl")
  require([[NOT "${logs}" STREQUAL ""]] "no run log in ${folder}")
  string(REGEX REPLACE "[][;\\]" " " log "${log}")
  string(REPLACE "\n" ";" lines "${log}")
  set(seen "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^ *[0-9]+/[0-9]+ Test +#[0-9]+: (.+) \\.\\.+ *[*]*(Passed|Skipped|Failed)")
      list(APPEND seen "${CMAKE_MATCH_1}: ${CMAKE_MATCH_2}")
    endif()
  endforeach()
  list(SORT seen)
  list(JOIN seen "\n" seen)
  set(${result} "${seen}" PARENT_SCOPE)
endfunction()

file(COPY "${CMAKE_CURRENT_LIST_DIR}/install/" DESTINATION "${WORK}/source")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/source" -B "${WORK}/build" "-Dgputest_DIR=${PACKAGE}" ${OPTIONS}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
entries_of("${WORK}/build" built)

set(ENV{DESTDIR} "${WORK}/stage")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${WORK}/build" --prefix /prefix --component tests
  OUTPUT_VARIABLE log COMMAND_ERROR_IS_FATAL ANY)
require([[NOT EXISTS "${WORK}/stage/prefix/lib/below"]] "the component below is installed, too")
require([["${log}" MATCHES "left out the test left_out: its command names [^\n]*/build/not_tested, which is not installed"]] "${log}")
require([["${log}" MATCHES "left out the test after_left_out: it comes after the test left_out [(]DEPENDS[)], which cannot be installed: its command names [^\n]*/build/not_tested"]] "${log}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${WORK}/build" --prefix /other COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
unset(ENV{DESTDIR})

# Another machine, as far as it can be had here.
set(moved "${WORK}/moved (to) $another place's")
file(RENAME "${WORK}/stage/prefix/lib/the tests" "${moved}")
file(RENAME "${WORK}/build" "${WORK}/build is away")
file(RENAME "${WORK}/source" "${WORK}/source is away")
file(GLOB_RECURSE files "${moved}/*.cmake")
require([[NOT "${files}" STREQUAL ""]])
foreach(file IN LISTS files)
  file(READ "${file}" text)
  foreach(path IN ITEMS "${WORK}" "${SOURCES}" "${PACKAGE}" "${GPUTEST}")
    string(FIND "${text}" "${path}" position)
    require("${position} EQUAL -1" "${file} names ${path}")
  endforeach()
endforeach()

set(ENV{GPUTEST_SCHEDULING} ctest)
entries_of("${moved}" scheduled)
require([["${scheduled}" MATCHES "GPUTEST_LEARNED=set:2048MiB"]] "the file of needs is not installed")
unset(ENV{GPUTEST_SCHEDULING})

# The same entries: names, commands and all properties, but for the places of files.
entries_of("${moved}" installed)
foreach(pair IN ITEMS "build/out/below|bin/below" "build/cases|bin/cases" "build/below/only_below|bin/only_below" "source/below/data|below/data" "build|")
  string(REGEX MATCH "^(.*)[|](.*)$" _ "${pair}")
  set(place "${moved}")
  if(NOT "${CMAKE_MATCH_2}" STREQUAL "")
    set(place "${moved}/${CMAKE_MATCH_2}")
  endif()
  string(REPLACE "${WORK}/${CMAKE_MATCH_1}" "${place}" built "${built}")
endforeach()
string(REPLACE "${GPUTEST}" "${moved}/gputest/bin/gputest" built "${built}")
string(JSON count LENGTH "${built}" tests)
string(JSON installed_count LENGTH "${installed}" tests)
math(EXPR expected "${count} - 2") # left_out and after_left_out
require("${installed_count} EQUAL ${expected}")
set(other 0)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON name GET "${built}" tests ${index} name)
  if(name MATCHES "left_out$")
    continue()
  endif()
  foreach(key IN ITEMS name command properties)
    string(JSON of_built GET "${built}" tests ${index} ${key})
    string(JSON of_installed GET "${installed}" tests ${other} ${key})
    # The program that watches a test is installed with it.
    string(REGEX REPLACE "\"[^\"]*/gputest-entry\"" "\"gputest-entry\"" of_built "${of_built}")
    string(REGEX REPLACE "\"[^\"]*/gputest/bin/gputest-entry\"" "\"gputest-entry\"" of_installed "${of_installed}")
    require([["${of_built}" STREQUAL "${of_installed}"]] "${key} of ${name}:\n${of_built}\n${of_installed}")
  endforeach()
  math(EXPR other "${other} + 1")
endforeach()

set(common "Host.reads_a_file: Passed
Large.the_whole_device: Passed
Medium.half_of_the_device: Passed
Small.has_a_device: Passed
Small.two_devices: @two@
all.cases.host: Passed
all.cases.large: Passed
all.cases.medium: Passed
all.cases.small: @two@
expected_to_fail: Passed
fails: Failed
in_gputest: Passed
launched: Passed
odd  name  $\"x : Passed
plain: Passed
reads: Passed
runs_in: Passed
too_large: @large@
two: @two@
writes: Passed")
foreach(machine IN ITEMS "1x4GiB Skipped Skipped" "2x16GiB Passed Passed")
  string(REGEX MATCH "^([^ ]*) ([^ ]*) ([^ ]*)$" _ "${machine}")
  set(ENV{GPUTEST_DEVICES} simulated:${CMAKE_MATCH_1})
  set(two ${CMAKE_MATCH_2})
  set(large ${CMAKE_MATCH_3})
  run_in("${moved}" seen)
  string(CONFIGURE "${common}" expected @ONLY)
  require([["${seen}" STREQUAL "${expected}"]] "seen:\n${seen}\nexpected:\n${expected}")
endforeach()
require([[EXISTS "${moved}/written"]])
require([[EXISTS "${moved}/bin/only_below"]] "a target of a test below is not installed")

# The list of tests is kept. It is not believed where all of it was copied to, although what it names is still there.
file(TIMESTAMP "${moved}/gputest/cases-1-entries.cmake" before "%s.%f" UTC)
entries_of("${moved}" again)
file(TIMESTAMP "${moved}/gputest/cases-1-entries.cmake" after "%s.%f" UTC)
require("${before} STREQUAL ${after}" "the tests were listed again")
set(copied "${WORK}/copied")
execute_process(COMMAND cp -a "${moved}" "${copied}" COMMAND_ERROR_IS_FATAL ANY)
entries_of("${copied}" of_copy)
string(FIND "${of_copy}" "${moved}" position)
require("${position} EQUAL -1" "entries of the copy name the original: ${of_copy}")
file(REMOVE_RECURSE "${copied}")

# A part of the tests, of a directory below.
run_in("${WORK}/stage/other/lib/below" seen)
require([["${seen}" STREQUAL "reads: Passed\nruns_in: Passed"]] "${seen}")

# What cannot be installed. Each case is a project without a language.
function(refuse case code message)
  file(WRITE "${WORK}/refused/${case}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(refused LANGUAGES NONE)
${code}
")
  file(WRITE "${WORK}/refused/${case}/file" "")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/refused/${case}" -B "${WORK}/refused/${case}/build" OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${WORK}/refused/${case}/build" --prefix "${WORK}/refused/${case}/prefix"
    RESULT_VARIABLE ended OUTPUT_QUIET ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(REPLACE "@folder@" "${WORK}/refused/${case}" message "${message}")
  string(FIND "${output}" "gpu_install_tests: ${message}" position)
  if(ended EQUAL 0 OR position EQUAL -1)
    message(FATAL_ERROR "${case}: expected: ${message}\nseen: ${ended}: ${output}")
  endif()
endfunction()
set(package "include(\"${SOURCES}/cmake/gputest.cmake\")\nadd_executable(gputest::cli IMPORTED)
add_executable(gputest::entry IMPORTED)
set_target_properties(gputest::cli gputest::entry PROPERTIES IMPORTED_LOCATION /bin/true)\n")
set(remedy "which is not installed. Name a target in TARGETS, a file or directory in DATA.")
# Without the tests before it an entry could pass unprotected.
refuse(fixture_of_discovered "enable_testing()\n${package}add_test(NAME setup COMMAND cat \"\${CMAKE_SOURCE_DIR}/file\")
set_tests_properties(setup PROPERTIES FIXTURES_SETUP db)\nadd_executable(e IMPORTED)
set_target_properties(e PROPERTIES IMPORTED_LOCATION /bin/true)
gpu_discover_tests(e PROPERTIES LABELS a FIXTURES_REQUIRED db)\ngpu_install_tests(DESTINATION d)"
  "the tests of e cannot be installed: its fixture db is not complete: the test setup cannot be installed: its command names @folder@/file, ${remedy}")
refuse(fixture_elsewhere "enable_testing()\n${package}gpu_add_test(NAME t COMMAND true)
set_tests_properties(t PROPERTIES FIXTURES_REQUIRED db)\ngpu_install_tests(DESTINATION d)"
  "the test t cannot be installed: its fixture db has no test that is installed.")
refuse(file_in_a_folder_of_gputests_name "enable_testing()\n${package}file(WRITE \"\${CMAKE_BINARY_DIR}/gputest/file\" \"\")
gpu_add_test(NAME t COMMAND cat \"\${CMAKE_BINARY_DIR}/gputest/file\")\ngpu_install_tests(DESTINATION d)"
  "the test t cannot be installed: its command names @folder@/build/gputest/file, ${remedy}")
refuse(missing_data "enable_testing()\n${package}gpu_add_test(NAME t COMMAND true)
gpu_install_tests(DESTINATION d DATA nothing)" "DATA @folder@/nothing does not exist. Build it, or correct the path.")
refuse(no_testing "${package}gpu_install_tests(DESTINATION d)"
  "@folder@/build/CTestTestfile.cmake does not exist. Call enable_testing() in the top-level CMakeLists.txt, and configure again.")
refuse(one_place "enable_testing()\n${package}gpu_add_test(NAME t COMMAND true)\nforeach(i a b)\nadd_executable(\${i} IMPORTED)
set_target_properties(\${i} PROPERTIES IMPORTED_LOCATION \"\${CMAKE_SOURCE_DIR}/\${i}/file\")\nendforeach()
file(WRITE a/file \"\")\nfile(WRITE b/file \"\")\ngpu_install_tests(DESTINATION d TARGETS a b)"
  "two files would be installed as bin/file: @folder@/a/file and @folder@/b/file. Give one of them another name.")
