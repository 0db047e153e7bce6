# SPDX-License-Identifier: BSD-3-Clause
# Configures a project that gputest is a part of: how its programs are made, and what else that project does stays as it is.
#
#   cmake -DSOURCES=<this project> -DPACKAGE=<folder with gputest-config.cmake> -DWORK=<scratch folder>
#         [-DOPTIONS=<options of the configure step>] -P embedded.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/ctest_run.cmake")
list(FILTER OPTIONS INCLUDE REGEX "^-DCMAKE_(CXX|BUILD)") # of the others CMake may say something

# configure(<case> <code>): `ended` becomes CMake's exit code and what it says as errors and warnings.
function(configure case code)
  file(WRITE "${WORK}/${case}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\nproject(embedded LANGUAGES CXX)\n${code}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/${case}" -B "${WORK}/${case}/build" ${OPTIONS}
    OUTPUT_QUIET ERROR_VARIABLE output RESULT_VARIABLE result)
  set(ended "${result}: ${output}" PARENT_SCOPE)
endfunction()

# No linker makes a static program with a sanitizer.
configure(sanitized "add_compile_options(-fsanitize=address)
add_link_options(-fsanitize=address)
add_subdirectory(\"${SOURCES}\" gputest)
get_target_property(options gputest_entry LINK_OPTIONS)
if(options MATCHES \";-static\")
  message(FATAL_ERROR \"it is static: \${options}\")
endif()\n")
require([["${ended}" STREQUAL "0: "]] "${ended}")

# Another part of the project finds the same version, before or after.
set(package "find_package(gputest REQUIRED CONFIG PATHS \"${PACKAGE}\" NO_DEFAULT_PATH)")
file(WRITE "${WORK}/finds/CMakeLists.txt" "${package}\n")
set(finds "add_subdirectory(\"${WORK}/finds\" finds)")
set(builds "add_subdirectory(\"${SOURCES}\" gputest)")
set(uses "enable_testing()
gpu_add_test(NAME t COMMAND sh)
file(WRITE main.cpp \"\")
add_executable(tests main.cpp)
target_link_libraries(tests PRIVATE gputest::main)")
foreach(code IN ITEMS "${builds}\n${package}" "${builds}\n${finds}" "${finds}\n${builds}")
  string(MD5 case "${code}")
  configure(${case} "${code}\n${uses}\n")
  require([["${ended}" STREQUAL "0: "]] "${code}: ${ended}")
endforeach()

# `all` builds the tool for tests that it builds, and not for those of a dependency that it leaves out.
foreach(option_and_excluded IN ITEMS "EXCLUDE_FROM_ALL;is_excluded-NOTFOUND" ";OFF")
  list(GET option_and_excluded 0 option)
  list(GET option_and_excluded 1 expected)
  configure(dependency_${expected} "enable_testing()
file(WRITE dependency/tests/CMakeLists.txt \"gpu_add_test(NAME t COMMAND sh)\")
file(WRITE dependency/CMakeLists.txt [[add_subdirectory(\"${SOURCES}\" gputest)\nadd_subdirectory(tests)]])
add_subdirectory(dependency ${option})
get_target_property(is_excluded gputest_cli EXCLUDE_FROM_ALL)
message(NOTICE \"excluded: \${is_excluded}\")\n")
  require([["${ended}" MATCHES "^0: excluded: ${expected}"]] "${ended}")
endforeach()

# Who builds nothing but a test's own target has what starts it, too.
configure(one_target "enable_testing()
add_subdirectory(\"${SOURCES}\" gputest)
file(WRITE main.cpp \"\")
foreach(name IN ITEMS discovered linked linked_later foreign host)
  add_executable(\${name} main.cpp)
endforeach()
target_link_libraries(discovered PRIVATE gputest::main)
target_link_libraries(linked PRIVATE gputest::main)
gpu_discover_tests(discovered)
add_executable(alias::foreign ALIAS foreign)
add_executable(imported IMPORTED)
set_target_properties(imported PROPERTIES IMPORTED_LOCATION /bin/true)
foreach(name IN ITEMS linked linked_later alias::foreign imported gputest::cli gputest::entry) # the last two wait for each other in no case
  gpu_add_test(NAME \${name} COMMAND \${name})
endforeach()
gpu_add_test(NAME host COMMAND host MEMORY none)
target_link_libraries(linked_later PRIVATE gputest::main)
function(say_what_is_built)
  foreach(name IN ITEMS discovered linked linked_later foreign host imported)
    get_target_property(programs \${name} MANUALLY_ADDED_DEPENDENCIES)
    list(APPEND all \"\${name}: \${programs}\")
  endforeach()
  message(NOTICE \"\${all}\")
endfunction()
cmake_language(DEFER CALL say_what_is_built)\n")
set(both "gputest_cli;gputest_entry")
set(none programs-NOTFOUND)
require([["${ended}" STREQUAL "0: discovered: ${both};linked: ${both};linked_later: ${both};foreign: ${both};host: ${none};imported: ${none}\n"]]
  "${ended}")
