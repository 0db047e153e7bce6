# SPDX-License-Identifier: BSD-3-Clause
# Writes a text as a bracket argument. CMake reads any text back unchanged.
function(_gputest_quote text result)
  set(equals "=")
  string(FIND "${text}]" "]${equals}]" position)
  while(NOT position EQUAL -1)
    string(APPEND equals "=")
    string(FIND "${text}]" "]${equals}]" position)
  endwhile()
  # CMake drops a newline that follows the opening bracket. This one protects a newline that begins the text.
  set(${result} "[${equals}[\n${text}]${equals}]" PARENT_SCOPE)
endfunction()

# Words as CMake code, each after a space.
function(_gputest_code_of_words words result)
  set(code "")
  foreach(word IN LISTS words)
    if(NOT word STREQUAL "")
      _gputest_quote("${word}" quoted)
      string(APPEND code " ${quoted}")
    endif()
  endforeach()
  set(${result} "${code}" PARENT_SCOPE)
endfunction()

# Whether a list may go on after this text. Not if it ends with a backslash or has unequal numbers of [ and ]: what follows would
# become a part of its last element.
function(_gputest_can_precede text result)
  string(REGEX REPLACE "[^[]" "" opening "${text}")
  string(REGEX REPLACE "[^]]" "" closing "${text}")
  string(LENGTH "${opening}" opening)
  string(LENGTH "${closing}" closing)
  set(can TRUE)
  if(NOT opening EQUAL closing OR text MATCHES "\\\\$")
    set(can FALSE)
  endif()
  set(${result} ${can} PARENT_SCOPE)
endfunction()
