# SPDX-License-Identifier: BSD-3-Clause
# The property by which an entry fails whose process has not said, at its end, that gputest ran its tests.
#
# CTest can require a text in an output only by PASS_REGULAR_EXPRESSION, and then ignores the exit code. It would report
# tests as passed whose process ended with a leak checker's code, or with main()'s own. FAIL_REGULAR_EXPRESSION leaves the
# exit code its meaning, but CMake's regular expressions cannot say "does not contain this line". They can say "consists
# of other characters than this one". So the line `gputest: entry complete: <name>` ends with a DEL (0x7f), which is no
# part of any text, and the expression matches outputs without one. Its first part matches nothing. It is there because
# CTest prints the expression as the reason of the failure.
string(ASCII 127 _gputest_del)
set_property(GLOBAL PROPERTY GPUTEST_SENTINEL
  "^(gputest did not report that the tests of this entry ran to their end, see 'Results' in its README)*[^${_gputest_del}]*$")
unset(_gputest_del)

# Adds the expression to those of the test, unless it is there.
function(_gputest_require_sentinel name)
  get_property(sentinel GLOBAL PROPERTY GPUTEST_SENTINEL)
  get_property(expressions TEST "${name}" PROPERTY FAIL_REGULAR_EXPRESSION)
  string(FIND "${expressions}" "${sentinel}" position)
  if(position EQUAL -1)
    set_property(TEST "${name}" APPEND PROPERTY FAIL_REGULAR_EXPRESSION "${sentinel}")
  endif()
endfunction()
