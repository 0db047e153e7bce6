# SPDX-License-Identifier: BSD-3-Clause
"""gputest in Python: leases of GPU memory that hold across processes. The pytest plugin is gputest.plugin."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gputest._library import (Claimant, Device, Error, Findings, InvalidSetting, LedgerError, NestedLease, OutOfMemory,
                                  Outcome, Request, Session, Settings, SimulatedBuffer, check, choose, may_write_notes,
                                  parse_bytes, status, version)

__all__ = ["Claimant", "Device", "Error", "Findings", "InvalidSetting", "LedgerError", "NestedLease", "OutOfMemory", "Outcome",
           "Request", "Session", "Settings", "SimulatedBuffer", "check", "choose", "may_write_notes", "parse_bytes", "status",
           "version"]

if not TYPE_CHECKING:
    # So that a type checker sees names that there are not.
    def __getattr__(name: str) -> Any:
        """Loads the library when it is used first: the plugin is imported in every session of pytest."""
        if name in __all__:
            from gputest import _library

            globals().update((one, getattr(_library, one)) for one in __all__)
            return globals()[name]
        raise AttributeError("module 'gputest' has no attribute '{}'".format(name))
