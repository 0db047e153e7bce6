# SPDX-License-Identifier: BSD-3-Clause
# What the entries of cases that workers may run have besides: a lane, a COST, and the entry that ends the workers. Runs when ctest
# starts.

# A case that waits for a worker would take a place that others can use. So the cases of an executable take turns at a few
# RESOURCE_LOCKs, its lanes: as many as there are places for each executable of the project that has workers. 0: its cases have
# processes of their own.
function(_gputest_count_lanes result)
  if(NOT "${gputest_own_process}" STREQUAL "" OR "$ENV{GPUTEST_ISOLATION}" STREQUAL "process")
    set(${result} 0 PARENT_SCOPE)
    return()
  endif()
  set(most 8)
  get_property(places GLOBAL PROPERTY "gputest places")
  if(places STREQUAL "")
    set(places ${most})
  endif()
  list(LENGTH gputest_all_with_workers executables)
  if(executables EQUAL 0)
    set(executables ${most})
  endif()
  math(EXPR lanes "${places} / ${executables}")
  if(lanes LESS 1)
    set(lanes 1)
  elseif(lanes GREATER most)
    set(lanes ${most})
  endif()
  set(${result} ${lanes} PARENT_SCOPE)
endfunction()

# Before the entries of a call: its lanes, and the names of the executable's cases that took 5 s or more when they ran last, a line
# each. The entry that ends workers writes them. What CTest has noted does not tell: of a test with a COST it notes
# COST + (last time - COST) / runs.
function(_gputest_begin_workers)
  _gputest_count_lanes(lanes)
  set_property(GLOBAL PROPERTY "gputest lanes" ${lanes})
  set_property(GLOBAL PROPERTY "gputest has workers" FALSE)
  set_property(GLOBAL PROPERTY "gputest labels of workers" "")
  set(property "gputest long cases of ${gputest_group}")
  get_property(file GLOBAL PROPERTY "${property}")
  if("${file}" STREQUAL "") # calls that share workers share it
    set(file "${gputest_kept}-long.txt")
    set_property(GLOBAL PROPERTY "${property}" "${file}")
  endif()
  set(names "")
  if(EXISTS "${file}")
    file(READ "${file}" names)
  endif()
  set_property(GLOBAL PROPERTY "gputest long cases" "\n${names}")
endfunction()

# For a case that a worker may run: arguments of gputest-entry, and pairs of a property and its value.
#
# CTest starts tests in the order of their COST or, where it is 0, of the times that it has noted. That would mix the cases of all
# executables. So these cases have the same COST, and stay in their order. Long cases have none and no lane, so that they start first.
function(_gputest_next_in_lane name arguments_result properties_result)
  get_property(long_cases GLOBAL PROPERTY "gputest long cases")
  string(FIND "${long_cases}" "\n${name}\n" at)
  set(arguments "${gputest_own_process}")
  if(NOT gputest_fixtures STREQUAL "")
    list(APPEND arguments --fixtures=${gputest_fixtures})
  endif()
  set(properties "")
  if(NOT DEFINED ENV{GPUTEST_MPS})
    set(properties ${gputest_mps})
  endif()
  if(NOT at EQUAL -1)
    list(APPEND arguments --long)
  else()
    list(APPEND properties COST 5)
    get_property(lanes GLOBAL PROPERTY "gputest lanes")
    if(NOT lanes EQUAL 0)
      _gputest_next_lock(${gputest_workers}_ ${lanes} lane)
      list(APPEND properties RESOURCE_LOCK ${lane})
    endif()
  endif()
  set(${arguments_result} "${arguments}" PARENT_SCOPE)
  set(${properties_result} "${properties}" PARENT_SCOPE)
endfunction()

# Chooses gputest_end, the name of the entry that ends the workers of a group. No other call's entry has it.
function(_gputest_name_end_of_workers)
  get_property(name GLOBAL PROPERTY "gputest end of ${gputest_group}")
  if("${name}" STREQUAL "")
    set(name "${gputest_target}.workers_end")
    set(count 1)
    get_property(owner GLOBAL PROPERTY "gputest entry ${name}")
    while(NOT "${owner}" STREQUAL "")
      math(EXPR count "${count} + 1")
      set(name "${gputest_target}.workers_end-${count}")
      get_property(owner GLOBAL PROPERTY "gputest entry ${name}")
    endwhile()
    set_property(GLOBAL PROPERTY "gputest entry ${name}" "${gputest_group}")
    set_property(GLOBAL PROPERTY "gputest end of ${gputest_group}" "${name}")
  endif()
  set(gputest_end "${name}" PARENT_SCOPE)
