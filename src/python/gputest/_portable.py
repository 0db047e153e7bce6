# SPDX-License-Identifier: BSD-3-Clause
"""What stands in for the library where gputest leases nothing: on Windows and macOS, and in the wheel without a library."""

import os
import re
import sys
from importlib import metadata
from typing import Any

_INVALID = 4
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_MOST = 1024 << 40  # as in src/core/policy/bytes.cpp


def is_needed() -> bool:
    """Whether this package was made without a library."""
    if not sys.platform.startswith("linux"):
        return True
    try:
        return "none-any" in (metadata.distribution("pytest-gputest").read_text("WHEEL") or "")
    except metadata.PackageNotFoundError:  # a build tree
        return False


class Library:
    """Has the functions of gputest.h: each lease is granted, and nothing is measured."""

    def __init__(self) -> None:
        self._message = b""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: 0

    def gputest_version(self) -> bytes:
        return metadata.version("pytest-gputest").encode()

    def gputest_message(self) -> bytes:
        return self._message

    def gputest_may_write_notes(self) -> bool:
        return "CTEST_INTERACTIVE_DEBUG_MODE" not in os.environ and "DASHBOARD_TEST_FROM_CTEST" not in os.environ

    def gputest_parse_bytes(self, text: bytes, size: Any) -> int:
        found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(?:([KMGT])i)?B", text.decode(errors="replace"))
        count = float(found[1]) * 1024 ** _POWERS[found[2] or ""] if found else 0
        if not 1 <= count < _MOST + 1:
            self._message = (b"size '" + text + b"' is not a size from 1B to 1024TiB; write a number and a unit, such as 256MiB, 3GiB"
                             b" or 1.5GiB (units: B, KiB, MiB, GiB, TiB)")
            return _INVALID
        size._obj.value = int(count)
        return 0

    def gputest_end(self, _: Any, __: Any, findings: Any) -> int:
        found = findings._obj
        found.peak_bytes = found.left_bytes = -1
        found.evidence, found.overuse, found.problem_count = b"unknown", b"", 0
        return 0

    gputest_examine = gputest_end

    def gputest_allocated(self, _: Any) -> int:
        return -1

    def gputest_explain_out_of_memory(self, *_: Any) -> bytes:
        return b""
