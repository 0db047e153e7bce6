# SPDX-License-Identifier: BSD-3-Clause
# Reading the arguments of the public functions.

# Stops the configuration. `gputest_call` is the call that is wrong, which each public function sets first.
function(_gputest_fail text)
  message(FATAL_ERROR "${gputest_call}: ${text}")
endfunction()

# _gputest_parse(<begin>)
#
# Reads the arguments of the function that uses it, from ARGV<begin> on, into ARG_<keyword>. The function has set the lists
# option_keywords, value_keywords, list_keywords and word_keywords. It differs from cmake_parse_arguments() in that words
# stay as they are written, also empty ones and those with brackets or `;`, and that keywords that are unknown, repeated, or
# have no value are errors. But wrappers pass on what may be empty: some lists may be, and the keywords that CMake's own
# functions have are then as left out, as they are there. The function that calls a public function may have variables of the same names; they do not count.
#
#   words         CMake code, each word after a space, because a list cannot hold every text
#   COMMAND       its first value; those that follow are words, in ARG_COMMAND_ARGUMENTS
#   PROPERTIES    words: the pairs, for CTest accumulates some of those that have the same name. ARG_PROPERTY_<name> has the value,
#                 of such a name all of them. LABELS and TIMEOUT are left out, because gputest has these, too
#   LABELS        also ARG_PAIRS_OF_LABELS: words, a pair for each value, and those in PROPERTIES. ARG_PAIRS_OF_RESOURCE_LOCK likewise
#
# A macro, because it reads ARGV<n>.
macro(_gputest_parse begin)
  set(keywords ${value_keywords} ${list_keywords} ${word_keywords} ${option_keywords})
  foreach(keyword IN LISTS keywords ITEMS NAME COMMAND_ARGUMENTS PROPERTIES PAIRS_OF_LABELS PAIRS_OF_RESOURCE_LOCK)
    unset(ARG_${keyword})
  endforeach()
  # Those with one value.
  set(keywords_of_cmake "WORKING_DIRECTORY|TEST_PREFIX|TEST_SUFFIX|TEST_FILTER|TEST_LIST|XML_OUTPUT_DIR|DISCOVERY_TIMEOUT|DISCOVERY_MODE")
  set(seen "")
  set(keyword "") # that the next value is for
  set(missing "") # the keyword, until it has a value
  set(property "") # the name, until it has a value
  set(index ${begin})
  while(index LESS ARGC)
    set(argument "${ARGV${index}}")
    math(EXPR index "${index} + 1")
    if(argument IN_LIST keywords AND property STREQUAL "" AND
       NOT (keyword STREQUAL "PROPERTIES" AND argument MATCHES "^(LABELS|TIMEOUT|WORKING_DIRECTORY)$"))
      _gputest_check_nothing_is_missing("${missing}" "")
      if(argument IN_LIST seen)
        _gputest_fail("${argument} is given twice. Give it once; if the word is an argument of the program, write $<1:${argument}>.")
      endif()
      list(APPEND seen ${argument})
      if(argument IN_LIST option_keywords)
        set(ARG_${argument} TRUE)
        set(missing "")
        set(keyword "")
      else()
        set(keyword ${argument})
        set(missing "")
        if(NOT keyword MATCHES "^(CONFIGURATIONS|${keywords_of_cmake})$")
          set(ARG_${keyword} "")
          if(NOT keyword MATCHES "^(REQUIRES|LABELS|PROPERTIES|EXTRA_ARGS|DISCOVERY_EXTRA_ARGS|DISCOVERY_ENVIRONMENT)$")
            set(missing ${keyword})
          endif()
        endif()
      endif()
      continue()
    endif()

    set(missing "")
    if(keyword STREQUAL "")
      list(JOIN keywords ", " allowed)
      _gputest_fail("unknown argument \"${argument}\"; allowed: ${allowed}.")
    elseif(keyword STREQUAL "PROPERTIES")
      if(property STREQUAL "")
        _gputest_check_property("${argument}")
        set(property "${argument}")
        set(missing PROPERTIES)
      else()
        _gputest_quote("${argument}" quoted)
        string(APPEND ARG_PAIRS_OF_${property} " ${property} ${quoted}")
        if(NOT property MATCHES "^(LABELS|TIMEOUT)$")
          string(APPEND ARG_PROPERTIES " ${property} ${quoted}")
        endif()
        if(property MATCHES "^(FIXTURES_REQUIRED|ENVIRONMENT.*|(PASS|SKIP)_REGULAR_EXPRESSION)$")
          list(APPEND ARG_PROPERTY_${property} "${argument}")
        else()
          set(ARG_PROPERTY_${property} "${argument}")
        endif()
        set(property "")
      endif()
    elseif(keyword STREQUAL "COMMAND_ARGUMENTS" OR keyword IN_LIST word_keywords)
      set(next "")
      if(index LESS ARGC)
        set(next "${ARGV${index}}")
      endif()
      _gputest_check_word("${argument}" "${next}" ${keywords})
      _gputest_quote("${argument}" quoted)
      string(APPEND ARG_${keyword} " ${quoted}")
    elseif(argument STREQUAL "" AND keyword MATCHES "^(${keywords_of_cmake})$")
      set(keyword "")
    elseif(argument MATCHES "^$|^;|;;|;$" AND NOT keyword MATCHES "^(TEST_PREFIX|TEST_SUFFIX|TEST_FILTER|XML_OUTPUT_DIR)$")
      _gputest_fail("${keyword} has an empty value. Give it one that is not, or leave ${keyword} out.")
    elseif(keyword IN_LIST list_keywords)
      list(APPEND ARG_${keyword} "${argument}")
      _gputest_quote("${argument}" quoted)
      string(APPEND ARG_PAIRS_OF_${keyword} " ${keyword} ${quoted}")
    else()
      set(ARG_${keyword} "${argument}")
      if(keyword STREQUAL "NAME")
        string(APPEND gputest_call "(NAME ${argument})")
      endif()
      string(REGEX REPLACE "^COMMAND$" "COMMAND_ARGUMENTS" keyword "${keyword}")
      if(NOT keyword STREQUAL "COMMAND_ARGUMENTS")
        set(keyword "")
      endif()
    endif()
  endwhile()
  _gputest_check_nothing_is_missing("${missing}" "${property}")
