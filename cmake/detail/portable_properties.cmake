# SPDX-License-Identifier: BSD-3-Clause
# The entry of this class in portable mode, which nobody watches: as _gputest_entry_properties().
function(_gputest_portable_properties prefix class settings_result result)
  set(properties "")
  if(NOT class STREQUAL "host")
    string(APPEND properties " RESOURCE_LOCK gpu")
  endif()
  if(class STREQUAL "large")
    string(APPEND properties " RUN_SERIAL ON")
  endif()
  if(NOT "${${prefix}TIMEOUT}" STREQUAL "")
    string(APPEND properties " TIMEOUT ${${prefix}TIMEOUT}")
  endif()
  set(${settings_result} "GPUTEST_MEMORY=set:${${prefix}MEMORY};GPUTEST_GPUS=set:${${prefix}GPUS}" PARENT_SCOPE)
  set(${result} "${properties}" PARENT_SCOPE)
endfunction()

