# SPDX-License-Identifier: BSD-3-Clause
# The values of the keywords.
set(sizes "allowed: small, medium, large, or a size from 1B to 1024TiB such as 3GiB or 1.5GiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB (default: small).")
set(hint " (KB, MB, GB and TB mean powers of 1000 to some programs and of 1024 to others: write KiB, MiB, GiB or TiB)")
foreach(memory IN ITEMS huge Small 3 3gib -1GiB .5GiB 1.GiB 1,5GiB 1..5GiB "3 GiB" 3GiBs 0x10B 1e3MiB)
  should_fail("memory_${memory}" "gpu_add_test(NAME t COMMAND exe MEMORY \"${memory}\")"
    "gpu_add_test(NAME t): MEMORY \"${memory}\" is neither a class nor a size; ${sizes}")
endforeach()
foreach(memory IN ITEMS 3GB 512mb 1.5G 2T 4K "3 GB")
  should_fail("memory_${memory}" "gpu_add_test(NAME t COMMAND exe MEMORY \"${memory}\")"
    "gpu_add_test(NAME t): MEMORY \"${memory}\" is neither a class nor a size${hint}; ${sizes}")
endforeach()
should_fail(memory_with_4_decimals [[gpu_add_test(NAME t COMMAND exe MEMORY 1.0005GiB)]]
  "gpu_add_test(NAME t): MEMORY \"1.0005GiB\" has more than 3 decimals; ${sizes}")
foreach(memory IN ITEMS 0B 0GiB 0.000TiB 000MiB 0.5B)
  should_fail("memory_${memory}" "gpu_add_test(NAME t COMMAND exe MEMORY ${memory})"
    "gpu_add_test(NAME t): MEMORY \"${memory}\" is less than one byte; ${sizes}")
endforeach()
foreach(memory IN ITEMS 1025TiB 1024.001TiB 2000000GiB 1125899906842625B 9999999999999999999999B 99999999999999999999TiB)
  should_fail("memory_${memory}" "gpu_add_test(NAME t COMMAND exe MEMORY ${memory})"
    "gpu_add_test(NAME t): MEMORY \"${memory}\" is more than 1024TiB; ${sizes}")
endforeach()
foreach(memory IN ITEMS small medium large 1B 1024TiB 1024.000TiB 1125899906842624B 0.001KiB 1.009KiB 007GiB 00000000000000000001GiB 1.5GiB 3.125MiB)
  should_pass("memory_${memory}" "gpu_add_test(NAME t COMMAND exe MEMORY ${memory})")
endforeach()

foreach(gpus IN ITEMS 0 17 -1 1.5 two 01 100 " 1")
  should_fail("gpus_${gpus}" "gpu_add_test(NAME t COMMAND exe GPUS \"${gpus}\")"
    "gpu_add_test(NAME t): GPUS \"${gpus}\" is no number of GPUs; allowed: an integer from 1 to 16 (default: 1).")
endforeach()
should_pass(gpus_in_range [[
gpu_add_test(NAME a COMMAND exe GPUS 1)
gpu_add_test(NAME b COMMAND exe GPUS 10)
gpu_add_test(NAME c COMMAND exe GPUS 16)]])

set(heaps "allowed: a size from 1B to 1024TiB such as 64MiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB (default: the heap is not changed).")
foreach(heap IN ITEMS small 64 -1MiB 64mib)
  should_fail("heap_${heap}" "gpu_add_test(NAME t COMMAND exe HEAP ${heap})"
    "gpu_add_test(NAME t): HEAP \"${heap}\" is no size; ${heaps}")
endforeach()
should_fail(heap_64MB [[gpu_add_test(NAME t COMMAND exe HEAP 64MB)]]
  "gpu_add_test(NAME t): HEAP \"64MB\" is no size${hint}; ${heaps}")
should_fail(heap_0MiB [[gpu_add_test(NAME t COMMAND exe HEAP 0MiB)]]
  "gpu_add_test(NAME t): HEAP \"0MiB\" is less than one byte; ${heaps}")
should_pass(heap_64MiB [[gpu_add_test(NAME t COMMAND exe HEAP 64MiB)]])
should_fail(keeps_much [[gpu_add_test(NAME t COMMAND exe KEEPS much)]]
  "gpu_add_test(NAME t): KEEPS \"much\" is no size; allowed: a size from 1B to 1024TiB such as 64MiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB (default: nothing).")
should_pass(keeps_64MiB [[gpu_add_test(NAME t COMMAND exe KEEPS 64MiB)]])

set(capabilities "allowed: memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch, tcc, wddm, mig, sm_<n> such as sm_80, total_memory=<size>, free_memory=<size>, each at most once; sizes are such as 40GiB or 1.5GiB.")
foreach(capability IN ITEMS pools Memory_pools no_memory_pools sm sm_ sm_8 sm_08 sm_1000 sm_90a total_memory total=1GiB "memory_pools sm_80")
  should_fail("requires_${capability}" "gpu_add_test(NAME t COMMAND exe REQUIRES \"${capability}\")"
    "gpu_add_test(NAME t): REQUIRES \"${capability}\" is unknown; ${capabilities}")
endforeach()
foreach(size IN ITEMS "" 40 big)
  should_fail("requires_size_${size}" "gpu_add_test(NAME t COMMAND exe REQUIRES total_memory=${size})"
    "gpu_add_test(NAME t): REQUIRES \"total_memory=${size}\" has no size; ${capabilities}")
endforeach()
should_fail(requires_decimal_unit [[gpu_add_test(NAME t COMMAND exe REQUIRES free_memory=3GB)]]
  "gpu_add_test(NAME t): REQUIRES \"free_memory=3GB\" has no size${hint}; ${capabilities}")