endmacro()

function(_gputest_check_nothing_is_missing keyword property)
  if(NOT property STREQUAL "")
    _gputest_fail("PROPERTIES gives ${property} no value. Write pairs of a name and a value; several labels are one value: \"a;b\".")
  elseif(NOT keyword STREQUAL "")
    _gputest_fail("${keyword} has no value. Give it one, or leave ${keyword} out.")
  endif()
endfunction()

# An error if a word that should be the name of a property is none: a list that is not quoted has its second word there. CTest
# ignores what it does not know, so the list would lose a part.
function(_gputest_check_property name)
  # One word alone may be a property of something else, such as NAME or TYPE. Others may be the user's own.
  if(name MATCHES "^(COST|DEPENDS|DISABLED|ENVIRONMENT|LABELS|MEASUREMENT|PROCESSORS|TIMEOUT|[A-Z]+_[A-Z0-9_]+)$")
    return()
  endif()
  _gputest_fail("PROPERTIES has \"${name}\" where the name of a property has to be, such as LABELS or RESOURCE_LOCK. Write pairs of a name and a value. A list is one value, in quotes: LABELS \"a;b\".")
endfunction()

# Whether a word after COMMAND is surely a mistyped keyword: `MEM 3GiB`, `GPU 2`. The program would get it as an argument, and
# the test would run with the default. `next` is the word after it; the keywords follow.
function(_gputest_check_word word next)
  if(word MATCHES "^[A-Z_]+$" AND
     (next MATCHES "^(small|medium|large|[0-9.]+(B|KiB|MiB|GiB|TiB))$" OR "${word}S" IN_LIST ARGN OR word STREQUAL "PROPERTIES"))
    list(JOIN ARGN ", " allowed)
    _gputest_fail("unknown keyword \"${word}\"; allowed: ${allowed}. Properties are set by set_tests_properties(). If the word is an argument of the program, write $<1:${word}>.")
  endif()
endfunction()

# _gputest_join_labels(<result> {LABELS <list>}...)
#
# One list of several. What cannot precede others comes last.
function(_gputest_join_labels result)
  set(labels "")
  set(last "")
  set(index 2)
  while(index LESS ARGC)
    set(list "${ARGV${index}}")
    math(EXPR index "${index} + 2")
    _gputest_can_precede("${list}" can_precede)
    if(can_precede)
      string(APPEND labels "${list};")
    elseif(last STREQUAL "")
      set(last "${list}")
    else()
      _gputest_fail("LABELS has \"${last}\" and \"${list}\". A list of CMake's can have only one element with unequal numbers of [ and ], or with a backslash at its end. Change one of them.")
    endif()
  endwhile()
  set(${result} "${labels}${last}" PARENT_SCOPE)
endfunction()
