# SPDX-License-Identifier: BSD-3-Clause
"""gputest in Python: leases of GPU memory that hold across processes. The pytest plugin is gputest.plugin."""

__all__ = ["Error", "Findings", "InvalidSetting", "LedgerError", "NestedLease", "OutOfMemory", "Request", "Session",
           "SimulatedBuffer", "check", "choose", "parse_bytes", "status", "version"]


def __getattr__(name):
    """Loads the library when it is used first: the plugin is imported in every session of pytest."""
    if name in __all__:
        from gputest import _library

        globals().update((one, getattr(_library, one)) for one in __all__)
        return globals()[name]
    raise AttributeError("module 'gputest' has no attribute '{}'".format(name))
