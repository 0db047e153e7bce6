# SPDX-License-Identifier: BSD-3-Clause
"""gputest.plugin in one process; with workers: test_workers.py."""

import fnmatch
import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import gputest
import pytest
from gputest import plugin


def test_does_nothing_where_nothing_is_marked(run, pytester, a_ledger_of_its_own):
    pytester.makepyfile(test_it="""
import os, sys

def test_one():
    assert "CUDA_VISIBLE_DEVICES" not in os.environ and "gputest._library" not in sys.modules
""")
    result = run(None)
    result.assert_outcomes(passed=1)
    assert not a_ledger_of_its_own.exists()


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan"])
def test_touches_no_device_where_no_test_runs(run, a_ledger_of_its_own, option):
    result = run("""
@pytest.mark.gpu("30GiB")
def test_one(): pass
""", option, "--gpu-devices=1")
    result.stdout.fnmatch_lines(["*test_one*"])
    assert result.ret == 0 and "skipped" not in result.stdout.str()
    assert not a_ledger_of_its_own.exists()


def test_marks_say_what_is_leased(run, pytester):
    pytester.makeini("""
[pytest]
markers = huge
gpu_map = huge=5GiB
""")
    result = run("""
pytestmark = pytest.mark.gpu("1GiB")

def test_module(): assert leased() == 1 << 30

@pytest.mark.gpu("2GiB")
def test_function(): assert leased() == 2 << 30

@pytest.mark.gpu("small")
def test_class_of_memory(): assert leased() == 256 << 20

@pytest.mark.gpu("medium")
def test_medium(): assert leased() == 8 << 30

@pytest.mark.gpu("large")
def test_large_alone(): assert any(one.whole_devices for one in gputest.status())

@pytest.mark.huge
def test_mark_of_the_suite(): assert leased() == 5 << 30

@pytest.mark.gpu(memory="3GiB")
class TestClass:
    def test_class(self): assert leased() == 3 << 30

    @pytest.mark.gpu(keeps="1MiB")
    def test_adds(self): assert leased() == 3 << 30

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.gpu("4GiB"))])
def test_parameter(n): assert leased() == (1 << 30 if n == 1 else 4 << 30)

@pytest.mark.parametrize("n", [1, 2, pytest.param(3, marks=pytest.mark.gpu("4GiB"))])
@pytest.mark.gpu(memory=lambda n: n * 2**30)
def test_computed(n): assert leased() == (n if n < 3 else 4) << 30

@pytest.mark.no_gpu
def test_none(): assert [one.stage for one in gputest.status() if one.pid == os.getpid()] == ["inside"]

@pytest.mark.no_gpu
class TestNone:
    @pytest.mark.parametrize("n", [1, 2])
    @pytest.mark.gpu(memory=lambda n: n * 2**30)
    def test_but_this(self, n): assert leased() == n << 30

import unittest
@pytest.mark.gpu("2GiB")
class TestCase(unittest.TestCase):
    def test_unittest(self): assert leased() == 2 << 30
""", "--strict-markers")
    result.assert_outcomes(passed=17)


def test_a_map_may_be_a_list_of_toml(run, pytester):
    (pytester.path / "pyproject.toml").write_text("""
[tool.pytest.ini_options]
markers = ["huge", "tiny"]
gpu_map = ["huge=5GiB", "tiny=1GiB"]
""")
    result = run("""
@pytest.mark.huge
def test_huge(): assert leased() == 5 << 30

@pytest.mark.tiny
def test_tiny(): assert leased() == 1 << 30
""")
    result.assert_outcomes(passed=2)


def test_a_default_is_for_tests_that_say_nothing(run):
    result = run("""
def test_one(): assert leased() == 2 << 30

@pytest.mark.gpu("1GiB")
def test_other(): assert leased() == 1 << 30

@pytest.mark.no_gpu
def test_none(): assert [one.stage for one in gputest.status()] == ["inside"]
""", "--gpu-default-memory=2GiB")
    result.assert_outcomes(passed=3)


def test_memory_none_and_gpus_0_are_no_gpu(run, monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "none")
    result = run("""
pytestmark = pytest.mark.gpu("2GiB", requires=["sm_80"])

@pytest.mark.gpu("none")
def test_memory(): pass

@pytest.mark.gpu(gpus=0)
def test_gpus(): pass

@pytest.mark.host
def test_map(): pass

@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.gpu(memory=lambda n: "none")
def test_computed(n): pass

def test_uses_one(): pass

@pytest.mark.gpu("none", gpus=2)
def test_contradiction(): pass
""", "--gpu-map=host=none", "--gpu-default-memory=none")
    result.assert_outcomes(passed=5, skipped=1, errors=1)
    result.stdout.fnmatch_lines(["*@pytest.mark.gpu('none', gpus=2) contradicts itself; a test that uses no GPU says 'none' or gpus=0*"])


def test_a_function_of_the_parameters_may_have_others_of_its_own(run):
    result = run("""
import functools
pytestmark = pytest.mark.parametrize("n", [3])
UNIT = 1 << 30

@pytest.mark.gpu(memory=lambda n, unit=UNIT: n * unit)
def test_default(n): assert leased() == 3 << 30

@pytest.mark.gpu(memory=functools.partial(lambda unit, n: n * unit, UNIT))
def test_partial(n): assert leased() == 3 << 30

@pytest.mark.gpu(memory=functools.partial(lambda n, unit: n * unit, unit=UNIT))
def test_partial_with_a_keyword(n): assert leased() == 3 << 30

@pytest.mark.gpu(memory=lambda *none, **parameters: parameters["n"] * UNIT)
def test_all(n): assert leased() == 3 << 30

@pytest.mark.gpu(memory=lambda n, m, **parameters: n)
def test_unknown(n): pass
""")
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["*the function asks for m, and the test has the parameters n*"])


def test_a_mark_that_cannot_be_used_fails_its_test(run):
    result = run("""
@pytest.mark.gpu("3GiB", gpu=2)
def test_unknown(): pass

@pytest.mark.gpu("3GB")
def test_unit(): pass

@pytest.mark.gpu(memory=lambda m: m)
def test_parameter(): pass

@pytest.mark.gpu(memory=lambda: pytest.importorskip("no_such_module"))
def test_skips(): pass

@pytest.mark.gpu(memory=lambda: sys.exit(3))
def test_exits(): pass

@pytest.mark.gpu("1GiB", gpus=2)
def test_gpus(): pass

@pytest.mark.parametrize("n", [pytest.param(0, marks=pytest.mark.gpu(*args, **words)) for args, words in [
    ((1.5,), {}), ((True,), {}), ((-1,), {}), (("1GiB\\0",), {}), ((["1GiB"],), {}), (("1GiB",), {"gpus": "2"}),
    (("1GiB",), {"gpus": -1}), (("1GiB",), {"gpus": 17}), (("1GiB",), {"requires": [5]}),
    (("1GiB",), {"requires": ["tensor_cores"]}), (("1GiB",), {"heap": 1.5})]])
def test_type(n): pass

@pytest.mark.gpu("1GiB", alone=True)
def test_good(): assert leased() == 1 << 30

@pytest.mark.skip("its own reason")
@pytest.mark.gpu("large")
def test_skipped(): pass

def test_other(): pass
""", "-rs")
    result.assert_outcomes(passed=2, errors=16, skipped=2)  # test_gpus: there is one device
    result.stdout.fnmatch_lines(["SKIPPED*its own reason"])
    result.stdout.fnmatch_lines(["*: requires='tensor_cores' cannot be used: * it is any of memory_pools, *"])
    result.stdout.fnmatch_lines(["*unknown gpu; allowed are one memory and *", "*'3GB' has an unknown unit*",
                                 "*memory cannot be computed: *the function asks for m, and the test has *",
                                 "*memory cannot be computed: *no_such_module*"])


