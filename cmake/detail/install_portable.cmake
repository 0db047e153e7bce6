# SPDX-License-Identifier: BSD-3-Clause
# Installs what portable mode needs, which the full mode has, too: the CMake package, and the sources that the project which uses it
# builds. Also makes the build tree usable by find_package().
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gputest")
set(gputest_sources "${CMAKE_INSTALL_DATADIR}/gputest")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/portable" DESTINATION "${gputest_sources}" PATTERN "README.md" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/core/policy" DESTINATION "${gputest_sources}/core" PATTERN "DESIGN.md" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/src/core/session/test_list.cpp" DESTINATION "${gputest_sources}/core/session")
install(FILES "${PROJECT_SOURCE_DIR}/src/core/settings/settings.hpp" DESTINATION "${gputest_sources}/core/settings")
if(gputest_is_portable) # the full mode installs them itself
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gputest" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/gtest" "${PROJECT_SOURCE_DIR}/src/catch2" DESTINATION "${gputest_sources}")
endif()

# The public functions and their helpers, without the project's own build files.
file(GLOB gputest_functions "${PROJECT_SOURCE_DIR}/cmake/*.cmake")
install(FILES ${gputest_functions} DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/detail" DESTINATION "${package_dir}"
  PATTERN "developer_mode.cmake" EXCLUDE
  PATTERN "install.cmake" EXCLUDE
  PATTERN "install_portable.cmake" EXCLUDE)

write_basic_package_version_file("${PROJECT_BINARY_DIR}/gputest-config-version.cmake"
  COMPATIBILITY SameMinorVersion)

set(functions_dir "\${CMAKE_CURRENT_LIST_DIR}") # a packager may move the folder
set(sources_dir "${CMAKE_INSTALL_DATADIR}/gputest")
set(headers_dir "${CMAKE_INSTALL_INCLUDEDIR}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/gputest-config.cmake.in"
  "${PROJECT_BINARY_DIR}/install/gputest-config.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS sources_dir headers_dir)
install(FILES
  "${PROJECT_BINARY_DIR}/install/gputest-config.cmake"
  "${PROJECT_BINARY_DIR}/gputest-config-version.cmake"
  DESTINATION "${package_dir}")

set(functions_dir "${PROJECT_SOURCE_DIR}/cmake")
set(sources_dir "${PROJECT_SOURCE_DIR}/src")
set(headers_dir "${PROJECT_SOURCE_DIR}/include")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/gputest-config.cmake.in"
  "${PROJECT_BINARY_DIR}/gputest-config.cmake"
  INSTALL_DESTINATION "${PROJECT_BINARY_DIR}"
  INSTALL_PREFIX "${PROJECT_BINARY_DIR}"
  PATH_VARS sources_dir headers_dir)
