# SPDX-License-Identifier: BSD-3-Clause
# The suites. Calls add_way_test(<suite> <name> <class> <MiB> <milliseconds on the GPU> <milliseconds on the host>) for each
# test. The host's part comes half before and half after the GPU's.
function(ways_add_suites)
  # Many small tests.
  ways_add_tests(A small small 48 64 150 0)
  # Medium tests that say their bytes: 2 to 5 sixteenths of the device.
  ways_add_tests(B medium medium 24 "sixteenth * (2 + number % 4)" 500 0)
  # Mixed, with a few large ones.
  ways_add_tests(C small small 20 128 200 0)
  ways_add_tests(C medium medium 12 "sixteenth * (2 + number % 4)" 500 0)
  ways_add_tests(C large large 3 "sixteenth * 13" 700 0)
  # As a library's tests are: most are small, with work on the host around the GPU's.
  ways_add_tests(D small small 48 128 150 400)
  ways_add_tests(D medium medium 9 "sixteenth * (1 + number % 5)" 500 800)
  ways_add_tests(D large large 3 "sixteenth * 12" 1000 1000)
  ways_add_tests(D host host 6 0 0 1000)
  ways_add_heavy_tail()
endfunction()

# 200 tests in a mixed order: 140 up to 248 MiB, 40 up to 2 GiB, 10 up to three eighths of the device, 10 of more than half of it.
function(ways_add_heavy_tail)
  math(EXPR sixteenth "${WAYS_DEVICE_MIB} / 16")
  foreach(number RANGE 1 200)
    math(EXPR kind "${number} * 7 % 20")
    set(class medium)
    if(kind EQUAL 0)
      math(EXPR mib "${sixteenth} * (9 + ${number} / 20 % 5)")
    elseif(kind EQUAL 1)
      math(EXPR mib "${sixteenth} * (2 + ${number} / 20 % 5)")
    elseif(kind LESS 6)
      math(EXPR mib "300 + ${number} * 37 % 1748")
    else()
      set(class small)
      math(EXPR mib "8 + ${number} * 29 % 241")
    endif()
    math(EXPR gpu_ms "150 + ${number} * 13 % 300")
    add_way_test(E test${number} ${class} ${mib} ${gpu_ms} 0)
  endforeach()
endfunction()

# `count` tests, <name>1 and so on. `mib` is an expression for math(): `sixteenth` is that of the device (WAYS_DEVICE_MIB),
# `number` the test's.
function(ways_add_tests suite name class count mib gpu_ms host_ms)
  math(EXPR sixteenth "${WAYS_DEVICE_MIB} / 16")
  string(REPLACE sixteenth ${sixteenth} mib "${mib}")
  foreach(number RANGE 1 ${count})
    string(REPLACE number ${number} own_mib "${mib}")
    math(EXPR own_mib "${own_mib}")
    add_way_test(${suite} ${name}${number} ${class} ${own_mib} ${gpu_ms} ${host_ms})
  endforeach()
endfunction()
