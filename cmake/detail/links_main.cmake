# SPDX-License-Identifier: BSD-3-Clause
# Whether a target links a main() of gputest's, directly or through other targets, according to its current link
# properties. gputest::gputest alone is not enough: a helper library may bring it into a program that never calls it.
#
# It does not read names in generator expressions other than LINK_ONLY and BUILD_INTERFACE. CMake itself evaluates those
# when it generates, through the property GPUTEST_MAIN_LINKED.
function(_gputest_links_main target result)
  _gputest_links("${target}" "gputest_main|gputest_catch2|gputest::main|gputest::catch2" linked)
  set(${result} ${linked} PARENT_SCOPE)
endfunction()

# Whether a target links one of `libraries`, a regular expression.
function(_gputest_links target libraries result)
  set(${result} FALSE PARENT_SCOPE)
  set(visited "")
  set(pending "")
  _gputest_append_links("${target}" LINK_LIBRARIES)
  _gputest_append_links("${target}" INTERFACE_LINK_LIBRARIES)
  while(NOT pending STREQUAL "")
    list(POP_FRONT pending library)
    while(library MATCHES "^\\$<(LINK_ONLY|BUILD_INTERFACE):(.*)>$")
      set(library "${CMAKE_MATCH_2}")
    endwhile()
    if(library MATCHES "^(${libraries})$")
      set(${result} TRUE PARENT_SCOPE)
      return()
    endif()
    if(TARGET "${library}" AND NOT library IN_LIST visited)
      list(APPEND visited "${library}")
      _gputest_append_links("${library}" INTERFACE_LINK_LIBRARIES)
    endif()
  endwhile()
endfunction()

# Appends the value of a target's link property to `pending`.
macro(_gputest_append_links target property)
  get_target_property(links "${target}" ${property})
  if(NOT links STREQUAL "links-NOTFOUND")
    list(APPEND pending ${links})
  endif()
endmacro()
