# SPDX-License-Identifier: BSD-3-Clause
# For developers of gputest: warnings as errors, sanitizers, and targets that check and apply the code's format. It
# applies to this project's directories only, not to a project that adds gputest.

add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wnon-virtual-dtor;-Wold-style-cast;-Werror>")
if(NOT CMAKE_UNITY_BUILD) # in which one file's names hide those of another
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wshadow>")
endif()

set(GPUTEST_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them: address,undefined or thread")
if(NOT GPUTEST_SANITIZE)
  # As Ubuntu's compiler does by itself, which then warns of more, such as a result of read() that nobody looks at.
  add_compile_options(
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release,RelWithDebInfo>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
else()
  # Not vptr: that check opens a pipe, and reports every object as wrong in tests that have no descriptor left.
  set(GPUTEST_SANITIZE_FLAGS "-fsanitize=${GPUTEST_SANITIZE}" -fno-sanitize=vptr -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  # gcc warns about bounds and uninitialised memory in code that it has instrumented itself.
  add_compile_options(${GPUTEST_SANITIZE_FLAGS} -Wno-error)
  add_link_options(${GPUTEST_SANITIZE_FLAGS})
endif()

find_program(GPUTEST_CLANG_FORMAT NAMES clang-format DOC "clang-format, for the targets format and format-check")
find_package(Git QUIET)
if(GPUTEST_CLANG_FORMAT AND GIT_FOUND)
  # Only tracked files. git lists them when the target runs, so new files need no configure step.
  foreach(target_and_option IN ITEMS "format:-i" "format-check:--dry-run -Werror")
    string(REGEX MATCH "^([^:]+):(.*)$" _ "${target_and_option}")
    add_custom_target(${CMAKE_MATCH_1}
      COMMAND sh -c "'${GIT_EXECUTABLE}' ls-files -z -- '*.cpp' '*.hpp' '*.cu' | xargs -0 -r '${GPUTEST_CLANG_FORMAT}' ${CMAKE_MATCH_2}"
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      VERBATIM)
  endforeach()
endif()
