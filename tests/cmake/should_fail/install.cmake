# SPDX-License-Identifier: BSD-3-Clause
# The arguments of gpu_install_tests(). What is only known when a project is installed is in install.cmake.
set(keywords "DESTINATION, COMPONENT, CONFIGURATIONS, TARGETS, DATA, EXCLUDE_FROM_ALL")
set(allowed_TARGETS "allowed: executables and shared libraries that exist at the end of the directory.")

should_pass(a_whole_call [[
gpu_install_tests(DESTINATION lib/x COMPONENT c CONFIGURATIONS Debug Release EXCLUDE_FROM_ALL TARGETS exe later DATA a /b)
add_executable(later IMPORTED)
set_target_properties(later PROPERTIES IMPORTED_LOCATION /bin/true)]])
should_pass(twice [[
gpu_install_tests(DESTINATION a)
gpu_install_tests(DESTINATION /b)]])

should_fail(no_destination [[gpu_install_tests(COMPONENT c)]]
  "gpu_install_tests: DESTINATION is missing. Write gpu_install_tests(DESTINATION <dir> ...).")
should_fail(no_value [[gpu_install_tests(DESTINATION)]]
  "gpu_install_tests: DESTINATION has no value; allowed: a directory, absolute or relative to the installation prefix.")
should_fail(no_value_in_the_middle [[gpu_install_tests(DESTINATION d COMPONENT DATA x)]]
  "gpu_install_tests: COMPONENT has no value; allowed: the name of a component.")
should_fail(no_configuration [[gpu_install_tests(DESTINATION d CONFIGURATIONS)]]
  "gpu_install_tests: CONFIGURATIONS has no value; allowed: one or more names of configurations such as Release, none of them empty.")
should_fail(no_data [[gpu_install_tests(DESTINATION d DATA)]]
  "gpu_install_tests: DATA has no value; allowed: files and directories, absolute or relative to the current source directory.")
should_fail(outside [[gpu_install_tests(DESTINATION lib/../../d)]]
  "gpu_install_tests: DESTINATION \"../d\" is outside the installation prefix; allowed: a directory, absolute or relative to the installation prefix.")
should_fail(unknown_argument [[gpu_install_tests(exe DESTINATION d)]]
  "gpu_install_tests: unknown argument \"exe\"; allowed: ${keywords}.")
should_fail(second_value [[gpu_install_tests(DESTINATION d e)]]
  "gpu_install_tests: unknown argument \"e\"; allowed: ${keywords}.")
should_fail(keyword_twice [[gpu_install_tests(DESTINATION d DATA a DATA b)]]
  "gpu_install_tests: DATA is given twice. Give it once.")
should_fail(unknown_target [[gpu_install_tests(DESTINATION d TARGETS exee)]]
  "gpu_install_tests: TARGETS \"exee\" is not a target; ${allowed_TARGETS}")
should_fail(another_type_of_target [[gpu_install_tests(DESTINATION d TARGETS library)]]
  "gpu_install_tests: TARGETS \"library\" is a target, but of type INTERFACE_LIBRARY; ${allowed_TARGETS}")
should_fail(one_place [[
file(WRITE "${CMAKE_BINARY_DIR}/x" "")
gpu_install_tests(DESTINATION d DATA x "${CMAKE_BINARY_DIR}/x")]]
  "gpu_install_tests: DATA has two for the same place, x: ${WORK}/one_place/x and ${WORK}/one_place/build/x.")
should_fail(an_empty_value [[gpu_install_tests(DESTINATION d DATA "a;b" "" x)]]
  "gpu_install_tests: DATA has an empty value; allowed: files and directories, absolute or relative to the current source directory.")
should_fail(an_empty_value_in_a_list [[gpu_install_tests(DESTINATION d TARGETS "exe;;exe")]]
  "gpu_install_tests: TARGETS has an empty value; ${allowed_TARGETS}")
should_fail(an_empty_component [[gpu_install_tests(DESTINATION d COMPONENT "" DATA x)]]
  "gpu_install_tests: COMPONENT has an empty value; allowed: the name of a component.")
should_fail(a_list_of_destinations [[gpu_install_tests(DESTINATION "d;e")]]
  "gpu_install_tests: DESTINATION \"d;e\" is a list; allowed: a directory, absolute or relative to the installation prefix.")

# The lines of the rules that a case has made, or a folder of it, in which the expression is found.
function(expect_rules case expression count)
  set(rules "${WORK}/${case}/build/${ARGN}/cmake_install.cmake")
  if(NOT EXISTS "${rules}")
    report("${case}" "there are no rules\n")
    return()
  endif()
  file(STRINGS "${rules}" lines REGEX "${expression}")
  list(LENGTH lines seen)
  if(NOT seen EQUAL count)
    report("${case}" "${seen} lines of the rules match ${expression}, expected: ${count}\n  ${lines}\n")
  endif()
