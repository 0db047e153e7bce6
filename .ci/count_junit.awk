# SPDX-License-Identifier: BSD-3-Clause
# Counts the tests in a file that `ctest --output-junit` wrote.
# Prints one line: tests, passed, failed with out of memory, failed otherwise, skipped.

/<testcase / {
  ++tests
  result = /status="run"/ ? "passed" : "failed"
  out_of_memory = 0
}
/<skipped message="SKIP_/ { result = "skipped" } # not other messages, such as "Unable to find executable"
tolower($0) ~ /out of memory/ { out_of_memory = 1 }
/<\/testcase>/ { ++count[result == "failed" && out_of_memory ? "out of memory" : result] }

END { print tests + 0, count["passed"] + 0, count["out of memory"] + 0, count["failed"] + 0, count["skipped"] + 0 }
