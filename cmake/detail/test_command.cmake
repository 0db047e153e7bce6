# SPDX-License-Identifier: BSD-3-Clause
# Makes the text after COMMAND in add_test(), including COMMAND_EXPAND_LISTS, from argument_<program_index> up to, but
# without, argument_<command_end>.
#
# The second result says how the use of the launcher was decided:
#   final      finally: by the user, or because the command is not a target, or because the target links a main() of gputest's
#   later      when CMake generates, by what the target links at that time
#   for_now    the target does not link one yet, and its arguments do not allow a later decision
#   must_link  there is no launcher, so the target has to link one by the end of the directory
function(_gputest_test_command program target program_index command_end result how)
  math(EXPR first_argument "${program_index} + 1")
  _gputest_quote_arguments(${first_argument} ${command_end} FALSE arguments)
  set(expand "")
  if(ARG_COMMAND_EXPAND_LISTS)
    set(expand " COMMAND_EXPAND_LISTS")
  endif()

  if(target STREQUAL "")
    if("${ARG_LAUNCHER}" MATCHES "^(off|OFF)$" AND NOT program MATCHES "\\$<")
      _gputest_fail("LAUNCHER off, but COMMAND \"${program}\" is not a target that could link gputest::main, so nothing would lease its memory. Leave LAUNCHER out, or write LAUNCHER on.")
    endif()
    set(linked FALSE)
    _gputest_quote("${program}" command)
    set(command " ${command}")
  else()
    _gputest_links_main("${target}" linked)
    set(words "")
    if(TARGET "${program}")
      _gputest_emulators("${target}" "TEST_LAUNCHER;CROSSCOMPILING_EMULATOR" words)
    endif()
    list(APPEND words "$<TARGET_FILE:${target}>")
    _gputest_code_of_words("${words}" command)
  endif()
  set(watch_code "")
  if(NOT target STREQUAL "" OR "${ARG_LAUNCHER}" MATCHES "^(off|OFF)$") # else the launcher watches
    _gputest_watch_words(watch)
    _gputest_code_of_words("${watch}" watch_code)
  endif()
  if("${ARG_LAUNCHER}" MATCHES "^(off|OFF)$" OR (linked AND NOT DEFINED ARG_LAUNCHER))
    set(${result} "${watch_code}${command}${arguments}${expand}" PARENT_SCOPE)
    set(${how} final PARENT_SCOPE)
    return()
  endif()

  if(NOT TARGET gputest::cli)
    if(target STREQUAL "" OR DEFINED ARG_LAUNCHER)
      _gputest_fail_for_want_of_launcher("${program}")
    endif()
    set(${result} "${watch_code}${command}${arguments}${expand}" PARENT_SCOPE)
    set(${how} must_link PARENT_SCOPE)
    return()
  endif()

  _gputest_build_program(gputest::cli)
  set(launcher "$<TARGET_FILE:gputest::cli>" run --)
  set(can_decide_later FALSE)
  if(NOT target STREQUAL "")
    _gputest_can_decide_later(${first_argument} ${command_end} can_decide_later)
  endif()
  if(DEFINED ARG_LAUNCHER OR NOT can_decide_later)
    _gputest_code_of_words("${launcher}" launcher_code)
    set(${result} "${launcher_code}${command}${arguments}${expand}" PARENT_SCOPE)
    set(decided for_now)
    if(DEFINED ARG_LAUNCHER OR target STREQUAL "")
      set(decided final)
    endif()
    set(${how} ${decided} PARENT_SCOPE)
    return()
  endif()

  # This word becomes several words, hence COMMAND_EXPAND_LISTS. The user's own semicolons are escaped.
  if(NOT ARG_COMMAND_EXPAND_LISTS)
    _gputest_quote_arguments(${first_argument} ${command_end} TRUE arguments)
  endif()
  _gputest_quote("$<IF:$<BOOL:$<TARGET_PROPERTY:${target},GPUTEST_MAIN_LINKED>>,${watch},${launcher}>;${words}" either)
  set(${result} " ${either}${arguments} COMMAND_EXPAND_LISTS" PARENT_SCOPE)
  set(${how} later PARENT_SCOPE)
