# Whether a target links gputest, directly or through other targets, according to its current link properties.
#
# It does not read names in generator expressions other than LINK_ONLY and BUILD_INTERFACE. CMake itself evaluates those
# when it generates, through the property GPUTEST_LINKED.
function(_gputest_links_gputest target result)
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
    if(library MATCHES "^(gputest|gputest_main|gputest_catch2|gputest::gputest|gputest::main|gputest::catch2)$")
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
