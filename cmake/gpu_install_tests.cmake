# SPDX-License-Identifier: BSD-3-Clause
#[===[.rst:
.. cmake:command:: gpu_install_tests

  Installs the tests of this directory and of its subdirectories. The installed tests need only ctest. They run on any machine, with its GPUs,
  and in any directory. They need no build tree, no sources and no configure step.

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
    Directory of the tests, absolute or relative to the installation prefix, as for ``install()``. The executables go to ``<dir>/bin``.

  ``COMPONENT``, ``CONFIGURATIONS``, ``EXCLUDE_FROM_ALL``
    As for ``install()``.

  ``TARGETS``
    More executables and shared libraries that the tests need. They also go to ``<dir>/bin``. An imported target is installed only if
    it is named here. A static library may be named, too, and is not installed, because no test needs it.

  ``DATA``
    Files and directories that the tests read, absolute or relative to the current source directory. Those inside the current source or
    binary directory, or inside the top-level ones, keep their relative path in ``<dir>``. Others go to ``<dir>``. The build may create them.
    A ``WORKING_DIRECTORY`` in the source tree must be named here.

  With ``BUILD_TESTING`` off, and without ``enable_testing()``, nothing is installed.

  The guide "Tests on another machine" says what is installed, how paths are changed, what is left out or is an error, and what holds for a
  read-only installation.
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
