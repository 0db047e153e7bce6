# SPDX-License-Identifier: BSD-3-Clause
# Each message of the CMake functions: configures one tiny project for each case, and compares its error.
#
#   cmake -DMODULES=<gputest's cmake folder> -DWORK=<scratch folder> -P should_fail.cmake
#
# The projects enable no language, so their targets are imported or interface ones; that makes a case cost a tenth of a second.
cmake_minimum_required(VERSION 3.25)

set(preamble [[
cmake_minimum_required(VERSION 3.25)
project(should_fail LANGUAGES NONE)
enable_testing()
include("@MODULES@/gputest.cmake")
add_library(gputest INTERFACE)
add_library(gputest::gputest ALIAS gputest)
add_library(gputest_main INTERFACE)
add_library(gputest::main ALIAS gputest_main)
add_executable(gputest::cli IMPORTED)
add_executable(gputest::entry IMPORTED)
add_executable(exe IMPORTED)
set_target_properties(exe PROPERTIES IMPORTED_LOCATION /bin/true)
set_target_properties(gputest::entry gputest::cli PROPERTIES IMPORTED_LOCATION /bin/true)
add_library(library INTERFACE)
]])
string(CONFIGURE "${preamble}" preamble @ONLY)
set(preamble_with_programs "${preamble}")
set_property(GLOBAL PROPERTY cases 0)
set_property(GLOBAL PROPERTY failures 0)

