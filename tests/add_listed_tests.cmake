# SPDX-License-Identifier: BSD-3-Clause
# Runs in ctest when it starts, with EXECUTABLE, PREFIX, FOLDER and PROPERTIES: one CTest entry for each case that the
# executable lists. An executable that cannot list its cases is an entry that fails and shows why.

set(cases "")
set(problem "it does not exist; build it")
if(EXISTS "${EXECUTABLE}")
  execute_process(COMMAND "${EXECUTABLE}" --gtest_list_tests
    WORKING_DIRECTORY "${FOLDER}" TIMEOUT 60
    OUTPUT_VARIABLE list ERROR_VARIABLE problem RESULT_VARIABLE result)
  if(result STREQUAL "0")
    string(REGEX REPLACE "[[]|[]]|;" "_" list "${list}") # what would end or split an element of a list
    string(REPLACE "\n" ";" lines "${list}")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE " *#.*" "" line "${line}")
      if(line MATCHES "^[^ ]+\\.$")
        set(suite "${line}")
      elseif(line MATCHES "^  ([^ ]+)$")
        list(APPEND cases "${suite}${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endif()
  string(APPEND problem "\n${list}")
endif()

foreach(case IN LISTS cases)
  set(disabled "")
  if(case MATCHES "(^|/|\\.)DISABLED_")
    set(disabled DISABLED ON)
  endif()
  add_test("${PREFIX}${case}" "${EXECUTABLE}" "--gtest_filter=${case}" --gtest_also_run_disabled_tests)
  set_tests_properties("${PREFIX}${case}" PROPERTIES WORKING_DIRECTORY "${FOLDER}" ${PROPERTIES} ${disabled})
endforeach()
if(NOT cases)
  add_test("${PREFIX}lists_its_cases" "${CMAKE_COMMAND}" -E echo "${EXECUTABLE} lists no cases: ${problem}")
  set_tests_properties("${PREFIX}lists_its_cases" PROPERTIES FAIL_REGULAR_EXPRESSION "lists no cases")
endif()