should_fail(requires_no_bytes [[gpu_add_test(NAME t COMMAND exe REQUIRES sm_80 free_memory=0B)]]
  "gpu_add_test(NAME t): REQUIRES \"free_memory=0B\" is less than one byte; ${capabilities}")
foreach(pair IN ITEMS "mig mig=mig" "sm_80 sm_90=sm" "total_memory=1GiB total_memory=2GiB=total_memory")
  string(REGEX MATCH "^(.*)=([a-z_]+)$" _ "${pair}")
  should_fail("requires_${CMAKE_MATCH_2}_twice" "gpu_add_test(NAME t COMMAND exe REQUIRES ${CMAKE_MATCH_1})"
    "gpu_add_test(NAME t): REQUIRES says ${CMAKE_MATCH_2} twice; ${capabilities}")
endforeach()
should_fail(requires_peer_access_of_one [[gpu_add_test(NAME t COMMAND exe REQUIRES peer_access)]]
  "gpu_add_test(NAME t): REQUIRES peer_access is between devices, but GPUS is 1. Write GPUS 2 or more, or leave peer_access out.")
should_fail(requires_nothing [[gpu_add_test(NAME t COMMAND exe REQUIRES)]]
  "gpu_add_test(NAME t): REQUIRES has no value; ${capabilities}")
should_pass(requires_everything [[
gpu_add_test(NAME t COMMAND exe GPUS 2
  REQUIRES memory_pools managed_memory concurrent_managed_access peer_access cooperative_launch tcc wddm mig sm_80
           total_memory=40GiB free_memory=1.5GiB)
gpu_add_test(NAME u COMMAND exe REQUIRES sm_100)]])

should_fail(large_unknown [[gpu_add_test(NAME t COMMAND exe MEMORY large LARGE never)]]
  "gpu_add_test(NAME t): LARGE \"never\" is unknown; allowed: exclude, serial or wait (default: exclude, or the environment variable GPUTEST_LARGE).")
foreach(memory IN ITEMS small medium 40GiB)
  should_fail(large_for_${memory} "gpu_add_test(NAME t COMMAND exe MEMORY ${memory} LARGE wait)"
    "gpu_add_test(NAME t): LARGE wait is for large tests, but MEMORY is ${memory}. Write MEMORY large, or leave LARGE out.")
endforeach()
should_fail(large_for_the_default [[gpu_add_test(NAME t COMMAND exe LARGE serial)]]
  "gpu_add_test(NAME t): LARGE serial is for large tests, but MEMORY is small. Write MEMORY large, or leave LARGE out.")

foreach(launcher IN ITEMS yes 1 auto On)
  should_fail(launcher_${launcher} "gpu_add_test(NAME t COMMAND exe LAUNCHER ${launcher})"
    "gpu_add_test(NAME t): LAUNCHER \"${launcher}\" is unknown; allowed: on or off (default: on for a command that does not link gputest::main or gputest::catch2).")
endforeach()
should_pass(launcher_in_upper_case [[gpu_add_test(NAME t COMMAND exe LAUNCHER ON)]])

foreach(timeout IN ITEMS 0 0.0 -5 soon 1e3 5s .5 5. 1000000000)
  should_fail("timeout_${timeout}" "gpu_add_test(NAME t COMMAND exe TIMEOUT ${timeout})"
    "gpu_add_test(NAME t): TIMEOUT \"${timeout}\" is no time limit; allowed: a positive number of seconds such as 90 or 2.5, up to 999999999, without the time spent waiting for a GPU.")
endforeach()
should_pass(timeouts [[
gpu_add_test(NAME a COMMAND exe TIMEOUT 999999999)
gpu_add_test(NAME b COMMAND exe TIMEOUT 0.001)
gpu_add_test(NAME c COMMAND exe TIMEOUT 999999999.25)]])

should_fail(name_taken [[
gpu_add_test(NAME t COMMAND exe)
gpu_add_test(NAME t COMMAND exe)]]
  "gpu_add_test(NAME t): NAME is taken by another test; allowed: a name that no other test has.")
should_fail(name_taken_by_add_test [[
add_test(NAME t COMMAND exe)
gpu_add_test(NAME t COMMAND exe)]]
  "gpu_add_test(NAME t): NAME is taken by another test; allowed: a name that no other test has.")

set(durations "allowed: a duration up to 24h such as 90s, 20min or 1h (default: the environment variable GPUTEST_WAIT_LIMIT, or 20min).")
foreach(limit IN ITEMS soon 90 1.5h -1s "1 h" 1hour 1H s 1h30min)
  should_fail("wait_limit_${limit}" "gpu_add_test(NAME t COMMAND exe WAIT_LIMIT \"${limit}\")"
    "gpu_add_test(NAME t): WAIT_LIMIT \"${limit}\" is no duration; ${durations}")
endforeach()
foreach(limit IN ITEMS 25h 1441min 86401s 99999999999999999999s)
  should_fail("wait_limit_${limit}" "gpu_add_test(NAME t COMMAND exe WAIT_LIMIT ${limit})"
    "gpu_add_test(NAME t): WAIT_LIMIT \"${limit}\" is more than 24h; ${durations}")
endforeach()
should_pass(wait_limits [[
gpu_add_test(NAME a COMMAND exe WAIT_LIMIT 24h)
gpu_add_test(NAME b COMMAND exe WAIT_LIMIT 1440min)
gpu_add_test(NAME c COMMAND exe WAIT_LIMIT 086400s)
gpu_add_test(NAME d COMMAND exe WAIT_LIMIT 0s)]])