def test_a_mark_with_an_object_that_cannot_be_read_fails_its_test_alone(run):
    result = run("""
class Unhelpful:
    def __index__(self): raise RuntimeError("no index")
    __repr__ = __bool__ = __index__
    def __eq__(self, other): raise RuntimeError("no comparison")

class Many:  # as an array of NumPy
    def __index__(self): raise TypeError("only arrays of one")
    def __ge__(self, other): raise ValueError("ambiguous")
    def __repr__(self): return "many" * 100

values = [Unhelpful(), Many(), 10**5000, 1 << 64, -1, float("nan")]

@pytest.mark.parametrize("n, value", [
    pytest.param(n, value, marks=pytest.mark.gpu("1GiB", **{word: value}) if word != "memory" else pytest.mark.gpu(value))
    for word in ("memory", "gpus", "heap", "keeps", "requires") for n, value in enumerate(values)], ids=lambda value: "x")
def test_one(n, value): pass

@pytest.mark.gpu(1 << 30)
def test_good(): assert leased() == 1 << 30
""")
    result.assert_outcomes(passed=1, errors=30)
    result.stdout.fnmatch_lines(["*its marks cannot be read: RuntimeError: no comparison",
                                 "*its memory is -1; write a size such as '3GiB', or a number of bytes"])
    assert "many" * 30 not in result.stdout.str() and "INTERNALERROR" not in result.stdout.str()


def test_a_condition_that_cannot_be_evaluated_fails_its_test_alone(run):
    result = run("""
pytestmark = pytest.mark.gpu("1GiB")

@pytest.mark.skipif("no_such_name > 1", reason="?")
def test_unknown_name(): pass

@pytest.mark.skipif(sys.version_info < (3,))
def test_no_reason(): pass

@pytest.mark.xfail("no_such_name > 1", reason="?")
def test_unknown_name_of_xfail(): pass

@pytest.mark.skipif("__import__('pytest').skip('not here')", reason="?")
def test_skips(): pass

def test_after(): assert leased() == 1 << 30
""")
    result.assert_outcomes(passed=1, errors=3, skipped=1)
    result.stdout.fnmatch_lines(["*no_such_name*"])


def test_an_exception_without_a_text_fails_its_test_alone(run):
    result = run("""
pytestmark = pytest.mark.gpu("1GiB")

class Broken(Exception):
    def __str__(self): return self.text

def raises(): raise Broken

def test_one(): raises()

@pytest.mark.parametrize("n", [1])
@pytest.mark.gpu(memory=lambda n: raises())
def test_memory(n): pass

class Odd:
    def __eq__(self, other): raises()

@pytest.mark.gpu(gpus=Odd())
def test_mark(): pass

def test_after(): pass
""")
    result.assert_outcomes(passed=1, failed=1, errors=2)


@pytest.mark.parametrize("memory, message", [
    ('"64"', "memory '64' has no unit; write a number and a unit*"),
    ("1.5", "the memory of gpu_lease() is 1.5; write a size such as '3GiB', or a number of bytes"),
    ("True", "the memory of gpu_lease() is True; write *"),
    ("-1", "the memory of gpu_lease() is -1; write *"),
    ("1 << 64", "the memory of gpu_lease() is 18446744073709551616; write *"),
    ("10**5000", "the memory of gpu_lease() is *; write *"),
    ('b"1GiB"', "the memory of gpu_lease() is b'1GiB'; write *"),
    ('"1GiB\\0"', r"the memory of gpu_lease() is '1GiB\x00'; write *"),
    ("[]", "the memory of gpu_lease() is [[]]; write *"),
])
def test_a_fixture_with_a_memory_that_cannot_be_used_fails_its_tests_alone(run, memory, message):
    result = run("""
@pytest.fixture(scope="module")
def table(gpu_lease):
    with gpu_lease({}):
        pass

@pytest.mark.gpu("1GiB")
def test_marked(table): pass

def test_unmarked(table): pass

@pytest.mark.gpu("1GiB")
def test_after(): assert leased() == 1 << 30
""".format(memory))
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*(fixture table): " + message])


@pytest.mark.parametrize("memory, leased", [("1 << 30", "1 << 30"), ('"small"', "256 << 20"), ("None", "256 << 20")])
def test_a_fixture_leases_a_number_of_bytes_or_a_class(run, memory, leased):
    run("""
@pytest.fixture
def table(gpu_lease):
    with gpu_lease({}):
        assert leased() == {}
        kept = gputest.SimulatedBuffer("200MiB")
    yield kept

def test_one(table): pass
""".format(memory, leased)).assert_outcomes(passed=1)


def test_overuse_of_a_fixture_that_a_test_without_a_mark_sets_up_fails(run):
    result = run("""
@pytest.fixture(scope="module")
def data(gpu_lease):
    with gpu_lease("1GiB"):
        used("3GiB")

def test_unmarked(data): pass

@pytest.mark.gpu("1GiB")
def test_marked(): pass
""")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*took 3 GiB, and its lease is 1 GiB*"])


def test_overuse_and_leaks_fail_and_say_what_to_write(run, pytester):
    suite = """
kept = []

@pytest.mark.gpu("small")
def test_takes(): used("1GiB")

@pytest.mark.gpu("small")
def test_leaves(): kept.append(gputest.SimulatedBuffer("10MiB"))

@pytest.mark.gpu("small", keeps="10MiB")
def test_keeps(): kept.append(gputest.SimulatedBuffer("10MiB"))
"""
    result = run(suite, "--junitxml=report.xml")
    result.assert_outcomes(passed=3, errors=2)
    result.stdout.fnmatch_lines(["*test_takes took 1 GiB, and its lease is 256 MiB: *@pytest.mark.gpu(\"1GiB\")*",
                                 "lease small, peak 1GiB (exact)",
                                 "*test_leaves ends with 10 MiB*@pytest.mark.gpu(..., keeps=\"10MiB\")*"])
    properties = dict(re.findall('property name="(.*?)" value="(.*?)"', (pytester.path / "report.xml").read_text()))
    assert properties == {"gpu_lease": "small", "gpu_peak_mib": "10", "gpu_evidence": "exact",
                          "gpu_device": "SIM-1x16384MiB-0", "gpu_device_memory": "simulated 16GiB"}
    os.environ.update(GPUTEST_OVERUSE="warn", GPUTEST_LEAKS="off")
    run(suite).assert_outcomes(passed=3)


def test_overuse_and_leaks_fail_in_spite_of_a_skip(run, pytester, monkeypatch):
    monkeypatch.setenv("GPUTEST_LOG", str(pytester.path / "logs"))
    result = run("""
kept = []
pytestmark = pytest.mark.gpu("100MiB")

@pytest.mark.xfail
def test_takes_and_is_expected_to_fail(): used("1GiB")

@pytest.mark.xfail
def test_leaves_and_fails_as_expected():
    kept.append(gputest.SimulatedBuffer("50MiB"))
    assert False

def test_takes_and_skips():
    used("1GiB")
    pytest.skip("no data")

@pytest.fixture
def skips():
    yield
    pytest.skip("no data in the teardown")

def test_teardown_skips(skips): used("1GiB")

@pytest.fixture
def expects():
    yield
    pytest.xfail("known")

def test_teardown_is_expected_to_fail(expects): used("1GiB")

@pytest.mark.xfail
def test_fails_as_expected(): assert False

def test_skips_only_in_the_teardown(skips): pass
""")
    result.assert_outcomes(passed=3, xfailed=2, xpassed=1, skipped=2, errors=5)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*took 1 GiB, and its lease is 100 MiB*", "*ends with 50 MiB*"])
    log, = (pytester.path / "logs").glob("*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines() if line]
    assert [one["result"] for one in events if one["event"] == "test"] == ["failed"] * 5 + ["skipped"] * 2


def test_overuse_under_the_lease_of_a_fixture_fails_the_test_that_it_is_of(run):
    result = run("""
@pytest.fixture(scope="module")
def table(gpu_lease):
    with gpu_lease("100MiB"):
        yield

def test_before(table): pass

def test_takes(table): used("1GiB")

def test_between(table): pass

@pytest.mark.gpu("1GiB")
def test_after(): pass
""")
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_takes*", "*took 1 GiB, and its lease is 100 MiB*gpu_lease(\"1GiB\")*"])


