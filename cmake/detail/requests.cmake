# SPDX-License-Identifier: BSD-3-Clause
# The value of GPUTEST_REQUEST, and what becomes of it when ctest starts: RESOURCE_LOCK and COST.

# GPUTEST_REQUEST for tests of a class; `size` is a size or "any", with "+alone" behind it for tests that are alone on their devices.
function(_gputest_request class size gpus heap large result)
  set(request "${class}")
  foreach(value IN ITEMS "${size}" "${gpus}" "${heap}" "${large}")
    if(value STREQUAL "")
      set(value "-")
    endif()
    string(APPEND request " ${value}")
  endforeach()
  set(${result} "${request}" PARENT_SCOPE)
endfunction()

# What devices have free in MiB, the most first: those with `mib` in all. Several devices for one test are whole ones.
function(_gputest_free_of devices mib gpus result)
  set(all "")
  foreach(device IN LISTS devices)
    string(REGEX MATCH "^([0-9]+) ([0-9]+) ([a-z]+)" _ "${device}")
    if(NOT CMAKE_MATCH_1 LESS mib AND (gpus EQUAL 1 OR CMAKE_MATCH_3 STREQUAL "whole"))
      list(APPEND all ${CMAKE_MATCH_2})
    endif()
  endforeach()
  list(SORT all COMPARE NATURAL ORDER DESCENDING)
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# What tests with these requests, separated by "|", need on the devices of this machine: MiB of each device, rounded up
# (0: CTest has nothing to wait for), and how many devices. `devices` is a list of "<MiB in all> <MiB for tests> <whole|slice>", with
# " free" behind it where a test can have all of it. `default_large` is the policy where a request says none. Reads what
# `gputest devices --for-ctest` has said: gputest_most_processes, how many may use a device at once (0: any number);
# gputest_context_mib, what a process takes by itself; gputest_small_mib and gputest_medium_mib, what the classes stand for; and
# gputest_beside_heap_mib.
#
# CTest has nothing to wait for if the test will be skipped (large under `exclude`, or what no device can hold), or if it runs alone
# (large under `serial`). If external processes hold what a test needs, it needs all that is left: gputest waits for the rest.
function(_gputest_needs requests devices default_large mib_result gpus_result)
  set(most_mib 0)
  set(most_gpus 1)
  string(REPLACE "|" ";" requests "${requests}")
  foreach(request IN LISTS requests)
    string(REGEX MATCH "^([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+)$" _ "${request}")
    set(class ${CMAKE_MATCH_1})
    set(size ${CMAKE_MATCH_2})
    set(heap ${CMAKE_MATCH_4})
    string(REPLACE "-" "1" gpus ${CMAKE_MATCH_3})
    string(REPLACE "-" "${default_large}" large ${CMAKE_MATCH_5})
    if(size MATCHES "[+]alone$") # as one that waits for a whole device
      set(class large)
      set(size any)
      set(large wait)
    endif()
    if(class STREQUAL "host" OR (class STREQUAL "large" AND NOT large STREQUAL "wait"))
      continue()
    endif()

    set(candidates "${devices}")
    _gputest_bytes("${size}" bytes)
    _gputest_bytes("${heap}" heap_bytes)
    if(NOT bytes STREQUAL "")
      math(EXPR mib "(${bytes} + 1048575) >> 20")
    elseif(class STREQUAL "large")
      set(mib 0)
      list(FILTER candidates INCLUDE REGEX " free$")
    else()
      set(mib ${gputest_${class}_mib})
    endif()
    math(EXPR mib "${mib} + ${gputest_context_mib}")
    if(NOT heap_bytes STREQUAL "")
      math(EXPR mib "${mib} + ((${heap_bytes} + 1048575) >> 20) + ${gputest_beside_heap_mib}")
    endif()
    _gputest_free_of("${candidates}" ${mib} ${gpus} free)
    list(LENGTH free count)
    if(count LESS gpus)
      continue()
    endif()
    if(class STREQUAL "large" AND bytes STREQUAL "")
      list(GET free -1 mib) # what each of them has
    endif()
    if(mib GREATER most_mib)
      set(most_mib ${mib})
    endif()
    if(gpus GREATER most_gpus)
      set(most_gpus ${gpus})
    endif()
  endforeach()

  # No more than so many devices have free. The most memory and the most devices may be those of different requests.
  _gputest_free_of("${devices}" 0 ${most_gpus} free)
  list(LENGTH free count)
  if(NOT count LESS most_gpus)
    math(EXPR last "${most_gpus} - 1")
    list(GET free ${last} available)
    if(available LESS most_mib)
      set(most_mib ${available})
    endif()
  endif()
  set(${mib_result} ${most_mib} PARENT_SCOPE)
  set(${gpus_result} ${most_gpus} PARENT_SCOPE)
