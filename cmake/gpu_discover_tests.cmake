# SPDX-License-Identifier: BSD-3-Clause
#[===[.rst:
.. cmake:command:: gpu_discover_tests

  Adds the tests of a GoogleTest executable that uses gputest, one CTest entry for each case. It takes the place of
  ``gtest_discover_tests()``, and accepts all of its arguments. What the executable says of its tests (``GPUTEST_NEEDS``,
  ``GPUTEST_SUITE_NEEDS``, fixtures) becomes the labels and the settings of each entry.

  .. code-block:: cmake

    gpu_discover_tests(<target>
                       [GRANULARITY case|class|executable] [ISOLATION worker|process]
                       [MEMORY small|medium|large|<size>] [GPUS <n>] [HEAP <size>] [KEEPS <size>] [REQUIRES <capability>...]
                       [LARGE exclude|serial|wait] [LAUNCHER on|off] [TIMEOUT <seconds>] [WAIT_LIMIT <duration>] [LABELS <label>...]
                       [EXTRA_ARGS <arg>...] [WORKING_DIRECTORY <dir>]
                       [TEST_PREFIX <prefix>] [TEST_SUFFIX <suffix>] [TEST_FILTER <filter>] [TEST_LIST <variable>]
                       [NO_PRETTY_TYPES] [NO_PRETTY_VALUES] [XML_OUTPUT_DIR <dir>]
                       [DISCOVERY_TIMEOUT <seconds>] [DISCOVERY_EXTRA_ARGS <arg>...] [DISCOVERY_MODE <mode>]
                       [PROPERTIES <name> <value>...])

  The executable lists its tests when ctest starts: no GPU, no fixture and no environment of the tests is used for it.
  Its ``main()`` has to end with ``gputest::run_all_tests()``, as that of ``gputest::main`` does. The list is kept, and the executable is
  started again only after it, a shared library that it loads, or these arguments have changed. An executable that does not exist,
  crashes, exceeds ``DISCOVERY_TIMEOUT``, writes no list, or lists no tests becomes one entry, ``<target>_NOT_LISTED``, which fails
  and shows the executable's output and the command to repeat it. Its labels are those of ``LABELS``, ``gpu``, ``gpu_small`` and
  ``gpu_medium``, but not ``gpu_large``: ``ctest -LE gpu_large`` must not leave it out.

  A wrong argument is an error that names the target, the value and what is allowed.

  ``<target>``
    An executable target.

  ``GRANULARITY``
    ``case``: one entry for each test case, as ``gtest_discover_tests()`` makes them: a failure names its case, CTest sees what each case
    needs, and a crash ends one case. It costs one process for each case. ``class``: one entry for each memory class that has tests,
    ``<target>.<class>``; the cases of a class share a process, so that many small cases pay for one CUDA context. ``executable``: one
    entry, ``<target>``, with the labels of all classes in it. A large test in it is skipped where large tests are excluded.
    Default: ``case``, which is what users of ``gtest_discover_tests()`` expect.

  ``ISOLATION``
    ``process``: each entry is a process of its own. ``worker``: an entry's case is run by a worker, which is the executable itself,
    started once, that runs one case after another; so the cases of a worker share one CUDA context. Each case stays an entry with
    a result, an output, a time and a ``TIMEOUT`` of its own. The guide about workers says which cases run in a process
    of their own all the same. One more entry, ``<target>.workers_end``, ends the workers after the cases, and fails if one of them fails
    at its end. All calls for the target share it. It has the label ``gpu``; of the ``PROPERTIES`` of these calls it has every
    ``RESOURCE_LOCK``, and those ``FIXTURES_REQUIRED`` that all of the calls have. Only with ``GRANULARITY case``, without ``LAUNCHER on``; it has no effect
    where CMake puts an emulator or another launcher before the executable. Default: ``process``.

  ``MEMORY``, ``GPUS``, ``HEAP``, ``KEEPS``, ``REQUIRES``, ``LARGE``, ``TIMEOUT``, ``WAIT_LIMIT``, ``LABELS``
    As for :cmake:command:`gpu_add_test`, for each entry. ``MEMORY``, ``GPUS``, ``HEAP`` and ``KEEPS`` are for tests that do not say it
    themselves; ``LARGE`` is for all tests that are large.

  ``LAUNCHER``
    ``on``: the launcher ``gputest run`` starts each entry that uses a GPU, and leases what the entry says, for an executable that uses CUDA
    before its tests start. With another ``GRANULARITY`` than ``case`` that is ``MEMORY``, which then has to be enough for each test.
    The listing has no launcher. Default: ``off``.

  ``EXTRA_ARGS``
    Arguments of each entry. They arrive as they are written, including empty ones and those with semicolons.

  ``WORKING_DIRECTORY``
    Where entries run, and the listing. Default: the current binary directory.

  ``TEST_PREFIX``, ``TEST_SUFFIX``
    What the name of each entry begins and ends with. If another call has an entry with the same name, in this directory or another
    one, all names of the later call begin with ``<target>.`` (those of a second call for a target with ``<target>-2.``): CTest sets
    properties by name, and ``DISABLED`` or ``WILL_FAIL`` of one would apply to the other.

  ``TEST_FILTER``
    A ``--gtest_filter``: only tests that it selects become entries.

  ``TEST_LIST``
    A variable of later scripts in ``TEST_INCLUDE_FILES``: the names of the entries, except those with square brackets or a
    backslash at the end, which a list cannot hold. Default: ``<target>_TESTS``.

  ``NO_PRETTY_TYPES``, ``NO_PRETTY_VALUES``
    Entries are named after the index of a type or value instead of the type or value itself. If two tests would get one name, the
    later one is named after its index in any case.

  ``XML_OUTPUT_DIR``
    Where each entry writes a report, ``<prefix><test><suffix>.xml``.

  ``DISCOVERY_TIMEOUT``
    Seconds that a listing may take. Default: 60; CMake's 5 are too few for the first start of a large CUDA library on a loaded
    machine.

  ``DISCOVERY_EXTRA_ARGS``
    Arguments of the listing.

  ``DISCOVERY_MODE``
    Accepted for ``gtest_discover_tests()``, and ignored: tests are always listed when ctest starts.

  ``PROPERTIES``
    Properties of each entry, pairs of a name and a value; a value may be a list. What follows it is a pair up to the next keyword
    that is not the name of a property. ``LABELS`` and ``ENVIRONMENT_MODIFICATION`` are added to gputest's own; ``TIMEOUT`` is as the keyword
    ``TIMEOUT``: waiting does not count.

  The entry of a case runs it with ``--gtest_filter`` and ``--gtest_also_run_disabled_tests``, and is ``DISABLED`` if the case is. It has the
  properties that :cmake:command:`gpu_add_test` sets, with ``GPUTEST_MEMORY`` and ``GPUTEST_GPUS`` as the case itself says.
  ``GTEST_TOTAL_SHARDS`` and ``GTEST_SHARD_INDEX`` do not apply to it. Cases that GoogleTest cannot tell apart, because they have one
  name, are one entry.