def test_a_test_without_a_mark_gpu_may_leave_memory_which_is_listed(run):
    suite = """
kept = []

@pytest.mark.big
def test_leaves(): kept.append(gputest.SimulatedBuffer("10MiB"))

def test_leaves_more(): kept.append(gputest.SimulatedBuffer("20MiB"))

def test_takes_too_much(): used("2GiB")

@pytest.mark.gpu
def test_is_marked(): kept.append(gputest.SimulatedBuffer("10MiB"))
"""
    options = "--gpu-map=big=1GiB", "--gpu-default-memory=1GiB", "-Wignore"
    result = run(suite, *options)
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(["*gpu memory that 2 tests left allocated*", "*20 MiB *test_leaves_more",
                                 "*10 MiB *test_leaves", "It counts as the process's own.*"])
    os.environ.update(GPUTEST_LEAKS="fail")
    run(suite, *options).assert_outcomes(passed=4, errors=4)


@pytest.mark.parametrize("option", ["--gpu-auto", "--gpu-default-memory=1GiB"])
def test_an_entry_passes_if_tests_that_declare_nothing_leave_memory(run_entry, option):
    suite = """
kept = []
def test_leaves(): kept.append(gputest.SimulatedBuffer("10MiB"))
"""
    result = run_entry(suite, option)
    result.stdout.fnmatch_lines(["*10 MiB *test_leaves"])
    assert result.ret == 0, result.stderr.str()
    os.environ.update(GPUTEST_LEAKS="fail")
    assert run_entry(suite, option).ret == 1


@pytest.mark.parametrize("workers", [(), ("-pxdist", "-n1")])
def test_what_may_be_judged_by_its_output_has_no_summary(run, run_entry, monkeypatch, workers):
    if workers:
        pytest.importorskip("xdist")
    suite = """
kept = []
def test_leaves(): kept.append(gputest.SimulatedBuffer("10MiB"))

@pytest.mark.gpu("1GiB")
def test_wastes(): pass
"""
    for judged_by, is_shown in ("ctest", True), ("by_output", False):
        result = run_entry(suite, "--gpu-default-memory=1GiB", *workers, judged_by=judged_by)
        result.assert_outcomes(passed=2)
        assert ("left allocated" in result.stdout.str()) == ("leased and not used" in result.stdout.str()) == is_shown
        assert is_shown or "gputest" not in result.stderr.str()
    monkeypatch.delenv("GPUTEST_ENTRY")
    monkeypatch.setenv("CTEST_INTERACTIVE_DEBUG_MODE", "1")  # of an add_test()
    result = run(suite, "--gpu-default-memory=1GiB", plugins=("xdist",) if workers else ())
    result.assert_outcomes(passed=2)
    assert "left allocated" not in result.stdout.str() and "gputest" not in result.stderr.str()


def test_an_entry_is_skipped_if_gputest_skips_one_of_its_tests(run_entry):
    suite = """
def test_passes(): pass

@pytest.mark.gpu("1GiB", requires=["sm_999"])
def test_needs_more(): pass
"""
    assert run_entry(suite).ret == 77
    assert run_entry(suite + "\ndef test_fails(): assert False").ret == 1
    result = run_entry("""
def test_passes(): pass

@pytest.mark.skip
@pytest.mark.gpu("1GiB")
def test_skips_itself(): pass

@pytest.mark.gpu("1GiB")
def test_asks(): pytest.skip("no data")
""")
    assert result.ret == 0, result.stderr.str()


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_an_entry_without_memory_is_skipped_likewise(run, monkeypatch, workers):
    if workers:
        pytest.importorskip("xdist")
    monkeypatch.setenv("GPUTEST_ENTRY", "ctest")
    monkeypatch.setenv("GPUTEST_MEMORY", "none")  # nobody watches it
    suite = """
def test_passes(): pass

@pytest.mark.gpu("1GiB"{})
def test_needs_more(): pass
"""
    plugins = ("xdist",) if workers else ()
    assert run(suite.format(', requires=["sm_999"]'), *workers, plugins=plugins).ret == 219
    assert run(suite.format(', requires=["sm_999"]') + "\ndef test_fails(): assert False", *workers, plugins=plugins).ret == 1
    assert run(suite.format(""), *workers, plugins=plugins).ret == 0


UNDECLARED = """
def lock_and_bytes():
    return next((one.lease_bytes >> 20) for one in gputest.status() if one.pid == os.getpid())

def test_small():
    used("100MiB")
    assert lock_and_bytes() == int(os.environ["WANTED_SMALL"])

def test_more_than_half():
    used("12GiB")

@pytest.mark.gpu("1GiB")
def test_declared(): assert leased() == 1 << 30

@pytest.mark.no_gpu
def test_none(): pass
"""


