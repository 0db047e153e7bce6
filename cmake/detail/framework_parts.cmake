# SPDX-License-Identifier: BSD-3-Clause
# Builds gputest's parts for test frameworks from their sources, against the GoogleTest and the Catch2 of the current project.
# A compiled library would work only with the framework that it was compiled against, and no error would report a mismatch.
#
# Targets, unless they exist already: gputest::gputest, gputest::main and gputest::catch2, static libraries. They are built
# only if a target links them. Need the target gputest::core.

# _gputest_add_framework_parts(<folder of the sources> <directory that may still add a framework>)
function(_gputest_add_framework_parts sources directory)
  if(TARGET gputest)
    return()
  endif()
  file(GLOB gtest_sources CONFIGURE_DEPENDS "${sources}/gtest/*.cpp")
  list(REMOVE_ITEM gtest_sources "${sources}/gtest/main.cpp")
  file(GLOB catch2_sources CONFIGURE_DEPENDS "${sources}/catch2/*.cpp")
  _gputest_add_part(gputest gputest::gputest gputest::core ${gtest_sources})
  _gputest_add_part(gputest_main gputest::main gputest "${sources}/gtest/main.cpp")
  _gputest_add_part(gputest_catch2 gputest::catch2 gputest::core ${catch2_sources})
  # A project may have a main() of its own.
  set_source_files_properties("${sources}/catch2/main.cpp" TARGET_DIRECTORY gputest_catch2 PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # gpu_add_test() reads this from any target that links one of them, directly or not: such a target needs no launcher.
  set_target_properties(gputest_main gputest_catch2 PROPERTIES
    INTERFACE_GPUTEST_MAIN_LINKED ON
    COMPATIBLE_INTERFACE_BOOL GPUTEST_MAIN_LINKED)

  # FetchContent or add_subdirectory() may add a framework later in that directory, and fail if an imported one exists. But a
  # dependency provider, or FetchContent in place of find_package(), adds its directory when the framework is looked for, which is
  # too late in a deferred call. So it is looked for now, and nothing that is installed is found, nor what an earlier
  # configuration or the user has cached.
  foreach(part IN ITEMS "googletest;GTest;GTest::gtest;gtest" "catch2;Catch2;Catch2::Catch2;Catch2::Catch2")
    list(POP_FRONT part framework package target other_target)
    set(is_imported FALSE)
    if(NOT TARGET ${target} AND NOT TARGET ${other_target})
      set(CMAKE_REQUIRE_FIND_PACKAGE_${package} FALSE)
      set(cached "$CACHE{${package}_DIR}")
      set(${package}_DIR "")
      find_package(${package} QUIET CONFIG NO_DEFAULT_PATH)
      unset(${package}_DIR)
      if(cached AND NOT ${package}_FOUND)
        set_property(CACHE ${package}_DIR PROPERTY VALUE "${cached}")
      endif()
      if(TARGET ${target}) # one that a provider has installed may not be visible in that directory
        get_target_property(is_imported ${target} IMPORTED)
      endif()
    endif()
    if((TARGET ${target} OR TARGET ${other_target}) AND NOT is_imported)
      cmake_language(CALL _gputest_link_${framework})
    else()
      cmake_language(DEFER DIRECTORY "${directory}" CALL _gputest_link_${framework})
    endif()
  endforeach()
endfunction()

# _gputest_add_part(<target> <alias> <what it links> <source>...)
#
# A project's warnings, checks and -fno-exceptions apply to its own code only. Its -fno-rtti holds here, too: a GoogleTest
# that was built so lacks what code with RTTI links. One translation unit of all sources takes a third of the time.
function(_gputest_add_part part alias links)
  add_library(${part} STATIC EXCLUDE_FROM_ALL ${ARGN})
  add_library(${alias} ALIAS ${part})
  target_link_libraries(${part} PUBLIC ${links})
  target_compile_features(${part} PUBLIC cxx_std_17)
  set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  _gputest_optimize_for_size(${part})
  if(NOT GPUTEST_DEVELOPER_MODE)
    target_compile_options(${part} PRIVATE "$<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-fexceptions;-w>")
    set_target_properties(${part} PROPERTIES CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE "" UNITY_BUILD ON)
  else() # tests compile some of these sources once more
    set_target_properties(${part} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# _gputest_optimize_for_size(<target>)
#
# What is linked into each test is half as large with -Os as with -O2, and a case takes as long. Configurations that do not
# optimize stay as they are. Distributions build None. Debug information would be 22 MB in each test, and 5 MB with functions and lines
# alone, so only developers of gputest have it. A backtrace shows the functions in any case.
function(_gputest_optimize_for_size target)
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<CXX_COMPILER_ID:GNU,Clang,AppleClang>,$<CONFIG:Release,RelWithDebInfo,None>>:-Os>"
    "$<$<AND:$<CXX_COMPILER_ID:GNU,Clang,AppleClang>,$<CONFIG:RelWithDebInfo>,$<NOT:$<BOOL:${GPUTEST_DEVELOPER_MODE}>>>:-g0>")
endfunction()

# Finds an installed framework at the end of a directory. The directories below have been added, and do not see what this one imports.
# So all of them see it from the end of the top directory on, after which none adds the framework itself. It is not looked for there
# again: the top directory may have other languages, or may find another one.
#
# _gputest_find_framework(<its target> <another name of the target> <package> [<version>])
function(_gputest_find_framework target other_target package)
  if(TARGET ${target} OR TARGET ${other_target})
    return()
  endif()
  set(found "")
  set(cached "$CACHE{${package}_DIR}")
  if(CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
    find_package(${package} ${ARGN} QUIET GLOBAL)
  else()
    find_package(${package} ${ARGN} QUIET)
    get_property(found DIRECTORY PROPERTY IMPORTED_TARGETS)
    list(FILTER found INCLUDE REGEX "^${package}::")
  endif()
  if(cached) # the project may use an older one
    set_property(CACHE ${package}_DIR PROPERTY VALUE "${cached}")
  endif()
  foreach(name IN LISTS found) # what an imported target links is read in the directory that imports it
    add_library(gputest::found::${name} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(gputest::found::${name} INTERFACE ${name})
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY \"\${CMAKE_SOURCE_DIR}\" CALL _gputest_share_found ${name})")
  endforeach()
  set(${package}_VERSION "${${package}_VERSION}" PARENT_SCOPE)
endfunction()

function(_gputest_share_found target)
  get_property(found_here DIRECTORY PROPERTY IMPORTED_TARGETS)
  if(target IN_LIST found_here) # directories that were added before do not see it either
    set_property(TARGET ${target} PROPERTY IMPORTED_GLOBAL TRUE)
  elseif(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(${target} INTERFACE gputest::found::${target})
  endif()
endfunction()

# Links gputest with the GoogleTest target that exists now, else with the one that find_package() finds.
function(_gputest_link_googletest)
  _gputest_find_framework(GTest::gtest gtest GTest)
  set(version "${GTest_VERSION}")
  if(TARGET gtest) # the project builds it
    get_target_property(version gtest VERSION)
  endif() # where neither says it, what is too old does not compile, and says so
  if(version AND version VERSION_LESS 1.12)
    # Once the project has added its targets. What a deferred call refers to is read then.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _gputest_refuse_users_of gputest::main|gputest::gputest
      \"GoogleTest 1.12 or newer but ${version}: add a newer one to the project\" \"\${CMAKE_CURRENT_SOURCE_DIR}\")")
  elseif(TARGET GTest::gtest OR TARGET gtest)
    set(target gtest)
    if(TARGET GTest::gtest)
      set(target GTest::gtest)
    endif()
    target_link_libraries(gputest PUBLIC ${target})
    # That of BLT exports no folder, and each target of the project names it. What is installed must not be found in its place.
    get_target_property(exported ${target} INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(own ${target} INCLUDE_DIRECTORIES)
    foreach(folder IN LISTS own)
      if(NOT exported AND EXISTS "${folder}/gtest/gtest.h")
        target_include_directories(gputest SYSTEM PUBLIC "${folder}")
      endif()
    endforeach()
  else()
    _gputest_refuse_users_of("gputest::main|gputest::gputest"
      "GoogleTest: install it (Debian: libgtest-dev), or add it to the project, 1.12 or newer. What FetchContent or a dependency \
provider adds in place of find_package(GTest) has to be declared before find_package(gputest)" "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
endfunction()

function(_gputest_link_catch2)
  _gputest_find_framework(Catch2::Catch2 Catch2::Catch2 Catch2 3.3)
  if(TARGET Catch2::Catch2)
    target_link_libraries(gputest_catch2 PUBLIC Catch2::Catch2)
  else()
    _gputest_refuse_users_of("gputest::catch2"
      "Catch2 3.3 or newer: install it, or add it to the project (Debian 12 has 2.13)" "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
endfunction()

# Stops the configuration if a target of this directory, or of one below it, links one of `parts`, a regular expression:
# there is no `framework` (a text). Projects that use only other targets need none.
function(_gputest_refuse_users_of parts framework directory)
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  list(REMOVE_ITEM targets gputest gputest_main)
  foreach(target IN LISTS targets)
    _gputest_links("${target}" "${parts}" links)
    if(links)
      message(FATAL_ERROR "gputest: the target ${target} links one of ${parts}, and there is no ${framework}, by \
find_package(), FetchContent or add_subdirectory()")
    endif()
  endforeach()
  get_property(directories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS directories)
    _gputest_refuse_users_of("${parts}" "${framework}" "${below}")
  endforeach()
endfunction()