endfunction()

# What lets CTest start so many tests with these requests at once as fit on the devices: the first result is that number, and such
# tests take turns at as many RESOURCE_LOCKs (_gputest_next_lock()). It is empty if CTest has nothing to wait for, or more fit than it
# runs at once (gputest_places), or than matters.
# The second result is COST, or empty.
#
# Tests with other requests may take the memory, so the ledger decides. CTest could count MiB (RESOURCE_GROUPS), but then it shows
# all tests of the run variables of this, also those that know nothing of gputest.
#
# CTest tries tests in the order of COST. So the more a test needs, the earlier it is tried: when one ends, the next largest fits,
# before smaller ones can take its place. A test that needs less than an eighth of a device has no COST of gputest's, so CTest
# orders it by its time, together with tests that use no GPU.
function(_gputest_schedule requests at_once_result cost_result)
  get_property(known GLOBAL PROPERTY "gputest_needs ${requests}")
  if("${known}" STREQUAL "")
    _gputest_needs("${requests}" "${gputest_devices}" "$ENV{GPUTEST_LARGE}" mib gpus)
    set(at_once 0)
    if(mib GREATER 0)
      foreach(device IN LISTS gputest_devices)
        string(REGEX MATCH "^[0-9]+ ([0-9]+) ([a-z]+)" _ "${device}")
        if(gpus EQUAL 1 OR CMAKE_MATCH_2 STREQUAL "whole")
          math(EXPR beside "${CMAKE_MATCH_1} / ${mib}")
          if(gputest_most_processes GREATER 0 AND beside GREATER gputest_most_processes)
            set(beside ${gputest_most_processes})
          endif()
          math(EXPR at_once "${at_once} + ${beside}")
        endif()
      endforeach()
      math(EXPR at_once "${at_once} / ${gpus}")
      if(at_once LESS 1)
        set(at_once 1)
      endif()
    endif()
    if(at_once EQUAL 0 OR at_once GREATER 30 OR (NOT "${gputest_places}" STREQUAL "" AND NOT at_once LESS gputest_places))
      set(at_once -)
    endif()
    math(EXPR eighths "${mib} * 8")
    set(cost -)
    if(eighths GREATER gputest_largest_mib)
      set(cost ${mib})
    endif()
    set(known "${at_once};${cost}")
    set_property(GLOBAL PROPERTY "gputest_needs ${requests}" "${known}")
  endif()
  string(REPLACE "-" "" known "${known}")
  list(GET known 0 at_once)
  list(GET known 1 cost)
  set(${at_once_result} "${at_once}" PARENT_SCOPE)
  set(${cost_result} "${cost}" PARENT_SCOPE)
endfunction()

# The lock of the next test, of those that take turns at so many: <prefix><turn>.
function(_gputest_next_lock prefix count result)
  get_property(turn GLOBAL PROPERTY "gputest turn ${prefix}")
  math(EXPR lock "0${turn} % ${count}")
  math(EXPR turn "0${turn} + 1")
  set_property(GLOBAL PROPERTY "gputest turn ${prefix}" ${turn})
  set(${result} ${prefix}${lock} PARENT_SCOPE)
endfunction()

# What scheduling adds to the properties of an entry with these requests: pairs of a property and its value. `learns` is the number of
# its devices if no size of it is declared, else empty. Then what it needs may be known by `gputest devices --for-ctest`, from earlier
# runs or from the project's file. Its tests ask for that, so it takes turns with others of that size.
function(_gputest_scheduled name learns requests result)
  set(more "")
  get_property(mib GLOBAL PROPERTY "gputest need ${name}")
  if(NOT "${learns}" STREQUAL "" AND NOT "${mib}" STREQUAL "")
    set(more ENVIRONMENT_MODIFICATION GPUTEST_LEARNED=set:${mib}MiB)
    set(requests "medium ${mib}MiB ${learns} - -")
  endif()
  if(NOT "${gputest_devices}" STREQUAL "")
    _gputest_schedule("${requests}" at_once cost)
    if(NOT at_once STREQUAL "")
      _gputest_next_lock(gputest_${at_once}_at_once_ ${at_once} lock)
      list(APPEND more RESOURCE_LOCK ${lock})
    endif()
    if(NOT cost STREQUAL "")
      list(APPEND more COST ${cost})
    endif()
  endif()
  set(${result} "${more}" PARENT_SCOPE)
endfunction()