@pytest.mark.parametrize("option", ["--gpu-auto", "--gpu-default-memory=auto"])
def test_what_nobody_declares_takes_turns_until_a_run_has_measured_it(run, monkeypatch, option):
    monkeypatch.setenv("WANTED_SMALL", "8192")
    result = run(UNDECLARED, option)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*gpu memory that was not known yet*", "2 tests took turns on each GPU*"])
    assert "Declare" not in result.stdout.str() + result.stderr.str()
    monkeypatch.setenv("WANTED_SMALL", "107")  # 100 MiB and a sixteenth
    result = run(UNDECLARED, option)
    result.assert_outcomes(passed=4)
    assert "not known yet" not in result.stdout.str()
    monkeypatch.setenv("WANTED_SMALL", "8192")
    run(UNDECLARED, option, "--cache-clear").assert_outcomes(passed=4)
    result = run(UNDECLARED, option, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*The next run does not have the figures*"])


def test_a_mark_without_memory_is_not_judged_by_it_where_the_entry_uses_no_gpu(run, monkeypatch):
    monkeypatch.setenv("GPUTEST_MEMORY", "none")
    run("""
@pytest.mark.gpu
def test_one(): used("900MiB")
""").assert_outcomes(passed=1)


@pytest.mark.parametrize("cached", ['{"a":1}', '{"test_it.py::test_one":"x"}', '{"test_it.py::test_one":{"simulated 16GiB":"zz"}}',
                                    '{"test_it.py::test_one":{"x":"1GiB"}}', "{"])
def test_a_cache_that_is_damaged_is_replaced(run, pytester, cached):
    known = pytester.path / ".pytest_cache/v/gputest/needs"
    known.parent.mkdir(parents=True)
    known.write_text(cached)
    run("def test_one(): pass", "--gpu-auto").assert_outcomes(passed=1)
    assert json.loads(known.read_text()) == {"test_it.py::test_one": {"simulated 16GiB": "3MiB"}}


def test_threads_that_run_tests_at_once_are_refused(run, pytester):
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--tests-per-worker')")  # of pytest-parallel
    suite = """
@pytest.mark.gpu("1GiB")
def test_one(): pass

def test_unmarked(): pass
"""
    run(suite, "--tests-per-worker=1").assert_outcomes(passed=2)
    run(suite, "--tests-per-worker=3", "-k", "unmarked").assert_outcomes(passed=1, deselected=1)
    result = run(suite, "--tests-per-worker=3")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: gputest: --tests-per-worker=3 *. Leave it out, or use pytest-xdist: -n 3"])


def test_a_mark_without_memory_declares_none(run):
    suite = """
@pytest.mark.gpu
def test_takes_more(): used("2GiB")

@pytest.mark.gpu(alone=True)
def test_alone(): used("2GiB")
"""
    result = run(suite)
    result.assert_outcomes(passed=2)
    assert "Declare" not in result.stderr.str()
    os.environ["GPUTEST_MEMORY"] = "1GiB"  # its entry's
    run(suite, "--cache-clear").assert_outcomes(passed=2, errors=2)


def test_undeclared_tests_run_under_the_lease_of_an_entry(run, holder, monkeypatch):
    program = """
import gputest, os, sys
session = gputest.Session(name="entry")
request = gputest.Request("2GiB")
assert session.enter([request]) and session.begin(request, "entry")
os.execv(sys.executable, [sys.executable, "-m", "pytest", "-p", "gputest.plugin", "-p", "no:cacheprovider", "--gpu-auto"])
"""
    result = run("""
def test_one(): used("1GiB")
""", "--co")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_figures_of_another_machine_come_from_a_file(run, pytester, monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "")
    config = type("Config", (), {"option": type("Options", (), {"gpu_needs": "needs.jsonl"}), "gputest_usable_bytes": 79 << 30})
    os.chdir(pytester.path)
    pathlib.Path("needs.jsonl").write_text('{"test":"a.py::b","needs":{"16GiB":"1GiB","80GiB":"3GiB"}}\n\n'
                                           '{"test":"a.py::c","needs":{"16GiB":"2GiB"}}\n')
    assert plugin._figures(config) == {"a.py::b": 3 << 30, "a.py::c": 2 << 30}
    config.gputest_usable_bytes = 0  # not known: the most
    assert plugin._figures(config) == {"a.py::b": 3 << 30, "a.py::c": 2 << 30}
    config.gputest_usable_bytes = 20 << 30
    assert plugin._figures(config) == {"a.py::b": 1 << 30, "a.py::c": 2 << 30}
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:1x16GiB")
    assert plugin._figures(config) == {"a.py::b": 1 << 30, "a.py::c": 2 << 30}, "as in CTest"
    known = {"a.py::b": {"simulated 16GiB": "2GiB", "16GiB": "5GiB"}, "a.py::c": {"80GiB": "7GiB"}}
    config.cache = type("Cache", (), {"get": lambda self, key, default: known})()
    assert plugin._figures(config) == {"a.py::b": 2 << 30, "a.py::c": 2 << 30}, "own figures come before it"


@pytest.mark.parametrize("text, message", [
    ("", None), ("{}", "*line 1 of *needs.jsonl is not such as {\"test\"*: it has no text 'test', or no 'needs' of sizes"),
    ('["a"]', "*line 1 of *needs.jsonl is not such as *no 'needs' of sizes"),
    ('\n{"test":1,"needs":{}}', "*line 2 of *needs.jsonl is not such as *: it has no text 'test'*"),
    ('{"test":"a","needs":{"16GiB":"1"}}', "*line 1 of *needs.jsonl is not such as*1*"), (None, "*gpu_needs cannot be read*No such file*--export*")])
def test_a_file_of_figures_is_checked_before_tests_are_collected(run, pytester, text, message):
    if text is not None:
        (pytester.path / "needs.jsonl").write_text(text)
    result = run("def test_one(): pass", "--gpu-needs=needs.jsonl")
    if message:
        result.stderr.fnmatch_lines(["ERROR: gputest: " + message[1:]])
        assert result.ret == pytest.ExitCode.USAGE_ERROR
    else:
        result.assert_outcomes(passed=1)


def test_a_file_of_figures_in_an_ini_file_is_beside_it(run, pytester):
    pytester.makeini("[pytest]\ngpu_needs = needs.jsonl")
    (pytester.path / "needs.jsonl").write_text("")
    pytester.mkdir("sub").joinpath("test_sub.py").write_text("def test_one(): pass")
    os.chdir("sub")
    run(None).assert_outcomes(passed=1)


@pytest.mark.parametrize("workers", [(), ("-n1",)])
def test_a_file_of_figures_is_found_where_pytest_was_started(run, pytester, workers):
    if workers:
        pytest.importorskip("xdist")
    (pytester.path / "needs.jsonl").write_text('{"test":"test_it.py::test_one","needs":{"16GiB":"1GiB"}}\n')
    pytester.makeconftest("import os\nos.chdir('/')")
    result = run("""
@pytest.mark.gpu
def test_one(): assert leased() == 1 << 30
""", "--gpu-needs=needs.jsonl", *workers, str(pytester.path), plugins=("xdist",) if workers else ())
    result.assert_outcomes(passed=1)


def test_overuse_names_the_variable_of_a_library_that_takes_the_gpu(run, pytester, monkeypatch):
    pytester.makepyfile(jax="")
    suite = """
import jax

@pytest.mark.gpu("1GiB")
def test_one(): used("12GiB")
"""
    run(suite).stdout.fnmatch_lines(["*jax takes most of a GPU at its first use: set XLA_PYTHON_CLIENT_ALLOCATOR=platform before*"])
    monkeypatch.setenv("XLA_PYTHON_CLIENT_ALLOCATOR", "platform")
    result = run(suite)
    result.assert_outcomes(passed=1, errors=1)
    assert "XLA_PYTHON" not in result.stdout.str()


def test_a_suite_may_have_an_option_gpu_of_its_own(run, pytester):
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--gpu', action='store_true')")
    run("""
def test_one(request): assert request.config.getoption("--gpu")
""", "--gpu").assert_outcomes(passed=1)


def test_memory_that_a_test_cannot_reach_any_more_is_no_leak(run):
    result = run("""
import builtins, logging, unittest

pytestmark = pytest.mark.gpu("small")

def takes(): return gputest.SimulatedBuffer("10MiB")

def takes_and_fails():
    buffer = takes()
    raise ValueError

@pytest.fixture
def buffer(): return takes()

@pytest.fixture
def fails(): takes_and_fails()

def test_value_of_a_fixture(buffer): pass

def test_cycle():
    kept = {"buffer": takes()}
    kept["itself"] = kept

def test_log_record_with_a_traceback():
    try:
        takes_and_fails()
    except ValueError:
        logging.exception("kept by pytest for its report")

def test_failure():
    buffer = takes()
    assert False

def test_failure_in_another_function():
    try:
        takes_and_fails()
    except ValueError as error:
        raise RuntimeError from error

def test_failures_in_a_circle():
    try:
        takes_and_fails()
    except ValueError as error:
        other = KeyError()
        other.__cause__, error.__cause__ = error, other
        raise other

def test_failures_in_a_group():
    try:
        takes_and_fails()
    except ValueError as error:
        failure = error
    group = getattr(builtins, "ExceptionGroup", lambda text, inner: inner[0])
    raise group("as tasks raise it", [failure])

def test_error(fails): pass

class TestClass:
    def setup_method(self): self.buffer = takes()
    def test_attribute(self): pass

class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def attribute_of_the_instance(self): self.first = takes()
    def test_attribute(self): pass
    def test_attribute_and_failure(self):
        self.buffer = takes()
        self.assertTrue(False)
""")
    result.assert_outcomes(passed=5, failed=5, errors=1)


def test_fixtures_without_memory_stay_for_hooks_after_the_test(run, pytester):
    pytester.makeconftest("""
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    yield
    if call.when == "teardown":
        assert item.funcargs["tmp_path"].is_dir() and item.funcargs["request"].node is item and item.funcargs["name"] == "a"
""")
    result = run("""
@pytest.fixture
def buffer(): yield gputest.SimulatedBuffer("10MiB")

@pytest.mark.gpu("1GiB")
@pytest.mark.parametrize("name", "a")
def test_one(tmp_path, request, name, buffer): pass
""")
    assert result.ret == 0
    result.assert_outcomes(passed=1)


def test_what_goes_on_after_a_failed_test_stays_open(run):
    result = run("""
import asyncio
pytestmark = pytest.mark.gpu("1GiB")

def of_another(error):
    raise RuntimeError("the slow path is broken") from error

class Table:
    is_open = True

@pytest.fixture(scope="module")
def table():
    table = Table()
    try:
        raise ImportError("there is no fast path")
    except ImportError as error:
        table.why = error
    try:
        yield table
    finally:
        table.is_open = False

@pytest.fixture(scope="module")
def call():
    \"\"\"Runs coroutines in a task that runs for all tests, as the one of AnyIO does.\"\"\"
    loop = asyncio.new_event_loop()
    calls = asyncio.Queue()
    async def serve():
        while True:
            function, result = await calls.get()
            try:
                result.set_result(await function())
            except BaseException as error:
                result.set_exception(error)
            del function, result
    task = loop.create_task(serve())
    def call(function):
        result = loop.create_future()
        calls.put_nowait((function, result))
        return loop.run_until_complete(result)
    yield call
    task.cancel()

def test_fails(table):
    kept = gputest.SimulatedBuffer("10MiB")
    of_another(table.why)

def test_fails_in_the_loop(call):
    async def function():
        kept = gputest.SimulatedBuffer("10MiB")
        assert not "the local variables of this coroutine are freed"
    call(function)

def test_after(table, call):
    async def function(): return 1
    assert table.is_open and call(function) == 1
""")
    result.assert_outcomes(passed=1, failed=2)


def test_an_object_that_raises_while_its_test_is_freed_leaves_no_lease(run):
    result = run("""
kept = []

class Odd(Exception):
    @property
    def exceptions(self): raise ValueError("not yet")

@pytest.mark.gpu("1GiB", keeps="1GiB")
def test_fails():
    kept.append(gputest.SimulatedBuffer("1MiB"))
    raise Odd

@pytest.mark.gpu("2GiB")
def test_after(): assert leased() == 2 << 30
""")
    result.assert_outcomes(passed=1, failed=1)


_FRAMEWORKS = """
import gc, sys, types
import gputest

class Pool:
    "Keeps freed memory until it is told to free it, as each of these frameworks does."
    def __init__(self): self.free = []
    def use(self): self.free.append(gputest.SimulatedBuffer("10MiB"))
    def trim(self): self.free.clear()

pools = {name: Pool() for name in ("torch", "cupy", "numba")}
modules = {name: types.ModuleType(name) for name in ("torch", "cupy", "numba.cuda", "numba.cuda.cudadrv.driver")}
torch, cupy, numba, driver = modules.values()
torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, empty_cache=pools["torch"].trim)
pool = types.SimpleNamespace(free_all_blocks=pools["cupy"].trim)
cupy.get_default_memory_pool = cupy.get_default_pinned_memory_pool = lambda: pool
driver.driver = types.SimpleNamespace(is_initialized=True)
manager = types.SimpleNamespace(deallocations=types.SimpleNamespace(clear=pools["numba"].trim))
used = types.SimpleNamespace(primary_context=types.SimpleNamespace(memory_manager=manager))
numba.gpus = [types.SimpleNamespace(primary_context=None), used]
"""


def test_free_memory_of_frameworks_is_given_back(run, pytester):
    pytester.makepyfile(frameworks=_FRAMEWORKS)
    result = run("""
import frameworks

@pytest.mark.gpu("small")
@pytest.mark.parametrize("name", frameworks.pools)
def test_one(name):
    sys.modules.update(frameworks.modules)
    frameworks.pools[name].use()
""")
    result.assert_outcomes(passed=3)


def test_frameworks_that_have_not_started_are_left_alone(run, pytester):
    pytester.makepyfile(frameworks=_FRAMEWORKS)
    result = run("""
import frameworks

@pytest.mark.gpu("small")
def test_not_imported(): pass

@pytest.mark.gpu("small")
def test_not_started():
    assert not set(frameworks.modules) & set(sys.modules)
    sys.modules.update(frameworks.modules)
    frameworks.torch.cuda.is_initialized = lambda: False
    frameworks.driver.driver.is_initialized = False
    del frameworks.numba.gpus  # to ask for the devices starts CUDA
    for pool in frameworks.pools.values():
        pool.use()

def test_after():
    assert [name for name, pool in frameworks.pools.items() if pool.free] == ["torch", "numba"]
""", "-W", "ignore")
    result.stdout.fnmatch_lines(["*3 passed, 1 error*"])


def test_out_of_memory_is_explained(run, start):
    other = start("import sys, gputest; one = gputest.SimulatedBuffer('14GiB'); print(flush=True); sys.stdin.read()")
    other.stdout.readline()
    result = run("""
@pytest.mark.gpu("small")
def test_one(): used("2GiB")
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Captured gpu call*", "*test_one ran out of memory under its lease of 256 MiB*"])


def test_advice_is_for_pytest(run, monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:2x16GiB")
    result = run("""
kept = []

@pytest.mark.gpu("1GiB")
def test_runs_out(): gputest.SimulatedBuffer("17GiB")

@pytest.mark.gpu("1GiB")
def test_runs_out_of_little(): raise type("OutOfMemoryError", (Exception,), {})

@pytest.mark.gpu("1GiB")
def test_other_device():
    with gputest.SimulatedBuffer("1GiB", 1): pass

@pytest.mark.gpu("1GiB", gpus=2)
def test_devices(): used("2GiB")

@pytest.mark.gpu("1GiB", keeps="16MiB", heap="1MiB")
def test_leaves(): kept.append(gputest.SimulatedBuffer("32MiB"))

def test_takes_without_a_lease(): kept.append(gputest.SimulatedBuffer("12GiB"))

@pytest.mark.gpu("8GiB")
def test_after_it(): pass

@pytest.mark.gpu("1GiB")
def test_opens(): gputest.Session()
""", "-rs", "--show-capture=no", "--gpu-devices=2")
    shown = result.stdout.str()
    result.assert_outcomes(passed=4, failed=3, errors=4)
    for advice in ['has a gputest.Session already, *. Under pytest it is the plugin\'s, and memory is leased by a mark, by gpu_lease()',
                   'took 1 GiB of device 1, and *Ask for 2: @pytest.mark.gpu(..., gpus=2). Leave',
                   'took 2 GiB, and its lease is 1 GiB: *Declare what it needs: @pytest.mark.gpu("2GiB")',
                   'For what a library keeps on purpose: @pytest.mark.gpu(..., keeps="32MiB")',
                   'Memory needs a lease before it is taken: by a mark, by gpu_lease() in a fixture, or by gputest.plugin.lease()']:
        assert fnmatch.filter(shown.splitlines(), "*" + glob.escape(advice).replace("[*]", "*") + "*"), advice
    assert not re.search("GPUTEST_[A-Z]*(NEEDS|LEASE)|gpu_add_test|LAUNCHER|Environment", shown)


def test_the_explanation_of_out_of_memory_says_what_to_mark(run):
    result = run("""
@pytest.mark.gpu("1GiB", gpus=1, heap="1MiB")
def test_one(): raise type("OutOfMemoryError", (Exception,), {})
""")
    result.stdout.fnmatch_lines(["*Captured gpu call*", '*declare it, for example twice as much: @pytest.mark.gpu("2GiB")'])


def test_unused_memory_is_summed_up(run, pytester):
    pytester.makeconftest("""
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):  # as of pytest 9 or pytest-subtests
    yield
    if "subtest" in item.name:
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", "a subtest", "call")
        item.ihook.pytest_runtest_logreport(report=report)
""")
    result = run("""
@pytest.mark.gpu("4GiB")
def test_wastes(): used("1GiB")

@pytest.mark.gpu("1GiB")
def test_uses(): used("1GiB")

@pytest.mark.gpu("4GiB")
def test_skips(): pytest.skip("no data")

@pytest.mark.gpu("4GiB")
def test_fails(): assert False

@pytest.mark.xfail
@pytest.mark.gpu("4GiB")
def test_fails_as_expected(): assert False

@pytest.mark.gpu("4GiB")
def test_fails_in_a_subtest(): pass

@pytest.mark.gpu
def test_undeclared_fails_in_a_subtest(): used("1GiB")

@pytest.mark.gpu("4GiB")
def test_has_odd_properties(record_property):
    record_property("gpu_lease", 5)
    record_property("gpu_peak_mib", "much")
""")
    listed = result.stdout.str().partition("gpu memory that was leased and not used")[2]
    assert "3072 MiB  test_it.py::test_wastes: 4GiB leased" in listed
    assert not re.search("test_uses|test_skips|test_fails", listed.partition("short test summary")[0])
    assert "gpu memory that was not known yet" not in result.stdout.str()  # of a test that has passed


def test_the_lease_spans_set_up_and_teardown(run):
    result = run("""
@pytest.fixture
def buffer():
    assert leased() == 2 << 30
    with gputest.SimulatedBuffer("2GiB") as buffer:
        yield buffer
    assert leased() == 2 << 30

@pytest.mark.gpu("2GiB")
def test_one(buffer): pass
""")
    result.assert_outcomes(passed=1)


def test_a_fixture_of_a_module_has_a_lease_of_its_own(run):
    result = run("""
@pytest.fixture(scope="module")
def table(gpu_lease):
    with gpu_lease("4GiB"):
        assert leased() == 4 << 30
        buffer = gputest.SimulatedBuffer("4GiB")
    yield buffer
    buffer.free()

@pytest.mark.gpu("1GiB")
@pytest.mark.parametrize("n", range(2))
def test_one(table, n):
    assert leased() == 1 << 30
    assert [one.overhead_bytes for one in gputest.status()] == [9 << 29]
    used("1GiB")

@pytest.mark.gpu("1GiB")
def test_beside(): pass
""")
    result.assert_outcomes(passed=3)
    # Also in a session without a mark, by a fixture that asks for it when it runs.
    result = run("""
@pytest.fixture(scope="module")
def table(request):
    with request.getfixturevalue("gpu_lease")("4GiB"):
        assert leased() == 4 << 30

def test_one(table): pass
""")
    result.assert_outcomes(passed=1)
    # While a test runs, nothing of it is freed. Another plugin's properties may be of any form.
    result = run("""
@pytest.mark.gpu("2GiB", keeps="2GiB")
class TestTable:
    def test_asks(self, gpu_lease, request):
        self.table = gputest.SimulatedBuffer("1GiB")
        with gpu_lease("1GiB"):
            pass
        assert self.table
        request.node.user_properties.append("word")
""")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("scope", ["module", "function"])
def test_tests_keep_their_own_lease_if_a_fixture_yields_inside_of_its(run, pytester, scope):
    result = run("""
@pytest.fixture(scope="{}")
def table(gpu_lease):
    with gpu_lease("4GiB"):
        assert leased() == 4 << 30
        with gputest.SimulatedBuffer("4GiB") as buffer:
            yield buffer

@pytest.mark.gpu("2GiB")
@pytest.mark.parametrize("n", range(2))
def test_marked(table, n):
    assert leased() == 2 << 30
    used("2GiB")

def test_unmarked(table): pass

@pytest.mark.gpu("1GiB")
def test_takes_too_much(table): used("2GiB")
""".format(scope), "--junitxml=report.xml")
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["*test_takes_too_much took 2 GiB, and its lease is 1 GiB: *@pytest.mark.gpu(\"2GiB\")*"])
    assert re.findall('gpu_peak_mib" value="(.*?)"', (pytester.path / "report.xml").read_text()) == ["2048"] * 3


def test_a_test_without_a_mark_goes_on_under_the_lease_of_its_fixture(run):
    result = run("""
@pytest.fixture(scope="module")
def table(gpu_lease):
    with gpu_lease("4GiB"):
        yield

@pytest.fixture
def more(table, gpu_lease):
    with gpu_lease("1GiB"):
        yield

def test_under_it(table):
    assert leased() == 4 << 30
    used("4GiB")

def test_under_its_own(more): assert leased() == 1 << 30

def test_under_it_again(table): assert leased() == 4 << 30

@pytest.mark.gpu("2GiB")
def test_marked(): assert leased() == 2 << 30

def test_after_it(table): assert [one.stage for one in gputest.status()] == ["inside"]
""")
    result.assert_outcomes(passed=5)


def test_leases_inside_of_leases_take_their_place(run):
    result = run("""
@pytest.fixture(scope="module")
def inner(gpu_lease):
    with gpu_lease("1GiB"):
        assert leased() == 1 << 30

@pytest.fixture(scope="module")
def outer(request, gpu_lease):
    with gpu_lease("2GiB"):
        request.getfixturevalue("inner")
        assert leased() == 2 << 30
        with gpu_lease("3GiB"), gpu_lease("4GiB"):
            assert leased() == 4 << 30
        assert leased() == 2 << 30

@pytest.mark.gpu("5GiB")
def test_marked(outer): assert leased() == 5 << 30

@pytest.fixture
def out_of_order(gpu_lease):
    first, second = gpu_lease("1GiB"), gpu_lease("2GiB")
    first.__enter__(), second.__enter__()
    first.__exit__(None, None, None)
    assert leased() == 2 << 30
    second.__exit__(None, None, None)

@pytest.mark.gpu("5GiB")
def test_marked_again(out_of_order): assert leased() == 5 << 30

def test_unmarked(out_of_order): assert [one.stage for one in gputest.status()] == ["inside"]

@pytest.mark.gpu("5GiB")
def test_forgets_the_end(gpu_lease): gpu_lease("1GiB").__enter__()

@pytest.mark.gpu("5GiB")
def test_after(): assert leased() == 5 << 30
""")
    result.assert_outcomes(passed=5)


def test_a_refused_lease_that_is_caught_leaves_the_lease_of_the_test(run):
    result = run("""
def largest(gpu_lease):
    for size in ("64GiB", "no size", "4GiB"):
        try:
            with gpu_lease(size):
                assert leased() == 4 << 30
                return size
        except (pytest.skip.Exception, pytest.fail.Exception):
            pass

@pytest.fixture
def table(gpu_lease): return largest(gpu_lease)

@pytest.mark.gpu("12GiB")
def test_fixture(table): assert table == "4GiB" and leased() == 12 << 30

@pytest.mark.gpu("12GiB")
def test_itself(gpu_lease):
    with pytest.raises(pytest.skip.Exception), gpu_lease("64GiB"):
        pass
    assert leased() == 12 << 30
    used("14GiB")
""")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*test_itself took 14 GiB, and its lease is 12 GiB*"])


def test_classes_and_modules_lease_what_they_set_up(run):
    result = run("""
import unittest
from gputest.plugin import lease

def setup_module():
    with lease("3GiB"):
        assert leased() == 3 << 30

@pytest.mark.gpu("2GiB")
class TestTable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with lease(1 << 30):
            cls.table = gputest.SimulatedBuffer("1GiB")

    @classmethod
    def tearDownClass(cls): cls.table.free()

    def test_one(self): assert leased() == 2 << 30

    def test_two(self): assert leased() == 2 << 30
""")
    result.assert_outcomes(passed=2)
    done = subprocess.run([sys.executable, "-c", "from gputest.plugin import lease; lease('1GiB')"], capture_output=True, text=True)
    assert "gputest.plugin.lease() is for tests that pytest runs: use gputest.Session elsewhere" in done.stderr


def test_threads_of_a_test_take_leases_in_turn(run):
    result = run("""
import threading

@pytest.mark.gpu("2GiB")
def test_threads(gpu_lease):
    errors = []
    def lease():
        try:
            for _ in range(10):
                with gpu_lease("1GiB"):
                    time.sleep(0.001)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=lease) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert errors == [] and leased() == 2 << 30
