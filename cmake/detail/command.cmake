# SPDX-License-Identifier: BSD-3-Clause
# What an entry runs, and what comes before it: the launcher, or gputest-entry, which watches an executable that runs its
# tests by gputest itself.

# The executable target that COMMAND's program names; empty if it names a program. An error if it names neither.
function(_gputest_resolve_program program result)
  set(${result} "" PARENT_SCOPE)
  string(REGEX REPLACE "^\\$<TARGET_FILE:([^<>$]+)>$" "\\1" target "${program}")
  set(found NOTFOUND)
  if(NOT program MATCHES "[/.\\]|\\$<") # what may not exist yet
    find_program(found NAMES "${program}" NO_CACHE NO_DEFAULT_PATH PATHS ENV PATH)
    if(EXISTS "${CMAKE_CURRENT_BINARY_DIR}/${program}" OR EXISTS "${ARG_WORKING_DIRECTORY}/${program}")
      set(found TRUE)
    endif()
  endif()
  if(TARGET "${target}")
    get_target_property(type "${target}" TYPE)
    if(NOT found OR type STREQUAL "EXECUTABLE") # else a program with the name of another target, such as pytest
      _gputest_executable("COMMAND" "${target}" target)
      set(${result} "${target}" PARENT_SCOPE)
    endif()
  elseif(NOT found AND NOT program MATCHES "[/.\\]|\\$<")
    _gputest_fail("COMMAND \"${program}\" is neither a target that exists at this point nor a program in PATH or in ${CMAKE_CURRENT_BINARY_DIR}. Call gpu_add_test() after add_executable(${program}), or write the program's path.")
  endif()
endfunction()

