# SPDX-License-Identifier: BSD-3-Clause
# Reads the command line of the ctest that runs this, once, into two global properties. "gputest arguments" is a text with a line for
# each argument, an empty one before the first, up to `--`, after which they are for the tests (CMake 4.4). "gputest places" is how many
# tests CTest runs at once at most. It is empty if that is not known: by default, a preset or a script.
function(_gputest_read_ctest_arguments)
  get_property(is_read GLOBAL PROPERTY "gputest arguments" SET)
  if(is_read)
    return()
  endif()
  execute_process(COMMAND sh -c [[tr '\n\0' ' \n' </proc/$PPID/cmdline]] OUTPUT_VARIABLE arguments ERROR_QUIET)
  string(REGEX REPLACE "\n--\n.*" "\n" arguments "\n${arguments}")
  set(places "")
  # The last of these options. Without a number it means as many as there are processors, or any number.
  if(arguments MATCHES "^.*\n(-j|--parallel)=?\n?0*([1-9][0-9]?[0-9]?[0-9]?)?\n")
    set(places "${CMAKE_MATCH_2}")
  elseif("$ENV{CTEST_PARALLEL_LEVEL}" MATCHES "^ *0*([1-9][0-9]?[0-9]?[0-9]?) *$")
    set(places ${CMAKE_MATCH_1})
  endif()
  set_property(GLOBAL PROPERTY "gputest arguments" "${arguments}")
  set_property(GLOBAL PROPERTY "gputest places" "${places}")
endfunction()
_gputest_read_ctest_arguments()
