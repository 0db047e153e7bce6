# Installs the targets, the headers and the CMake package, and makes the build tree usable by find_package() too.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gputest")

install(TARGETS gputest gputest_main
  EXPORT gputest-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(GPUTEST_BUILD_CLI)
  install(TARGETS gputest_cli EXPORT gputest-targets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(EXPORT gputest-targets NAMESPACE gputest:: DESTINATION "${package_dir}")
export(EXPORT gputest-targets NAMESPACE gputest:: FILE "${PROJECT_BINARY_DIR}/gputest-targets.cmake")

# The public functions and their helpers; the project's own build files stay behind.
install(FILES "${PROJECT_SOURCE_DIR}/cmake/gputest.cmake" "${PROJECT_SOURCE_DIR}/cmake/gpu_add_test.cmake"
  DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/detail" DESTINATION "${package_dir}"
  PATTERN "developer_mode.cmake" EXCLUDE
  PATTERN "install.cmake" EXCLUDE)

write_basic_package_version_file("${PROJECT_BINARY_DIR}/gputest-config-version.cmake"
  COMPATIBILITY SameMinorVersion)

set(functions_dir "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/gputest-config.cmake.in"
  "${PROJECT_BINARY_DIR}/install/gputest-config.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS functions_dir)
install(FILES
  "${PROJECT_BINARY_DIR}/install/gputest-config.cmake"
  "${PROJECT_BINARY_DIR}/gputest-config-version.cmake"
  DESTINATION "${package_dir}")

set(functions_dir "${PROJECT_SOURCE_DIR}/cmake")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/gputest-config.cmake.in"
  "${PROJECT_BINARY_DIR}/gputest-config.cmake"
  INSTALL_DESTINATION "${PROJECT_BINARY_DIR}"
  INSTALL_PREFIX "${PROJECT_BINARY_DIR}"
  PATH_VARS functions_dir)
