# SPDX-License-Identifier: BSD-3-Clause
# What entries ask CTest for, by table: the functions that run when ctest starts, without ctest.
#
#   cmake -DMODULES=<gputest's cmake folder> -P requests.cmake
cmake_minimum_required(VERSION 3.25)
include("${MODULES}/detail/values.cmake")
include("${MODULES}/detail/requests.cmake")
set_property(GLOBAL PROPERTY failures 0)

# What `gputest devices --for-ctest` says of the classes, for devices of at least 16 GiB.
set(gputest_context_mib 512)
set(gputest_small_mib 256)
set(gputest_medium_mib 8192)
set(gputest_beside_heap_mib 2)

# expect_needs(<MiB of a device, 0: nothing> <devices> <request> [<device>...])
function(expect_needs mib gpus request)
  _gputest_needs("${request}" "${ARGN}" "${default_large}" seen_mib seen_gpus)
  if(NOT "${seen_mib} ${seen_gpus}" STREQUAL "${mib} ${gpus}")
    set_property(GLOBAL PROPERTY failures 1)
    message(NOTICE "FAILED ${request} on ${ARGN}: expected ${mib} MiB of ${gpus}, seen ${seen_mib} of ${seen_gpus}")
  endif()
endfunction()

set(default_large "")
set(card "16384 16384 whole free")
set(large_card "81920 81920 whole free")
set(slice "16384 16384 slice free")
# Bytes, rounded up, and the context.
expect_needs(768 1 "small any 1 - -" "${card}")
expect_needs(768 1 "small any - - -" "${card}")
expect_needs(3584 1 "medium 3GiB 1 - -" "${card}")
expect_needs(514 1 "small 1.5MiB 1 - -" "${card}")
expect_needs(513 1 "small 1B 1 - -" "${card}")
expect_needs(16384 1 "medium 15.5GiB 1 - -" "${card}")
# The heap, with the 2 MiB that it takes besides.
expect_needs(834 1 "small any 1 64MiB -" "${card}")
expect_needs(771 1 "small any 1 1B -" "${card}")
expect_needs(3650 1 "medium 3GiB 1 64MiB -" "${card}")
# Several devices: enough of them, which are no slices.
expect_needs(1536 2 "medium 1GiB 2 - -" "${card}" "${card}")
expect_needs(0 1 "medium 1GiB 2 - -" "${card}")
expect_needs(0 1 "medium 1GiB 3 - -" "${card}" "${card}")
expect_needs(0 1 "medium 1GiB 2 - -" "${card}" "${slice}")
expect_needs(41472 2 "medium 40GiB 2 - -" "${large_card}" "${card}" "${large_card}")
expect_needs(0 1 "medium 40GiB 2 - -" "${large_card}" "${card}")
# What no device can hold: CTest would not run it.
expect_needs(0 1 "medium 15.6GiB 1 - -" "${card}")
expect_needs(0 1 "medium 3GiB 1 - -")
# Medium without bytes.
expect_needs(8704 1 "medium any 1 - -" "${card}")
expect_needs(8704 1 "medium any 1 - -" "${large_card}" "${card}")
# Large: excluded tests wait for nothing, serial ones run alone.
expect_needs(0 1 "large any 1 - -" "${card}")
expect_needs(0 1 "large 3GiB 1 - exclude" "${card}")
expect_needs(0 1 "large any 1 - serial" "${card}")
expect_needs(3584 1 "large 3GiB 1 - wait" "${card}")
expect_needs(16384 1 "large any 1 - wait" "${card}")
expect_needs(81920 1 "large any 1 - wait" "16384 16384 whole" "${large_card}")
expect_needs(16000 2 "large any 2 - wait" "16384 16000 whole free" "${card}")
expect_needs(0 1 "large any 1 - wait" "16384 14000 whole")
expect_needs(9000 1 "large any 1 - wait" "10000 9000 whole free")
expect_needs(9000 2 "large any 2 - wait" "10000 10000 whole free" "9000 9000 whole free")
expect_needs(0 1 "large any 2 - wait" "16384 14000 whole" "${card}")
# Alone on a device: a whole one, whatever it needs.
expect_needs(16384 1 "small any+alone 1 - -" "${card}")
expect_needs(16384 2 "medium 3GiB+alone 2 - exclude" "${card}" "${card}")
set(default_large wait)
expect_needs(16384 1 "large any 1 - -" "${card}")
expect_needs(0 1 "large any 1 - exclude" "${card}")
set(default_large "")
# External processes hold a part: what fits elsewhere goes there, and else all that is left is asked for.
expect_needs(8704 1 "medium 8GiB 1 - -" "16384 4096 whole" "${card}")
expect_needs(4096 1 "medium 8GiB 1 - -" "16384 4096 whole")
expect_needs(4096 2 "medium 8GiB 2 - -" "16384 4096 whole" "${card}")
# An entry of several tests needs what the most demanding of them needs; excluded and host tests need nothing.
expect_needs(3584 1 "small any 1 - -|medium 3GiB 1 - -|large any 1 - -|host any 1 - -" "${card}")
expect_needs(3584 2 "small any 2 - -|medium 3GiB 1 - -" "${card}" "${card}")
expect_needs(0 1 "host any 1 - -" "${card}")

