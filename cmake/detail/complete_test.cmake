# Runs at the end of the directory of a gpu_add_test() call. Restores the properties that set_tests_properties() has
# replaced since, and checks the test's command again.
function(_gputest_complete_test name settings own_labels program target decided)
  set(message_prefix "gpu_add_test(NAME ${name}): ")

  get_property(current TEST "${name}" PROPERTY ENVIRONMENT_MODIFICATION)
  foreach(setting IN LISTS settings)
    string(REGEX REPLACE "=.*" "" variable "${setting}")
    if(NOT current MATCHES "(^|;)${variable}=")
      string(REPLACE ";" "\\;" setting "${setting}")
      set_property(TEST "${name}" APPEND PROPERTY ENVIRONMENT_MODIFICATION "${setting}")
    endif()
  endforeach()

  get_property(current TEST "${name}" PROPERTY LABELS)
  foreach(label IN LISTS own_labels)
    if(NOT label IN_LIST current)
      set_property(TEST "${name}" APPEND PROPERTY LABELS ${label})
    endif()
  endforeach()

  if(target STREQUAL "")
    if(TARGET "${program}")
      _gputest_fail("COMMAND \"${program}\" was a program in PATH when gpu_add_test() was called, and is a target now. Call gpu_add_test() after add_executable(${program}), or write the program's path.")
    endif()
    return()
  endif()

  _gputest_links_gputest("${target}" linked)
  if(decided STREQUAL "must_link" AND NOT linked)
    _gputest_fail_for_want_of_launcher("${program}")
  elseif(decided STREQUAL "for_now" AND linked)
    _gputest_fail("COMMAND \"${program}\" links gputest only after gpu_add_test() was called, with an argument that is empty or a generator expression. Call gpu_add_test() after target_link_libraries(${program} ...), or say LAUNCHER on or off.")
  elseif(decided STREQUAL "later" AND linked)
    # CMake does not pass GPUTEST_LINKED through a static library that links gputest privately.
    set_property(TARGET "${target}" PROPERTY GPUTEST_LINKED ON)
  endif()
endfunction()