endfunction()
should_pass(a_list_of_data [[gpu_install_tests(DESTINATION d DATA "a;b" c)]])
expect_rules(a_list_of_data "FILES \".*/a_list_of_data/[abc]\"" 3)

# A function of the user's that calls it may have arguments of the same names.
should_pass(arguments_of_a_caller [[
function(my_install)
  cmake_parse_arguments(PARSE_ARGV 0 ARG EXCLUDE_FROM_ALL COMPONENT "CONFIGURATIONS;TARGETS;DATA")
  gpu_install_tests(DESTINATION d)
endfunction()
my_install(COMPONENT theirs CONFIGURATIONS theirs TARGETS theirs DATA theirs EXCLUDE_FROM_ALL)]])
expect_rules(arguments_of_a_caller "theirs" 0)
# The rules are made in the user's directory, at its end.
should_pass(variables_of_the_directory [[
gpu_install_tests(DESTINATION d TARGETS exe DATA x)
set(done exe gputest::cli)
set(data_at_x theirs)
set(aliased theirs)
set(targets theirs)
set(tested theirs)
set(install_data theirs)]])
expect_rules(variables_of_the_directory "/d/bin\"" 1)
expect_rules(variables_of_the_directory "theirs" 0)

# The keywords of install() are passed on, to each rule.
expect_rules(a_whole_call "CMAKE_INSTALL_COMPONENT STREQUAL \"c\" *\\)" 6)
expect_rules(a_whole_call "OR NOT CMAKE_INSTALL_COMPONENT" 0)
expect_rules(twice "OR NOT CMAKE_INSTALL_COMPONENT" 8)
expect_rules(a_whole_call "CMAKE_INSTALL_CONFIG_NAME MATCHES" 5)
expect_rules(a_whole_call "gputest_configuration}\" MATCHES \"\\^\\(debug[|]release\\)[$]\"" 1)
# Places of DATA: below the directory of the call, else below the top-level one, else by its name alone.
should_pass(places [[
file(WRITE "${CMAKE_SOURCE_DIR}/below/CMakeLists.txt" "gpu_install_tests(DESTINATION d/./x/ DATA own/a ../top/b /elsewhere/c/
  \"\${CMAKE_CURRENT_BINARY_DIR}/made/e\" \"\${CMAKE_BINARY_DIR}/made/f\" \"\${CMAKE_CURRENT_SOURCE_DIR}\")\n")
add_subdirectory(below)]])
set(destination "file\\(INSTALL DESTINATION \"[$]{CMAKE_INSTALL_PREFIX}")
expect_rules(places "${destination}/d/x/own\" .*/places/below/own/a\"" 1 below)
expect_rules(places "${destination}/d/x/top\" .*/places/top/b\"" 1 below)
expect_rules(places "${destination}/d/x/\" .*\"/elsewhere/c\"" 1 below)
expect_rules(places "${destination}/d/x/made\" .*/places/build/below/made/e\"" 1 below)
expect_rules(places "${destination}/d/x/made\" .*/places/build/made/f\"" 1 below)
expect_rules(places "${destination}/d/x/\" .*/places/below\"" 1 below)
should_pass(an_absolute_place [[gpu_install_tests(DESTINATION /d DATA a)]])
expect_rules(an_absolute_place "file\\(INSTALL DESTINATION \"/d/\" .*/an_absolute_place/a\"" 1)
# Each target once, with all programs of gputest's that there are.
should_pass(targets [[
add_executable(an::alias ALIAS exe)
gpu_install_tests(DESTINATION d TARGETS an::alias exe)]])
expect_rules(targets "${destination}/d/bin\"" 1)
foreach(program IN ITEMS client true)
  expect_rules(targets "${destination}/d/gputest\" .*\"/bin/${program}\"" 1)
endforeach()
should_fail(an_argument_after_an_option [[gpu_install_tests(DESTINATION d EXCLUDE_FROM_ALL on)]]
  "gpu_install_tests: unknown argument \"on\"; allowed: ${keywords}.")
should_fail(just_outside [[gpu_install_tests(DESTINATION ..)]]
  "gpu_install_tests: DESTINATION \"..\" is outside the installation prefix; allowed: a directory, absolute or relative to the installation prefix.")
should_pass(hidden_inside [[gpu_install_tests(DESTINATION ..d)]])
