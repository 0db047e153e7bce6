# SPDX-License-Identifier: BSD-3-Clause
# The property by which an entry fails whose process has not said, at its end, that gputest ran its tests.
#
# CTest can require a text in an output only by PASS_REGULAR_EXPRESSION, and then ignores the exit code. It would report
# tests as passed whose process ended with a leak checker's code, or with main()'s own. FAIL_REGULAR_EXPRESSION leaves the
# exit code its meaning, but CMake's regular expressions cannot say "does not contain this line". They can say "is made of
# other pieces". So the line `gputest: entry complete: <name>` ends with a DEL (0x7f) and a tab, which is no part of any
# text, and the expression matches outputs in which no tab follows a DEL: what has no DEL, then up to 8 times DELs with
# something else behind them. (A `*` in place of 8 would make CTest overflow its stack at some 10,000 DELs, and CMake's
# expressions may have 9 groups.) An output that has DELs in more places counts as one with the line. The first group of
# the expression matches nothing. It is there because CTest prints the expression as the reason of the failure.
string(ASCII 127 _gputest_del)
string(ASCII 9 _gputest_tab)
set(_gputest_pieces "")
foreach(_gputest_piece RANGE 1 8)
  set(_gputest_pieces "(${_gputest_del}+[^${_gputest_del}${_gputest_tab}][^${_gputest_del}]*${_gputest_pieces})?")
endforeach()
set_property(GLOBAL PROPERTY GPUTEST_SENTINEL
  "^(gputest did not report that the tests of this entry ran to their end, see 'Results' in its README)*[^${_gputest_del}]*${_gputest_pieces}${_gputest_del}*$")
unset(_gputest_del)
unset(_gputest_tab)
unset(_gputest_pieces)

# Adds the expression to those of the test, unless it is there. An entry that WILL_FAIL must not have it: CTest inverts
# the result of the expression too, so that a process which ends with 0 in the middle would pass.
function(_gputest_set_sentinel name will_fail)
  get_property(sentinel GLOBAL PROPERTY GPUTEST_SENTINEL)
  get_property(expressions TEST "${name}" PROPERTY FAIL_REGULAR_EXPRESSION)
  string(FIND "${expressions}" "${sentinel}" position)
  if(will_fail)
    list(REMOVE_ITEM expressions "${sentinel}")
    if(expressions STREQUAL "")
      set_property(TEST "${name}" PROPERTY FAIL_REGULAR_EXPRESSION)
    else()
      set_property(TEST "${name}" PROPERTY FAIL_REGULAR_EXPRESSION "${expressions}")
    endif()
  elseif(position EQUAL -1)
    set_property(TEST "${name}" APPEND PROPERTY FAIL_REGULAR_EXPRESSION "${sentinel}")
  endif()
endfunction()
