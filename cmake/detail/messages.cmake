# SPDX-License-Identifier: BSD-3-Clause
# The messages of gputest's functions. Each begins with message_prefix, which the public function sets: its own name,
# and the name of the test if there is one.

# Stops the configuration with a message.
function(_gputest_fail text)
  message(FATAL_ERROR "${message_prefix}${text}")
endfunction()

# Stops the configuration because of the value of a keyword: "<keyword> <problem>; allowed: ...".
function(_gputest_refuse keyword problem)
  set(NAME "a name that no other test has")
  set(COMMAND "an executable target or a program, then its arguments")
  set(MEMORY "small, medium, large, or a size from 1B to 1024TiB such as 3GiB or 1.5GiB, with at most 3 decimals and \
one of the units B, KiB, MiB, GiB, TiB (default: small)")
  set(GPUS "an integer from 1 to 16 (default: 1)")
  set(HEAP "a size from 1B to 1024TiB such as 64MiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB \
(default: the heap is not changed)")
  set(KEEPS "a size from 1B to 1024TiB such as 64MiB, with at most 3 decimals and one of the units B, KiB, MiB, GiB, TiB \
(default: nothing)")
  set(REQUIRES "memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch, tcc, wddm, mig, \
sm_<n> such as sm_80, total_memory=<size>, free_memory=<size>, each at most once; sizes are such as 40GiB or 1.5GiB")
  set(LARGE "exclude, serial or wait (default: exclude, or the environment variable GPUTEST_LARGE)")
  set(LAUNCHER "on or off (default: on for a command that does not link gputest::main or gputest::catch2)")
  set(TIMEOUT "a positive number of seconds such as 90 or 2.5, up to 999999999, without the time spent waiting for a GPU")
  set(WAIT_LIMIT "a duration up to 24h such as 90s, 20min or 1h (default: the environment variable GPUTEST_WAIT_LIMIT, or 20min)")
  set(LABELS "one or more labels, none of them empty")
  set(WORKING_DIRECTORY "a directory (default: the current binary directory)")
  set(CONFIGURATIONS "one or more names of configurations such as Release, none of them empty")
  set(GRANULARITY "case, class or executable (default: case)")
  set(ISOLATION "worker or process (default: process)")
  set(EXTRA_ARGS "arguments of the executable")
  set(DISCOVERY_EXTRA_ARGS "arguments of the executable, for the listing only")
  set(TEST_PREFIX "the text that names of entries begin with")
  set(TEST_SUFFIX "the text that names of entries end with")
  set(TEST_FILTER "a filter as for --gtest_filter")
  set(TEST_LIST "the name of a variable")
  set(XML_OUTPUT_DIR "a directory")
  set(DISCOVERY_TIMEOUT "an integer from 1 to 99999, in seconds (default: 60)")
  set(DISCOVERY_MODE "POST_BUILD or PRE_TEST; tests are listed when ctest starts in either case")
  set(DESTINATION "a directory, absolute or relative to the installation prefix")
  set(COMPONENT "the name of a component")
  set(TARGETS "executables and shared libraries that exist at the end of the directory")
  set(DATA "files and directories, absolute or relative to the current source directory")
  set(PROPERTIES "pairs of a name and a value; several labels of one test are one value: \"a;b\"")
  _gputest_fail("${keyword} ${problem}; allowed: ${${keyword}}.")
endfunction()
