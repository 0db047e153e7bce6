# SPDX-License-Identifier: BSD-3-Clause
# Prints why, for each skipped test in a file that `ctest --output-junit` wrote. GoogleTest prints the reason of a skip
# in the line after the one that ends in `: Skipped`; the launcher in its line `gputest: skipped: <reason>`.

/<testcase / {
  name = $0
  sub(/.*<testcase name="/, "", name)
  sub(/".*/, "", name)
  skipped = 0
}
/<skipped message="SKIP_/ { skipped = 1 }
(follows && NF || /gputest: skipped: /) && skipped {
  reason = $0
  sub(/.*gputest: skipped: /, "", reason)
  gsub(/&apos;/, "'", reason)
  gsub(/&quot;/, "\"", reason)
  gsub(/&lt;/, "<", reason)
  gsub(/&gt;/, ">", reason)
  gsub(/&amp;/, "\\&", reason)
  print index(reason, name) == 1 ? reason : name ": " reason
}
{ follows = /: Skipped$/ || (follows && !NF) } # newer ones have an empty line between
