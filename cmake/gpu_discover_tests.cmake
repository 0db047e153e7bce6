# SPDX-License-Identifier: BSD-3-Clause
#[===[.rst:
.. cmake:command:: gpu_discover_tests

  Adds the tests of a GoogleTest or Catch2 executable that uses gputest, one CTest entry for each case. It replaces
  ``gtest_discover_tests()``, and accepts all of its arguments, and ``catch_discover_tests()``. The labels and settings of an entry come from its test
  (``GPUTEST_NEEDS``, ``GPUTEST_SUITE_NEEDS``, fixture; tags of Catch2).

  .. code-block:: cmake

    gpu_discover_tests(<target>
                       [GRANULARITY case|class|executable] [ISOLATION worker|process]
                       [MEMORY auto|small|medium|large|<size>|none] [ALONE] [GPUS <n>] [HEAP <size>] [KEEPS <size>] [REQUIRES <capability>...]
                       [LARGE exclude|serial|wait] [NEEDS <file>] [LAUNCHER on|off] [TIMEOUT <seconds>] [WAIT_LIMIT <duration>] [LABELS <label>...]
                       [EXTRA_ARGS <arg>...] [WORKING_DIRECTORY <dir>]
                       [TEST_PREFIX <prefix>] [TEST_SUFFIX <suffix>] [TEST_FILTER <filter>] [TEST_LIST <variable>]
                       [NO_PRETTY_TYPES] [NO_PRETTY_VALUES] [XML_OUTPUT_DIR <dir>]
                       [DISCOVERY_TIMEOUT <seconds>] [DISCOVERY_EXTRA_ARGS <arg>...] [DISCOVERY_ENVIRONMENT <name>=<value>...]
                       [DISCOVERY_MODE <mode>]
                       [PROPERTIES <name> <value>...])

  The executable lists its tests when ctest starts. Listing uses no GPU, fixture or environment of the tests.
  If neither the executable nor a library that it is linked with names CUDA or OpenCL, and none of ``MEMORY``, ``GPUS``, ``HEAP``, ``KEEPS``, ``REQUIRES``,
  ``LARGE``, ``WAIT_LIMIT`` and ``LAUNCHER`` is given, tests that declare nothing are those of ``MEMORY none``: they run everywhere, and wait for nothing.
  On simulated devices they are not, since these need no library.
  Its ``main()`` has to end with ``gputest::run_all_tests()``, as that of ``gputest::main`` does, or with ``gputest::run_catch2_tests()``, as that
  of ``gputest::catch2`` does. With Catch2, each case is a process (``GRANULARITY case``, ``ISOLATION process``), ``TEST_FILTER`` is a test specification of Catch2's, hidden
  cases are left out unless it selects them, and cases whose names differ only in upper and lower case are one entry. The guide about CTest
  entries says until when a list is kept. An executable that cannot be listed becomes one failing entry, ``<target>_NOT_LISTED``, whose output says why, and
  has the command that repeats it.

  A wrong argument is an error that names the target, the value and what is allowed.

  ``<target>``
    An executable target.

  ``GRANULARITY``
    ``case``: one entry for each case, as with ``gtest_discover_tests()``. A failure names its case, CTest sees what each case needs, and a
    crash ends only one case. Each case is a process. ``class``: one entry for each memory class that has tests, ``<target>.<class>``.
    The cases of a class share a process, so that many small cases need only one CUDA context. ``executable``: one entry, ``<target>``,
    with the labels of all its classes. A large test in it is skipped if large tests are excluded. Default: ``case``.

  ``ISOLATION``
    ``process``: each entry is a process of its own. ``worker``: a worker runs the case of an entry. A worker is the executable itself,
    which keeps running and runs one case after another, so its cases share one CUDA context. Each case is still an entry with its own
    result, output, time and ``TIMEOUT``. The guide about workers lists the cases that run in a process of their own nevertheless.
    One more entry, ``<target>.workers_end``, ends the workers after the cases, and fails if a worker fails while it exits, or if nobody saw it exit. All calls for
    the target with the same ``FIXTURES_REQUIRED`` in ``PROPERTIES`` share workers and this entry (the next is ``<target>.workers_end-2``). It has the label ``gpu``
    if one of its cases has it, these fixtures, and every ``RESOURCE_LOCK`` in the ``PROPERTIES`` of these calls. A ``RESOURCE_LOCK`` of gputest's lets CTest run so many cases of one executable at a time
    as there are places for each executable of the project. ``worker`` needs ``GRANULARITY case``, excludes ``LAUNCHER on``, and has no effect if
    CMake puts an emulator or another launcher before the executable. Default: ``process``.

  ``MEMORY``, ``ALONE``, ``GPUS``, ``HEAP``, ``KEEPS``, ``REQUIRES``, ``LARGE``, ``NEEDS``, ``TIMEOUT``, ``WAIT_LIMIT``, ``LABELS``
    As for :cmake:command:`gpu_add_test`, for each entry. ``MEMORY``, ``GPUS``, ``HEAP`` and ``KEEPS`` apply to tests that do not declare
    them; ``LARGE`` applies to all large tests. With ``MEMORY none`` or ``GPUS 0``, tests that declare nothing become entries as
    ``add_test()`` makes them.

  ``LAUNCHER``
    ``on``: for an executable that uses CUDA before its tests start. The launcher ``gputest run`` then starts each entry that uses a
    GPU, and leases what the entry declares. If ``GRANULARITY`` is not ``case``, it leases ``MEMORY``, which must be enough for each test. Listing
    does not use the launcher. Default: ``off``.

  ``EXTRA_ARGS``
    Arguments of each entry, passed unchanged, including empty ones and those with semicolons.

  ``WORKING_DIRECTORY``
    Working directory of the entries and of the listing. Default: the current binary directory.

  ``TEST_PREFIX``, ``TEST_SUFFIX``
    Prefix and suffix of the name of each entry. If another call, in any directory, has an entry with the same name, all names of the later
    call get the prefix ``<target>.`` (for a second call with the same target, ``<target>-2.``). CTest sets properties by name, so
    ``DISABLED`` or ``WILL_FAIL`` of one entry would otherwise apply to the other.

  ``TEST_FILTER``
    A ``--gtest_filter``: only tests that it selects become entries.

  ``TEST_LIST``
    A variable for later scripts in ``TEST_INCLUDE_FILES``. It contains the names of the entries, except those with square brackets or a
    backslash at the end, which a list cannot contain. Default: ``<target>_TESTS``.

  ``NO_PRETTY_TYPES``, ``NO_PRETTY_VALUES``
    Names contain the index of a type or value instead of the type or value itself. If two tests would have the same name, the second uses
    its index in any case.

  ``XML_OUTPUT_DIR``
    Directory to which each entry writes a report, ``<prefix><test><suffix>.xml``. A name that is too long for a file has its
    beginning and a hash.

  ``DISCOVERY_TIMEOUT``
    Seconds that a listing may take. When it ends, all processes that it has started are killed. Default: 60. (CMake's default of 5 is too short for the first start of a large CUDA library on a
    loaded machine.)

  ``DISCOVERY_EXTRA_ARGS``
    Arguments of the listing.

  ``DISCOVERY_ENVIRONMENT``
    Variables of the listing, such as ``LD_LIBRARY_PATH=<path>``, in addition to ctest's own. Those of the entries, ``ENVIRONMENT`` in
    ``PROPERTIES``, are not set for it.

  ``DISCOVERY_MODE``
    Accepted for compatibility with ``gtest_discover_tests()``, and ignored. Tests are always listed when ctest starts.

  ``PROPERTIES``
    Properties of each entry: pairs of a name and a value. A list is one value, in quotes: ``LABELS "a;b"``. The pairs end at the next
    keyword that is not the name of a property. As in ``gtest_discover_tests()``, a list whose name is given twice is added to the
    first. ``LABELS`` and ``ENVIRONMENT_MODIFICATION`` are added to gputest's own. ``TIMEOUT`` has the meaning of the keyword
    ``TIMEOUT``, which has precedence: time spent waiting does not count. It may be a generator expression, here and there. A name that CTest does not know has
    capital letters and an underscore.

  The entry of a case runs it with ``--gtest_filter`` and ``--gtest_also_run_disabled_tests``, and is ``DISABLED`` if the case is. It has the
  properties that :cmake:command:`gpu_add_test` sets, with ``GPUTEST_MEMORY`` and ``GPUTEST_GPUS`` as the case itself says.
  ``GTEST_TOTAL_SHARDS`` and ``GTEST_SHARD_INDEX`` do not apply to it. Cases with the same GoogleTest name are one
  entry.
