# SPDX-License-Identifier: BSD-3-Clause
# The executable target that COMMAND's program names; empty if it names a program. An error if it names neither.
function(_gputest_resolve_program program result)
  set(${result} "" PARENT_SCOPE)
  set(target "${program}")
  if(program MATCHES "^\\$<TARGET_FILE:([^<>$]+)>$")
    set(target "${CMAKE_MATCH_1}")
  endif()

  if(TARGET "${target}")
    get_target_property(type "${target}" TYPE)
    if(NOT type STREQUAL "EXECUTABLE")
      _gputest_refuse(COMMAND "\"${program}\" is a target, but of type ${type}")
    endif()
    get_target_property(aliased "${target}" ALIASED_TARGET)
    if(aliased)
      set(target "${aliased}")
    endif()
    set(${result} "${target}" PARENT_SCOPE)
    return()
  endif()

  # A path or a generator expression may name a file that does not exist yet. A bare word that is not found is a typing
  # error, or a target that is added later.
  if(program MATCHES "[/.\\]|\\$<")
    return()
  endif()
  unset(found)
  find_program(found NAMES "${program}" NO_CACHE NO_DEFAULT_PATH PATHS ENV PATH)
  if(NOT found)
    _gputest_fail("COMMAND \"${program}\" is neither a target that exists at this point nor a program in PATH. Call gpu_add_test() after add_executable(${program}), or write the program's path.")
  endif()
endfunction()