""")
    result.assert_outcomes(passed=1)


def test_items_that_are_no_functions_lease_too(run, pytester):
    pytester.makeconftest("""
import pytest

class Item(pytest.Item):
    def runtest(self): pass
    def reportinfo(self): return self.path, None, "no function, and no line"

class File(pytest.File):
    def collect(self): yield Item.from_parent(self, name="a\\0b")

def pytest_collect_file(parent, file_path):
    return File.from_parent(parent, path=file_path) if file_path.suffix == ".items" else None
""")
    (pytester.path / "some.items").touch()
    suite = '''
def documented():
    """
    >>> leased() >> 30
    1
    """

def test_one(): pass
'''
    result = run(suite, "--doctest-modules", "--gpu-default-memory=1GiB", ".")
    result.assert_outcomes(passed=3)
    result = run(suite, "--doctest-modules", "--gpu-default-memory=40GiB", ".")
    result.assert_outcomes(skipped=3)


def test_overuse_of_a_fixture_says_what_to_write_in_it(run):
    result = run("""
@pytest.fixture
def data(gpu_lease):
    with gpu_lease("1GiB"):
        used("3GiB")

@pytest.mark.gpu("1GiB")
def test_one(data): pass
""")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*(fixture data) took 3 GiB, and its lease is 1 GiB: *: gpu_lease(\"3GiB\")"])


def test_a_test_that_its_marks_do_not_run_leases_nothing(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUTEST_LOG", str(tmp_path / "log"))
    suite = """
