# SPDX-License-Identifier: BSD-3-Clause
# The target device_buffer: the memory under test. With a CUDA compiler it uses real GPUs or simulated devices, as
# decided when the tests run; without one, simulated devices. Needs gputest::gputest.
#
# To be included, and not a subdirectory: a language has to be enabled where its users are linked.

option(DEVICE_BUFFER_CUDA "Use real GPUs, if there is a CUDA compiler" ON)

set(device_buffer_backend no_cuda_memory.cpp)
if(DEVICE_BUFFER_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES all-major) # the GPU may be another machine's
    endif()
    enable_language(CUDA)
    set(device_buffer_backend cuda_memory.cu)
  endif()
endif()

add_library(device_buffer STATIC
  "${CMAKE_CURRENT_LIST_DIR}/device_buffer.cpp"
  "${CMAKE_CURRENT_LIST_DIR}/${device_buffer_backend}")
target_include_directories(device_buffer PUBLIC "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(device_buffer PUBLIC gputest::gputest)
set_target_properties(device_buffer PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
