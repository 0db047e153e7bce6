# SPDX-License-Identifier: BSD-3-Clause
# Installs the targets, the headers and the CMake package. Also makes the build tree usable by find_package().
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# CMake itself would stop in the middle, and say no more than "Permission denied".
install(CODE "set(folder \"${CMAKE_INSTALL_LIBDIR}\")" ALL_COMPONENTS)
install(CODE [[
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  execute_process(COMMAND sh -c "mkdir -p \"$1\" && test -w \"$1\"" sh "${folder}" RESULT_VARIABLE result ERROR_QUIET)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "gputest: this user cannot write to ${folder}. Type: cmake --install <build folder> --prefix \
~/opt/gputest, or use sudo")
  endif()
]] ALL_COMPONENTS)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gputest")

install(TARGETS gputest_core
  EXPORT gputest-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS gputest_entry EXPORT gputest-targets RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}")
install(TARGETS gputest_c EXPORT gputest-targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(GPUTEST_BUILD_CLI)
  install(TARGETS gputest_cli EXPORT gputest-targets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(GPUTEST_BUILD_INSIGHTS)
    install(TARGETS gputest_insights EXPORT gputest-targets RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}")
  endif()
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/completions/gputest" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  if(TARGET gputest_manual_page)
    install(FILES "${PROJECT_BINARY_DIR}/src/tool/gputest.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  endif()
endif()
# The parts for test frameworks are installed as sources: the project that uses them builds them.
install(FILES "${PROJECT_SOURCE_DIR}/include/gputest/gputest.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gputest")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gputest/gtest" "${PROJECT_SOURCE_DIR}/include/gputest/catch2"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gputest")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/gtest" "${PROJECT_SOURCE_DIR}/src/catch2" DESTINATION "${CMAKE_INSTALL_DATADIR}/gputest")
include("${CMAKE_CURRENT_LIST_DIR}/install_portable.cmake")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Creates the shared ledger of a machine; docs/guides/shared-machines.md has the command.
install(FILES "${PROJECT_SOURCE_DIR}/src/core/ledger/storage/tmpfiles.conf" DESTINATION "${CMAKE_INSTALL_DATADIR}/gputest/tmpfiles.d"
  RENAME gputest.conf)
install(FILES "${PROJECT_SOURCE_DIR}/packaging/valgrind.supp" DESTINATION "${CMAKE_INSTALL_DATADIR}/gputest")
# For programs in C without CMake. Relative, so that the tree may be moved.
file(RELATIVE_PATH prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/gputest.pc" @ONLY CONTENT "prefix=\${pcfiledir}/@prefix_from_pc@
libdir=\${prefix}/@libdir@
includedir=\${prefix}/@includedir@

Name: gputest
Description: @PROJECT_DESCRIPTION@
URL: @PROJECT_HOMEPAGE_URL@
Version: @PROJECT_VERSION@
Libs: -L\${libdir} -lgputest
Cflags: -I\${includedir}
")
install(FILES "${PROJECT_BINARY_DIR}/gputest.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(EXPORT gputest-targets NAMESPACE gputest:: DESTINATION "${package_dir}")
export(EXPORT gputest-targets NAMESPACE gputest:: FILE "${PROJECT_BINARY_DIR}/gputest-targets.cmake")