#]===]

function(gpu_discover_tests)
  set(gputest_call gpu_discover_tests)
  if("${ARGV0}" STREQUAL "")
    _gputest_fail("the target is missing. Write gpu_discover_tests(<target> ...).")
  endif()
  set(gputest_call "gpu_discover_tests(${ARGV0})")
  if(NOT TARGET "${ARGV0}")
    _gputest_fail("\"${ARGV0}\" is not a target. Call gpu_discover_tests() after add_executable(${ARGV0}).")
  endif()
  _gputest_executable("It" "${ARGV0}" target)
  set(option_keywords NO_PRETTY_TYPES NO_PRETTY_VALUES)
  set(value_keywords GRANULARITY ISOLATION MEMORY GPUS HEAP KEEPS LARGE LAUNCHER TIMEOUT WAIT_LIMIT WORKING_DIRECTORY TEST_PREFIX
    TEST_SUFFIX TEST_FILTER TEST_LIST XML_OUTPUT_DIR DISCOVERY_TIMEOUT DISCOVERY_MODE)
  set(list_keywords REQUIRES LABELS)
  set(word_keywords EXTRA_ARGS DISCOVERY_EXTRA_ARGS PROPERTIES)
  foreach(name IN ITEMS LABELS ENVIRONMENT_MODIFICATION WILL_FAIL PASS_REGULAR_EXPRESSION SKIP_REGULAR_EXPRESSION FIXTURES_REQUIRED RESOURCE_LOCK
          SKIP_RETURN_CODE TIMEOUT)
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
  if("${ARG_ISOLATION}" STREQUAL "worker" AND ("${ARG_GRANULARITY}" MATCHES "class|executable" OR "${ARG_LAUNCHER}" MATCHES "on|ON"))
    _gputest_fail("ISOLATION worker is for entries of one case, whose executable leases its memory itself. Leave ISOLATION out, or GRANULARITY and LAUNCHER.")
  endif()
  if(DEFINED ARG_PROPERTY_SKIP_RETURN_CODE AND NOT ARG_PROPERTY_SKIP_RETURN_CODE EQUAL 77)
    _gputest_fail("PROPERTIES sets SKIP_RETURN_CODE to ${ARG_PROPERTY_SKIP_RETURN_CODE}, but gputest says 77 when it skips a test, and CTest knows only one code. Leave it out.")
  endif()

  get_property(calls TARGET "${target}" PROPERTY GPUTEST_DISCOVERIES)
  math(EXPR calls "0${calls} + 1")
  set_property(TARGET "${target}" PROPERTY GPUTEST_DISCOVERIES ${calls})
  set(base "${CMAKE_CURRENT_BINARY_DIR}/gputest/${target}-${calls}")
  _gputest_discovery_script("${target}" ${calls} script)
  _gputest_note_targets("${target}" "${script}")
  _gputest_generate_script("${base}" "${script}" "add_test([[${target}_NOT_LISTED]] sh -c
    \"echo 'gputest: the configuration is not known. Write ctest -C <configuration>'; exit 1\")
  set_tests_properties([[${target}_NOT_LISTED]] PROPERTIES LABELS \"gpu;gpu_small;gpu_medium\")")
  _gputest_let_ctest_schedule()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${base}.cmake")
  _gputest_warn_if_testing_is_off("gpu_discover_tests(${target})")
endfunction()
