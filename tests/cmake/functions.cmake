# SPDX-License-Identifier: BSD-3-Clause
# The helpers that need no project, by table: what is quoted, sizes and durations.
#
#   cmake -DMODULES=<gputest's cmake folder> -P functions.cmake
cmake_minimum_required(VERSION 3.25)
foreach(name IN ITEMS entry_properties quote values)
  include("${MODULES}/detail/${name}.cmake")
endforeach()
set_property(GLOBAL PROPERTY failures 0)

function(expect what expected seen)
  if(NOT "${expected}" STREQUAL "${seen}")
    set_property(GLOBAL PROPERTY failures 1)
    message(NOTICE "FAILED ${what}: expected ${expected}, seen ${seen}")
  endif()
endfunction()

# CMake reads a quoted text back unchanged.
foreach(text IN ITEMS "" "word" "\n" "\nline\n" "]=]" "]==]" "]=] and ]==]" "]==] and ]=]" "]" "]=" "x]=]=" "[=[" "\${x}\\\"" "]====]")
  _gputest_quote("${text}" quoted)
  cmake_language(EVAL CODE "set(seen ${quoted})")
  expect(quoted "${text}" "${seen}")
endforeach()

foreach(row IN ITEMS "1B 1 small" "1KiB 1024 small" "1GiB 1073741824 medium" "1024TiB 1125899906842624 medium" "1.5KiB 1536 small"
        "1.125KiB 1152 small" "1.05MiB 1101004 small" "0.001KiB 1 small" "007.5GiB 8053063680 medium" "262144KiB 268435456 small"
        "262145KiB 268436480 medium" "1.0005GiB - -" "1024.001TiB - -" "0.5B - -" "3GB - -" "99999999999999999B - -")
  string(REPLACE " " ";" row "${row}")
  list(GET row 0 size)
  _gputest_bytes("${size}" bytes)
  _gputest_memory_class("${size}" class)
  string(REPLACE "-" "" row "${row}")
  expect("${size}" "${row}" "${size};${bytes};${class}")
endforeach()
foreach(row IN ITEMS "0s 0" "90s 90" "2min 120" "0003h 10800" "24h 86400" "86401s -" "1.5h -" "100000s -")
  string(REPLACE " " ";" row "${row}")
  list(GET row 0 duration)
  _gputest_seconds("${duration}" seconds)
  string(REPLACE "-" "" row "${row}")
  expect("${duration}" "${row}" "${duration};${seconds}")
endforeach()

# The entry's watcher. (Properties of entries are in properties/.)
function(expect_watcher expected will_fail by_output)
  _gputest_watcher("${will_fail}" "${by_output}" seen)
  expect("watcher of '${will_fail}' and '${by_output}'" ${expected} "${seen}")
endfunction()
expect_watcher(ctest "" "")
expect_watcher(ctest OFF "")
expect_watcher(will_fail ON "")
expect_watcher(will_fail ON "yes")
expect_watcher(by_output "" "yes")
expect_watcher(by_output OFF "yes")

get_property(failed GLOBAL PROPERTY failures)
if(failed)
  message(FATAL_ERROR "some expectations failed: see above")
endif()