import unittest

@pytest.mark.xfail(run=False, reason="hangs")
@pytest.mark.gpu("8GiB")
def test_hangs(): pass

@pytest.mark.skipif("True", reason="not here")
@pytest.mark.gpu("8GiB")
def test_not_here(): pass

@pytest.mark.gpu("8GiB")
class TestCase(unittest.TestCase):
    @unittest.skip("not now")
    def test_not_now(self): pass

@unittest.skip("not this")
@pytest.mark.gpu("8GiB")
class TestOther(unittest.TestCase):
    def test_not_this(self): pass
"""
    run(suite, "-rs").assert_outcomes(xfailed=1, skipped=3)
    assert not (tmp_path / "log").exists()
    run(suite, "--runxfail").assert_outcomes(passed=1, skipped=3)


def test_a_wait_that_is_too_long_names_the_option(run, holder):
    holder("12GiB")
    result = run("""
@pytest.mark.gpu("8GiB")
def test_one(): pass
""", "--gpu-wait-limit=1s")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test_one waited 1 s, its wait limit, for 8 GiB and was not admitted. In its way: holder *; "
                                 "a longer limit (--gpu-wait-limit, or gpu_wait_limit in pytest.ini) lets it wait longer"])


def test_skips_name_the_machine(run, monkeypatch):
    suite = """
