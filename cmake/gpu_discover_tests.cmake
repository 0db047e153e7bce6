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
  set(message_prefix "gpu_discover_tests: ")
  if(NOT "${ARGV0}" STREQUAL "")
    set(message_prefix "gpu_discover_tests(${ARGV0}): ")
  endif()
  set(target "${ARGV0}")
  _gputest_check_discovered_target()

  # For the helpers, which can read this function's variables but not its ARGV<n>. A list cannot hold every argument
  # unchanged.
  math(EXPR argument_count "${ARGC} - 1")
  set(index 0)
  while(index LESS argument_count)
    math(EXPR next "${index} + 1")
    set(argument_${index} "${ARGV${next}}")
    set(index ${next})
  endwhile()

  unset(ARG_NAME) # is gpu_add_test()'s, or an argument of the function that calls this one
  _gputest_discovery_arguments()
  _gputest_check_values()
  _gputest_check_requires()
  _gputest_memory_class("${ARG_MEMORY}" unused) # refuses a wrong size

  _gputest_note_targets()
  get_property(calls TARGET "${target}" PROPERTY GPUTEST_DISCOVERIES)
  math(EXPR calls "0${calls} + 1")
  set_property(TARGET "${target}" PROPERTY GPUTEST_DISCOVERIES ${calls})
  set(base "${CMAKE_CURRENT_BINARY_DIR}/gputest/${target}-${calls}")
  _gputest_discovery_script(script)

  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    file(GENERATE OUTPUT "${base}-$<CONFIG>.cmake" CONTENT "${script}")
    _gputest_quote("${base}" quoted_base)
    _gputest_quote("${target}" quoted_target)
    file(CONFIGURE OUTPUT "${base}.cmake" @ONLY CONTENT "# Written by gpu_discover_tests(); runs when ctest starts.
set(gputest_base @quoted_base@)
if(EXISTS \"\${gputest_base}-\${CTEST_CONFIGURATION_TYPE}.cmake\")
  include(\"\${gputest_base}-\${CTEST_CONFIGURATION_TYPE}.cmake\")
else()
  set(gputest_target @quoted_target@)
  add_test(\"\${gputest_target}_NOT_LISTED\" sh -c
    \"echo 'gputest: the configuration is not known. Write ctest -C <configuration>'; exit 1\")
  set_tests_properties(\"\${gputest_target}_NOT_LISTED\" PROPERTIES LABELS \"gpu;gpu_small;gpu_medium\")
endif()
")
  else()
    file(GENERATE OUTPUT "${base}.cmake" CONTENT "${script}")
  endif()
  _gputest_let_ctest_schedule()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${base}.cmake")
  _gputest_quote("gpu_discover_tests(${target})" quoted_call)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _gputest_check_testing_is_enabled ${quoted_call})")
endfunction()
