# SPDX-License-Identifier: BSD-3-Clause
#[===[.rst:
.. cmake:command:: gpu_add_test

  Adds a test that waits until the GPU memory that it needs is free.

  .. code-block:: cmake

    gpu_add_test(NAME <name> COMMAND <target|program> [<arg>...]
                 [MEMORY auto|small|medium|large|<size>|none] [ALONE]
                 [GPUS <n>]
                 [HEAP <size>]
                 [KEEPS <size>]
                 [REQUIRES <capability>...]
                 [LARGE exclude|serial|wait]
                 [NEEDS <file>]
                 [LAUNCHER on|off]
                 [TIMEOUT <seconds>]
                 [WAIT_LIMIT <duration>]
                 [LABELS <label>...]
                 [WORKING_DIRECTORY <dir>]
                 [CONFIGURATIONS <config>...]
                 [COMMAND_EXPAND_LISTS])

  It calls ``add_test()``, so ``set_tests_properties()`` works on the name. A wrong argument is an error that names the test, the value
  and what is allowed.

  ``NAME``
    Name of the test. It must be unique across all directories, because CTest sets properties by name: two tests of the same name would
    share ``WILL_FAIL`` and their settings.

  ``COMMAND``
    An executable target, which must exist before the call, or a program, and its arguments. A program is looked for as ``add_test()`` does: in the test's folder, and by the ``PATH``
    of ctest, not by that of the test's ``ENVIRONMENT``; it has to be there when CMake configures, too. A target that links ``gputest::main`` or ``gputest::catch2`` leases
    its memory itself, for one test at a time. The launcher ``gputest run`` starts anything else, and holds a lease as long as the
    program runs. The target's ``TEST_LAUNCHER`` and ``CROSSCOMPILING_EMULATOR`` come before it as with ``add_test()``. Arguments are passed unchanged, including empty ones and those with semicolons.

  ``MEMORY``
    Memory per device, for tests that do not declare it themselves. ``auto``: what they turn out to need. A test begins with
    256 MiB, and gputest asks for more before each allocation beyond that. If there is no room, it ends the test process before the
    allocation and starts it again, with more (``GPUTEST_ATTEMPTS``). ``small``: up to 256 MiB. ``medium``: up to half of
    the device. ``large``: the whole device. A size is a number with up to 3 decimals and a unit, ``B``, ``KiB``, ``MiB``, ``GiB`` or
    ``TiB``, from ``1B`` to ``1024TiB``; its class is small up to ``256MiB``, else medium. ``none``: tests that do not declare memory
    themselves use no GPU. The test is then what ``add_test()`` makes: no process beside its own, no label of gputest's, and
    CTest's own ``TIMEOUT``. Default: ``auto``.

  ``ALONE``
    No other process of the ledger uses the devices while the test has its lease: for a test that asserts on free memory, on clocks or on
    times. It waits like any other, and needs no more memory than ``MEMORY`` says.

  ``GPUS``
    Number of distinct devices, 1 to 16. 0 means the same as ``MEMORY none``. Default: 1.

  ``HEAP``
    Size of the heap for ``malloc()`` in kernels, for tests that do not declare it themselves (``heap()``). gputest sets it on the
    test's devices before the first kernel, and counts it in addition to ``MEMORY``. A process has one size: the largest that its tests ask for. The
    launcher only counts the heap: a program that does not link gputest must set it itself (``cudaLimitMallocHeapSize``). Default: the
    heap is not changed.

  ``KEEPS``
    Memory that each test may leave allocated on each device, for tests that do not declare it themselves (``keeps()``): for example the
    workspace of a cuBLAS handle. A test that leaves more fails, see ``GPUTEST_LEAKS``. Default: nothing.

  ``REQUIRES``
    What each device must support or have, in addition to what tests declare (``GPUTEST_NEEDS``): ``memory_pools``, ``managed_memory``,
    ``concurrent_managed_access``, ``peer_access`` (with ``GPUS`` 2 or more), ``cooperative_launch``, ``tcc``, ``wddm``, ``mig``,
    ``sm_<n>`` for compute capability n/10 or higher, ``total_memory=<size>``, ``free_memory=<size>``. If no device meets the
    requirements, the test is skipped, and the reason has what was asked and what was found. Default: nothing.

  ``LARGE``
    Only with ``MEMORY large``: what happens if other tests may run at the same time. ``exclude``: the test is skipped, with a reason.
    ``serial``: CTest runs it alone. ``wait``: it waits until its memory is free. Default: the environment variable
    ``GPUTEST_LARGE`` when the test runs, else ``exclude``.

  ``NEEDS``
    A file in the sources with what entries of the project were measured to take, by name: ``gputest needs --export`` writes it. ctest reads it
    when it starts. A test that declares no memory asks for the figure at first, where no earlier run in the build tree says how much it
    takes. Its label, ``gpu_small``, ``gpu_medium`` or ``gpu_large``, is that of the figure in the file. The file need not exist. Default: the variable ``GPUTEST_NEEDS_FILE``, else none.

  ``LAUNCHER``
    ``on``: use the launcher, for an executable that uses CUDA before its tests start. ``off``: do not use it, for an executable that
    leases its memory itself but links neither ``gputest::main`` nor ``gputest::catch2``: its own ``main()`` ends with
    ``gputest::run_all_tests()``, ``run_catch2_tests()`` or ``report_end()``. Default: ``off`` if the target links one of these two
    libraries when CMake has read its directory, else ``on``.

  ``TIMEOUT``
    Seconds that the test may run, up to 999999999, in each attempt (``MEMORY auto``, ``ctest --repeat``). Time spent waiting for memory does not
    count. At the limit gputest prints which test was running, and kills the process with every process it started. Processes
    that the test leaves behind and that keep its output open count towards the limit. With CTest's property ``TIMEOUT_AFTER_MATCH``, the limit of gputest
    is the sum of both, because only CTest sees the line. ``0`` is no limit, as for CTest. A property ``TIMEOUT`` that is set later replaces it, and
    means the same, unless it is a generator expression: that is CTest's own limit. Default: none, so that CTest's own limit applies, which includes
    waiting. With ``WAIT_LIMIT``: 1500, as ``include(CTest)`` says.

  ``WAIT_LIMIT``
    The longest wait, as ``90s``, ``20min`` or ``1h``, up to ``24h``. After it the test fails, and the message names what held the memory.
    Without ``TIMEOUT`` and ``WAIT_LIMIT``, CTest's own limit includes the wait: 1500 seconds with ``include(CTest)``. Default: the
    environment variable ``GPUTEST_WAIT_LIMIT``, else ``20min``.

  ``LABELS``
    Labels in addition to gputest's own.

  ``WORKING_DIRECTORY``, ``CONFIGURATIONS``, ``COMMAND_EXPAND_LISTS``
    As for ``add_test()``. ``COMMAND_EXPAND_LISTS`` drops empty arguments.

  It sets these properties of the test:

  ``ENVIRONMENT_MODIFICATION``
    ``GPUTEST_DEPTH``, ``GPUTEST_TEST``, ``GPUTEST_ENTRY``, ``GPUTEST_MEMORY``, ``GPUTEST_GPUS`` and ``GPUTEST_DEFAULT_LOG``; ``GPUTEST_DEFAULT_PROCESSES_PER_DEVICE``, ``GPUTEST_LARGE``, ``GPUTEST_HEAP``,
    ``GPUTEST_KEEPS``, ``GPUTEST_REQUIRES`` and ``GPUTEST_WAIT_LIMIT`` if the argument is given; ``GPUTEST_TIMEOUT`` if ``TIMEOUT`` or
    ``WAIT_LIMIT`` is given, or the property ``TIMEOUT``; ``GPUTEST_PATH`` if other elements, or ``ENVIRONMENT``, change ``PATH``; when ctest starts ``GPUTEST_LEARNED``, if no size is declared and it is known what the entry takes
  ``LABELS``
    ``gpu``, ``gpu_<class>`` (``gpu_small`` with ``MEMORY auto``), and ``LABELS``
  ``SKIP_RETURN_CODE``
    77; with ``MEMORY none`` and in portable mode 219. If the project sets another code, a command of the launcher, or with ``MEMORY none`` a command that does not link
    ``gputest::main``, that ends with that code has skipped itself
  ``TIMEOUT``
    the limit (three times, with ``MEMORY auto``) plus ten times the longest wait plus a minute, in the same cases: a last resort, if gputest itself
    cannot end the test
  ``RUN_SERIAL``
    ``ON`` for ``LARGE serial``
  ``GPUTEST_EXECUTABLE``
    the executable, if it links ``gputest::main`` and the call declares nothing. If ctest finds no GPU, and neither this file nor a library that it is linked with names
    CUDA or OpenCL, its tests run as with ``MEMORY none``
  ``GPUTEST_REQUEST``
    what the entry needs. When ctest starts, gputest sets a ``RESOURCE_LOCK`` from it, in addition to the project's own, and ``COST`` for an entry that needs much memory,
    unless the project has set it

  If ``set_tests_properties()`` replaces ``ENVIRONMENT_MODIFICATION`` or ``LABELS``, gputest puts its own values before the new ones at the
  end of the directory, and in portable mode the lock ``gpu`` before those of ``RESOURCE_LOCK``. It refuses another ``SKIP_RETURN_CODE`` of a test
  that leases its memory itself, and gputest variables in ``ENVIRONMENT`` that would have no effect.
  It does not see properties that are set after the end of the directory, by one above (CMake 3.28) or by ``cmake_language(DEFER)``: with a
  ``WILL_FAIL`` or an expression from there, a test that gputest itself fails may pass, and a ``TIMEOUT`` from there includes waiting. An ``ENVIRONMENT_MODIFICATION`` from there has to be added
  (``set_property(TEST <name> DIRECTORY <directory> APPEND PROPERTY ...)``). If it replaces gputest's settings, a test that leases its memory itself
  fails and says so, and a command of the launcher has the default ``MEMORY auto``, whatever the call says.
