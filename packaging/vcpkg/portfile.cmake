# SPDX-License-Identifier: BSD-3-Clause
set(VCPKG_BUILD_TYPE release) # its debug build has the same interface
# .ci/release writes the hash into a copy of this file.
vcpkg_download_distfile(archive
  URLS "https://example.com/gputest/gputest-${VERSION}.tar.gz"
  FILENAME "gputest-${VERSION}.tar.gz"
  SHA512 0)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")
vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES tool GPUTEST_BUILD_CLI)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${options}
    "-DCMAKE_INSTALL_BINDIR=tools/${PORT}"
    "-DCMAKE_INSTALL_LIBEXECDIR=tools/${PORT}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/gputest)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
