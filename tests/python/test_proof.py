# SPDX-License-Identifier: BSD-3-Clause
"""A suite of 200 tests of mixed sizes over 4 workers on one simulated device of 16 GiB. It takes minutes."""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import gputest
import pytest

pytest.importorskip("xdist")

SUITE = """
import os, time, gputest, pytest

@pytest.mark.parametrize("n", range(200))
@pytest.mark.gpu(memory=lambda n: (n * 7 % 9 + 1) * 2**30)
def test_sized(n):
    with gputest.SimulatedBuffer((n * 7 % 9 + 1) << 30):
        time.sleep(0.05)
"""

# A model of CCCL's: the mark `large` and no other, a conftest that knows nothing of gputest, and no sizes.
MARKED = {
    "conftest.py": """
import pytest

def pytest_configure(config):
    config.addinivalue_line("markers", "large: tests requiring large device memory allocations")
""",
    "test_reduce.py": """
import time, gputest, pytest

@pytest.mark.parametrize("n", range(24))
def test_reduce(n):
    with gputest.SimulatedBuffer("2GiB"):
        time.sleep(0.05)

@pytest.mark.large
@pytest.mark.parametrize("n", range(3))
def test_reduce_large(n):
    with gputest.SimulatedBuffer("10GiB"):
        time.sleep(0.05)
""",
}


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "test_sized.py").write_text(SUITE)
    return tmp_path


def start(folder, *arguments):
    return subprocess.Popen([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=folder,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def counts(process):
    """What pytest says in its last line, such as {"passed": 200}."""
    output, _ = process.communicate(timeout=300)
    counted = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)\b",
                                                                output.rstrip().splitlines()[-1])}
    return counted, output


def test_without_the_plugin_memory_runs_out(suite):
    # The mark is then unknown, which is only a warning.
    counted, output = counts(start(suite, "-n4", "-W", "ignore"))
    assert counted["failed"] > 0 and "OutOfMemory: out of memory" in output


@pytest.mark.parametrize("distribution", ["load", "worksteal", "loadfile", "loadgroup"])
def test_with_it_none_does(suite, distribution):
    if distribution == "worksteal" and not _has_worksteal():
        pytest.skip("this pytest-xdist has no worksteal")
    counted, output = counts(start(suite, "-p", "gputest.plugin", "-n4", "--dist=" + distribution))
    assert counted == {"passed": 200}, output
    assert gputest.status() == []


def _has_worksteal():
    import importlib.util

    return importlib.util.find_spec("xdist.scheduler.worksteal") is not None


def test_two_sessions_and_a_ctest_share_the_device(suite):
    build = pathlib.Path(gputest.__file__).parents[2]
    tests = "\n".join('add_test(t{} "{}" run --memory 5GiB -- "{}" 5120 sleep 0.1)'.format(
        n, build / "src/tool/gputest", build / "tests/tool/programs/takes_memory") for n in range(60))
    (suite / "CTestTestfile.cmake").write_text(tests)
    sessions = [start(suite, "-p", "gputest.plugin", "-n4", "--basetemp=" + str(suite / str(n))) for n in range(2)]
    ctest = subprocess.run(["ctest", "-j8", "--output-on-failure"], cwd=suite, capture_output=True, text=True, timeout=300)
    assert ctest.returncode == 0 and "100% tests passed, 0 tests failed out of 60" in ctest.stdout, ctest.stdout
    for session in sessions:
        counted, output = counts(session)
        assert counted == {"passed": 200}, output
    assert gputest.status() == []


def test_killed_workers_leave_nothing_and_nobody_waits_for_ever(suite):
    chosen = random.Random(4722)
    session = start(suite, "-p", "gputest.plugin", "-n4", "--max-worker-restart=100", "-rA")
    killed = 0
    while session.poll() is None and killed < 12:
        workers = [one.pid for one in gputest.status() if one.stage in ("holding", "waiting")]
        if workers:
            try:
                os.kill(chosen.choice(workers), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        time.sleep(0.2)
    _, output = counts(session)
    # A test whose worker was killed failed, even if it had passed and only its teardown was missing; all others have passed.
    passed, failed = (set(re.findall(r"^{} \S+?::test_sized\[(\d+)\]".format(word), output, re.M))
                      for word in ("PASSED", "FAILED"))
    assert killed > 0 and session.returncode == 1, output
    assert len(passed | failed) == 200 and 0 < len(failed) <= killed, output
    assert "OutOfMemory" not in output
    assert gputest.status() == []


def test_a_suite_with_marks_of_its_own_needs_one_command(tmp_path):
    for name, text in MARKED.items():
        (tmp_path / name).write_text(text)
    counted, output = counts(start(tmp_path, "-p", "gputest.plugin", "-n6", "--gpu-map=large=large", "--gpu-large=wait",
                                   "--gpu-default-memory=2GiB", "--strict-markers"))
    assert counted == {"passed": 27}, output
    counted, output = counts(start(tmp_path, "-n6"))
    assert counted["failed"] > 0, output
