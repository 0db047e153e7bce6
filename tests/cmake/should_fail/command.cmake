# SPDX-License-Identifier: BSD-3-Clause
# What runs: the target or program of COMMAND, and the launcher.
set(no_launcher "needs the launcher, but there is no target gputest::cli here. Build gputest with GPUTEST_BUILD_CLI=ON, call find_package(gputest) in this directory or above, or link the command with gputest::main or gputest::catch2. If it has a main() of its own that ends with gputest::run_all_tests(), write LAUNCHER off.")

should_fail(target_does_not_exist [[gpu_add_test(NAME t COMMAND no_such_target)]]
  "gpu_add_test(NAME t): COMMAND \"no_such_target\" is neither a target that exists at this point nor a program in PATH. Call gpu_add_test() after add_executable(no_such_target), or write the program's path.")
should_fail(target_is_a_library [[gpu_add_test(NAME t COMMAND library)]]
  "gpu_add_test(NAME t): COMMAND \"library\" is a target, but of type INTERFACE_LIBRARY; allowed: an executable target or a program, then its arguments.")
should_fail(file_of_a_library [[gpu_add_test(NAME t COMMAND $<TARGET_FILE:library>)]]
  "gpu_add_test(NAME t): COMMAND \"$<TARGET_FILE:library>\" is a target, but of type INTERFACE_LIBRARY; allowed: an executable target or a program, then its arguments.")
should_fail(program_becomes_a_target [[
gpu_add_test(NAME t COMMAND sh)
add_executable(sh IMPORTED)
set_target_properties(sh PROPERTIES IMPORTED_LOCATION /bin/true)]]
  "gpu_add_test(NAME t): COMMAND \"sh\" was a program in PATH when gpu_add_test() was called, and is a target now. Call gpu_add_test() after add_executable(sh), or write the program's path.")

should_fail(launcher_off_for_a_program [[gpu_add_test(NAME t COMMAND sh LAUNCHER off)]]
  "gpu_add_test(NAME t): LAUNCHER off, but COMMAND \"sh\" is not a target that could link gputest::main, so nothing would lease its memory. Leave LAUNCHER out, or write LAUNCHER on.")
should_fail(launcher_off_for_a_path [[gpu_add_test(NAME t COMMAND ./script.py LAUNCHER off)]]
  "gpu_add_test(NAME t): LAUNCHER off, but COMMAND \"./script.py\" is not a target that could link gputest::main, so nothing would lease its memory. Leave LAUNCHER out, or write LAUNCHER on.")
should_fail(launcher_off_in_upper_case [[gpu_add_test(NAME t COMMAND sh LAUNCHER OFF)]]
  "gpu_add_test(NAME t): LAUNCHER off, but COMMAND \"sh\" is not a target that could link gputest::main, so nothing would lease its memory. Leave LAUNCHER out, or write LAUNCHER on.")
should_pass(paths_of_what_does_not_exist_yet [[
gpu_add_test(NAME t COMMAND /no/such/program)
gpu_add_test(NAME u COMMAND script.sh)
gpu_add_test(NAME v COMMAND $<TARGET_FILE:exe>)]])
should_pass(launcher_off_for_what_is_not_known_yet [[gpu_add_test(NAME t COMMAND $<IF:1,/bin/true,/bin/false> LAUNCHER off)]])

set(linked_late [[set_property(TARGET exe PROPERTY INTERFACE_LINK_LIBRARIES gputest::main)]])
should_fail(linked_too_late_for_an_empty_argument "gpu_add_test(NAME t COMMAND exe \"\")\n${linked_late}"
  "gpu_add_test(NAME t): COMMAND \"exe\" links gputest::main only after gpu_add_test() was called, with an argument that is empty or a generator expression. Call gpu_add_test() after target_link_libraries(exe ...), or say LAUNCHER on or off.")
should_fail(linked_too_late_for_a_generator_expression "gpu_add_test(NAME t COMMAND exe $<CONFIG>)\n${linked_late}"
  "gpu_add_test(NAME t): COMMAND \"exe\" links gputest::main only after gpu_add_test() was called, with an argument that is empty or a generator expression. Call gpu_add_test() after target_link_libraries(exe ...), or say LAUNCHER on or off.")
should_fail(linked_too_late_for_the_last_of_two_arguments "gpu_add_test(NAME t COMMAND exe a \"\" GPUS 2)\n${linked_late}"
  "gpu_add_test(NAME t): COMMAND \"exe\" links gputest::main only after gpu_add_test() was called, with an argument that is empty or a generator expression. Call gpu_add_test() after target_link_libraries(exe ...), or say LAUNCHER on or off.")
should_pass(linked_late_with_expanded_lists "gpu_add_test(NAME t COMMAND exe \"\" $<CONFIG> COMMAND_EXPAND_LISTS)\n${linked_late}")
should_pass(linked_late_with_plain_arguments "gpu_add_test(NAME t COMMAND exe a b)\n${linked_late}")
should_pass(linked_late_with_the_launcher_asked_for "gpu_add_test(NAME t COMMAND exe \"\" LAUNCHER on)\n${linked_late}")

# From here on as in a build without the tool.
string(REGEX REPLACE "[^\n]*gputest::cli [^\n]*\n" "" preamble "${preamble}")
should_fail(no_tool_for_a_program [[gpu_add_test(NAME t COMMAND sh)]]
  "gpu_add_test(NAME t): COMMAND \"sh\" ${no_launcher}")
should_fail(no_tool_for_launcher_on [[gpu_add_test(NAME t COMMAND exe LAUNCHER on)]]
  "gpu_add_test(NAME t): COMMAND \"exe\" ${no_launcher}")
should_fail(no_tool_for_a_target_that_never_links [[gpu_add_test(NAME t COMMAND exe)]]
  "gpu_add_test(NAME t): COMMAND \"exe\" ${no_launcher}")
should_pass(no_tool_needed_for_a_target_that_links_late "gpu_add_test(NAME t COMMAND exe)\n${linked_late}")
should_pass(no_tool_needed_for_launcher_off [[gpu_add_test(NAME t COMMAND exe LAUNCHER off)]])
