# SPDX-License-Identifier: BSD-3-Clause
# The properties of an entry of this class in portable mode, as code for set_tests_properties().
function(_gputest_portable_properties prefix class result)
  set(properties "")
  if(NOT class STREQUAL "host")
    string(APPEND properties " SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu")
  endif()
  if(class STREQUAL "large")
    string(APPEND properties " RUN_SERIAL ON")
  endif()
  if(NOT "${${prefix}TIMEOUT}" STREQUAL "")
    string(APPEND properties " TIMEOUT ${${prefix}TIMEOUT}")
  endif()
  string(APPEND properties " ENVIRONMENT_MODIFICATION [[GPUTEST_MEMORY=set:${${prefix}MEMORY};GPUTEST_GPUS=set:${${prefix}GPUS}]]")
  set(${result} "${properties}" PARENT_SCOPE)
endfunction()

