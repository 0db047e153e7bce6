# gpu_add_test
# ------------
#
# Adds a test that shares the machine's GPUs with all others: it waits until the memory it asks for is free.
#
#   gpu_add_test(NAME <name> COMMAND <target|program> [<arg>...]
#                [MEMORY small|medium|large|<size>]
#                [GPUS <n>]
#                [HEAP <size>]
#                [REQUIRES <capability>...]
#                [LARGE exclude|serial|wait]
#                [LAUNCHER on|off]
#                [TIMEOUT <seconds>]
#                [LABELS <label>...]
#                [WORKING_DIRECTORY <dir>]
#                [CONFIGURATIONS <config>...]
#                [COMMAND_EXPAND_LISTS])
#
# It calls add_test(), so set_tests_properties() works on the name afterwards and loses none of gputest's settings.
#
# NAME               Name of the test, new in this directory.
# COMMAND            An executable target or a program, and its arguments. A target that links gputest takes its memory
#                    itself, test by test. Anything else is run by the launcher `gputest run`, which takes the memory for
#                    as long as the program runs. Arguments arrive as they are written, empty ones and those with
#                    semicolons too.
# MEMORY             What the test needs of each device, for tests that do not say it themselves. Default: small.
#                    small: up to 256 MiB; medium: up to half of the device; large: the whole device. A size is a number
#                    with up to 3 decimals and a unit, B, KiB, MiB, GiB or TiB, from 1B to 1024TiB; its class is small
#                    up to 256MiB, else medium.
# GPUS               Number of distinct devices, 1 to 16. Default: 1.
# HEAP               Size of the heap for malloc() in kernels, for tests that do not say it themselves (GPUTEST_HEAP). It is
#                    set on the test's devices before its first kernel, and what it takes of them is counted beside MEMORY.
#                    One size a process. By the launcher it is only counted: a program that does not link gputest has to
#                    set it itself (cudaLimitMallocHeapSize). Default: the heap is left as it is.
# REQUIRES           What each device must have, beside what tests say themselves (GPUTEST_REQUIRES): memory_pools,
#                    managed_memory, concurrent_managed_access, peer_access (with GPUS 2 or more), cooperative_launch, tcc,
#                    wddm, mig, sm_<n> for compute capability n/10 or higher, total_memory=<size>, free_memory=<size>.
#                    Where no device has it, the test is skipped with what was asked and what was found. Default: nothing.
# LARGE              With MEMORY large only: what happens while other tests may run beside it. exclude: skipped, with the
#                    reason; serial: CTest runs it alone; wait: it waits for the device to empty. Default: the
#                    environment variable GPUTEST_LARGE when the test runs, else exclude.
# LAUNCHER           on: always through the launcher, for an executable that uses CUDA before its tests start. off: never,
#                    for an executable that takes its memory itself although it does not link gputest as a target.
#                    Default: by what the target links, up to the end of the directory.
# TIMEOUT            Seconds from admission to the GPU, up to 999999999; waiting before it is free. Default: none of
#                    gputest's own; CTest's default counts the waiting.
# LABELS             Labels beside gputest's own.
# WORKING_DIRECTORY, CONFIGURATIONS, COMMAND_EXPAND_LISTS
#                    As for add_test(). COMMAND_EXPAND_LISTS drops empty arguments.
#
# Sets these properties of the test:
#   ENVIRONMENT_MODIFICATION  GPUTEST_TEST, GPUTEST_MEMORY and GPUTEST_GPUS; GPUTEST_LARGE if LARGE is given,
#                             GPUTEST_HEAP if HEAP is, GPUTEST_REQUIRES if REQUIRES is
#   LABELS                    gpu, gpu_<class>, and LABELS
#   SKIP_RETURN_CODE          77
#   TIMEOUT_AFTER_MATCH       <seconds> from the line "gputest: admitted", if TIMEOUT is given
#   TIMEOUT                   <seconds> and the longest wait, if TIMEOUT is given
#   RUN_SERIAL                ON for LARGE serial
# At the end of the directory it adds what is then missing of ENVIRONMENT_MODIFICATION and of gputest's own labels.
#
# A wrong argument is an error that names the test, the value and what is allowed.
function(gpu_add_test)
  set(option_keywords COMMAND_EXPAND_LISTS)
  set(value_keywords NAME MEMORY GPUS HEAP LARGE LAUNCHER TIMEOUT WORKING_DIRECTORY)
  set(list_keywords COMMAND REQUIRES LABELS CONFIGURATIONS)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "${option_keywords}" "${value_keywords}" "${list_keywords}")

  set(message_prefix "gpu_add_test: ")
  if(NOT "${ARG_NAME}" STREQUAL "")
    set(message_prefix "gpu_add_test(NAME ${ARG_NAME}): ")
  endif()

  # For the helpers, which see this function's variables but not its ARGV<n>. No list can hold every argument unchanged.
  set(argument_count "${ARGC}")
  set(index 0)
  while(index LESS argument_count)
    set(argument_${index} "${ARGV${index}}")
    math(EXPR index "${index} + 1")
  endwhile()

  _gputest_check_arguments(program_index command_end)
  _gputest_check_values()
  _gputest_check_requires()
  _gputest_memory_class("${ARG_MEMORY}" memory_class)
  if(DEFINED ARG_LARGE AND NOT memory_class STREQUAL "large")
    _gputest_fail("LARGE ${ARG_LARGE} is for large tests, but MEMORY is ${ARG_MEMORY}. Write MEMORY large, or leave LARGE out.")
  endif()

  set(program "${argument_${program_index}}")
  _gputest_resolve_program("${program}" target)
  _gputest_test_command("${program}" "${target}" ${program_index} ${command_end} command decided)

  set(pass_on "")
  if(DEFINED ARG_WORKING_DIRECTORY)
    _gputest_quote("${ARG_WORKING_DIRECTORY}" quoted)
    string(APPEND pass_on " WORKING_DIRECTORY ${quoted}")
  endif()
  if(DEFINED ARG_CONFIGURATIONS)
    string(APPEND pass_on " CONFIGURATIONS")
    foreach(configuration IN LISTS ARG_CONFIGURATIONS)
      _gputest_quote("${configuration}" quoted)
      string(APPEND pass_on " ${quoted}")
    endforeach()
  endif()
  _gputest_quote("${ARG_NAME}" quoted_name)
  cmake_language(EVAL CODE "add_test(NAME ${quoted_name} COMMAND ${command}${pass_on})")

  set(settings "GPUTEST_MEMORY=set:${ARG_MEMORY}" "GPUTEST_GPUS=set:${ARG_GPUS}")
  if(DEFINED ARG_LARGE)
    list(APPEND settings "GPUTEST_LARGE=set:${ARG_LARGE}")
  endif()
  if(DEFINED ARG_HEAP)
    list(APPEND settings "GPUTEST_HEAP=set:${ARG_HEAP}")
  endif()
  if(DEFINED ARG_REQUIRES)
    list(JOIN ARG_REQUIRES " " capabilities)
    list(APPEND settings "GPUTEST_REQUIRES=set:${capabilities}")
  endif()
  # The name comes last: one with a lone bracket would swallow the settings that follow it in a list.
  string(REPLACE ";" "\\;" escaped_name "${ARG_NAME}")
  list(APPEND settings "GPUTEST_TEST=set:${escaped_name}")
  set(own_labels gpu gpu_${memory_class})
  set_property(TEST "${ARG_NAME}" PROPERTY ENVIRONMENT_MODIFICATION "${settings}")
  set_property(TEST "${ARG_NAME}" PROPERTY LABELS ${own_labels} ${ARG_LABELS})
  set_property(TEST "${ARG_NAME}" PROPERTY SKIP_RETURN_CODE 77)
  if(DEFINED ARG_TIMEOUT)
    # CTest's TIMEOUT counts from the start until the line is seen: it bounds the waiting, and must not be shorter than
    # the 20 minutes after which gputest itself gives up (the default of GPUTEST_WAIT_LIMIT).
    set(longest_wait_seconds 1200)
    string(REGEX MATCH "^([0-9]+)(.*)$" _ "${ARG_TIMEOUT}")
    math(EXPR whole_seconds "${CMAKE_MATCH_1} + ${longest_wait_seconds}")
    set_property(TEST "${ARG_NAME}" PROPERTY TIMEOUT "${whole_seconds}${CMAKE_MATCH_2}")
    set_property(TEST "${ARG_NAME}" PROPERTY TIMEOUT_AFTER_MATCH "${ARG_TIMEOUT};gputest: admitted")
  endif()
  if("${ARG_LARGE}" STREQUAL "serial")
    set_property(TEST "${ARG_NAME}" PROPERTY RUN_SERIAL ON)
  endif()

  _gputest_quote("${settings}" quoted_settings)
  _gputest_quote("${program}" quoted_program)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _gputest_complete_test
    ${quoted_name} ${quoted_settings} [[${own_labels}]] ${quoted_program} [[${target}]] ${decided})")
endfunction()
