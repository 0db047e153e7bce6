# SPDX-License-Identifier: BSD-3-Clause
"""gputest.plugin with the workers of pytest-xdist."""

import json

import gputest
import pytest

pytest.importorskip("xdist")

SIZES = """
import random

@pytest.mark.parametrize("n", range({tests}))
@pytest.mark.gpu(memory=lambda n: (n % 5 + 1) * 2**30)
def test_sized(n):
    with gputest.SimulatedBuffer((n % 5 + 1) << 30):
        time.sleep({seconds})
"""


def test_workers_share_a_device_that_is_too_small_for_all(run, monkeypatch):
    suite = SIZES.format(tests=40, seconds=0.05) + """
@pytest.mark.huge
def test_large(): used("12GiB")
"""
    result = run(suite, "-n4", "-rs", "--gpu-map=huge=large", plugins=("xdist",))
    result.assert_outcomes(passed=40, skipped=1)
    result.stdout.fnmatch_lines(["*test_large is large, and excluded while tests run in parallel. To let it wait until the others "
                                 "leave room: --gpu-large=wait. To run it alone: pytest -n0 --gpu-map=huge=large "
                                 "test_it.py::test_large*"])
    assert gputest.status() == []
    monkeypatch.setenv("GPUTEST_FORBID_SKIP", "1")
    result = run(suite, "-n2", "-k", "large", "--gpu-map=huge=large", plugins=("xdist",))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test_large is large*--gpu-large=wait (GPUTEST_FORBID_SKIP=1 makes this skip a failure). To run it alone: *"])


def test_undeclared_tests_run_one_at_a_time_at_first_and_then_beside_each_other(run, monkeypatch):
    suite = """
def others_hold(): return any(one.stage == "holding" and one.pid != os.getpid() for one in gputest.status())

@pytest.mark.parametrize("n", range(2))
def test_undeclared(n):
    with gputest.SimulatedBuffer("5GiB"):  # both fit
        if os.environ["RUN"] == "first":
            assert leased() == 8 << 30 and not others_hold()
            return
        assert leased() == 5440 << 20
        open("holds{}".format(n), "w").close()
        while not os.path.exists("holds{}".format(1 - n)): time.sleep(0.01)
"""
    for number in "first", "second":
        monkeypatch.setenv("RUN", number)
        run(suite, "-n2", "--gpu-auto", plugins=("xdist",)).assert_outcomes(passed=2)


def test_what_a_test_with_a_group_takes_is_known_without_its_group_too(run, pytester, monkeypatch):
    monkeypatch.setenv("GPUTEST_LOG", str(pytester.path / "log"))
    for number, arguments in enumerate([["-n2", "--dist=loadgroup"], ["-n0"], ["-n2", "--dist=loadgroup"]]):
        monkeypatch.setenv("WANTED", "8192" if number == 0 else "107")
        result = run("""
@pytest.mark.xdist_group("g@h")
@pytest.mark.parametrize("n", ["a@b"])
def test_one(n):
    used("100MiB")
    assert leased() >> 20 == int(os.environ["WANTED"])

@pytest.mark.xdist_group("g@h")
@pytest.mark.gpu("1GiB")
def test_unused(): pass
""", "--gpu-auto", *arguments, plugins=("xdist",))
        result.assert_outcomes(passed=2)
        result.stdout.fnmatch_lines(["* MiB  test_it.py::test_unused: 1GiB leased, *"])
    events = [json.loads(line) for log in (pytester.path / "log").iterdir() for line in log.read_text().splitlines() if line]
    assert {one["test"] for one in events if one.get("test")} == {"test_it.py::test_one[a@b]", "test_it.py::test_unused"}


def test_workers_wait_for_contexts_of_workers_that_have_run_all_their_tests(run, monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:1x16GiB,context=4GiB")
    run(SIZES.format(tests=8, seconds=0.05).replace("(n % 5 + 1)", "1"), "-n5", plugins=("xdist",)).assert_outcomes(passed=8)
    assert gputest.status() == []


def test_a_large_test_can_wait(run, monkeypatch):
    monkeypatch.setenv("GPUTEST_FORBID_SKIP", "1")
    suite = SIZES.format(tests=8, seconds=0.05) + """
@pytest.mark.gpu("large")
def test_large():
    assert leased() == (16 * 1024 - 3 * 768) << 20
    used("12GiB")
"""
    run(suite, "-n3", "--gpu-large=wait", plugins=("xdist",)).assert_outcomes(passed=9)


def test_each_worker_has_its_device_before_conftest(run, pytester, monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:2x16GiB")
    pytester.makeconftest("import os; seen = os.environ.get('CUDA_VISIBLE_DEVICES')")
    result = run("""
from conftest import seen

@pytest.mark.gpu("1GiB")
@pytest.mark.parametrize("n", range(2))
def test_one(n, worker_id):
    assert seen == "SIM-2x16384MiB-" + worker_id[2:] == os.environ["CUDA_VISIBLE_DEVICES"]
""", "-n2", "--dist=each", "--gpu-devices=1", plugins=("xdist",))
    result.assert_outcomes(passed=4)


def test_workers_write_one_run_log(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUTEST_LOG", str(tmp_path / "log"))
    run(SIZES.format(tests=8, seconds=0.05), "-n2", plugins=("xdist",)).assert_outcomes(passed=8)
    log, = (tmp_path / "log").iterdir()
    events = [json.loads(line) for line in log.read_text().splitlines() if line]
    assert [one["event"] for one in events].count("run") == 1
    assert len({one["pid"] for one in events}) == 2
    assert [one["exit"] for one in events if one["event"] == "end"] == [0, 0]


def test_a_killed_worker_leaves_nothing(run):
    result = run(SIZES.format(tests=12, seconds=0.05) + """
@pytest.mark.gpu("10GiB")
def test_killed():
    buffer = gputest.SimulatedBuffer("10GiB")
    os.kill(os.getpid(), 9)
""", "-n2", plugins=("xdist",))
    assert result.ret == 1
    result.assert_outcomes(passed=12, failed=1)
    assert gputest.status() == []


def test_a_worker_ends_as_python_ends(run, pytester):
    pytester.makeconftest("""
def pytest_configure(config):
    if hasattr(config, "workerinput"):
        config.log = open("configuration", "w")
        config.log.write("written")
""")
    result = run("""
import atexit, concurrent.futures, threading

log = open("module", "w")
log.write("written")
pool = concurrent.futures.ThreadPoolExecutor(1)
ends = threading.Event()

def writes(name):
    ends.wait()
    open(name, "w").write("written")

def lets_go():
    open("exit", "w").write("written")

threading._register_atexit(ends.set)  # before Python waits for threads

@pytest.mark.gpu("1GiB")
def test_one():
    threading.Thread(target=writes, args=("thread",)).start()
    pool.submit(writes, "pool")
    atexit.register(lets_go)
""", "-n1", plugins=("xdist",))
    result.assert_outcomes(passed=1)
    names = "configuration", "module", "thread", "pool", "exit"
    assert [name for name in names if not (pytester.path / name).is_file() or not (pytester.path / name).read_text()] == []