# Configures a project that holds the code. Its exit code becomes `ended`, and what it says as an error or a warning, as one
# line without CMake's own, `said`.
function(configure code)
  get_property(case GLOBAL PROPERTY cases)
  math(EXPR case "${case} + 1")
  set_property(GLOBAL PROPERTY cases ${case})
  file(REMOVE_RECURSE "${WORK}")
  file(WRITE "${WORK}/CMakeLists.txt" "${preamble}${code}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}" -B "${WORK}/build" RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
  string(REGEX REPLACE "^.*CMake (Error|Warning)[^\n]*:\n" "" output "${output}")
  string(REGEX REPLACE "Call Stack \\(most recent.*$" "" output "${output}")
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(STRIP "${output}" output)
  set(ended "${result}" PARENT_SCOPE)
  set(said "${output}" PARENT_SCOPE)
endfunction()

# should_<end>(<code> <what it says>): `fail` with a message that begins so, `pass`, or `warn` if the text is not empty.
function(expect end code message)
  configure("${code}")
  string(FIND "${said}" "${message}" position)
  if((end STREQUAL "fail" AND ended EQUAL 0) OR (NOT end STREQUAL "fail" AND NOT ended EQUAL 0) OR NOT position EQUAL 0
     OR (message STREQUAL "" AND NOT said STREQUAL ""))
    set_property(GLOBAL PROPERTY failures 1)
    message(NOTICE "FAILED ${code}\n  expected to ${end}: ${message}\n  seen: ${ended}, ${said}\n")
  endif()
endfunction()
function(should_fail code message)
  expect(fail "${code}" "${message}")
endfunction()
function(should_pass code)
  expect(pass "${code}" "")
endfunction()
function(should_warn code message)
  expect(warn "${code}" "${message}")
endfunction()

# Wrong values of a keyword, all with the same message.
function(should_refuse keyword allowed)
  foreach(value IN LISTS ARGN)
    should_fail("gpu_add_test(NAME t COMMAND exe ${keyword} \"${value}\")"
      "gpu_add_test(NAME t): ${keyword} is \"${value}\"; allowed: ${allowed}")
  endforeach()
endfunction()
function(should_accept keyword)
  set(code "")
  foreach(value IN LISTS ARGN)
    string(APPEND code "gpu_add_test(NAME \"${value}\" COMMAND exe ${keyword} \"${value}\")\n")
  endforeach()
  should_pass("${code}")
endfunction()

# The form of the arguments.
set(keywords "NAME, COMMAND, MEMORY, GPUS, HEAP, KEEPS, LARGE, LAUNCHER, TIMEOUT, WAIT_LIMIT, WORKING_DIRECTORY, NEEDS, REQUIRES, LABELS, CONFIGURATIONS, ALONE, COMMAND_EXPAND_LISTS")
should_pass([[gpu_add_test(NAME t COMMAND exe --flag word MEMORY 3GiB GPUS 2 LAUNCHER on TIMEOUT 2.5 LABELS a b
  WORKING_DIRECTORY / CONFIGURATIONS Debug Release COMMAND_EXPAND_LISTS)]])
set(form "Write gpu_add_test(NAME <name> COMMAND <target|program> [<arg>...] ...).")
should_fail([[gpu_add_test(COMMAND exe)]] "gpu_add_test: NAME is missing. ${form}")
should_fail([[gpu_add_test(NAME t COMMAND exe --gtest_filter=A.* x --gtest_filter=B.*)]]
  "gpu_add_test(NAME t): COMMAND has 2 filters: --gtest_filter=A.* --gtest_filter=B.*. GoogleTest takes the last one.")
should_pass([[gpu_add_test(NAME t COMMAND sh -c "$@" --gtest_filter=A.* --gtest_filter=B.*)]])
should_fail([[file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/needs" "x\n")
gpu_discover_tests(exe NEEDS "${CMAKE_CURRENT_BINARY_DIR}/needs")]] "gputest: ")
should_fail([[gpu_add_test(NAME t)]] "gpu_add_test(NAME t): COMMAND is missing. ${form}")
should_fail([[gpu_add_test(t COMMAND exe)]] "gpu_add_test: unknown argument \"t\"; allowed: ${keywords}.")
foreach(row IN ITEMS "MEMORY small --flag|--flag" "COMMAND_EXPAND_LISTS on|on")
  string(REGEX MATCH "^(.*)[|](.*)$" _ "${row}")
  should_fail("gpu_add_test(NAME t COMMAND exe ${CMAKE_MATCH_1})" "gpu_add_test(NAME t): unknown argument \"${CMAKE_MATCH_2}\"; allowed: ")
endforeach()
foreach(word IN ITEMS "MEM 3GiB" "MEMROY large" "MEMORYS 1.5MiB" "GPU 2" "LABEL a" "PROPERTIES COST 3")
  string(REGEX REPLACE " .*" "" name "${word}")
  should_fail("gpu_add_test(NAME t COMMAND exe ${word})"
    "gpu_add_test(NAME t): unknown keyword \"${name}\"; allowed: ${keywords}. Properties are set by set_tests_properties(). If the word is an argument of the program, write $<1:${name}>.")
endforeach()
should_pass([[gpu_add_test(NAME t COMMAND exe memory 3GiB MEM RELEASE GPU_2 $<1:GPU> A "" ENVIRONMENT B=1)]])
foreach(number IN ITEMS many -1 1025)
  should_fail("set(GPUTEST_PROCESSES_PER_DEVICE ${number})\ngpu_add_test(NAME t COMMAND exe)"
    "gpu_add_test(NAME t): GPUTEST_PROCESSES_PER_DEVICE is \"${number}\". Set it to the number of test processes that may use a GPU at once, from 1 to 1024, or to 0 for any number.")
endforeach()
should_fail([[gpu_add_test(NAME t COMMAND exe MEMORY small MEMORY large)]]
  "gpu_add_test(NAME t): MEMORY is given twice. Give it once; if the word is an argument of the program, write $<1:MEMORY>.")
foreach(keyword IN ITEMS MEMORY COMMAND)
  set(no_value "gpu_add_test: ${keyword} has no value. Give it one, or leave ${keyword} out.")
  should_fail("gpu_add_test(${keyword})" "${no_value}")
  should_fail("gpu_add_test(${keyword} NAME t)" "${no_value}")
  should_fail("gpu_add_test(${keyword} \"\" NAME t)" "gpu_add_test: ${keyword} has an empty value.")
endforeach()
should_fail([[gpu_add_test(CONFIGURATIONS "" NAME t)]] "gpu_add_test: CONFIGURATIONS has an empty value.")
foreach(list IN ITEMS "a \"\" b" "\"a\;\"" "\";a\"" "\"a;;b\"")
  should_fail("gpu_add_test(NAME t COMMAND exe LABELS ${list})" "gpu_add_test(NAME t): LABELS has an empty value.")
endforeach()
should_fail([[gpu_add_test(NAME t COMMAND exe LABELS "[a" b "c\\")]]
  "gpu_add_test(NAME t): LABELS has \"[a\" and \"c\\\". A list of CMake's can have only one element with unequal numbers of [ and ], or with a backslash at its end. Change one of them.")
# The caller's policies are not those of the functions. These are the oldest that CMake accepts without a warning.
set(oldest 3.2)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.27)
  set(oldest 3.10)
