# SPDX-License-Identifier: BSD-3-Clause
# Runs when ctest starts, once for each call of gpu_discover_tests(), with the call's arguments in gputest_<name>: makes
# CTest entries of the tests that the executable lists.
#
# The entries are kept in <script>-entries.cmake. That file begins with all files that it was made from, each with its
# time and size, and is used as long as these are the same. It is replaced as a whole, because several ctests may start at
# once. Nothing here ends ctest: what cannot be listed becomes an entry that fails.
#
# A name means one entry: ctest's set_tests_properties() sets the properties of all tests with that name, in whatever
# directory. So if another call has made an entry with one of the names, all names of this call begin with gputest_p, a
# prefix of its own, which is known when the entries are added.
cmake_policy(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/case_name.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/quote.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/values.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/entry_properties.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/requests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/ctest_arguments.cmake")
if(NOT DEFINED gputest_set_tests_properties) # else schedule.cmake has set it
  set(gputest_set_tests_properties set_tests_properties)
endif()
if(DEFINED ENV{GPUTEST_MPS})
  set(gputest_mps "")
endif()

# What changes with the content of a file; empty if there is none.
function(_gputest_state_of file result)
  set(state "")
  if(EXISTS "${file}")
    file(TIMESTAMP "${file}" time "%s.%f" UTC)
    file(SIZE "${file}" size)
    set(state "${time} ${size}")
  endif()
  set(${result} "${state}" PARENT_SCOPE)
endfunction()

# The inner text of a quoted argument.
function(_gputest_escape text result)
  string(REGEX REPLACE "([\\\"$])" "\\\\\\1" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The commands of a file of entries.

# The first one, with pairs of a file and its state: whether the rest of the file holds.
function(gputest_entries_made_from)
  set(gputest_entries_hold FALSE PARENT_SCOPE)
  # Installed tests may have been copied together with this file.
  if(NOT "${ARGV0}" STREQUAL "${gputest_executable}" OR NOT "${ARGV2}" STREQUAL "${gputest_script}" OR NOT "${ARGV4}" STREQUAL gputest_kind)
    return()
  endif()
  set(index 0)
  while(index LESS ARGC AND NOT gputest_entries_are_new)
    math(EXPR next "${index} + 1")
    _gputest_state_of("${ARGV${index}}" state)
    if(NOT "${state}" STREQUAL "${ARGV${next}}")
      return()
    endif()
    math(EXPR index "${index} + 2")
  endwhile()
  set(gputest_entries_hold TRUE PARENT_SCOPE)
endfunction()

# The second one: takes the names, with the prefix gputest_p if another call has one of them, unless others have these, too.
# Sets gputest_lane_<index>, and gputest_long_<index> for long cases.
function(gputest_entries_are_named)
  math(EXPR last "${ARGC} - 1")
  set(prefix "")
  set(is_taken TRUE)
  while(is_taken)
    set(is_taken FALSE)
    foreach(index RANGE ${last})
      get_property(owner GLOBAL PROPERTY "gputest entry ${prefix}${ARGV${index}}")
      if(NOT "${owner}" STREQUAL "" AND NOT owner STREQUAL gputest_script)
        set(is_taken TRUE)
        break()
      endif()
    endforeach()
    if(is_taken AND NOT prefix STREQUAL "")
      set(gputest_names_are_taken TRUE PARENT_SCOPE)
      return()
    elseif(is_taken)
      set(prefix "${gputest_own_prefix}")
    endif()
  endwhile()
  _gputest_count_lanes(lanes)
  _gputest_long_cases(long_cases)
  foreach(index RANGE ${last})
    set_property(GLOBAL PROPERTY "gputest entry ${prefix}${ARGV${index}}" "${gputest_script}")
    unset(gputest_long_${index} PARENT_SCOPE)
    string(FIND "${long_cases}" "\n${prefix}${ARGV${index}}\n" at)
    if(NOT at EQUAL -1)
      set(gputest_long_${index} --long PARENT_SCOPE)
    endif()
    unset(gputest_lane_${index} PARENT_SCOPE)
    if(NOT lanes EQUAL 0)
      math(EXPR lane "${index} % ${lanes}")
      set(gputest_lane_${index} RESOURCE_LOCK ${gputest_workers}_${lane} PARENT_SCOPE)
    endif()
  endforeach()
  set(gputest_p "${prefix}" PARENT_SCOPE)
endfunction()

# CTest starts tests in the order of their COST or, where it is 0, of the times that it has noted. That would mix the
# cases of all executables. So cases that workers may run have the same COST, and stay in their order. Long cases have none, so
# that they start first.
set(gputest_cost COST 5)

# A case that waits for a worker would take a place that others can use. So the cases of an executable take turns at a few
# RESOURCE_LOCKs, its lanes: as many as there are places for each executable of the project that has workers. 0: its cases have
# processes of their own.
function(_gputest_count_lanes result)
  if(NOT "${gputest_alone}" STREQUAL "" OR "$ENV{GPUTEST_ISOLATION}" STREQUAL "process")
    set(${result} 0 PARENT_SCOPE)
    return()
  endif()
  set(most 8)
  set(places ${most}) # unknown: by default, a preset or a script
  if("$ENV{CTEST_PARALLEL_LEVEL}" MATCHES "^ *0*([1-9][0-9]?[0-9]?[0-9]?) *$")
    set(places ${CMAKE_MATCH_1})
  endif()
  set(before "")
  _gputest_ctest_arguments(count)
  foreach(index RANGE ${count})
    get_property(argument GLOBAL PROPERTY "gputest argument ${index}")
    if("${before}${argument}" MATCHES "^(-j|--parallel)=?0*([1-9][0-9]?[0-9]?[0-9]?)$")
      set(places ${CMAKE_MATCH_2})
    elseif("${before}${argument}" MATCHES "^(-j|--parallel)=?0*$")
      set(places ${most}) # as many as there are processors, or any number
    endif()
    set(before "")
    if(argument MATCHES "^(-j|--parallel)$")
      set(before ${argument})
    endif()
  endforeach()
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

# The names of the executable's cases that took 5 s or more when they ran last, a line each, between empty lines. The entry that
# ends workers writes them. What CTest has noted does not tell: of a test with a COST it notes COST + (last time - COST) / runs.
function(_gputest_long_cases result)
  set(property "gputest long cases of ${gputest_workers}")
  get_property(file GLOBAL PROPERTY "${property}")
  if("${file}" STREQUAL "") # the calls for one executable share it
    set(file "${gputest_kept}-long.txt")
    set_property(GLOBAL PROPERTY "${property}" "${file}")
  endif()
  set(names "")
  if(EXISTS "${file}")
    file(READ "${file}" names)
  endif()
  set(${result} "\n${names}" PARENT_SCOPE)
endfunction()

# Before the entries with this request, of which there are so many: what scheduling adds to the properties of each,
# gputest_more_<kind>_<turn>.
function(gputest_scheduled_as kind request count)
  set(at_once "")
  set(cost "")
  if(NOT "${gputest_devices}" STREQUAL "")
    _gputest_schedule("${request}" at_once cost)
  endif()
  set(more "")
  if(NOT cost STREQUAL "")
    set(more COST ${cost})
  endif()
  set(turn 0)
  while(turn LESS count AND turn LESS gputest_turns)
    set(lock "")
    if(NOT at_once STREQUAL "")
      _gputest_next_lock(${at_once} lock)
      set(lock RESOURCE_LOCK ${lock})
    endif()
    set(gputest_more_${kind}_${turn} ${more} ${lock} PARENT_SCOPE)
    math(EXPR turn "${turn} + 1")
  endwhile()
endfunction()
set(gputest_turns 60) # more entries with a request begin again

# Before an entry of which no size is declared, with what it has by its request: sets gputest_more.
function(gputest_learn name gpus)
  if(gpus STREQUAL "") # of a call whose tests use none, unless they declare it
    set(gpus 1)
  endif()
  _gputest_learned("${name}" ${gpus} learned)
  if(learned STREQUAL "")
    set(learned ${ARGN})
  endif()
  set(gputest_more ${learned} PARENT_SCOPE)
endfunction()

# Sets gputest_alone to the argument for gputest-entry if ctest's command line may leave out the entry that ends workers. What
# fails at the end of a worker would be lost, so each case runs in a process of its own and says why. An option in a preset or in
# a script of ctest's is not seen.
function(_gputest_find_end_of_workers)
  set(gputest_alone "" PARENT_SCOPE)
  set(end "${gputest_target}.workers_end")
  set(option "")
  _gputest_ctest_arguments(count)
  foreach(index RANGE ${count})
    get_property(value GLOBAL PROPERTY "gputest argument ${index}")
    if(option STREQUAL "" AND value MATCHES "^(-E|-F[AC]|--exclude-regex|--fixture-exclude-any|--fixture-exclude-cleanup|--exclude-from-file)=?(.*)$")
      set(option "${CMAKE_MATCH_1}")
      set(value "${CMAKE_MATCH_2}")
      if(value STREQUAL "") # it is the next argument
        continue()
      endif()
    elseif(option STREQUAL "")
      continue()
    endif()
    set(name "${gputest_workers}")
    if(option MATCHES "^(-E|--exclude-regex)$")
      set(name "${end}")
    elseif(option STREQUAL "--exclude-from-file") # which is not read
      set(value ".")
    endif()
    _gputest_may_match("${name}" "${value}" may_match)
    if(may_match AND NOT value STREQUAL "")
      set(gputest_alone "--alone=ctest's option ${option} may leave out ${end}, which shows what fails when a worker ends" PARENT_SCOPE)
      return()
    endif()
    set(option "")
  endforeach()
endfunction()

# The last one, if there are cases that workers may run: the entry that CTest runs after all of these. It ends the
# workers, and fails if one of them does not end as it should: that is no failure of a case. The calls for one executable
# share the entry and the fixture that it cleans up. What the user's fixtures clean up, workers may use until they end.
function(gputest_add_end_of_workers)
  get_property(name GLOBAL PROPERTY "gputest end of ${gputest_workers}")
  if("${name}" STREQUAL "")
    set(name "${gputest_target}.workers_end")
    get_property(owner GLOBAL PROPERTY "gputest entry ${name}")
    while(NOT "${owner}" STREQUAL "")
      string(APPEND name "'")
      get_property(owner GLOBAL PROPERTY "gputest entry ${name}")
    endwhile()
    set_property(GLOBAL PROPERTY "gputest entry ${name}" "${gputest_workers}")
    set_property(GLOBAL PROPERTY "gputest end of ${gputest_workers}" "${name}")
    get_property(long_cases GLOBAL PROPERTY "gputest long cases of ${gputest_workers}")
    cmake_language(EVAL CODE "add_test(\"\${name}\" ${gputest_code_of_ENTRY_PROGRAM} --end \"\${gputest_executable}\" \"\${long_cases}\")")
    set_tests_properties("${name}" PROPERTIES WORKING_DIRECTORY "${gputest_WORKING_DIRECTORY}" LABELS gpu
      SKIP_RETURN_CODE 77 ENVIRONMENT "GPUTEST_TEST=${name}" FIXTURES_CLEANUP ${gputest_workers} FIXTURES_REQUIRED "${gputest_fixtures_of_all}")
  endif()
  if(NOT gputest_pairs_of_RESOURCE_LOCK STREQUAL "") # CTest adds it to those of other calls
    cmake_language(EVAL CODE "set_tests_properties(\"\${name}\" PROPERTIES${gputest_pairs_of_RESOURCE_LOCK})")
  endif()
endfunction()

# Making a file of entries. Its parts are the files <new_entries>.inputs, .names, .code and .list.

# Adds an entry, with code for the command and the properties, in which `stands_for_name` is a part of quoted arguments.
function(_gputest_write_entry name kind command properties)
  _gputest_escape("${name}" escaped)
  string(REPLACE ";" "\\;" element "${name}")
  _gputest_escape("${element}" element)
  string(REPLACE "${stands_for_name}" "\${gputest_p}${element}" properties "${properties}")
  get_property(turn GLOBAL PROPERTY "${new_entries} ${kind}")
  math(EXPR place "0${turn} % ${gputest_turns}")
  math(EXPR turn "0${turn} + 1")
  set_property(GLOBAL PROPERTY "${new_entries} ${kind}" ${turn})
  string(REPLACE "${stands_for_turn}" ${place} properties "${properties}")
  file(APPEND "${new_entries}.names" "\"${escaped}\"\n")
  if(properties MATCHES "{gputest_more}")
    file(APPEND "${new_entries}.code" "gputest_learn(\"\${gputest_p}${escaped}\" \"${gputest_GPUS}\" \${gputest_more_${kind}_${place}})\n")
  endif()
  file(APPEND "${new_entries}.code" "add_test(\"\${gputest_p}${escaped}\"${command})
cmake_language(CALL \${gputest_set_tests_properties} \"\${gputest_p}${escaped}\" PROPERTIES${properties})\n")
  if(NOT name MATCHES "[][]|\\\\$") # else a list could not hold it
    file(APPEND "${new_entries}.list" "\"\${gputest_p}${element}\"\n")
  endif()
endfunction()

# What entries with these labels and requests have: the beginning of set_tests_properties(), and all properties.
function(_gputest_properties_of labels memory gpus requests more_settings kind_result result)
  set(gputest_MEMORY "${memory}")
  set(gputest_GPUS "${gpus}")
  set(gputest_PLAIN FALSE)
  if(labels STREQUAL "" AND memory STREQUAL "none")
    set(gputest_PLAIN TRUE)
  endif()
  _gputest_watcher(gputest_property_ watcher)
  _gputest_entry_properties(gputest_ ${watcher} "${labels}" settings properties)
  if("${may_use_gpu}" STREQUAL "no") # gputest says so, not the user
    string(REPLACE "GPUTEST_MEMORY=set:none" "GPUTEST_MEMORY=set:unseen" settings "${settings}")
  endif()
  _gputest_quote("${gputest_WORKING_DIRECTORY}" folder)
  # CTest adds each list to those before it, so an unmatched bracket in one does not change another. The user's are between these two.
  set(properties " WORKING_DIRECTORY ${folder} ENVIRONMENT_MODIFICATION [[${settings}]]${properties}")
  set(last_settings " ENVIRONMENT_MODIFICATION \"${more_settings}GPUTEST_TEST=set:${stands_for_name}\"")
  if(gputest_PLAIN) # after the user's, which can only be 77
    _gputest_unwatched_skip_code(code)
    string(APPEND last_settings " SKIP_RETURN_CODE ${code}")
  endif()
  set(kind "")
  if(NOT requests STREQUAL "")
    string(MAKE_C_IDENTIFIER "${requests}" kind)
    set_property(GLOBAL APPEND PROPERTY "${new_entries}" "${requests}")
    string(APPEND properties " GPUTEST_REQUEST [[${requests}]] \${gputest_more_${kind}_${stands_for_turn}}")
    if(memory MATCHES "^(auto|medium)$") # no size is declared
      string(REGEX REPLACE "gputest_more_[A-Za-z0-9_]+${stands_for_turn}" "gputest_more" properties "${properties}")
    endif()
  endif()
  set(${kind_result} "${kind}" PARENT_SCOPE)
  set(${result} "${properties}${gputest_pairs_of_LABELS}${gputest_code_of_PROPERTIES}${last_settings}" PARENT_SCOPE)
endfunction()

# The argument that has an entry write a report; `name` has no prefix and suffix.
function(_gputest_xml_argument name result)
  set(${result} "" PARENT_SCOPE)
  if(NOT gputest_XML_OUTPUT_DIR STREQUAL "")
    _gputest_escape("${gputest_XML_OUTPUT_DIR}" folder)
    set(name "${gputest_TEST_PREFIX}${name}${gputest_TEST_SUFFIX}")
    string(REGEX REPLACE "^.*/" "" file "${name}")
    string(LENGTH "${gputest_own_prefix}${file}.xml" length)
    if(length GREATER 255) # the longest name of a file
      string(SHA256 hash "${name}")
      string(LENGTH "${file}" length_of_file)
      string(LENGTH "${name}" length)
      math(EXPR kept "${length} - ${length_of_file} + 100")
      string(SUBSTRING "${name}" 0 ${kept} name)
      string(APPEND name "-${hash}")
    endif()
    _gputest_escape("${name}" name)
    set(${result} " \"--gtest_output=xml:${folder}/\${gputest_p}${name}.xml\"" PARENT_SCOPE)
  endif()
endfunction()

# The lines of a list are calls of these three functions. They read and set variables of _gputest_list_tests().
function(gputest_listed_library file)
  _gputest_state_of("${file}" state)
  _gputest_quote("${file}" quoted)
  file(APPEND "${new_entries}.inputs" "${quoted} [[${state}]]\n")
endfunction()

function(gputest_listed_all count)
  set(listed ${count} PARENT_SCOPE)
endfunction()

# What comes before the executable, as code.
function(_gputest_launcher_of class result)
  set(${result} "${gputest_code_of_RUN}" PARENT_SCOPE)
  if(class STREQUAL "host" AND gputest_MEMORY STREQUAL "none")
    set(${result} "" PARENT_SCOPE)
  elseif(class STREQUAL "host")
    set(${result} "${gputest_code_of_WATCH}" PARENT_SCOPE)
  endif()
endfunction()

# A case. `suite` and `test` are names without the type and without the index of the value. The names hold no control
# character.
function(gputest_listed_test filter suite type_name type test value_index value location enabled class memory gpus alone)
  set(request "")
  if(NOT class STREQUAL "host")
    string(REGEX REPLACE "^auto" any size "${memory}")
    _gputest_request(${class} ${size} ${gpus} "${gputest_HEAP}" "${gputest_LARGE}" request)
  endif()
  if(NOT gputest_GRANULARITY STREQUAL "case")
    if(enabled STREQUAL "ENABLED")
      string(REGEX REPLACE "-.*$" "" filter "${filter}") # what it leaves out would be left out of all
      set(filter_of_${class} "${filter_of_${class}}${filter}:" PARENT_SCOPE)
      if(NOT request IN_LIST requests_of_${class})
        set(requests_of_${class} ${requests_of_${class}} "${request}" PARENT_SCOPE)
      endif()
    endif()
    return()
  endif()

  _gputest_name_case()

  # Cases with the same needs have the same properties, but for their names.
  set(kind ${class}_${memory}_${gpus})
  if(NOT DEFINED "properties_of_${kind}")
    if(class STREQUAL "host")
      set(memory "${gputest_MEMORY}")
    else()
      string(REPLACE "+" " " memory "${memory}")
      if(memory MATCHES "^any" OR class STREQUAL "large")
        string(REGEX REPLACE "^[^ ]+" ${class} memory "${memory}")
      endif()
    endif()
    _gputest_labels_of(${class} labels)
    # A shard would leave out a case that is alone.
    _gputest_properties_of("${labels}" "${memory}" ${gpus} "${request}" "GTEST_TOTAL_SHARDS=unset:;GTEST_SHARD_INDEX=unset:;"
      scheduled_of_${kind} properties_of_${kind})
    set("scheduled_of_${kind}" "${scheduled_of_${kind}}" PARENT_SCOPE)
    set("properties_of_${kind}" "${properties_of_${kind}}" PARENT_SCOPE)
  endif()
  set(properties "${properties_of_${kind}}")
  if(enabled STREQUAL "DISABLED")
    string(APPEND properties " DISABLED TRUE")
  endif()
  if(NOT location STREQUAL "")
    string(APPEND properties " DEF_SOURCE_LINE [=====[${location}]=====]")
  endif()
  _gputest_launcher_of("${class}" launcher)
  if(NOT gputest_code_of_ENTRY_PROGRAM STREQUAL "" AND NOT launcher STREQUAL "")
    set(launcher "${gputest_code_of_ENTRY_PROGRAM}")
    if(alone STREQUAL "" AND "${gputest_code_of_PROPERTIES}" MATCHES " ((FAIL|SKIP)_REGULAR_EXPRESSION) \\[")
      set(alone "${CMAKE_MATCH_1} looks at its output") # it may run twice, and both are in the output
    endif()
    if(alone STREQUAL "")
      set(has_workers TRUE PARENT_SCOPE)
      string(APPEND launcher " \${gputest_alone} \${gputest_long_${entries}}")
      string(APPEND properties " FIXTURES_REQUIRED ${gputest_workers}")
      # CTest adds the user's own locks to it. A COST of scheduling's or of the user's replaces this one, and their GPUTEST_MPS.
      # A long case has neither: its gputest_long_<index> is --long, and there are no gputest_cost--long and gputest_lane--long_<index>.
      string(PREPEND properties
        " \${gputest_cost\${gputest_long_${entries}}} \${gputest_mps} \${gputest_lane\${gputest_long_${entries}}_${in_lanes}}")
      math(EXPR in_lanes "${in_lanes} + 1")
      set(in_lanes ${in_lanes} PARENT_SCOPE)
    else()
      string(APPEND launcher " [=====[--alone=${alone}]=====]")
    endif()
  endif()
  _gputest_xml_argument("${gtest_name}" xml)
  set(selects " [=====[--gtest_filter=${filter}]=====] --gtest_also_run_disabled_tests")
  if(gputest_CATCH2)
    set(selects " [=====[${filter}]=====]")
  endif()
  _gputest_write_entry("${gputest_TEST_PREFIX}${name}${gputest_TEST_SUFFIX}" "${scheduled_of_${kind}}"
    "${launcher}${command}${selects}${xml}${gputest_code_of_EXTRA_ARGS}"
    "${properties}")
  math(EXPR entries "${entries} + 1")
  set(entries ${entries} PARENT_SCOPE)
endfunction()

# Adds an entry for all tests of these classes; `filter` is the filter as code.
function(_gputest_write_common_entry name filter labels requests)
  list(JOIN requests "|" requests)
  list(REMOVE_DUPLICATES labels)
  _gputest_properties_of("${labels}" "${gputest_MEMORY}" "${gputest_GPUS}" "${requests}" "" kind properties)
  if(filter STREQUAL "") # all are disabled
    string(APPEND properties " DISABLED TRUE")
  endif()
  set(class "")
  if(labels STREQUAL "") # no test in it uses a GPU
    set(class host)
  endif()
  _gputest_launcher_of("${class}" launcher)
  _gputest_xml_argument("${name}" xml)
  _gputest_write_entry("${gputest_TEST_PREFIX}${name}${gputest_TEST_SUFFIX}" "${kind}"
    "${launcher}${command}${filter}${xml}${gputest_code_of_EXTRA_ARGS}" "${properties}")
endfunction()

function(_gputest_write_common_entries)
  set(all_labels "")
  set(all_requests "")
  set(filter "")
  foreach(class IN ITEMS host small medium large)
    if("${filter_of_${class}}" STREQUAL "")
      continue()
    endif()
    _gputest_labels_of(${class} labels)
    list(APPEND all_labels ${labels})
    list(APPEND all_requests ${requests_of_${class}})
    set(filter " --gtest_filter=*")
    if(NOT gputest_TEST_FILTER STREQUAL "")
      set(filter " [=====[--gtest_filter=${gputest_TEST_FILTER}]=====]")
    endif()
    if(gputest_GRANULARITY STREQUAL "class")
      set(class_filter "--gtest_filter=${filter_of_${class}}")
      string(LENGTH "${class_filter}" length)
      if(length GREATER 100000) # longer than an argument may be
        file(WRITE "${new_entries}.flags" "${class_filter}\n")
        set(class_filter "--gtest_flagfile=${gputest_kept}-${class}.flags")
        file(RENAME "${new_entries}.flags" "${gputest_kept}-${class}.flags")
      endif()
      _gputest_write_common_entry("${gputest_target}.${class}" " [=====[${class_filter}]=====]" "${labels}" "${requests_of_${class}}")
    endif()
  endforeach()
  # If all tests are disabled, they are one entry in any case.
  if(gputest_GRANULARITY STREQUAL "executable" OR filter STREQUAL "")
    _gputest_write_common_entry("${gputest_target}" "${filter}" "${all_labels}" "${all_requests}")
  endif()
endfunction()

# Lists the tests, and writes the file of entries. If that cannot be done, says why in `problem`, and what the executable has
# printed.
function(_gputest_list_tests problem_result output_result)
  set(${output_result} "" PARENT_SCOPE)
  if(NOT EXISTS "${gputest_executable}")
    set(${problem_result} "it does not exist. Build it" PARENT_SCOPE)
    return()
  elseif(gputest_kept STREQUAL "")
    set(${problem_result} "${gputest_unusable}" PARENT_SCOPE)
    return()
  endif()
  string(RANDOM LENGTH 16 unique)
  set(new_entries "${gputest_kept}-${unique}")
  set(list "${new_entries}.tests")
  foreach(part IN ITEMS inputs names code list)
    file(WRITE "${new_entries}.${part}" "")
  endforeach()
  set(may_use_gpu "")
  if(gputest_nothing_declared AND gputest_kind STREQUAL "real devices" AND DEFINED gputest_tool)
    execute_process(COMMAND "${gputest_tool}" devices --may-use "${gputest_executable}" OUTPUT_VARIABLE may_use_gpu ERROR_QUIET)
  endif()
  if(may_use_gpu STREQUAL "no")
    set(gputest_MEMORY none)
    set(gputest_GPUS "")
  endif()
  # The states before the listing: what changes meanwhile is listed again the next time. The kind of devices is no file.
  foreach(file IN ITEMS "${gputest_executable}" "${gputest_script}" "${gputest_kind}" "${gputest_directory}/discover.cmake"
          "${gputest_directory}/entry_properties.cmake" "${gputest_directory}/requests.cmake")
    gputest_listed_library("${file}")
  endforeach()
  math(EXPR longest "${gputest_DISCOVERY_TIMEOUT} + 10") # if gputest-entry cannot end a process that has the output open
  cmake_language(EVAL CODE "execute_process(${gputest_lister}
    TIMEOUT \${longest} WORKING_DIRECTORY \"\${gputest_WORKING_DIRECTORY}\"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE ended)")
  set(${output_result} "${output}" PARENT_SCOPE)
  set(problem "")
  if(ended MATCHES "^Signal 64$|timeout") # how gputest-entry ends then, or execute_process()
    set(problem "it did not end within ${gputest_DISCOVERY_TIMEOUT} s (DISCOVERY_TIMEOUT)")
  elseif(NOT ended STREQUAL "0")
    set(problem "it ended with: ${ended}")
  elseif(NOT EXISTS "${list}")
    set(problem "it wrote no list. Link gputest::main in place of GTest::gtest_main, or end its main() with `return gputest::run_all_tests();`")
  else()
    string(ASCII 1 stands_for_name)
    string(ASCII 2 stands_for_turn)
    set(command "${gputest_code_of_LAUNCHER} [======[${gputest_executable}]======]")
    set(entries 0)
    set(in_lanes 0)
    set(has_workers FALSE)
    set(listed "")
    include("${list}")
    if(listed STREQUAL "")
      set(problem "its list has no end")
    elseif(listed EQUAL 0 AND NOT gputest_TEST_FILTER STREQUAL "")
      set(problem "it has no tests that TEST_FILTER selects: ${gputest_TEST_FILTER}")
    elseif(listed EQUAL 0)
      set(problem "it has no tests")
    else()
      if(NOT gputest_GRANULARITY STREQUAL "case")
        _gputest_write_common_entries()
      endif()
      if(has_workers)
        file(APPEND "${new_entries}.code" "gputest_add_end_of_workers()\n")
      endif()
      foreach(part IN ITEMS inputs names code list)
        file(READ "${new_entries}.${part}" ${part})
      endforeach()
      set(scheduled "")
      get_property(all_requests GLOBAL PROPERTY "${new_entries}")
      list(REMOVE_DUPLICATES all_requests)
      foreach(requests IN LISTS all_requests)
        string(MAKE_C_IDENTIFIER "${requests}" kind)
        get_property(count GLOBAL PROPERTY "${new_entries} ${kind}")
        string(APPEND scheduled "gputest_scheduled_as(${kind} [[${requests}]] ${count})\n")
      endforeach()
      _gputest_quote("${gputest_TEST_LIST}" test_list)
      file(WRITE "${new_entries}.cmake" "gputest_entries_made_from(\n${inputs})
if(NOT gputest_entries_hold)\n  return()\nendif()
gputest_entries_are_named(\n${names})
if(gputest_names_are_taken)\n  return()\nendif()
${scheduled}${code}set(${test_list} \"\")\nlist(APPEND ${test_list}\n${list})\n")
      file(RENAME "${new_entries}.cmake" "${gputest_kept}-entries.cmake")
    endif()
  endif()
  foreach(part IN ITEMS inputs names code list tests)
    file(REMOVE "${new_entries}.${part}")
  endforeach()
  set(${problem_result} "${problem}" PARENT_SCOPE)
endfunction()

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
It printed:
${output}
")
  set(name "${gputest_TEST_PREFIX}${gputest_target}_NOT_LISTED${gputest_TEST_SUFFIX}")
  if(gputest_kept STREQUAL "")
    add_test("${name}" sh -c [[printf %s "$1"; exit 1]] sh "${text}")
  else() # no argument can hold every output
    string(RANDOM LENGTH 16 unique)
    file(WRITE "${gputest_kept}-${unique}.txt" "${text}")
    file(RENAME "${gputest_kept}-${unique}.txt" "${gputest_kept}-problem.txt")
    add_test("${name}" sh -c [[cat "$1"; exit 1]] sh "${gputest_kept}-problem.txt")
  endif()
  set(labels " LABELS \"gpu;gpu_small;gpu_medium\"")
  if(gputest_MEMORY STREQUAL "none") # -LE gpu must not leave it out
    set(labels " LABELS \"\"")
  endif()
  cmake_language(EVAL CODE "set_tests_properties(\"\${name}\" PROPERTIES${labels}${gputest_pairs_of_LABELS})")
endfunction()

# Sets gputest_kept to where entries are kept if it cannot be beside the script: in the user's cache. What is in it is
# run, so only the user may have written it. Empty if it cannot be used; gputest_unusable then says why.
function(_gputest_find_cache)
  string(SHA256 hash "${gputest_script}")
  execute_process(COMMAND sh -c [[
cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $cache in /*) ;; *) exit ;; esac
folder=$cache/gputest/$1
umask 077
mkdir -p "$folder" && test -w "$folder" || exit
user=$(id -u)
odd=$(find "$cache/gputest/." -maxdepth 0 \( ! -user "$user" -o -perm /022 \) &&
  find "$folder" ! -user "$user" -o -type l -o -type d -perm /022) || odd=$folder
if test -z "$odd"; then echo "$folder"; else echo "!$cache/gputest"; ls -ld $odd; fi]] sh "${hash}"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(gputest_kept "" PARENT_SCOPE)
  set(gputest_unusable "neither ${gputest_script}'s folder nor gputest's folder in your cache (XDG_CACHE_HOME, HOME) can be written" PARENT_SCOPE)
  if(folder MATCHES "^!([^\n]*)\n?(.*)$")
    set(gputest_unusable "its list would be kept in ${CMAKE_MATCH_1}, and ctest runs what is in there, but others than you \
can write to it or have done so. It has to be your own, with mode 0700. Look at it, and remove it: rm -r ${CMAKE_MATCH_1}\n\
${CMAKE_MATCH_2}" PARENT_SCOPE)
  elseif(NOT folder STREQUAL "")
    set(gputest_kept "${folder}/list" PARENT_SCOPE)
  endif()
endfunction()

# The listing, without and with what it needs to know. Variables that would change a list, or write a report of it, are
# not for this run. gputest-entry ends it when the time is over: the time limit of execute_process() ends only the process that it has
# started itself, with some versions of CMake.
set(gputest_listing "${gputest_code_of_DISCOVERY_ENVIRONMENT}")
if(NOT gputest_listing STREQUAL "")
  string(PREPEND gputest_listing " env")
endif()
set(gputest_lists --gtest_list_tests)
set(gputest_filter --gtest_filter=)
if(gputest_CATCH2)
  set(gputest_lists --list-tests)
  set(gputest_filter "")
endif()
string(APPEND gputest_listing "${gputest_code_of_EMULATOR} [======[${gputest_executable}]======] ${gputest_lists}")
if(NOT gputest_TEST_FILTER STREQUAL "")
  _gputest_quote("${gputest_filter}${gputest_TEST_FILTER}" gputest_quoted)
  string(APPEND gputest_listing " ${gputest_quoted}")
endif()
string(APPEND gputest_listing "${gputest_code_of_DISCOVERY_EXTRA_ARGS}")
set(gputest_lister "COMMAND sh -c [[
unset GTEST_FILTER GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX GTEST_SHARD_STATUS_FILE GTEST_OUTPUT GTEST_FLAGFILE \\
  TESTBRIDGE_TEST_ONLY GPUTEST_ENTRY GPUTEST_HEAP GPUTEST_KEEPS GPUTEST_REQUIRES GPUTEST_LARGE GPUTEST_WAIT_LIMIT GPUTEST_TIMEOUT
export GPUTEST_LIST_FILE=\"$1\" GPUTEST_MEMORY=\"$2\" GPUTEST_GPUS=\"$3\"
shift 3
exec \"$@\" < /dev/null]] sh \"\${list}\" \"\${gputest_MEMORY}\" \"\${gputest_GPUS}\"
  ${gputest_code_of_LIST} \"\${gputest_DISCOVERY_TIMEOUT}\" ${gputest_listing}")

string(SHA256 gputest_workers "${gputest_executable}")
string(SUBSTRING "${gputest_workers}" 0 16 gputest_workers)
set(gputest_workers gputest_workers_${gputest_workers}) # the fixture of its cases that workers may run
if(NOT gputest_code_of_ENTRY_PROGRAM STREQUAL "")
  _gputest_find_end_of_workers()
endif()
set(gputest_directory "${CMAKE_CURRENT_LIST_DIR}")
set(gputest_kind "real devices")
if("$ENV{GPUTEST_DEVICES}" MATCHES "^simulated")
  set(gputest_kind "simulated devices")
endif()
set(gputest_entries_are_new FALSE)
set(gputest_entries_hold FALSE)
set(gputest_names_are_taken FALSE)
string(REGEX REPLACE "\\.cmake$" "" gputest_kept "${gputest_script}")
include("${gputest_kept}-entries.cmake" OPTIONAL)
if(NOT gputest_entries_hold)
  get_filename_component(gputest_folder "${gputest_kept}" DIRECTORY)
  execute_process(COMMAND test -w "${gputest_folder}" RESULT_VARIABLE gputest_not_writable)
  if(gputest_not_writable)
    _gputest_find_cache()
    if(NOT gputest_kept STREQUAL "")
      include("${gputest_kept}-entries.cmake" OPTIONAL)
    endif()
  endif()
endif()
if(NOT gputest_entries_hold)
  _gputest_list_tests(gputest_problem gputest_output)
  if(gputest_problem STREQUAL "")
    set(gputest_entries_are_new TRUE)
    include("${gputest_kept}-entries.cmake")
  else()
    _gputest_add_failing_entry("${gputest_problem}" "${gputest_output}")
  endif()
endif()
if(gputest_names_are_taken)
  set(gputest_TEST_PREFIX "${gputest_own_prefix}${gputest_TEST_PREFIX}")
  _gputest_add_failing_entry("other calls of gpu_discover_tests() have tests with these names. Give it a TEST_PREFIX" "")
endif()