#]===]

function(gpu_add_test)
  # The policy of the caller, by which add_test() uses emulators. CMake's manual names no way to it; this one is GoogleTest.cmake's.
  set(gputest_cmp0158 "")
  if(POLICY CMP0158)
    cmake_policy(GET CMP0158 gputest_cmp0158 PARENT_SCOPE)
  endif()
  set(gputest_call gpu_add_test)
  set(option_keywords ALONE COMMAND_EXPAND_LISTS)
  set(value_keywords NAME COMMAND MEMORY GPUS HEAP KEEPS LARGE LAUNCHER TIMEOUT WAIT_LIMIT WORKING_DIRECTORY NEEDS)
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
  foreach(keyword IN ITEMS HEAP KEEPS REQUIRES WAIT_LIMIT)
    if(memory_class STREQUAL "host" AND DEFINED ARG_${keyword})
      _gputest_refuse_of_host(${keyword})
    endif()
  endforeach()
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
  cmake_language(EVAL CODE "set(filters ${ARG_COMMAND_ARGUMENTS})")
  list(FILTER filters INCLUDE REGEX "^--gtest_filter=")
  list(LENGTH filters count)
  if(count GREATER 1 AND NOT target STREQUAL "")
    list(JOIN filters " " filters)
    _gputest_fail("COMMAND has ${count} filters: ${filters}. GoogleTest takes the last one. Write one; `:` joins patterns.")
  endif()
  set(is_watched TRUE)
  if(memory_class STREQUAL "host" OR COMMAND _gputest_use_portable_mode)
    set(is_watched FALSE)
    _gputest_quote("${ARG_COMMAND}" command)
    string(PREPEND command " ")
  else()
    _gputest_command("${ARG_COMMAND}" "${target}" "${ARG_LAUNCHER}" command)
  endif()
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
  string(REPLACE "$<" "$<1:$><" name "${ARG_NAME}") # for CMake takes it for a generator expression elsewhere
  string(REPLACE ";" "\\;" name_setting "GPUTEST_TEST=set:${name}")
  _gputest_can_precede("${ARG_NAME}" can_precede)
  if(NOT can_precede) # what the user adds to ENVIRONMENT_MODIFICATION
    set(name_setting "")
    if(is_watched)
      _gputest_quote("GPUTEST_TEST=${name}" quoted)
      string(PREPEND command " /usr/bin/env ${quoted}")
    endif()
  endif()
  cmake_policy(PUSH)
  if(gputest_cmp0158 STREQUAL "NEW")
    cmake_policy(SET CMP0158 NEW)
  endif()
  cmake_language(EVAL CODE "add_test(NAME ${quoted_name} COMMAND${command}${ARG_COMMAND_ARGUMENTS}${options})")
  cmake_policy(POP)

  _gputest_label_of_add_test(${memory_class} label)
  _gputest_labels_of(${label} own_labels)
  set(ARG_PLAIN FALSE)
  set(pair_of_labels "LABELS [[${own_labels}]]")
  if(memory_class STREQUAL "host")
    set(ARG_PLAIN TRUE)
    set(pair_of_labels "")
  endif()
  cmake_language(EVAL CODE "_gputest_join_labels(labels ${pair_of_labels} ${ARG_PAIRS_OF_LABELS})")
  _gputest_warn_if_testing_is_off("gpu_add_test(NAME ${ARG_NAME})")
  if(COMMAND _gputest_use_portable_mode)
    _gputest_quote("${labels}" quoted)
    _gputest_portable_properties(ARG_ ${memory_class} settings properties)
    string(APPEND properties " LABELS ${quoted}")
    set(memory_class host) # the rest is as for an entry that nobody watches
  else()
    set(ARG_DEFAULT_PROCESSES_PER_DEVICE "${GPUTEST_PROCESSES_PER_DEVICE}")
    _gputest_entry_properties(ARG_ ctest "${labels}" settings properties)
  endif()
  if(NOT name_setting STREQUAL "")
    list(APPEND settings "${name_setting}")
  endif()
  if(NOT memory_class STREQUAL "host")
    string(REPLACE " alone" "+alone" size "${ARG_MEMORY}")
    string(REGEX REPLACE "^(auto|${memory_class})" any size "${size}")
    _gputest_request(${memory_class} "${size}" "${ARG_GPUS}" "${ARG_HEAP}" "${ARG_LARGE}" request)
    string(APPEND properties " GPUTEST_REQUEST [[${request}]]")
    if(nothing_declared AND NOT target STREQUAL "") # where there is no GPU, ctest looks whether it can use one
      string(APPEND properties " GPUTEST_EXECUTABLE [[$<$<BOOL:$<TARGET_PROPERTY:${target},GPUTEST_MAIN_LINKED>>:$<TARGET_FILE:${target}>>]]")
    endif()
    _gputest_needs_file(needs)
    _gputest_let_ctest_schedule("${needs}" "${target}")
  endif()
  _gputest_quote("${settings}" quoted)
  cmake_language(EVAL CODE "set_tests_properties(${quoted_name} PROPERTIES ENVIRONMENT_MODIFICATION ${quoted}${properties})")

  set(by_link FALSE)
  if(NOT target STREQUAL "" AND NOT DEFINED ARG_LAUNCHER)
    set(by_link TRUE)
  endif()
  set(arguments "")
  foreach(argument IN ITEMS "${ARG_NAME}" "${settings}" "${own_labels}" "${ARG_COMMAND}" "${target}" ${by_link} "${memory_class}")
    _gputest_quote("${argument}" quoted)
    string(APPEND arguments " ${quoted}")
  endforeach()
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _gputest_complete_test${arguments})")
endfunction()