endif()
should_pass("cmake_policy(VERSION ${oldest})
include(\"${MODULES}/gputest.cmake\")\ngpu_add_test(NAME t COMMAND exe MEMORY 3GiB LABELS a TIMEOUT 60 REQUIRES mig)")

# Names. ctest sets properties by name.
set(add_below [[file(WRITE "${CMAKE_SOURCE_DIR}/below/CMakeLists.txt" "gpu_add_test(NAME t COMMAND exe)\n")
add_subdirectory(below)]])
set(taken "gpu_add_test(NAME t): a test in ${WORK} has this name, and ctest would give both tests the properties of both")
should_fail("gpu_add_test(NAME t COMMAND exe)\ngpu_add_test(NAME t COMMAND exe)" "${taken}")
should_fail("add_test(NAME t COMMAND exe)\ngpu_add_test(NAME t COMMAND exe)" "${taken}")
should_fail("gpu_add_test(NAME t COMMAND exe)\n${add_below}" "${taken}")
should_pass("gpu_add_test(NAME u COMMAND exe)\n${add_below}")

# Values.
set(size "a size from 1B to 1024TiB such as 3GiB or 1.5GiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB")
should_refuse(MEMORY "auto, small, medium, large, none, or ${size} (default: auto)." huge Small 3 3gib .5GiB 1.GiB "3 GiB" 3GiBs 3GB 1.0005GiB 0.5B
  1024.001TiB 9999999999999999999999B)
should_accept(MEMORY small medium large none 1B 1024TiB 0.001KiB 007GiB)
foreach(keyword IN ITEMS HEAP KEEPS)
  should_refuse(${keyword} "${size} (default: none)." small 64 0MiB)
endforeach()
should_refuse(GPUS "an integer from 0 to 16 (default: 1)." 17 -1 1.5 01 " 1")
should_accept(GPUS 0 1 10 16)
should_fail("add_library(gputest::catch2 INTERFACE IMPORTED)\nset_property(TARGET exe PROPERTY INTERFACE_LINK_LIBRARIES gputest::catch2)
gpu_discover_tests(exe ISOLATION worker)" "gpu_discover_tests(exe): exe has tests of Catch2 (it links gputest::catch2), which run in a process for each case. Leave GRANULARITY,")
# Tests that use no GPU.
foreach(row IN ITEMS "MEMORY small GPUS 0|MEMORY is small, but GPUS is 0" "MEMORY none GPUS 1|MEMORY is none, but GPUS is 1")
  string(REGEX MATCH "^(.*)[|](.*)$" _ "${row}")
  should_fail("gpu_add_test(NAME t COMMAND exe ${CMAKE_MATCH_1})"
    "gpu_add_test(NAME t): ${CMAKE_MATCH_2}. A test that uses no GPU has MEMORY none or GPUS 0, or both.")
endforeach()
foreach(keyword_and_value IN ITEMS ALONE "HEAP 1MiB" "KEEPS 1MiB" "REQUIRES mig" "WAIT_LIMIT 1h" "LAUNCHER on")
  string(REGEX REPLACE " .*" "" keyword "${keyword_and_value}")
  should_fail("gpu_add_test(NAME t COMMAND exe GPUS 0 ${keyword_and_value})"
    "gpu_add_test(NAME t): ${keyword} is for tests that use a GPU, but MEMORY is none. Write how much they need, or leave ${keyword} out.")
endforeach()
should_fail("gpu_add_test(NAME t COMMAND exe MEMORY none LARGE wait)"
  "gpu_add_test(NAME t): LARGE wait is for large tests, but MEMORY is none.")
should_fail("gpu_discover_tests(exe MEMORY none LAUNCHER on)"
  "gpu_discover_tests(exe): LAUNCHER is for tests that use a GPU, but MEMORY is none.")
should_refuse(LARGE "exclude, serial or wait (default: exclude, or the environment variable GPUTEST_LARGE)." never)
should_fail([[gpu_add_test(NAME t COMMAND exe MEMORY 40GiB LARGE wait)]]
  "gpu_add_test(NAME t): LARGE wait is for large tests, but MEMORY is 40GiB. Write MEMORY large, or leave LARGE out.")
should_fail([[gpu_add_test(NAME t COMMAND exe LARGE serial)]]
  "gpu_add_test(NAME t): LARGE serial is for large tests, but MEMORY is auto.")
should_refuse(LAUNCHER "on or off (default: on for a command that does not link gputest::main or gputest::catch2; off in gpu_discover_tests())." yes On)
should_refuse(TIMEOUT "a number of seconds such as 90 or 2.5, up to 999999999, without the time spent waiting for a GPU, or 0 for no limit."
  "$<1:5>" -5 5s .5 5. 1000000000)
should_accept(TIMEOUT 999999999 0.001 0 0.0)
should_refuse(WAIT_LIMIT "a duration up to 24h such as 90s, 20min or 1h (default: the environment variable GPUTEST_WAIT_LIMIT, or 20min)."
  soon 90 1.5h "1 h" 1H 25h 86401s)
should_accept(WAIT_LIMIT 24h 1440min 086400s 0s)
foreach(words IN ITEMS pools no_memory_pools sm_ sm_08 sm_1000 total_memory "total_memory=40" "free_memory=0B" "mig mig" "sm_80 sm_90"
        "total_memory=1GiB total_memory=2GiB")
  string(REGEX REPLACE "^.* " "" last "${words}")
  should_fail("gpu_add_test(NAME t COMMAND exe REQUIRES ${words})"
    "gpu_add_test(NAME t): REQUIRES has \"${last}\"; allowed: memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch, tcc, wddm, mig, sm_<n> such as sm_80, total_memory=<size>, free_memory=<size>, each at most once; ")
endforeach()
should_fail([[gpu_add_test(NAME t COMMAND exe REQUIRES peer_access)]]
  "gpu_add_test(NAME t): REQUIRES peer_access is between devices, but GPUS is 1. Write GPUS 2 or more, or leave peer_access out.")
should_pass([[gpu_add_test(NAME t COMMAND exe GPUS 2 REQUIRES memory_pools managed_memory concurrent_managed_access peer_access
  cooperative_launch tcc wddm mig sm_80 total_memory=40GiB free_memory=1.5GiB)]])

# What runs.
should_fail([[gpu_add_test(NAME t COMMAND no_such_target)]]
  "gpu_add_test(NAME t): COMMAND \"no_such_target\" is neither a target that exists at this point nor a program in PATH or in ${WORK}/build. Call gpu_add_test() after add_executable(no_such_target), or write the program's path.")
should_pass([[file(WRITE "${CMAKE_BINARY_DIR}/in_build" "")
  gpu_add_test(NAME t COMMAND in_build)]])
foreach(command IN ITEMS library $<TARGET_FILE:library>)
  should_fail("gpu_add_test(NAME t COMMAND ${command})"
    "gpu_add_test(NAME t): COMMAND \"library\" is a target of type INTERFACE_LIBRARY; allowed: an executable target.")
endforeach()
should_fail("gpu_add_test(NAME t COMMAND sh)\nadd_executable(sh IMPORTED)\nset_target_properties(sh PROPERTIES IMPORTED_LOCATION /bin/true)"
  "gpu_add_test(NAME t): COMMAND \"sh\" was a program when gpu_add_test() was called, and is a target now. Call gpu_add_test() after add_executable(sh), or write the program's path.")
foreach(program IN ITEMS sh ./script.py)
  should_fail("gpu_add_test(NAME t COMMAND ${program} LAUNCHER off)"
    "gpu_add_test(NAME t): LAUNCHER off, but COMMAND \"${program}\" is not a target that could link gputest::main, so nothing would lease its memory. Leave LAUNCHER out, or write LAUNCHER on.")
endforeach()
should_pass("gpu_add_test(NAME t COMMAND /no/such/program)\ngpu_add_test(NAME u COMMAND script.sh)
gpu_add_test(NAME w COMMAND $<IF:1,/bin/true,/bin/false> LAUNCHER off)")

# Properties that are set on the test.
should_pass("gpu_add_test(NAME t COMMAND exe)\nset_tests_properties(t PROPERTIES SKIP_RETURN_CODE 4)")
should_fail("gpu_add_test(NAME t COMMAND exe LAUNCHER off)\nset_tests_properties(t PROPERTIES SKIP_RETURN_CODE 4)"
  "gpu_add_test(NAME t): SKIP_RETURN_CODE is 4, but gputest says 77 when it skips a test, and CTest knows only one code. Remove the property.")
should_fail("gpu_add_test(NAME t COMMAND exe)\nset_tests_properties(t PROPERTIES ENVIRONMENT \"A=1;GPUTEST_MEMORY=3GiB\")"
  "gpu_add_test(NAME t): the property ENVIRONMENT has GPUTEST_MEMORY=3GiB, which has no effect: gpu_add_test() sets GPUTEST_MEMORY itself. Write a keyword of gpu_add_test() in its place.")
should_pass("gpu_add_test(NAME t COMMAND exe)
set_tests_properties(t PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT \"GPUTEST_LARGE=wait;GPUTEST_WAIT_LIMIT=90s;MEMORY=3GiB\")")

# gpu_discover_tests().
should_pass([[gpu_discover_tests(exe GRANULARITY class MEMORY 3GiB GPUS 2 HEAP 64MiB KEEPS 64MiB REQUIRES sm_80 LARGE wait LAUNCHER on TIMEOUT 2.5
  WAIT_LIMIT 1h LABELS a b EXTRA_ARGS --flag "" WORKING_DIRECTORY / TEST_PREFIX "" TEST_SUFFIX s TEST_FILTER A.* TEST_LIST list
  NO_PRETTY_TYPES NO_PRETTY_VALUES XML_OUTPUT_DIR "" DISCOVERY_TIMEOUT 99999 DISCOVERY_EXTRA_ARGS x DISCOVERY_ENVIRONMENT A=[ B= DISCOVERY_MODE PRE_TEST
  PROPERTIES LABELS "a;b" TIMEOUT 3 COST GPUS RESOURCE_LOCK "")
gpu_discover_tests(exe PROPERTIES COST 3 MEMORY 3GiB)
gpu_discover_tests(exe PROPERTIES VS_DEBUGGER_WORKING_DIRECTORY / FIXTURES_REQUIRED a FIXTURES_REQUIRED b SKIP_RETURN_CODE 77 SKIP_RETURN_CODE 77)
gpu_discover_tests(exe PROPERTIES MY_OWN_PROP2 x TIMEOUT "$<IF:$<CONFIG:Debug>,60,0.1>")
gpu_discover_tests(exe REQUIRES LABELS PROPERTIES EXTRA_ARGS DISCOVERY_EXTRA_ARGS DISCOVERY_ENVIRONMENT TIMEOUT "$<1:0>")]])
# A wrapper passes on what its caller may leave out, as add_test() and gtest_discover_tests() accept it.
foreach(nothing IN ITEMS "" [[""]])
  should_pass("gpu_add_test(NAME t COMMAND exe WORKING_DIRECTORY ${nothing} CONFIGURATIONS)")
  should_pass("gpu_discover_tests(exe WORKING_DIRECTORY ${nothing} TEST_PREFIX ${nothing} TEST_SUFFIX ${nothing} TEST_FILTER ${nothing}
    TEST_LIST ${nothing} XML_OUTPUT_DIR ${nothing} DISCOVERY_MODE ${nothing} DISCOVERY_TIMEOUT ${nothing} MEMORY 3GiB)")
endforeach()
# Code for all targets of a directory meets none that is no program and no library.
should_pass([[gpu_add_test(NAME t COMMAND exe LABELS)
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
if(NOT targets STREQUAL "gputest;gputest_main;library")
  message(FATAL_ERROR "${targets}")
endif()]])
should_fail([[gpu_discover_tests()]] "gpu_discover_tests: the target is missing. Write gpu_discover_tests(<target> ...).")
foreach(row IN ITEMS
    "exee|(exee): \"exee\" is not a target. Call gpu_discover_tests() after add_executable(exee)."
    "library|(library): It \"library\" is a target of type INTERFACE_LIBRARY; allowed: an executable target."
    "exe NAME t|(exe): unknown argument \"NAME\"; allowed: GRANULARITY, ISOLATION, MEMORY, "
    "exe EXTRA_ARGS --flag MEMROY 3GiB|(exe): unknown keyword \"MEMROY\"; allowed: "
    "exe GRANULARITY|(exe): GRANULARITY has no value."
    "exe ISOLATION \"\"|(exe): ISOLATION has an empty value."
    "exe GRANULARITY suite|(exe): GRANULARITY is \"suite\"; allowed: case, class or executable (default: case)."
    "exe ISOLATION thread|(exe): ISOLATION is \"thread\"; allowed: worker or process (default: process)."
    "exe ISOLATION worker GRANULARITY class|(exe): ISOLATION worker is for entries of one case, whose executable leases its memory itself."
    "exe ISOLATION worker LAUNCHER on|(exe): ISOLATION worker is for entries of one case"
    "exe MEMORY 3|(exe): MEMORY is \"3\"; allowed: "
    "exe DISCOVERY_ENVIRONMENT A=1 B|(exe): DISCOVERY_ENVIRONMENT has \"B\"; allowed: <name>=<value>, such as LD_LIBRARY_PATH=/opt/lib."
    "exe DISCOVERY_TIMEOUT 0|(exe): DISCOVERY_TIMEOUT is \"0\"; allowed: an integer from 1 to 99999, in seconds (default: 60)."
    "exe PROPERTIES TIMEOUT soon|(exe): TIMEOUT is \"soon\"; allowed: "
    "exe PROPERTIES LABELS|(exe): PROPERTIES gives LABELS no value."
    "exe PROPERTIES LABELS a b|(exe): PROPERTIES has \"b\" where the name of a property has to be, such as LABELS or RESOURCE_LOCK. Write pairs of a name and a value. A list is one value, in quotes: LABELS \"a$<SEMICOLON>b\"."
    "exe PROPERTIES ENVIRONMENT A=1 B=2 C=3|(exe): PROPERTIES has \"B=2\" where the name "
    "exe PROPERTIES RESOURCE_LOCK DATA DISK DATA_BASE COST 3|(exe): PROPERTIES has \"DISK\" where the name "
    "exe PROPERTIES LABELS NAME TYPE VERSION|(exe): PROPERTIES has \"TYPE\" where the name "
    "exe PROPERTIES SKIP_RETURN_CODE 4|(exe): PROPERTIES sets SKIP_RETURN_CODE to 4, but gputest says 77")
  string(REGEX MATCH "^([^|]*)[|](.*)$" _ "${row}")
  string(REPLACE "$<SEMICOLON>" ";" message "${CMAKE_MATCH_2}")
  should_fail("gpu_discover_tests(${CMAKE_MATCH_1})" "gpu_discover_tests${message}")
endforeach()

# gpu_install_tests(). What is only known when a project is installed is in install.cmake.
should_pass("gpu_install_tests(DESTINATION lib/x COMPONENT c CONFIGURATIONS Debug Release EXCLUDE_FROM_ALL TARGETS exe later DATA a /b)
gpu_install_tests(DESTINATION ..d)\nadd_executable(later IMPORTED)\nset_target_properties(later PROPERTIES IMPORTED_LOCATION /bin/true)")
foreach(row IN ITEMS
    "COMPONENT c|DESTINATION is missing. Write gpu_install_tests(DESTINATION <dir> ...)."
    "exe DESTINATION d|unknown argument \"exe\"; allowed: DESTINATION, COMPONENT, CONFIGURATIONS, TARGETS, DATA, EXCLUDE_FROM_ALL."
    "DESTINATION lib/../../d|DESTINATION \"../d\" is outside the installation prefix; "
    "DESTINATION ..|DESTINATION \"..\" is outside the installation prefix; "
    "DESTINATION d TARGETS exee|TARGETS \"exee\" is not a target; allowed: executables and shared libraries that exist at the end of the directory."
    "DESTINATION d TARGETS library|TARGETS \"library\" is a target of type INTERFACE_LIBRARY; allowed: executables and shared libraries.")
  string(REGEX MATCH "^([^|]*)[|](.*)$" _ "${row}")
  should_fail("gpu_install_tests(${CMAKE_MATCH_1})" "gpu_install_tests: ${CMAKE_MATCH_2}")
endforeach()

# So many lines of the install rules match.
function(expect_rules code expression count)
  should_pass("${code}")
  file(STRINGS "${WORK}/build/cmake_install.cmake" lines REGEX "${expression}")
  list(LENGTH lines seen)
  if(NOT seen EQUAL count)
    set_property(GLOBAL PROPERTY failures 1)
    message(NOTICE "FAILED ${code}\n  ${seen} lines of the rules match ${expression}, expected: ${count}\n  ${lines}\n")
  endif()
endfunction()
expect_rules([[gpu_install_tests(DESTINATION d COMPONENT c EXCLUDE_FROM_ALL)]] "OR NOT CMAKE_INSTALL_COMPONENT" 0)
expect_rules([[set(BUILD_TESTING OFF)
gpu_install_tests(DESTINATION d)]] "OR NOT CMAKE_INSTALL_COMPONENT" 4) # tests are enabled all the same
set(preamble_with_testing "${preamble}")
string(REPLACE "enable_testing()" "set(BUILD_TESTING OFF)" preamble "${preamble}")
expect_rules([[gpu_install_tests(DESTINATION d)]] "relocate_tests" 0)
set(preamble "${preamble_with_testing}")
expect_rules([[add_library(static STATIC IMPORTED)
gpu_install_tests(DESTINATION d TARGETS static)]] "static" 0)
expect_rules([[gpu_install_tests(DESTINATION d)]] "OR NOT CMAKE_INSTALL_COMPONENT" 4)
expect_rules([[gpu_install_tests(DESTINATION d CONFIGURATIONS Debug)]] "CMAKE_INSTALL_CONFIG_NAME MATCHES" 3)
expect_rules([[add_executable(an::alias ALIAS exe)
gpu_install_tests(DESTINATION d TARGETS an::alias exe)]] "/d/bin\"" 1) # each target once
# Places of DATA: below the directory of the call, else below the top-level one, else by its name alone.
set(destination "file\\(INSTALL DESTINATION \"[$]{CMAKE_INSTALL_PREFIX}")
foreach(row IN ITEMS "own/a|/d/x/own\" .*/own/a\"" "/elsewhere/c/|/d/x/\" .*\"/elsewhere/c\"" "build/made|/d/x/\" .*/build/made\""
        "a;b|/d/x/\" .*/b\"")
  string(REGEX MATCH "^([^|]*)[|](.*)$" _ "${row}")
  expect_rules("gpu_install_tests(DESTINATION d/./x/ DATA \"${CMAKE_MATCH_1}\")" "${destination}${CMAKE_MATCH_2}" 1)
endforeach()
# A function of the user's that calls it may have arguments of the same names, and the directory variables of the rules'.
expect_rules([[
function(my_install)
  cmake_parse_arguments(PARSE_ARGV 0 ARG EXCLUDE_FROM_ALL COMPONENT "CONFIGURATIONS;TARGETS;DATA")
  gpu_install_tests(DESTINATION d)
endfunction()
my_install(COMPONENT theirs CONFIGURATIONS theirs TARGETS theirs DATA theirs EXCLUDE_FROM_ALL)
set(done exe gputest::cli)
set(aliased theirs)
set(install_data theirs)]] "theirs" 0)

# Without enable_testing(), CMake drops the tests. A warning, as whoever includes the project may not want its tests.
string(REPLACE "enable_testing()\n" "" preamble "${preamble}")
set(none "this test does not exist for ctest, because enable_testing() was not called. Call it in the top-level CMakeLists.txt, before add_subdirectory() and before tests are added.")
should_warn("gpu_add_test(NAME t COMMAND exe)\ngpu_add_test(NAME u COMMAND exe)" "gpu_add_test(NAME t): ${none}")
should_warn("gpu_discover_tests(exe)" "gpu_discover_tests(exe): ${none}")
should_warn("gpu_add_test(NAME t COMMAND exe)\nenable_testing()" "")
should_warn("gpu_add_test(NAME t COMMAND exe)\ninclude(CTest)" "")
should_warn("set(BUILD_TESTING OFF)\ninclude(CTest)\ngpu_add_test(NAME t COMMAND exe)" "")
# Each directory that does not pass it on counts.
set(add_between [[file(WRITE "${CMAKE_SOURCE_DIR}/between/CMakeLists.txt" "add_subdirectory(below)\n")
file(WRITE "${CMAKE_SOURCE_DIR}/between/below/CMakeLists.txt" "enable_testing()\ngpu_add_test(NAME t COMMAND exe)\n")
add_subdirectory(between)]])
should_warn("${add_between}\nenable_testing()"
  "gpu_add_test(NAME t): ctest finds this test only in the build directory of ${WORK}/between/below, because enable_testing() was not called in ${WORK}/between. Call it in the top-level CMakeLists.txt, before add_subdirectory().")
should_warn("enable_testing()\n${add_between}" "")
string(REPLACE "add_subdirectory(between)" "add_subdirectory(between EXCLUDE_FROM_ALL)" left_out "${add_between}")
should_warn("${left_out}" "")
should_warn("set(BUILD_TESTING OFF)\ninclude(CTest)\n${add_between}" "")

# As in a build without the tool, and as where gputest is not found.
string(REPLACE "add_executable(gputest::cli IMPORTED)\n" "" preamble "enable_testing()\n${preamble}")
string(REPLACE " gputest::cli" "" preamble "${preamble}")
set(no_launcher "this needs the launcher, but there is no target gputest::cli here. Build gputest with GPUTEST_BUILD_CLI=ON, call find_package(gputest) in this directory or above, or link the command with gputest::main or gputest::catch2. If it has a main() of its own that ends with gputest::run_all_tests(), write LAUNCHER off.")
foreach(arguments IN ITEMS sh "exe LAUNCHER on" exe)
  should_fail("gpu_add_test(NAME t COMMAND ${arguments})" "gpu_add_test(NAME t): ${no_launcher}")
endforeach()
should_pass("gpu_add_test(NAME t COMMAND exe)\nset_property(TARGET exe PROPERTY INTERFACE_LINK_LIBRARIES gputest::main)")
should_pass("gpu_add_test(NAME t COMMAND exe LAUNCHER off)\ngpu_discover_tests(exe LAUNCHER off)")
should_fail([[gpu_discover_tests(exe LAUNCHER on)]] "gpu_discover_tests(exe): ${no_launcher}")
string(REPLACE "add_executable(gputest::entry IMPORTED)\n" "" preamble "${preamble}")
string(REPLACE " gputest::entry" "" preamble "${preamble}")
should_fail([[gpu_discover_tests(exe)]]
  "gpu_discover_tests(exe): there is no target gputest::entry here, which runs the tests. Call find_package(gputest) in this directory or above.")

# Where gputest was moved or removed, ctest runs the tests that do not need it. The others fail.
string(REPLACE "${MODULES}" "${WORK}-modules" preamble_of_moved "${preamble_with_programs}")
string(REPLACE "gputest::cli PROPERTIES IMPORTED_LOCATION /bin/true" "gputest::cli PROPERTIES IMPORTED_LOCATION /gone" preamble_of_moved "${preamble_of_moved}")
set(preamble "${preamble_of_moved}")
file(COPY "${MODULES}/" DESTINATION "${WORK}-modules")
should_pass([[add_test(NAME plain COMMAND true)
gpu_add_test(NAME host COMMAND true MEMORY none)
gpu_add_test(NAME leases COMMAND exe)
gpu_discover_tests(exe PROPERTIES LABELS mine)]])
file(REMOVE_RECURSE "${WORK}-modules")
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" OUTPUT_VARIABLE log ERROR_QUIET)
string(REGEX MATCHALL "[A-Za-z_]+ [.]+[* ]*(Passed|Failed|Not Run)" ended "${log}")
string(REGEX REPLACE " [.]+[* ]*" ": " ended "${ended}")
list(SORT ended)
if(NOT "${ended}" STREQUAL "exe_NOT_LISTED: Failed;host: Passed;leases: Not Run;plain: Passed" OR NOT log MATCHES "mine")
  set_property(GLOBAL PROPERTY failures 1)
  message(NOTICE "FAILED: gputest is away: ${ended}\n${log}\n")
endif()

get_property(cases GLOBAL PROPERTY cases)
get_property(failures GLOBAL PROPERTY failures)
message(NOTICE "${cases} cases")
if(failures)
  message(FATAL_ERROR "some cases failed: see above")
endif()