#]===]

function(gpu_discover_tests)
  # The policy of the caller, by which add_test() uses emulators. CMake's manual names no way to it; this one is GoogleTest.cmake's.
  set(gputest_cmp0158 "")
  if(POLICY CMP0158)
    cmake_policy(GET CMP0158 gputest_cmp0158 PARENT_SCOPE)
  endif()
  set(gputest_call gpu_discover_tests)
  if("${ARGV0}" STREQUAL "")
    _gputest_fail("the target is missing. Write gpu_discover_tests(<target> ...).")
  endif()
  set(gputest_call "gpu_discover_tests(${ARGV0})")
  if(NOT TARGET "${ARGV0}")
    _gputest_fail("\"${ARGV0}\" is not a target. Call gpu_discover_tests() after add_executable(${ARGV0}).")
  endif()
  _gputest_executable("It" "${ARGV0}" target)
  _gputest_links("${target}" "gputest_catch2|gputest::catch2" links_catch2)
  set(option_keywords ALONE NO_PRETTY_TYPES NO_PRETTY_VALUES)
  set(value_keywords GRANULARITY ISOLATION MEMORY GPUS HEAP KEEPS LARGE LAUNCHER TIMEOUT WAIT_LIMIT WORKING_DIRECTORY NEEDS TEST_PREFIX
    TEST_SUFFIX TEST_FILTER TEST_LIST XML_OUTPUT_DIR DISCOVERY_TIMEOUT DISCOVERY_MODE)
  set(list_keywords REQUIRES LABELS)
  set(word_keywords EXTRA_ARGS DISCOVERY_EXTRA_ARGS DISCOVERY_ENVIRONMENT PROPERTIES)
  foreach(name IN ITEMS WILL_FAIL PASS_REGULAR_EXPRESSION FAIL_REGULAR_EXPRESSION SKIP_REGULAR_EXPRESSION TIMEOUT_AFTER_MATCH
          TIMEOUT_SIGNAL_NAME TIMEOUT_SIGNAL_GRACE_PERIOD FIXTURES_REQUIRED SKIP_RETURN_CODE TIMEOUT ENVIRONMENT
          ENVIRONMENT_MODIFICATION)
    unset(ARG_PROPERTY_${name}) # may be a variable of the function that calls this one
  endforeach()
  _gputest_parse(1)
  if(DEFINED ARG_PROPERTY_TIMEOUT AND NOT DEFINED ARG_TIMEOUT)
    set(ARG_TIMEOUT "${ARG_PROPERTY_TIMEOUT}")
  endif()
  _gputest_check_values()
  _gputest_check_value(GRANULARITY "^(case|class|executable)$" "case, class or executable (default: case)")
  _gputest_check_value(ISOLATION "^(worker|process)$" "worker or process (default: process)")
  _gputest_check_value(DISCOVERY_TIMEOUT "^0*[1-9][0-9]?[0-9]?[0-9]?[0-9]?$" "an integer from 1 to 99999, in seconds (default: 60)")
  cmake_language(EVAL CODE "_gputest_check_assignments(${ARG_DISCOVERY_ENVIRONMENT})")
  if("${ARG_ISOLATION}" STREQUAL "worker" AND ("${ARG_GRANULARITY}" MATCHES "class|executable" OR "${ARG_LAUNCHER}" MATCHES "on|ON"))
    _gputest_fail("ISOLATION worker is for entries of one case, whose executable leases its memory itself. Leave ISOLATION out, or GRANULARITY and LAUNCHER.")
  endif()
  set(ARG_CATCH2 ${links_catch2})
  if(links_catch2 AND ("${ARG_GRANULARITY}" MATCHES "class|executable" OR "${ARG_ISOLATION}" STREQUAL "worker" OR DEFINED ARG_XML_OUTPUT_DIR))
    _gputest_fail("${target} has tests of Catch2 (it links gputest::catch2), which run in a process for each case. Leave GRANULARITY, ISOLATION worker and XML_OUTPUT_DIR out. For one entry write gpu_add_test(NAME ${target} COMMAND ${target}), for reports call ctest --output-junit <file>.")
  endif()
  if(DEFINED ARG_PROPERTY_SKIP_RETURN_CODE AND NOT ARG_PROPERTY_SKIP_RETURN_CODE EQUAL 77)
    _gputest_fail("PROPERTIES sets SKIP_RETURN_CODE to ${ARG_PROPERTY_SKIP_RETURN_CODE}, but gputest says 77 when it skips a test, and CTest knows only one code. Leave it out.")
  endif()

  get_property(calls TARGET "${target}" PROPERTY GPUTEST_DISCOVERIES)
  math(EXPR calls "0${calls} + 1")
  set_property(TARGET "${target}" PROPERTY GPUTEST_DISCOVERIES ${calls})
  set(base "${CMAKE_CURRENT_BINARY_DIR}/gputest/${target}-${calls}")
  _gputest_needs_file(needs)
  set(ARG_NEEDS "${needs}")
  set(part discover)
  if(COMMAND _gputest_use_portable_mode)
    set(part portable_discover)
  endif()
  _gputest_discovery_script("${target}" ${calls} ${part} script)
  _gputest_note_targets("${target}" "${script}")
  _gputest_generate_discovery("${base}" "${script}" "${target}")
  _gputest_let_ctest_schedule("${needs}" "${target}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${base}.cmake")
  _gputest_warn_if_testing_is_off("gpu_discover_tests(${target})")
endfunction()
