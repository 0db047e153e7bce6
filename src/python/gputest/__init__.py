# SPDX-License-Identifier: BSD-3-Clause
"""gputest in Python: leases of GPU memory that hold across processes. The pytest plugin is gputest.plugin."""

from gputest._library import (
    Error,
    Findings,
    InvalidSetting,
    LedgerError,
    NestedLease,
    OutOfMemory,
    Request,
    Session,
    SimulatedBuffer,
    choose,
    parse_bytes,
    status,
    version,
)

__all__ = [
    "Error",
    "Findings",
    "InvalidSetting",
    "LedgerError",
    "NestedLease",
    "OutOfMemory",
    "Request",
    "Session",
    "SimulatedBuffer",
    "choose",
    "parse_bytes",
    "status",
    "version",
]
