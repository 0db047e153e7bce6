# SPDX-License-Identifier: BSD-3-Clause
# The script that runs when ctest starts, for one call of gpu_discover_tests(): what ARG_<keyword> says, and the inclusion of
# discover.cmake. The text is the content of a file(GENERATE).
function(_gputest_discovery_script target number result)
  # add_test() would put these words before the executable. A launcher of tests is not used to list them.
  _gputest_emulator("${target}" "TEST_LAUNCHER;CROSSCOMPILING_EMULATOR" LAUNCHER)
  _gputest_emulator("${target}" CROSSCOMPILING_EMULATOR EMULATOR)
  _gputest_watch_words(WATCH)
  set(RUN ${WATCH})
  if("${ARG_LAUNCHER}" MATCHES "^(on|ON)$")
    _gputest_launcher_words(RUN)
  endif()
  set(ENTRY_PROGRAM "")
  if("${ARG_ISOLATION}" STREQUAL "worker" AND LAUNCHER STREQUAL "")
    set(ENTRY_PROGRAM "$<TARGET_FILE:gputest::entry>")
    _gputest_note_fixtures_of_workers("${target}" "${ARG_PROPERTY_FIXTURES_REQUIRED}")
  endif()

  set(own_prefix "${target}.")
  if(number GREATER 1)
    set(own_prefix "${target}-${number}.")
  endif()
  set(text "# Written by gpu_discover_tests(); runs when ctest starts.
set(gputest_script \"\${CMAKE_CURRENT_LIST_FILE}\")
set(gputest_executable [======[$<TARGET_FILE:${target}>]======])
set(gputest_fixtures_of_all [[$<TARGET_PROPERTY:${target},GPUTEST_FIXTURES_OF_WORKERS>]])\n") # also by later calls
  _gputest_append_variable(target "${target}")
  _gputest_append_variable(own_prefix "${own_prefix}")
  foreach(default IN ITEMS "GRANULARITY;case" "WORKING_DIRECTORY;${CMAKE_CURRENT_BINARY_DIR}" "TEST_LIST;${target}_TESTS" "DISCOVERY_TIMEOUT;60")
    list(GET default 0 keyword)
    if(NOT DEFINED ARG_${keyword})
      list(GET default 1 ARG_${keyword})
    endif()
  endforeach()
  foreach(keyword IN ITEMS GRANULARITY MEMORY GPUS HEAP KEEPS REQUIRES LARGE TIMEOUT WAIT_LIMIT LABELS WORKING_DIRECTORY TEST_PREFIX
          TEST_SUFFIX TEST_FILTER TEST_LIST NO_PRETTY_TYPES NO_PRETTY_VALUES XML_OUTPUT_DIR DISCOVERY_TIMEOUT)
    _gputest_append_variable(${keyword} "${ARG_${keyword}}")
  endforeach()
  foreach(property IN ITEMS LABELS ENVIRONMENT_MODIFICATION WILL_FAIL PASS_REGULAR_EXPRESSION SKIP_REGULAR_EXPRESSION FIXTURES_REQUIRED
          RESOURCE_LOCK)
    _gputest_append_variable(property_${property} "${ARG_PROPERTY_${property}}")
  endforeach()
  set(code "")
  foreach(name IN LISTS ARG_PROPERTIES)
    if(NOT name MATCHES "^(LABELS|ENVIRONMENT_MODIFICATION|TIMEOUT)$") # gputest has these, too
      _gputest_quote("${name}" quoted_name)
      _gputest_quote("${ARG_PROPERTY_${name}}" quoted)
      string(APPEND code " ${quoted_name} ${quoted}")
    endif()
  endforeach()
  _gputest_append_variable(code_of_PROPERTIES "${code}")
  _gputest_append_variable(code_of_EXTRA_ARGS "${ARG_EXTRA_ARGS}")
  _gputest_append_variable(code_of_DISCOVERY_EXTRA_ARGS "${ARG_DISCOVERY_EXTRA_ARGS}")
  foreach(words IN ITEMS RUN WATCH ENTRY_PROGRAM LAUNCHER EMULATOR)
    _gputest_code_of_words("${${words}}" code)
    _gputest_append_variable(code_of_${words} "${code}")
  endforeach()
  _gputest_quote("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/discover.cmake" quoted)
  set(${result} "${text}include(${quoted})\n" PARENT_SCOPE)
endfunction()

# Appends a command that sets a variable to `text` in the caller.
function(_gputest_append_variable name value)
  _gputest_quote("${value}" quoted)
  set(text "${text}set(gputest_${name} ${quoted})\n" PARENT_SCOPE)
endfunction()

# Notes the fixtures of the user that the end of the workers requires, so that it comes before their clean-ups: those of all calls
# for a target with ISOLATION worker. What one call does not require must not be set up for its cases alone; and it could come
# after the clean-up of such a fixture: the end of the workers, which comes after all calls, would be in a circle.
function(_gputest_note_fixtures_of_workers target fixtures)
  get_property(is_noted TARGET "${target}" PROPERTY GPUTEST_FIXTURES_OF_WORKERS SET)
  if(is_noted)
    get_property(noted TARGET "${target}" PROPERTY GPUTEST_FIXTURES_OF_WORKERS)
    foreach(fixture IN LISTS fixtures)
      if(NOT fixture IN_LIST noted)
        list(REMOVE_ITEM fixtures "${fixture}")
      endif()
    endforeach()
  endif()
  set_property(TARGET "${target}" PROPERTY GPUTEST_FIXTURES_OF_WORKERS "${fixtures}")
endfunction()
