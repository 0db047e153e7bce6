# SPDX-License-Identifier: BSD-3-Clause
#[===[.rst:
.. cmake:command:: gpu_install_tests

  Installs the tests of this directory and of its subdirectories. The installed tests run with ctest alone, on a machine with
  other GPUs, at any place of its file system: without the build tree, the sources, and CMake's configure step.

  .. code-block:: cmake

    gpu_install_tests(DESTINATION <dir>
                      [COMPONENT <component>]
                      [CONFIGURATIONS <config>...]
                      [EXCLUDE_FROM_ALL]
                      [TARGETS <target>...]
                      [DATA <file|directory>...])

  Then ``cmake --install <build tree> --prefix <prefix>``, and on any machine ``ctest --test-dir <prefix>/<dir>``. A wrong argument is an
  error that names the value and what is allowed.

  ``DESTINATION``
    Where the tests go, relative to the installation prefix or absolute, as for ``install()``. The executables go to ``<dir>/bin``.

  ``COMPONENT``, ``CONFIGURATIONS``, ``EXCLUDE_FROM_ALL``
    As for ``install()``.

  ``TARGETS``
    Further executables and shared libraries that the tests need. They go to ``<dir>/bin``, too. An imported target is installed only
    if it is named here.

  ``DATA``
    Files and directories that the tests read, absolute or relative to the current source directory. Those inside the current source or
    binary directory are installed at the same place in ``<dir>``; those inside the top-level ones likewise; others in
    ``<dir>``. They may be made by the build. A ``WORKING_DIRECTORY`` in the source tree has to be named here.

  Installed are: the executables of :cmake:command:`gpu_add_test` and :cmake:command:`gpu_discover_tests`, and those that a command
  names by ``$<TARGET_FILE:...>``, as ``install(TARGETS)`` does it, so they find shared libraries by their property ``INSTALL_RPATH`` (for
  those in ``TARGETS``: ``$ORIGIN``); the ``gputest`` tool; what ctest runs when it starts; and the entries, with all properties. Labels,
  settings, limits and skips are as in the build tree. Paths of these files in commands and properties become those of the installed
  files, which are found relative to ctest's own. So does a path in the current binary directory that is a directory or does not
  exist, such as a ``WORKING_DIRECTORY`` or an output file.

  An entry of gputest's that names another file of the source or build tree is an error when it is installed: it would not be found on
  another machine. An entry of ``add_test()`` that names one is left out, with a message. So are scripts of other functions in
  ``TEST_INCLUDE_FILES`` (``gtest_discover_tests()``). Entries whose ``CONFIGURATIONS`` do not include the installed one are left out,
  as ``ctest -C`` leaves them out. An entry that comes after a test that is left out (``DEPENDS``), or whose fixture has one, could pass unprotected: it is left out as well, with a
  message, and one of gputest's is an error. So is an entry of gputest's that requires a fixture of which no test is installed.

  The list of discovered tests is kept beside the installed tests, or if they cannot be written to, in ``$XDG_CACHE_HOME/gputest`` or
  ``$HOME/.cache/gputest``. ctest itself writes to ``<dir>/Testing``. If it cannot, write ``subdirs("<prefix>/<dir>")`` into a
  ``CTestTestfile.cmake`` in another directory, and run ctest there.
#]===]

function(gpu_install_tests)
  set(gputest_call gpu_install_tests)
  set(option_keywords EXCLUDE_FROM_ALL)
  set(value_keywords DESTINATION COMPONENT)
  set(list_keywords CONFIGURATIONS TARGETS DATA)
  set(word_keywords "")
  _gputest_parse(0)
  if(NOT DEFINED ARG_DESTINATION)
    _gputest_fail("DESTINATION is missing. Write gpu_install_tests(DESTINATION <dir> ...).")
  endif()
  if(NOT IS_ABSOLUTE "${ARG_DESTINATION}")
    cmake_path(NORMAL_PATH ARG_DESTINATION)
    string(REGEX REPLACE "/$" "" ARG_DESTINATION "${ARG_DESTINATION}")
    if(ARG_DESTINATION MATCHES "^\\.\\.(/|$)")
      _gputest_fail("DESTINATION \"${ARG_DESTINATION}\" is outside the installation prefix; allowed: a directory in it, or an absolute one.")
    endif()
  endif()
  set(arguments "")
  foreach(keyword IN ITEMS DESTINATION COMPONENT CONFIGURATIONS EXCLUDE_FROM_ALL TARGETS DATA)
    _gputest_quote("${ARG_${keyword}}" quoted)
    string(APPEND arguments " ${quoted}")
  endforeach()
  # At the end of the directory all of its tests are known.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _gputest_install_tests${arguments})")
endfunction()
