# SPDX-License-Identifier: BSD-3-Clause
# The entry of a call of gpu_discover_tests() whose tests cannot be listed. Runs when ctest starts.

# _gputest_shell_words(<result> <word>...): words as a person would write them in a shell.
function(_gputest_shell_words result)
  set(line "")
  set(index 1)
  while(index LESS ARGC)
    set(word "${ARGV${index}}")
    math(EXPR index "${index} + 1")
    if(NOT word MATCHES "^[-a-zA-Z0-9_./:=,+@%]+$")
      string(REPLACE "'" "'\\''" word "${word}")
      set(word "'${word}'")
    endif()
    string(APPEND line " ${word}")
  endwhile()
  set(${result} "${line}" PARENT_SCOPE)
endfunction()

# Adds the entry that fails.
function(_gputest_add_failing_entry problem output)
  _gputest_shell_words(folder "${gputest_WORKING_DIRECTORY}")
  cmake_language(EVAL CODE "_gputest_shell_words(command ${gputest_listing})")
  string(LENGTH "${output}" length)
  if(length GREATER 50000)
    string(SUBSTRING "${output}" 0 50000 output)
    string(APPEND output "\n(more was printed)")
  elseif(output STREQUAL "")
    set(output "(nothing)")
  endif()
  set(text "gputest: the tests of ${gputest_executable} cannot be listed: ${problem}.
To repeat it: cd${folder} && GPUTEST_LIST_FILE=/dev/stdout${command}
")
  set(name "${gputest_TEST_PREFIX}${gputest_target}_NOT_LISTED${gputest_TEST_SUFFIX}")
  set(is_kept FALSE)
  if(NOT gputest_kept STREQUAL "") # no argument can hold every output
    string(RANDOM LENGTH 16 unique)
    _gputest_write("${gputest_kept}-${unique}.txt" "${text}It printed:\n${output}\n" is_kept)
  endif()
  if(is_kept)
    file(RENAME "${gputest_kept}-${unique}.txt" "${gputest_kept}-problem.txt")
    add_test("${name}" sh -c [[cat "$1"; exit 1]] sh "${gputest_kept}-problem.txt")
  else()
    add_test("${name}" sh -c [[printf %s "$1"; exit 1]] sh "${text}")
  endif()
  _gputest_labels_of_not_listed("${gputest_MEMORY}" labels)
  cmake_language(EVAL CODE "set_tests_properties(\"\${name}\" PROPERTIES LABELS \"${labels}\"${gputest_pairs_of_LABELS})")
endfunction()