endfunction()

# What comes before an executable that runs its tests by gputest itself: who watches the entry.
function(_gputest_watch_words result)
  if(NOT TARGET gputest::client)
    _gputest_fail("there is no target gputest::client here, which runs the tests. Call find_package(gputest) in this directory or above.")
  endif()
  _gputest_build_program(gputest::client)
  set(${result} "$<TARGET_FILE:gputest::client>" --watch PARENT_SCOPE)
endfunction()

# Words as CMake code, each after a space.
function(_gputest_code_of_words words result)
  set(code "")
  foreach(word IN LISTS words)
    _gputest_quote("${word}" quoted)
    string(APPEND code " ${quoted}")
  endforeach()
  set(${result} "${code}" PARENT_SCOPE)
endfunction()

function(_gputest_fail_for_want_of_launcher program)
  _gputest_fail("COMMAND \"${program}\" needs the launcher, but there is no target gputest::cli here. Build gputest with GPUTEST_BUILD_CLI=ON, call find_package(gputest) in this directory or above, or link the command with gputest::main or gputest::catch2. If it has a main() of its own that ends with gputest::run_all_tests(), write LAUNCHER off.")
endfunction()

# Makes `all` build a program of gputest's even if gputest is a subdirectory that `all` leaves out.
function(_gputest_build_program program)
  get_target_property(imported ${program} IMPORTED)
  if(NOT imported)
    get_target_property(tool ${program} ALIASED_TARGET)
    set_property(TARGET ${tool} PROPERTY EXCLUDE_FROM_ALL OFF)
  endif()
endfunction()

# The arguments in a range, each as CMake code after a space. If `escape`, semicolons are escaped for one expansion of
# lists.
function(_gputest_quote_arguments begin end escape result)
  set(code "")
  while(begin LESS end)
    set(argument "${argument_${begin}}")
    if(escape)
      string(REPLACE ";" "\\;" argument "${argument}")
    endif()
    _gputest_quote("${argument}" quoted)
    string(APPEND code " ${quoted}")
    math(EXPR begin "${begin} + 1")
  endwhile()
  set(${result} "${code}" PARENT_SCOPE)
endfunction()

# Whether COMMAND_EXPAND_LISTS keeps the arguments unchanged: it drops empty ones, and generator expressions may become
# lists.
function(_gputest_can_decide_later begin end result)
  set(${result} TRUE PARENT_SCOPE)
  while(begin LESS end)
    set(argument "${argument_${begin}}")
    if(NOT ARG_COMMAND_EXPAND_LISTS AND (argument STREQUAL "" OR argument MATCHES "\\$<"))
      set(${result} FALSE PARENT_SCOPE)
    endif()
    math(EXPR begin "${begin} + 1")
  endwhile()
endfunction()

# The words that add_test() would put before an executable target, because of these properties of the target. The
# launcher has to add them itself.
function(_gputest_emulators target properties result)
  set(words "")
  if(CMAKE_VERSION VERSION_LESS 3.29)
    list(REMOVE_ITEM properties TEST_LAUNCHER)
  endif()
  foreach(property IN LISTS properties)
    get_target_property(emulator "${target}" ${property})
    if(emulator)
      list(POP_FRONT emulator first)
      if(TARGET "${first}")
        get_target_property(type "${first}" TYPE)
        if(type STREQUAL "EXECUTABLE") # the library gputest is a target, too, and not meant
          set(first "$<TARGET_FILE:${first}>")
        endif()
      endif()
      foreach(word IN LISTS first emulator)
        if(NOT word MATCHES "\\$<")
          string(REPLACE "," "$<COMMA>" word "${word}") # a comma would end a branch of the enclosing generator expression
        endif()
        list(APPEND words "${word}")
      endforeach()
    endif()
  endforeach()
  set(${result} "${words}" PARENT_SCOPE)
endfunction()
