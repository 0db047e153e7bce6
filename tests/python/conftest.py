# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import subprocess
import sys
import time

import gputest
import pytest

pytest_plugins = "pytester"

# What a suite under test begins with.
_PRELUDE = """
import os, sys, time
import gputest, pytest

def leased():
    return next(one.lease_bytes for one in gputest.status() if one.pid == os.getpid())

def used(size):
    with gputest.SimulatedBuffer(size):
        pass
"""


@pytest.fixture(autouse=True)
def a_ledger_of_its_own(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("GPUTEST_", "PYTEST_XDIST"))]:
        monkeypatch.delenv(name)
    for name in "CUDA_VISIBLE_DEVICES", "CTEST_INTERACTIVE_DEBUG_MODE", "DASHBOARD_TEST_FROM_CTEST":
        monkeypatch.delenv(name, raising=False)
    # Other plugins of this Python may take seconds to import, and each suite under test names those that it needs.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:1x16GiB")
    monkeypatch.setenv("GPUTEST_DIR", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


@pytest.fixture
def run(pytester):
    """Runs pytest with a suite and these arguments, in a process of its own."""

    def run(suite, *arguments, plugins=()):
        if suite:
            pytester.makepyfile(test_it=_PRELUDE + suite)
        chosen = [word for plugin in ("gputest.plugin",) + plugins for word in ("-p", plugin)]
        disabled = [] if "xdist" in plugins else ["-p", "no:xdist"]
        return pytester.runpytest_subprocess(*chosen, *disabled, *arguments)

    return run


@pytest.fixture
def run_entry(pytester, monkeypatch):
    """Runs pytest with a suite as an entry of `gpu_add_test(NAME py COMMAND python3 -m pytest ... MEMORY 4GiB)`, and returns
    what CTest is shown."""

    def run_entry(suite, *arguments, judged_by="ctest", python=(sys.executable, "-m", "pytest")):
        pytester.makepyfile(test_it=_PRELUDE + suite)
        for name, value in {"ENTRY": judged_by, "TEST": "py", "MEMORY": "4GiB"}.items():
            monkeypatch.setenv("GPUTEST_" + name, value)
        tool = pathlib.Path(gputest.__file__).parents[2] / "src/tool/gputest"
        return pytester.run(tool, "run", "--if-gpu", *python, "-p", "gputest.plugin", "-p", "no:xdist", *arguments)

    return run_entry


@pytest.fixture
def start():
    """Starts a program in Python, and returns it; it is ended by force at the end of the test."""
    started = []

    def start(program, *arguments, **options):
        process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def python():
    """Runs a program in Python, which has to exit with 0, and returns what it prints."""

    def python(program):
        done = subprocess.run([sys.executable, "-c", "import os, gputest\nfrom gputest import *\n" + program],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return python


@pytest.fixture
def waits():
    """Returns when a process waits for memory. It has to be one that this process has started."""

    def waits(process):
        while "waiting" not in [one.stage for one in gputest.status()]:
            assert process.poll() is None
            time.sleep(0.01)

    return waits


HOLDER = """
import sys, gputest
session = gputest.Session(name="holder")
request = gputest.Request(sys.argv[1])
assert session.enter([request]) and session.begin(request, "holder")
print("holds", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(start):
    """Another process that holds so much until its standard input is closed."""

    def holder(memory):
        process = start(HOLDER, memory)
        assert process.stdout.readline() == "holds\n"
        return process

    return holder
