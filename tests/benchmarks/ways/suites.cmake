# SPDX-License-Identifier: BSD-3-Clause
# The suites: calls of add_way_test(<suite> <name> <class> <MiB> <milliseconds on the GPU> <milliseconds on the host>) for
# each test. The host's part comes half before and half after the GPU's. Sizes are parts of WAYS_DEVICE_MIB.
function(ways_add_suites)
  math(EXPR sixteenth "${WAYS_DEVICE_MIB} / 16")
  foreach(i RANGE 1 48) # many small tests
    add_way_test(A small${i} small 64 150 0)
  endforeach()
  foreach(i RANGE 1 24) # medium tests that say their bytes: 2 to 5 sixteenths of the device
    math(EXPR mib "${sixteenth} * (2 + ${i} % 4)")
    add_way_test(B medium${i} medium ${mib} 500 0)
  endforeach()
  foreach(i RANGE 1 20) # mixed, with a few large ones
    add_way_test(C small${i} small 128 200 0)
  endforeach()
  foreach(i RANGE 1 12)
    math(EXPR mib "${sixteenth} * (2 + ${i} % 4)")
    add_way_test(C medium${i} medium ${mib} 500 0)
  endforeach()
  foreach(i RANGE 1 3)
    math(EXPR mib "${sixteenth} * 13")
    add_way_test(C large${i} large ${mib} 700 0)
  endforeach()
  foreach(i RANGE 1 48) # as a library's tests are: most are small, with work on the host around the GPU's
    add_way_test(D small${i} small 128 150 400)
  endforeach()
  foreach(i RANGE 1 9)
    math(EXPR mib "${sixteenth} * (1 + ${i} % 5)")
    add_way_test(D medium${i} medium ${mib} 500 800)
  endforeach()
  foreach(i RANGE 1 3)
    math(EXPR mib "${sixteenth} * 12")
    add_way_test(D large${i} large ${mib} 1000 1000)
  endforeach()
  foreach(i RANGE 1 6)
    add_way_test(D host${i} host 0 0 1000)
  endforeach()
endfunction()
