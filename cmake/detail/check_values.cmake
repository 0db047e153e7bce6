# SPDX-License-Identifier: BSD-3-Clause
# Checks the values of gpu_add_test()'s keywords, ARG_<keyword>, except MEMORY and COMMAND, and sets the defaults.
function(_gputest_check_values)
  if(TEST "${ARG_NAME}")
    _gputest_refuse(NAME "is taken by another test")
  endif()

  if(NOT DEFINED ARG_MEMORY)
    set(ARG_MEMORY small PARENT_SCOPE)
  endif()

  if(NOT DEFINED ARG_GPUS)
    set(ARG_GPUS 1 PARENT_SCOPE)
  elseif(NOT ARG_GPUS MATCHES "^([1-9]|1[0-6])$")
    _gputest_refuse(GPUS "\"${ARG_GPUS}\" is no number of GPUs")
  endif()

  foreach(keyword IN ITEMS HEAP KEEPS)
    if(DEFINED ARG_${keyword})
      _gputest_bytes(${keyword} "${ARG_${keyword}}" "${ARG_${keyword}}" bytes)
    endif()
  endforeach()

  if(DEFINED ARG_LARGE AND NOT ARG_LARGE MATCHES "^(exclude|serial|wait)$")
    _gputest_refuse(LARGE "\"${ARG_LARGE}\" is unknown")
  endif()

  if(DEFINED ARG_LAUNCHER AND NOT ARG_LAUNCHER MATCHES "^(on|off|ON|OFF)$")
    _gputest_refuse(LAUNCHER "\"${ARG_LAUNCHER}\" is unknown")
  endif()

  if(DEFINED ARG_TIMEOUT)
    string(REGEX REPLACE "\\..*" "" whole_seconds "${ARG_TIMEOUT}")
    string(LENGTH "${whole_seconds}" digits)
    if(NOT ARG_TIMEOUT MATCHES "^[0-9]+(\\.[0-9]+)?$" OR NOT ARG_TIMEOUT MATCHES "[1-9]" OR digits GREATER 9)
      _gputest_refuse(TIMEOUT "\"${ARG_TIMEOUT}\" is no time limit")
    endif()
  endif()

  if(DEFINED ARG_WAIT_LIMIT)
    _gputest_seconds("${ARG_WAIT_LIMIT}" wait_seconds)
  endif()
endfunction()

# The seconds of a duration. If it is not a duration, an error that names WAIT_LIMIT. Mirrors
# gputest::settings::parse_duration().
function(_gputest_seconds duration result)
  if(NOT duration MATCHES "^0*([0-9]+)(s|min|h)$")
    _gputest_refuse(WAIT_LIMIT "\"${duration}\" is no duration")
  endif()
  set(count "${CMAKE_MATCH_1}")
  set(seconds_of_s 1)
  set(seconds_of_min 60)
  set(seconds_of_h 3600)
  set(unit_seconds ${seconds_of_${CMAKE_MATCH_2}})
  set(longest_seconds 86400)
  math(EXPR longest_units "${longest_seconds} / ${unit_seconds}")
  string(LENGTH "${count}" digits)
  if(digits GREATER 5 OR count GREATER longest_units)
    _gputest_refuse(WAIT_LIMIT "\"${duration}\" is more than 24h")
  endif()
  math(EXPR seconds "${count} * ${unit_seconds}")
  set(${result} ${seconds} PARENT_SCOPE)
endfunction()
