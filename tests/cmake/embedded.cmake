# SPDX-License-Identifier: BSD-3-Clause
# Configures a project that gputest is a part of: how its programs are made, and what else that project does stays as it is.
#
#   cmake -DSOURCES=<this project> -DPACKAGE=<folder with gputest-config.cmake> -DWORK=<scratch folder>
#         [-DOPTIONS=<options of the configure step>] -P embedded.cmake
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/ctest_run.cmake")

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