endfunction()

# Sets gputest_own_process to the argument for gputest-entry if ctest's command line may leave out the entry that ends workers. What
# fails at the end of a worker would be lost, so each case runs in a process of its own and says why. An option in a preset or in
# a script of ctest's is not seen.
function(_gputest_find_end_of_workers)
  set(gputest_own_process "" PARENT_SCOPE)
  get_property(rest GLOBAL PROPERTY "gputest arguments")
  while(rest MATCHES "\n(-E|-F[AC]|--exclude-regex|--fixture-exclude-any|--fixture-exclude-cleanup|--exclude-from-file)=? *\n?([^\n]+)(.*)$")
    set(option "${CMAKE_MATCH_1}")
    set(expression "${CMAKE_MATCH_2}")
    set(rest "${CMAKE_MATCH_3}")
    set(name "${gputest_group}")
    if(option MATCHES "^(-E|--exclude-regex)$")
      set(name "${gputest_end}")
    elseif(option STREQUAL "--exclude-from-file") # which is not read
      set(expression ".")
    endif()
    # By grep, because CMake would end ctest for what is no regular expression. What grep may read in another way than ctest counts, too.
    execute_process(COMMAND sh -c [[printf '%s\n' "$1" | LC_ALL=C grep -Eqe "$2"]] sh "${name}" "${expression}"
      RESULT_VARIABLE ended ERROR_QUIET)
    if(NOT ended EQUAL 1 OR expression MATCHES "{|\\\\[A-Za-z0-9<>`']|\\[[[:=]|(^|[(|^*+?])[*+?]")
      set(gputest_own_process "--own-process=ctest's option ${option} may leave out ${gputest_end}, which shows what fails when a worker ends" PARENT_SCOPE)
      return()
    endif()
  endwhile()
endfunction()

# After the entries of cases that workers may run: the entry that CTest runs after all of these. It ends the
# workers, and fails if one of them does not end as it should: that is no failure of a case. The calls of a group
# share the entry and the fixture that it cleans up. What the user's fixtures clean up, workers may use until they end. It waits for
# 1,610 s at most (workers_end.cpp), and CTest for longer, whatever its --timeout, so that it can always say what it has seen.
function(_gputest_add_end_of_workers)
  get_property(is_added GLOBAL PROPERTY "gputest added ${gputest_end}")
  if(NOT is_added)
    set_property(GLOBAL PROPERTY "gputest added ${gputest_end}" TRUE)
    get_property(long_cases GLOBAL PROPERTY "gputest long cases of ${gputest_group}")
    cmake_language(EVAL CODE "add_test(\"\${gputest_end}\" ${gputest_code_of_ENTRY_PROGRAM} --end \"\${gputest_executable}\" \"\${long_cases}\" \"\${gputest_fixtures}\")")
    set_tests_properties("${gputest_end}" PROPERTIES WORKING_DIRECTORY "${gputest_WORKING_DIRECTORY}"
      SKIP_RETURN_CODE 77 TIMEOUT 1700 ENVIRONMENT "GPUTEST_TEST=${gputest_end}" FIXTURES_CLEANUP ${gputest_group}
      FIXTURES_REQUIRED "${gputest_property_FIXTURES_REQUIRED}")
  endif()
  get_property(labels GLOBAL PROPERTY "gputest labels of workers")
  if(NOT labels STREQUAL "") # CTest adds it to those of other calls
    set_tests_properties("${gputest_end}" PROPERTIES LABELS gpu)
  endif()
  if(NOT gputest_pairs_of_RESOURCE_LOCK STREQUAL "") # likewise
    cmake_language(EVAL CODE "set_tests_properties(\"\${gputest_end}\" PROPERTIES${gputest_pairs_of_RESOURCE_LOCK})")
  endif()
  if(gputest_property_RUN_SERIAL) # for cases that run once more
    set_tests_properties("${gputest_end}" PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()
