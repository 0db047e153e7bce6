# SPDX-License-Identifier: BSD-3-Clause
#[===[.rst:
.. cmake:command:: gpu_add_test

  Adds a test that shares the machine's GPUs with other tests: it waits until the memory that it asks for is free.

  .. code-block:: cmake

    gpu_add_test(NAME <name> COMMAND <target|program> [<arg>...]
                 [MEMORY small|medium|large|<size>]
                 [GPUS <n>]
                 [HEAP <size>]
                 [KEEPS <size>]
                 [REQUIRES <capability>...]
                 [LARGE exclude|serial|wait]
                 [LAUNCHER on|off]
                 [TIMEOUT <seconds>]
                 [WAIT_LIMIT <duration>]
                 [LABELS <label>...]
                 [WORKING_DIRECTORY <dir>]
                 [CONFIGURATIONS <config>...]
                 [COMMAND_EXPAND_LISTS])

  It calls ``add_test()``, so ``set_tests_properties()`` works on the name afterwards, and keeps gputest's settings.
  A wrong argument is an error that names the test, the value and what is allowed.

  ``NAME``
    Name of the test, which no other call has in any directory: CTest sets properties by name, so ``WILL_FAIL`` or the
    settings of one would be those of the other.

  ``COMMAND``
    An executable target or a program, and its arguments. A target that links ``gputest::main`` or ``gputest::catch2`` leases
    its memory itself, test by test. The launcher ``gputest run`` runs anything else, and holds a lease for as long as the
    program runs. Arguments arrive as they are written, including empty ones and those with semicolons.

  ``MEMORY``
    What the test needs of each device, for tests that do not say it themselves. ``small``: up to 256 MiB. ``medium``: up to half of
    the device. ``large``: the whole device. A size is a number with up to 3 decimals and a unit, ``B``, ``KiB``, ``MiB``, ``GiB`` or
    ``TiB``, from ``1B`` to ``1024TiB``; its class is small up to ``256MiB``, else medium. Default: ``small``.

  ``GPUS``
    Number of distinct devices, 1 to 16. Default: 1.

  ``HEAP``
    Size of the heap for ``malloc()`` in kernels, for tests that do not say it themselves (``heap()``). gputest sets it on the
    test's devices before the first kernel, and counts what it takes in addition to ``MEMORY``. A process has one size, the largest. The launcher
    only counts it: a program that does not link gputest has to set it itself (``cudaLimitMallocHeapSize``). Default: the heap is
    not changed.

  ``KEEPS``
    What each test may leave allocated of each device, for tests that do not say it themselves (``keeps()``): a workspace that a
    library keeps, such as that of a cuBLAS handle. More fails the test, see ``GPUTEST_LEAKS``. Default: nothing.

  ``REQUIRES``
    What each device must have, in addition to what tests say themselves (``GPUTEST_NEEDS``): ``memory_pools``, ``managed_memory``,
    ``concurrent_managed_access``, ``peer_access`` (with ``GPUS`` 2 or more), ``cooperative_launch``, ``tcc``, ``wddm``, ``mig``,
    ``sm_<n>`` for compute capability n/10 or higher, ``total_memory=<size>``, ``free_memory=<size>``. If no device has it, the
    test is skipped with what was asked and what was found. Default: nothing.

  ``LARGE``
    With ``MEMORY large`` only: what happens if other tests may run at the same time. ``exclude``: the test is skipped, with the
    reason. ``serial``: CTest runs it alone. ``wait``: it waits until the device is empty. Default: the environment variable
    ``GPUTEST_LARGE`` when the test runs, else ``exclude``.

  ``LAUNCHER``
    ``on``: always use the launcher, for an executable that uses CUDA before its tests start. ``off``: never use it, for an executable that
    leases its memory itself although it links neither ``gputest::main`` nor ``gputest::catch2``: its own ``main()`` ends with
    ``gputest::run_all_tests()``, ``run_catch2_tests()`` or ``report_end()``. Default: by what the target links at the end of the
    directory.

  ``TIMEOUT``
    Seconds that the test may run, up to 999999999, in each attempt (``ctest --repeat``). Time spent waiting for a GPU does not
    count. At the limit gputest prints which test ran, and kills the process with every process it started. Processes that a test leaves
    behind and that hold its output count, too. Default: none of gputest's own; CTest's default counts the time spent waiting. With
    ``WAIT_LIMIT``: 1500, as ``include(CTest)`` says.

  ``WAIT_LIMIT``
    The longest wait, as ``90s``, ``20min`` or ``1h``, up to ``24h``. After it the test fails and names what held the memory. Without
    ``TIMEOUT`` and ``WAIT_LIMIT``, CTest's own limit counts the wait: 1500 seconds with ``include(CTest)``. Default: the environment
    variable ``GPUTEST_WAIT_LIMIT``, else ``20min``.

  ``LABELS``
    Labels in addition to gputest's own.

  ``WORKING_DIRECTORY``, ``CONFIGURATIONS``, ``COMMAND_EXPAND_LISTS``
    As for ``add_test()``. ``COMMAND_EXPAND_LISTS`` drops empty arguments.

  It sets these properties of the test:

  ``ENVIRONMENT_MODIFICATION``
    ``GPUTEST_TEST``, ``GPUTEST_ENTRY``, ``GPUTEST_MEMORY``, ``GPUTEST_GPUS`` and ``GPUTEST_DEFAULT_LOG``; ``GPUTEST_LARGE``, ``GPUTEST_HEAP``,
    ``GPUTEST_KEEPS``, ``GPUTEST_REQUIRES`` and ``GPUTEST_WAIT_LIMIT`` if the argument is given; ``GPUTEST_TIMEOUT`` if ``TIMEOUT`` or
    ``WAIT_LIMIT`` is given
  ``LABELS``
    ``gpu``, ``gpu_<class>``, and ``LABELS``
  ``SKIP_RETURN_CODE``
    77
  ``FAIL_REGULAR_EXPRESSION``
    the line ``gputest: timed out``, if ``TIMEOUT`` or ``WAIT_LIMIT`` is given: CTest prints it as the reason
  ``TIMEOUT``
    the limit plus ten times the longest wait plus a minute, if ``TIMEOUT`` or ``WAIT_LIMIT`` is given: CTest's own limit for what
    gputest cannot end
  ``RUN_SERIAL``
    ``ON`` for ``LARGE serial``
  ``GPUTEST_REQUEST``
    what the entry needs. When ctest starts, it becomes ``RESOURCE_GROUPS``, and ``COST`` if it is much, unless the user has set
    these

  At the end of the directory it restores what ``set_tests_properties()`` has removed of ``ENVIRONMENT_MODIFICATION`` and of gputest's own
  labels. It refuses another ``SKIP_RETURN_CODE``, and a variable of gputest's in ``ENVIRONMENT`` that has no effect there.