# Of different devices, one request needs the memory and another the number.
expect_needs(7680 2 "medium 12GiB 1 - -|small any 2 - -" "16384 7680 whole" "${card}")
expect_needs(8192 2 "medium 12GiB 1 - -|small any 2 - -" "24576 24576 whole" "8192 8192 whole")

# expect_schedule(<how many at once> <cost> <request> <device>...)
function(expect_schedule at_once cost request)
  set(gputest_devices ${ARGN})
  set_property(GLOBAL PROPERTY "gputest_needs ${request}" "") # of other devices
  _gputest_schedule("${request}" seen_at_once seen_cost)
  if(NOT "${seen_at_once}/${seen_cost}" STREQUAL "${at_once}/${cost}")
    set_property(GLOBAL PROPERTY failures 1)
    message(NOTICE "FAILED ${request}: expected ${at_once}/${cost}, seen ${seen_at_once}/${seen_cost}")
  endif()
endfunction()

set(gputest_largest_mib 16384)
# As many as fit on all devices. With more than an eighth of a device: the more, the earlier.
expect_schedule(21 "" "small any 1 - -" "${card}")
expect_schedule("" "" "small any 1 - -" "${card}" "${card}") # 42: more than matter
expect_schedule(16 "" "medium 1.5GiB 1 - -" "${card}" "${card}")
expect_schedule(14 2049 "medium 1537MiB 1 - -" "${card}" "${card}")
expect_schedule(4 3584 "medium 3GiB 2 - -" "${card}" "${card}")
expect_schedule(8 3584 "medium 3GiB 1 - -" "${card}" "${card}")
expect_schedule(1 8704 "medium any 1 - -" "${card}")
expect_schedule(3 8704 "medium any 1 - -" "${card}" "${card}" "${slice}")
expect_schedule(1 8704 "medium any 2 - -" "${card}" "${card}" "${slice}")
expect_schedule(1 4096 "medium 8GiB 1 - -" "16384 4096 whole")
expect_schedule("" "" "large any 1 - -" "${card}")
# No more than may be on the devices at once.
set(gputest_most_processes 3)
expect_schedule(3 "" "small any 1 - -" "${card}")
expect_schedule(6 "" "small any 1 - -" "${card}" "${card}")
expect_schedule(3 "" "small any 2 - -" "${card}" "${card}")
expect_schedule(1 8704 "medium any 1 - -" "${card}")
set(gputest_most_processes 0)

# They take turns at that many locks.
foreach(lock IN ITEMS 0 1 2 0 1)
  _gputest_next_lock(gputest_3_at_once_ 3 seen)
  if(NOT seen STREQUAL "gputest_3_at_once_${lock}")
    set_property(GLOBAL PROPERTY failures 1)
    message(NOTICE "FAILED expected lock ${lock} of 3, seen ${seen}")
  endif()
endforeach()

# Options of ctest that may leave out the entry that ends workers, also as one word (CMake 4).
include("${MODULES}/detail/workers.cmake")
set(gputest_group gputest_workers_1)
set(gputest_end cases.workers_end)
foreach(row IN ITEMS "-E workers_end|-E" "-E\nworkers_end|-E" "--exclude-regex workers_end|--exclude-regex" "-FC .|-FC"
        "--exclude-from-file x.txt|--exclude-from-file" "-E other|" "-FS .|")
  string(REGEX MATCH "^(.*)[|](.*)$" _ "${row}")
  set(option "${CMAKE_MATCH_2}")
  set_property(GLOBAL PROPERTY "gputest arguments" "\nctest\n${CMAKE_MATCH_1}\n-j2\n")
  _gputest_find_end_of_workers()
  string(REGEX MATCH "ctest's option ([^ ]*)" _ "${gputest_own_process}")
  if(NOT "${CMAKE_MATCH_1}" STREQUAL option)
    set_property(GLOBAL PROPERTY failures 1)
    message(NOTICE "FAILED ${row}: seen ${gputest_own_process}")
  endif()
endforeach()

get_property(failed GLOBAL PROPERTY failures)
if(failed)
  message(FATAL_ERROR "some expectations failed: see above")
endif()
