# SPDX-License-Identifier: BSD-3-Clause
"""gputest._library: what Python adds to the interface for C, which tests/c tests."""

import os
import signal

import gputest
import pytest


def test_a_session_leases_examines_and_closes(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")  # so that what the library sets is taken back
    monkeypatch.setenv("GPUTEST_LEASE_OF", "")
    with gputest.Session(name="python", overuse="fail", leaks="fail") as session:
        assert session.enter([gputest.Request("3GiB")])
        assert [device.uuid for device in session.devices] == [os.environ["CUDA_VISIBLE_DEVICES"]]
        with pytest.raises(gputest.Error, match="already"):
            gputest.Session()
        assert session.lease(gputest.Request("1GiB"), "fits")
        assert [(one.who, one.stage, one.lease_bytes) for one in gputest.status()] == [
            ("python: fits", "holding", 1 << 30)]
        with pytest.raises(gputest.NestedLease):
            session.lease(gputest.Request("1GiB"), "nested")
        with gputest.SimulatedBuffer("512MiB"):
            pass
        session.release()
        assert session.examine("fits") == gputest.Findings([], "", 512 << 20, 0, "exact")
        refused = session.lease(gputest.Request("40GiB"), "too large")
        assert not refused and refused.kind == "skip" and "needs 40.5 GiB" in refused.reason
    session.close()  # twice is harmless
    with pytest.raises(gputest.Error, match="has closed its gputest_session"):
        gputest.Session()


def test_errors_are_exceptions():
    with pytest.raises(gputest.InvalidSetting, match="unknown unit 'GB'"):
        gputest.parse_bytes("3GB")
    with pytest.raises(gputest.InvalidSetting, match="GPUTEST_DEVICES='many'"):
        gputest.Session(devices="many")
    with pytest.raises(gputest.OutOfMemory, match="40 GiB asked"):
        gputest.SimulatedBuffer("40GiB")


_WAITER = """
import sys, gputest
session = gputest.Session(name="waiter")
request = gputest.Request("12GiB")
assert session.enter([request])
print("entered", flush=True)
try:
    session.lease(request, "waits")
except KeyboardInterrupt:
    print([one.stage for one in gputest.status() if one.who.startswith("waiter")], flush=True)
    assert session.lease(gputest.Request("1GiB"), "small")
    print("interrupted", flush=True)
"""


def test_a_signal_ends_a_wait(start, holder, waits):
    holder("12GiB")
    waiter = start(_WAITER)
    assert waiter.stdout.readline() == "entered\n"
    waits(waiter)
    waiter.send_signal(signal.SIGINT)
    output, errors = waiter.communicate(timeout=60)
    assert output == "['inside']\ninterrupted\n", errors
    assert waiter.returncode == 0