#]===]

function(gpu_add_test)
  set(gputest_call gpu_add_test)
  set(option_keywords COMMAND_EXPAND_LISTS)
  set(value_keywords NAME COMMAND MEMORY GPUS HEAP KEEPS LARGE LAUNCHER TIMEOUT WAIT_LIMIT WORKING_DIRECTORY)
  set(list_keywords REQUIRES LABELS CONFIGURATIONS)
  set(word_keywords "")
  _gputest_parse(0)
  foreach(keyword IN ITEMS NAME COMMAND)
    if(NOT DEFINED ARG_${keyword})
      _gputest_fail("${keyword} is missing. Write gpu_add_test(NAME <name> COMMAND <target|program> [<arg>...] ...).")
    endif()
  endforeach()
  _gputest_check_values()
  _gputest_memory_class("${ARG_MEMORY}" memory_class)
  if(DEFINED ARG_LARGE AND NOT memory_class STREQUAL "large")
    _gputest_fail("LARGE ${ARG_LARGE} is for large tests, but MEMORY is ${ARG_MEMORY}. Write MEMORY large, or leave LARGE out.")
  endif()
  # ctest's set_tests_properties() goes by names alone, across directories.
  get_property(directory GLOBAL PROPERTY "GPUTEST_DIRECTORY_OF ${ARG_NAME}")
  if(TEST "${ARG_NAME}")
    set(directory "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  if(NOT "${directory}" STREQUAL "")
    _gputest_fail("a test in ${directory} has this name, and ctest would give both tests the properties of both, such as their memory and WILL_FAIL. Give one of them another name.")
  endif()
  set_property(GLOBAL PROPERTY "GPUTEST_DIRECTORY_OF ${ARG_NAME}" "${CMAKE_CURRENT_SOURCE_DIR}")

  _gputest_resolve_program("${ARG_COMMAND}" target)
  _gputest_command("${ARG_COMMAND}" "${target}" "${ARG_LAUNCHER}" command)
  _gputest_note_targets("${target}" "${ARG_COMMAND}${ARG_COMMAND_ARGUMENTS}")
  set(options "")
  if(ARG_COMMAND_EXPAND_LISTS)
    string(APPEND options " COMMAND_EXPAND_LISTS")
  endif()
  if(DEFINED ARG_WORKING_DIRECTORY)
    _gputest_quote("${ARG_WORKING_DIRECTORY}" quoted)
    string(APPEND options " WORKING_DIRECTORY ${quoted}")
  endif()
  if(DEFINED ARG_CONFIGURATIONS)
    _gputest_code_of_words("${ARG_CONFIGURATIONS}" words)
    string(APPEND options " CONFIGURATIONS${words}")
  endif()
  _gputest_quote("${ARG_NAME}" quoted_name)
  cmake_language(EVAL CODE "add_test(NAME ${quoted_name} COMMAND${command}${ARG_COMMAND_ARGUMENTS}${options})")

  set(own_labels gpu gpu_${memory_class})
  _gputest_entry_properties(ARG_ "${ARG_NAME}" ctest "${own_labels};${ARG_LABELS}" "" settings properties)
  set(size "${ARG_MEMORY}")
  if(size STREQUAL memory_class)
    set(size any)
  endif()
  _gputest_request(${memory_class} "${size}" "${ARG_GPUS}" "${ARG_HEAP}" "${ARG_LARGE}" request)
  _gputest_quote("${settings}" quoted)
  cmake_language(EVAL CODE "set_tests_properties(${quoted_name} PROPERTIES
    ENVIRONMENT_MODIFICATION ${quoted}${properties} GPUTEST_REQUEST [[${request}]])")
  _gputest_let_ctest_schedule()

  set(by_link FALSE)
  if(NOT target STREQUAL "" AND NOT DEFINED ARG_LAUNCHER)
    set(by_link TRUE)
  endif()
  set(arguments "")
  foreach(argument IN ITEMS "${ARG_NAME}" "${settings}" "${own_labels}" "${ARG_COMMAND}" "${target}" ${by_link})
    _gputest_quote("${argument}" quoted)
    string(APPEND arguments " ${quoted}")
  endforeach()
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _gputest_complete_test${arguments})")
  _gputest_warn_if_testing_is_off("gpu_add_test(NAME ${ARG_NAME})")
endfunction()
