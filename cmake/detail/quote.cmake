# SPDX-License-Identifier: BSD-3-Clause
# Writes a text as a bracket argument, with at least so many equals signs if some are given. CMake reads any text back
# unchanged.
function(_gputest_quote text result)
  set(equals "=${ARGN}")
  string(FIND "${text}]" "]${equals}]" position)
  while(NOT position EQUAL -1)
    string(APPEND equals "=")
    string(FIND "${text}]" "]${equals}]" position)
  endwhile()
  # CMake drops a newline that follows the opening bracket. This one protects a newline that begins the text.
  set(${result} "[${equals}[\n${text}]${equals}]" PARENT_SCOPE)
endfunction()