@pytest.mark.gpu("40GiB")
def test_too_large(): pass

@pytest.mark.gpu("1GiB", requires=["mig"])
def test_capability(): pass
"""
    result = run(suite, "-rs")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*test_it.py:*test_too_large needs 40.5 GiB*", "*test_it.py:*mig*"])
    result = run("@pytest.mark.gpu('1GiB', gpus=2)\ndef test_two(): pass", "-rs", "--gpu-devices=2")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*test_it.py:*test_two needs 2 *"])
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:1x16GiB") # without an option, and fewer devices than it needs
    run("@pytest.mark.gpu('1GiB', gpus=2)\ndef test_two(): pass\n\n@pytest.mark.gpu\ndef test_one(): pass", "-rs").assert_outcomes(
        skipped=1, passed=1)
    monkeypatch.setenv("GPUTEST_DEVICES", "none")
    run(suite).assert_outcomes(skipped=2)
    monkeypatch.setenv("GPUTEST_FORBID_SKIP", "machine")
    run(suite).assert_outcomes(errors=2)


def test_devices_are_chosen_before_conftest_is_imported(run, pytester, monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:4x16GiB")
    pytester.makeconftest("import os; seen = os.environ.get('CUDA_VISIBLE_DEVICES')")
    suite = """
from conftest import seen

@pytest.mark.gpu("1GiB", gpus=2)
def test_two():
    assert seen == os.environ["CUDA_VISIBLE_DEVICES"] == "SIM-4x16384MiB-0,SIM-4x16384MiB-1"
"""
    run(suite, "--gpu-devices=2").assert_outcomes(passed=1)
    # Without an option: after the tests are known, as they say.
    run(suite.replace("seen ==", "seen is None and")).assert_outcomes(passed=1)
    result = run(suite, "--gpu-devices=1")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*needs 2 GPUs, and this process has chosen 1: write gpu_devices = 2*"])


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_an_option_that_cannot_be_used_ends_pytest(run, workers):
    if workers:
        pytest.importorskip("xdist")
    for option, message in {
        "--gpu-devices=many": "gpu_devices is 'many'; write a number from 1 to 16",
        "--gpu-devices=17": "gpu_devices is '17'; write a number from 1 to 16",
        "--gpu-large=serial": "gpu_large is 'serial'; write exclude or wait",
        "--gpu-map=large": "gpu_map has 'large'; write <mark>=<memory>, such as large=12GiB",
        "--gpu-map=large=5GB": "memory '5GB' has an unknown unit*",
        "--gpu-default-memory=5GB": "memory '5GB' has an unknown unit*",
        "--gpu-wait-limit=5x": "gpu_wait_limit='5x' is not a duration; write 90s, 20min or 1h",
    }.items():
        result = run("def test_one(): pass", option, *workers, plugins=("xdist",) if workers else ())
        assert result.ret == 4
        result.stderr.fnmatch_lines(["*gputest: " + message])


def test_a_mark_leaves_the_number_of_devices_to_the_mark_of_its_module(run, monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:4x16GiB")
    result = run("""
pytestmark = pytest.mark.gpu("1GiB", gpus=2)

@pytest.mark.gpu("2GiB")
def test_two(): assert os.environ["CUDA_VISIBLE_DEVICES"].count("SIM-") == 2
""")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("sent, code, text", [(signal.SIGINT, 2, "KeyboardInterrupt"), (signal.SIGTERM, 143, "Exit: terminated")])
def test_a_signal_that_ends_the_session_ends_a_wait(start, holder, waits, pytester, sent, code, text):
    holder("12GiB")
    pytester.makepyfile(test_it="""
import signal, pytest
signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated", returncode=143))

@pytest.mark.gpu("12GiB")
def test_waits(): pass

def test_next(): print("the next test runs")
""")
    suite = start("import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))", "-p", "gputest.plugin", "-p", "no:xdist", "-s")
    waits(suite)
    suite.send_signal(sent)
    output, _ = suite.communicate(timeout=60)
    assert suite.returncode == code and text in output and "the next test runs" not in output
    assert [one.who for one in gputest.status()] == ["holder"]


@pytest.mark.parametrize("suite", ["""
@pytest.mark.gpu(memory=lambda: pytest.exit("terminated", returncode=143))
def test_one(): pass
""", """
import types
sys.modules["torch"] = types.SimpleNamespace(cuda=types.SimpleNamespace(
    is_initialized=lambda: True, empty_cache=lambda: pytest.exit("terminated", returncode=143)))

@pytest.mark.gpu("1GiB")
def test_one(): pass

def test_next(): print("the next test runs")
"""], ids=["in a mark", "where memory is given back"])
def test_an_exit_in_work_around_a_test_ends_the_session(run, suite):
    result = run(suite, "-s")
    assert result.ret == 143 and "the next test runs" not in result.stdout.str()
    assert gputest.status() == []


def test_an_interrupt_in_a_test_gives_back(run):
    result = run("""
@pytest.mark.gpu("12GiB")
def test_one(): raise KeyboardInterrupt

@pytest.mark.gpu("12GiB")
def test_two(): pass
""")
    assert result.ret == 2
    assert gputest.status() == []


@pytest.mark.parametrize("launched", [False, True])
def test_numbers_of_devices_that_ctest_has_allocated_are_those_of_cuda(pytester, run, run_entry, monkeypatch, launched):
    for name, value in {"COUNT": "2", "0_GPUS": "id:2,slots:1", "1_GPUS": "id:1,slots:1"}.items():
        monkeypatch.setenv("CTEST_RESOURCE_GROUP_" + name, value)
    for name, value in {"DEVICES": "simulated:3x16GiB", "GPUS": "2"}.items():
        monkeypatch.setenv("GPUTEST_" + name, value)
    suite = """
import subprocess

@pytest.mark.gpu("1GiB", gpus=2)
def test_two():
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "SIM-3x16384MiB-2,SIM-3x16384MiB-1"
    for environment in os.environ, None:
        seen = subprocess.run(["printenv", "CTEST_RESOURCE_GROUP_0_GPUS", "CTEST_RESOURCE_GROUP_1_GPUS"], env=environment,
                              capture_output=True)
        assert seen.stdout == b"id:0,slots:1\\nid:1,slots:1\\n"
"""
    if launched:  # by a script, as pytest's own file is one
        script = pytester.path / "pytest"
        script.write_text('#!/bin/sh\n"{}" -m pytest "$@"\n'.format(sys.executable))
        script.chmod(0o755)
        assert run_entry(suite, "-q", python=[script]).ret == 0
    else:
        run(suite).assert_outcomes(passed=1)


def test_a_ctest_within_an_entry_has_no_settings_of_that_entry(pytester, monkeypatch):
    for name, value in {"DEPTH": "+", "TEST": "outer", "MEMORY": "none", "ENTRY": "ctest"}.items():
        monkeypatch.setenv("GPUTEST_" + name, value)
    pytester.makepyfile(test_it="""
import os, gputest, pytest

@pytest.mark.gpu
def test_one():
    with gputest.SimulatedBuffer("1GiB"):
        pass
    assert [one.who for one in gputest.status()] == ["pytest: test_it.py::test_one"]
    assert [name for name in os.environ if name in ("GPUTEST_DEPTH", "GPUTEST_TEST", "GPUTEST_MEMORY", "GPUTEST_ENTRY")] == []
""")
    (pytester.path / "CTestTestfile.cmake").write_text(
        'add_test(inner "{}" -m pytest -p gputest.plugin -p no:xdist -rA)'.format(sys.executable))
    result = pytester.run("ctest", "--test-dir", pytester.path, "-V")
    result.stdout.fnmatch_lines(["*lease auto*", "*1 passed*"])


def test_a_rerun_leases_again(run):
    pytest.importorskip("pytest_rerunfailures")
    result = run("""