# The target that an executable target stands for. An error that begins with `what` if it is of another type.
function(_gputest_executable what target result)
  get_target_property(type "${target}" TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    _gputest_fail("${what} \"${target}\" is a target of type ${type}; allowed: an executable target.")
  endif()
  get_target_property(aliased "${target}" ALIASED_TARGET)
  if(aliased)
    set(target "${aliased}")
  endif()
  set(${result} "${target}" PARENT_SCOPE)
endfunction()

# The words of a command before the arguments of `program`, as CMake code. Where the launcher is not decided on by the call,
# it depends on what the target links when CMake generates.
function(_gputest_command program target launcher result)
  if(target STREQUAL "" AND launcher MATCHES "^(off|OFF)$" AND NOT program MATCHES "\\$<")
    _gputest_fail("LAUNCHER off, but COMMAND \"${program}\" is not a target that could link gputest::main, so nothing would lease its memory. Leave LAUNCHER out, or write LAUNCHER on.")
  endif()
  if(launcher MATCHES "^(on|ON)$" OR (target STREQUAL "" AND launcher STREQUAL ""))
    _gputest_launcher_words("${target}" words)
  else()
    _gputest_watch_words("${target}" words)
    if(launcher STREQUAL "" AND TARGET gputest::cli)
      _gputest_launcher_words("" launched) # at the end of the directory, what the target links decides whether it needs it
      list(GET words 0 watcher)
      list(GET launched 0 tool)
      set(is_linked "$<BOOL:$<TARGET_PROPERTY:${target},GPUTEST_MAIN_LINKED>>")
      set(words "$<IF:${is_linked},${watcher},${tool}>" "$<IF:${is_linked},--watch,run>")
    endif()
  endif()
  set(emulator "")
  if(TARGET "${program}" AND NOT target STREQUAL "")
    _gputest_emulator("${target}" "TEST_LAUNCHER;CROSSCOMPILING_EMULATOR" emulator)
    set(program "$<TARGET_FILE:${target}>")
  endif()
  string(REGEX REPLACE "\\$<TARGET_FILE:[^<>]*>" "" unknown "${emulator}")
  if(unknown MATCHES "\\$<") # how many words it has is known when CMake generates, and add_test() takes no list apart, or all
    _gputest_watch_words("${target}" watch)
    list(GET watch 0 entry)
    _gputest_quote("${emulator}" quoted)
    set(emulator " [[${entry}]] --emulator ${quoted} --before")
  else()
    _gputest_code_of_words("${emulator}" emulator)
  endif()
  _gputest_code_of_words("${words}" code)
  _gputest_quote("${program}" quoted)
  set(${result} "${code}${emulator} ${quoted}" PARENT_SCOPE)
endfunction()

# The words before the command of a test of `target`, which may be empty.
function(_gputest_launcher_words target result)
  if(NOT TARGET gputest::cli)
    _gputest_fail("this needs the launcher, but there is no target gputest::cli here. Build gputest with GPUTEST_BUILD_CLI=ON, call find_package(gputest) in this directory or above, or link the command with gputest::main or gputest::catch2. If it has a main() of its own that ends with gputest::run_all_tests(), write LAUNCHER off.")
  endif()
  _gputest_build_program(gputest::cli "${target}")
  set(${result} "$<TARGET_FILE:gputest::cli>" run -- PARENT_SCOPE)
endfunction()

function(_gputest_watch_words target result)
  if(NOT TARGET gputest::entry)
    _gputest_fail("there is no target gputest::entry here, which runs the tests. Call find_package(gputest) in this directory or above.")
  endif()
  _gputest_build_program(gputest::entry "${target}")
  set(${result} "$<TARGET_FILE:gputest::entry>" --watch PARENT_SCOPE)
endfunction()

# Makes a test's target, unless it is empty, build a program of gputest's that the test needs. And makes `all` build it even if gputest
# is a subdirectory that `all` leaves out, but not if it leaves out the tests, too.
function(_gputest_build_program program of_test)
  get_target_property(imported ${program} IMPORTED)
  if(imported)
    return()
  endif()
  get_target_property(target ${program} ALIASED_TARGET)
  _gputest_is_left_out("${CMAKE_CURRENT_SOURCE_DIR}" tests_are_left_out)
  if(NOT tests_are_left_out)
    set_property(TARGET ${target} PROPERTY EXCLUDE_FROM_ALL OFF)
  endif()
  if(NOT of_test MATCHES "^(gputest_cli|gputest_entry)?$") # else these would wait for each other
    get_target_property(imported "${of_test}" IMPORTED)
    if(NOT imported)
      add_dependencies("${of_test}" ${target})
    endif()
  endif()
endfunction()

# Whether a directory, or one above it, is added with EXCLUDE_FROM_ALL: a dependency whose tests nobody may want.
function(_gputest_is_left_out directory result)
  set(${result} FALSE PARENT_SCOPE)
  while(NOT "${directory}" STREQUAL "")
    get_property(is_left_out DIRECTORY "${directory}" PROPERTY EXCLUDE_FROM_ALL)
    if(is_left_out)
      set(${result} TRUE PARENT_SCOPE)
    endif()
    get_property(directory DIRECTORY "${directory}" PROPERTY PARENT_DIRECTORY)
  endwhile()
endfunction()

# The words that add_test() would put before an executable target, because of these properties of the target: a list, which may have
# generator expressions. Whoever starts it has to add them itself. `gputest_cmp0158` is that policy where the public function is called.
function(_gputest_emulator target properties result)
  set(words "")
  if(CMAKE_VERSION VERSION_LESS 3.29)
    list(REMOVE_ITEM properties TEST_LAUNCHER)
  elseif(gputest_cmp0158 STREQUAL "NEW" AND NOT CMAKE_CROSSCOMPILING)
    list(REMOVE_ITEM properties CROSSCOMPILING_EMULATOR)
  endif()
  foreach(property IN LISTS properties)
    get_target_property(emulator "${target}" ${property})
    string(REGEX MATCH "^[^;]*" first "${emulator}")
    if(TARGET "${first}")
      get_target_property(type "${first}" TYPE)
      if(type STREQUAL "EXECUTABLE") # the library gputest is a target, too, and not meant
        string(REGEX REPLACE "^[^;]+" "$<TARGET_FILE:${first}>" emulator "${emulator}")
      endif()
    endif()
    if(emulator)
      list(APPEND words "${emulator}")
    endif()
  endforeach()
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

# Notes the targets that a test starts, for gpu_install_tests(): `target`, and those whose files its words name.
function(_gputest_note_targets target words)
  string(REGEX MATCHALL "\\$<TARGET_FILE:[^<>$]+>" named "${words}")
  list(TRANSFORM named REPLACE "^.*TARGET_FILE:(.*)>$" "\\1")
  list(FILTER named EXCLUDE REGEX "^gputest::") # installed in any case
  set_property(DIRECTORY APPEND PROPERTY GPUTEST_TESTED_TARGETS ${target} ${named})
endfunction()

# Whether a target links one of `libraries`, a regular expression, directly or through other targets, according to its current link
# properties.
#
# It does not read names in generator expressions other than LINK_ONLY and BUILD_INTERFACE. CMake itself evaluates those
# when it generates, through the property GPUTEST_MAIN_LINKED, which in turn does not pass a static library's private links.
function(_gputest_links target libraries result)
  set(${result} FALSE PARENT_SCOPE)
  get_target_property(links "${target}" LINK_LIBRARIES)
  get_target_property(interface_links "${target}" INTERFACE_LINK_LIBRARIES)
  set(pending ${links} ${interface_links})
  set(visited "")
  while(NOT pending STREQUAL "")
    list(POP_FRONT pending library)
    while(library MATCHES "^\\$<(LINK_ONLY|BUILD_INTERFACE):(.*)>$")
      set(library "${CMAKE_MATCH_2}")
    endwhile()
    if(library MATCHES "^(${libraries})$")
      set(${result} TRUE PARENT_SCOPE)
      return()
    elseif(TARGET "${library}" AND NOT library IN_LIST visited)
      list(APPEND visited "${library}")
      get_target_property(links "${library}" INTERFACE_LINK_LIBRARIES)
      list(APPEND pending ${links})
    endif()
  endwhile()
endfunction()