runs = []

@pytest.mark.gpu("2GiB")
def test_one():
    runs.append(leased())
    assert runs == [2 << 30, 2 << 30]
""", "--reruns=1", plugins=("rerunfailures",))
    result.stdout.fnmatch_lines(["*1 passed*1 rerun*"])


def test_the_run_log_has_the_result_of_the_last_rerun(run, pytester, monkeypatch):
    monkeypatch.setenv("GPUTEST_LOG", str(pytester.path / "logs"))
    pytester.makeconftest("""
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):  # as that of pytest-rerunfailures
    for attempt in range(2):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            if report.failed and attempt == 0:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
    return True
""")
    run("""
runs = []

@pytest.mark.gpu("1GiB")
def test_fails(): assert False

@pytest.mark.gpu("1GiB")
def test_passes():
    runs.append(1)
    assert len(runs) == 2
""")
    log, = (pytester.path / "logs").glob("*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines() if line]
    assert [(one["name"], one["result"]) for one in events if one["event"] == "test"] == [
        ("test_it.py::test_fails", "failed"), ("test_it.py::test_passes", "passed")]


def test_waiting_does_not_count_for_a_time_limit(run, start, holder):
    pytest.importorskip("pytest_timeout")
    other = holder("12GiB")
    start("""
import os, sys, time, gputest
while "waiting" not in [one.stage for one in gputest.status()]:
    time.sleep(0.01)
time.sleep(3)  # longer than the limit
os.kill(int(sys.argv[1]), 9)
""", str(other.pid))
    result = run("""
@pytest.mark.gpu("12GiB")
def test_one(): pass
""", "--timeout=2", plugins=("timeout",))
    result.assert_outcomes(passed=1)
    result.stderr.fnmatch_lines(["*test_one waits for 12 GiB: holder*", "*after waiting*"])


def test_a_forked_test_runs_under_the_lease(run):
    pytest.importorskip("pytest_forked")
    if pytest.version_tuple >= (8,):
        pytest.skip("this pytest-forked runs no test with this pytest")
    result = run("""
@pytest.mark.gpu("2GiB")
def test_one():
    assert [(one.pid, one.lease_bytes) for one in gputest.status()] == [(os.getppid(), 2 << 30)]
    used("2GiB")
""", "--forked", plugins=("pytest_forked",))
    result.assert_outcomes(passed=1)


def test_a_process_that_a_test_forks_and_forgets_changes_nothing(run):
    result = run("""
@pytest.fixture
def table(gpu_lease):
    with gpu_lease("1GiB"):
        yield

@pytest.mark.gpu("2GiB")
def test_forks(request):
    pid = os.fork()
    if pid == 0:
        request.getfixturevalue("table")
        assert not "the child fails, and goes on as pytest"
    os.waitpid(pid, 0)
    assert leased() == 2 << 30
""")
    assert "INTERNALERROR" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*1 failed*", "*1 passed*"])


def test_another_package_of_this_name_is_named(run, pytester, monkeypatch):
    other = pytester.mkpydir("gputest")
    (other / "plugin.py").write_text(pathlib.Path(plugin.__file__).read_text())
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    pytester.makepyfile(test_it="import pytest\n@pytest.mark.gpu('1GiB')\ndef test_one(): pass\ndef test_other(): pass")
    result = run(None)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*gputest: {}/__init__.py is of another program, * pip uninstall gputest, *".format(other)])
    result = run(None, "--gpu-devices=1")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*is of another program, *install pytest-gputest again"])


def test_what_a_suite_replaces_for_a_class_or_a_module_is_for_its_tests_alone(run):
    result = run("""
import contextlib, ctypes, gc, operator, threading
from unittest import mock

pytestmark = pytest.mark.gpu("1GiB")

@pytest.fixture(scope="module", autouse=True, params=["Mock", "None"])
def replaced(request):
    with pytest.MonkeyPatch.context() as patch:
        for module, name in [(time, "time"), (time, "perf_counter"), (os, "getpid"), (os, "fsdecode"),
                             (gc, "collect"), (operator, "index"), (contextlib, "suppress"),
                             (threading, "RLock"), (ctypes, "cast"), (ctypes, "sizeof")]:
            patch.setattr(module, name, mock.Mock(side_effect=[]) if request.param == "Mock" else None)
        patch.setitem(sys.modules, "gputest", None)
        yield

@pytest.fixture(scope="class")
def clock():
    with mock.patch("time.time", side_effect=[1.0, 2.0]):
        yield

@pytest.mark.usefixtures("clock")
class TestClock:
    def test_one(self): assert time.time() == 1.0

    def test_two(self): assert time.time() == 2.0

def test_leaves(gpu_lease):
    with gpu_lease("2GiB"):
        kept.append(gputest.SimulatedBuffer("20MiB"))
    kept.pop()

kept = []
""")
    result.assert_outcomes(passed=6)


@pytest.mark.parametrize("call", ["allocated", "end", "explain_out_of_memory", "test_ended"])
def test_a_call_of_the_library_that_fails_fails_its_test_alone(run, pytester, call):
    pytester.makeconftest("""
import gputest

def fails_once(self, *arguments, real=gputest.Session.{0}, **words):
    gputest.Session.{0} = real
    real(self, *arguments, **words)
    raise ZeroDivisionError("once")

def pytest_runtest_logstart(nodeid):
    if nodeid.endswith("test_one"):
        gputest.Session.{0} = fails_once
""".format(call))
    result = run("""
pytestmark = pytest.mark.gpu("1GiB")

class OutOfMemory(Exception): pass

def test_before(): pass

def test_one(): raise OutOfMemory

def test_after(): assert leased() == 1 << 30
""")
    result.assert_outcomes(passed=2, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*test_one: gputest's own work before or after the test has failed: ZeroDivisionError: once.*"])
    assert "INTERNALERROR" not in result.stdout.str()


def test_a_session_that_another_plugin_ends_early_ends_as_that_says(run, pytester):
    pytester.makeconftest("import pytest\ndef pytest_configure(): raise pytest.UsageError('not today')")
    result = run("def test_one(): pass")
    assert result.ret == 4
    assert "not today" in result.stderr.str() and "ValueError" not in result.stderr.str()


def test_an_environment_that_is_no_utf8_stays_as_it_is(run, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", os.fsdecode(b"\xff"))
    result = run("""
@pytest.mark.gpu("1GiB")
def test_one(): pass
""")
    assert "UnicodeDecodeError" not in result.stdout.str() and os.fsencode(os.environ["CUDA_VISIBLE_DEVICES"]) == b"\xff"


def test_the_example_passes(pytester, monkeypatch):
    folder = pathlib.Path(__file__).parents[2] / "examples" / "pytest"
    pytester.runpytest_subprocess("-p", "gputest.plugin", "-p", "no:cacheprovider", "--rootdir", folder, "-c",
                                  folder / "pytest.ini", folder).assert_outcomes(passed=6)


def test_run_log_has_the_tests(run, pytester, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUTEST_LOG", str(tmp_path / "log"))
    run("""
@pytest.mark.gpu("2GiB")
def test_one(): used("1GiB")

@pytest.mark.gpu("40GiB")
def test_two(): pass

@pytest.mark.gpu("1GiB")
def test_takes_too_much():
    used("2GiB")
    raise ValueError("first\\nsecond")

@pytest.mark.gpu("1GB")
def test_wrong(): pass
""")
    log = "".join(file.read_text() for file in (tmp_path / "log").iterdir())
    ends = re.findall(r'"event":"test","suite":"","name":"test_it.py::(\w+)","result":"(\w+)"', log)
    assert ends == [("test_one", "passed"), ("test_two", "skipped"), ("test_takes_too_much", "failed"), ("test_wrong", "failed")]
    assert re.search(r'"reason":"ValueError: first\\u000a(Failed: )?pytest: test_it.py::test_takes_too_much took 2 GiB', log)
    assert re.search(r'"reason":"test_it.py::test_wrong: memory \'1GB\' has an unknown unit', log)
    assert '"test":"test_it.py::test_one","event":"lease"' in log
    assert '"peak_bytes":1073741824' in log and '"file":"{}"'.format(pytester.path / "test_it.py") in log
