# SPDX-License-Identifier: BSD-3-Clause
"""gputest._library: what Python adds to the interface for C, which tests/c tests."""

import inspect
import os
import signal
import subprocess
import sys

import gputest
import pytest


def test_a_session_leases_examines_and_closes(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")  # so that what the library sets is taken back
    monkeypatch.setenv("GPUTEST_LEASE_OF", "")
    with gputest.Session(name="python", overuse="fail", leaks="fail") as session:
        assert session.enter([gputest.Request("3GiB")])
        assert [device.uuid for device in session.devices] == [os.environ["CUDA_VISIBLE_DEVICES"]]
        with pytest.raises(gputest.Error, match="has a gputest.Session already, .*: use that one for all tests$"):
            gputest.Session()
        with pytest.raises(gputest.Error, match=r"Session.enter\(\) was called a second time; .* with all requests of its tests$"):
            session.enter([])
        assert session.begin(gputest.Request("1GiB"), "fits")
        assert [(one.who, one.stage, one.lease_bytes) for one in gputest.status()] == [
            ("python: fits", "holding", 1 << 30)]
        with pytest.raises(gputest.NestedLease):
            session.begin(gputest.Request("1GiB"), "nested")
        with gputest.SimulatedBuffer("512MiB"):
            pass
        assert session.end("fits") == gputest.Findings([], "", 512 << 20, 0, "exact")
        session.test_begins("steps")
        session.count_unleased("steps")
        assert session.lease(gputest.Request("1GiB"), "steps")
        session.release()
        assert session.examine("steps") == gputest.Findings([], "", 0, 0, "exact")
        refused = session.begin(gputest.Request("40GiB"), "too large")
        assert not refused and refused.kind == "skip" and "needs 40.5 GiB" in refused.reason
    session.close()  # twice is harmless
    with pytest.raises(gputest.Error, match="has closed its gputest.Session"):
        gputest.Session()


def test_numbers_of_allocated_devices_stay_where_cuda_has_its_own_already(python, monkeypatch):
    for name, value in {"COUNT": "1", "0_GPUS": "id:1,slots:1"}.items():
        monkeypatch.setenv("CTEST_RESOURCE_GROUP_" + name, value)
    monkeypatch.setenv("GPUTEST_DEVICES", "simulated:2x16GiB")
    program = """
buffer = SimulatedBuffer("1MiB", 1)
session = Session()
assert session.enter([Request("1GiB")])
print(os.environ["CTEST_RESOURCE_GROUP_0_GPUS"], os.environ.get("GPUTEST_ALLOCATION"), flush=True)
import subprocess, sys
subprocess.run([sys.executable, "-c", '''
import os, gputest
assert gputest.Session().enter([gputest.Request("1GiB")])
print(os.environ["CUDA_VISIBLE_DEVICES"], os.environ["CTEST_RESOURCE_GROUP_0_GPUS"], os.environ.get("GPUTEST_ALLOCATION"))
'''], check=True)
"""
    assert python(program).splitlines()[-2:] == [
        "id:1,slots:1 id:1,slots:1 of SIM-2x16384MiB-0,SIM-2x16384MiB-1", "SIM-2x16384MiB-1 id:0,slots:1 None"]


def test_errors_are_exceptions():
    with pytest.raises(gputest.InvalidSetting, match="unknown unit 'GB'"):
        gputest.parse_bytes("3GB")
    with pytest.raises(gputest.OutOfMemory, match="40 GiB .*asked"):
        gputest.SimulatedBuffer("40GiB")


@pytest.mark.parametrize("call, message", [
    (lambda: gputest.Session(nam="x"), r"Session has no nam \(did you mean name\?\); it has devices, folder, .*, notation$"),
    (lambda: gputest.Session(quite_another="x"), "Session has no quite_another; it has devices, "),
    (lambda: gputest.Session(notation="x"), "Session.notation is 'x'; allowed are annotations, tags and marks$"),
    (lambda: gputest.Session(wait_limit=5), "Session.wait_limit is 5; write a text$"),
    (lambda: gputest.Session(name="a\0b"), r"Session.name is 'a\\x00b'; write a text without NUL$"),
    (lambda: gputest.Session(devices="many"), "^Session.devices='many' is unknown; it is all, none, or "),
    (lambda: gputest.Session(folder="x"), "^Session.folder='x' is not an absolute path"),
    (lambda: gputest.Session(memory="3GB"), "^Session.memory '3GB' has an unknown unit 'GB'"),
    (lambda: gputest.Session(run_mode="x"), "^Session.run_mode='x' is unknown; it is one of auto, serial, parallel$"),
    (lambda: gputest.Session(wait_limit="5"), "^Session.wait_limit='5' is not a duration"),
    (lambda: gputest.choose(1, 0, devices="many"), r"^choose\(\).devices='many' is unknown"),
    (lambda: gputest.status(folder="x"), r"^status\(\).folder='x' is not an absolute path"),
    (lambda: gputest.status(overuses="warn"), r"status\(\) has no overuses \(did you mean overuse\?\)"),
    (lambda: gputest.choose(99, 0), "gpus is 99; allowed are 1 to 16$"),
    (lambda: gputest.choose(1, -1), r"turn is -1; write a whole number below 2\*\*32, from 0 on$"),
    (lambda: gputest.check("3GiB"), r"the request is '3GiB'; write a gputest.Request, such as Request\('3GiB'\)$"),
    (lambda: gputest.check(gputest.Request("64")), "Request.memory '64' has no unit"),
    (lambda: gputest.check(gputest.Request(64)), "Request.memory is 64; write a text$"),
    (lambda: gputest.check(gputest.Request(bytes=-1)), "Request.bytes is -1; write a whole number .*, from 0 on$"),
    (lambda: gputest.check(gputest.Request(bytes=(1 << 64) + 5)), r"Request.bytes is \d+; write a whole number below 2\*\*64"),
    (lambda: gputest.check(gputest.Request("1GiB", gpus=(1 << 32) + 1)), r"Request.gpus is \d+; write .* below 2\*\*31$"),
    (lambda: gputest.check(gputest.Request("1GiB", gpus=17)), "Request.gpus is 17; allowed are 1 to 16$"),
    (lambda: gputest.parse_bytes(3), "the size is 3; write a text$"),
    (lambda: gputest.SimulatedBuffer(-1), r"the size is -1; write a whole number below 2\*\*64, from 0 on$"),
    (lambda: gputest.SimulatedBuffer(1, 1 << 32), "device is 4294967296; write a whole number below"),
])
def test_a_wrong_value_is_refused_with_what_to_write(call, message):
    with pytest.raises(gputest.InvalidSetting, match=message):
        call()


def test_a_wrong_value_of_the_environment_is_refused_by_the_variable_s_name(monkeypatch):
    monkeypatch.setenv("GPUTEST_DEVICES", "many")
    for settings in ({}, {"devices": "all"}):
        with pytest.raises(gputest.InvalidSetting, match="^GPUTEST_DEVICES='many' is unknown"):
            gputest.Session(**settings)


class _Misleading(str):  # ctypes would take a number for an address
    def encode(self, *_, **__):
        return 5


def test_a_text_is_taken_as_it_is():
    assert gputest.parse_bytes(_Misleading("1KiB")) == 1024


class _Unhelpful:
    def __index__(self):
        raise RuntimeError

    __repr__ = __fspath__ = __index__


_WRONG = [5, -1, 1 << 70, 1.5, float("nan"), True, b"1GiB", "a\0b", "\ud800", [], {}, (), object, print, _Unhelpful()]


@pytest.mark.parametrize("value", _WRONG, ids=[type(value).__name__ for value in _WRONG])
def test_no_value_crashes_python_or_becomes_another(value):
    takes_whole_numbers = type(value) is int and 0 <= value < 16
    for name in gputest.Request._fields:
        if not (name in ("bytes", "gpus") and takes_whole_numbers):
            with pytest.raises(gputest.InvalidSetting):
                gputest.check(gputest.Request(**{name: value}))
    for name in gputest.Settings.__annotations__:
        with pytest.raises(gputest.InvalidSetting, match="Session.{} is ".format(name)):
            gputest.Session(**{name: value})
    for call in [gputest.parse_bytes, gputest.check, lambda value: gputest.status(devices=value)] + [
            lambda value: gputest.choose(value, 0), lambda value: gputest.choose(1, value), gputest.SimulatedBuffer,
            lambda value: gputest.SimulatedBuffer(1, value)] * (not takes_whole_numbers):
        with pytest.raises(gputest.Error):
            call(value)


_CALLS = """
calls = [lambda: s.enter([]), lambda: s.devices, lambda: s.begin(Request("1GiB"), "x"), lambda: s.allocated(), lambda: s.end("x"),
         lambda: s.test_begins("x"), lambda: s.count_unleased("x"), lambda: s.lease(Request("1GiB"), "x"), lambda: s.release(),
         lambda: s.examine("x"), lambda: s.explain_out_of_memory("x"), lambda: s.test_ended(name="x"), lambda: s.report_end(),
         lambda: s.__enter__()]
assert len(calls) == sum(not name.startswith("_") for name in vars(Session)) - 1 + 1  # not close(), but __enter__()

def refused(word):
    for call in calls:
        try:
            print(call())
        except Error as error:
            assert word in str(error), error
    s.close()
"""


@pytest.mark.parametrize("session, word", [
    ("s = Session(); s.close()", "is closed"),
    ("s = Session(); s.enter([Request('1GiB')]); s.close()", "is closed"),
    ("s = Session.__new__(Session)", "is closed"),
    ("s = Session(); s.enter([Request('1GiB')]); pid = os.fork(); os.waitpid(pid, 0) if pid else None", "was forked"),
])
def test_every_call_of_a_session_that_cannot_be_used_raises(python, session, word):
    assert python(_CALLS + session + "\nif not ('fork' in {!r} and pid): refused({!r})".format(session, word)) == ""


def test_names_may_have_any_characters(python):
    assert python("""
s = Session(log="off")
s.enter([Request("1GiB")])
for name in "a\\0b", "\\ud800", "\\udcff", "ä" * 5000, "":
    assert s.begin(Request("1GiB"), name)
    s.explain_out_of_memory(name)
    s.end(name)
    s.test_ended(name=name, result="passed", seconds=float("nan"), reason=name)
    for call in s.end, s.explain_out_of_memory, lambda name: s.begin(Request("1GiB"), name):
        try:
            call(5)
            print(call)
        except InvalidSetting as error:
            assert str(error) == "the name is 5; write a text"
""") == ""


def test_a_test_ends_with_a_result_that_is_known(python):
    assert python("""
s = Session(log="off")
for result in "passed", "failed", "skipped":
    s.test_ended(name="x", result=result)
for result in None, "", "rerun":
    try:
        s.test_ended(name="x", result=result)
        print(result)
    except InvalidSetting as error:
        assert str(error) == "test_ended().result is '{}'; allowed are passed, failed and skipped".format(result or "")
""") == ""


def test_what_owns_something_is_not_copied(python):
    assert python("""
import copy, pickle
session, buffer = Session(), SimulatedBuffer("1MiB")
for owner in session, buffer:
    for copied in copy.copy, copy.deepcopy, pickle.dumps:
        try:
            print(copied(owner))
        except TypeError as error:
            assert str(error) == "a gputest.{} cannot be copied or pickled".format(type(owner).__name__), error
values = [Request("1GiB"), Outcome("skip", "why"), Findings([], "", 1, 2, "exact")]
assert pickle.loads(pickle.dumps(values)) == copy.deepcopy(values) == values
""") == ""


def test_calls_of_many_threads_run_one_after_the_other(python):
    assert python("""
import itertools, sys, threading
sys.setswitchinterval(1e-5)
session = Session(log="off")
session.enter([Request("1GiB")])
unused = []

def calls(number):
    for n in range(100):
        for call in (lambda: session.begin(Request("1GiB"), "thread"), lambda: session.explain_out_of_memory("a"),
                     lambda: session.end("x"), lambda: session.devices[0].uuid, SimulatedBuffer("1MiB").free):
            try:
                call()
            except Error as error:
                if not isinstance(error, NestedLease) and "closed" not in str(error):
                    unused.append(error)
    session.close()

threads = [threading.Thread(target=calls, args=(n,)) for n in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(unused)
""") == "[]\n"


def test_a_signal_handler_may_not_use_the_session_in_the_middle_of_a_call(start, holder, waits):
    holder("12GiB")
    waiter = start("""
import signal, gputest
session = gputest.Session(name="waiter")
request = gputest.Request("12GiB")
assert session.enter([request])
signal.signal(signal.SIGUSR1, lambda *_: session.close())
try:
    session.begin(request, "waits")
except gputest.Error as error:
    print(error, [one.stage for one in gputest.status() if one.who.startswith("waiter")])
""")
    waits(waiter)
    waiter.send_signal(signal.SIGUSR1)
    output, errors = waiter.communicate(timeout=60)
    assert output.endswith("a signal's handler must not use it ['inside']\n"), errors


def _annotated():
    for name in gputest.__all__:
        one = getattr(gputest, name)
        for function in [one] if inspect.isfunction(one) else [
                member for member in vars(one).values() if inspect.isfunction(member) or isinstance(member, property)]:
            function = function.fget if isinstance(function, property) else function
            if function.__module__ == "gputest._library":
                yield pytest.param(function, id=function.__qualname__)


@pytest.mark.parametrize("function", list(_annotated()))
def test_a_type_checker_knows_all_types(function):
    signature = inspect.signature(function)
    assert signature.return_annotation is not signature.empty
    assert [name for name, one in signature.parameters.items() if one.annotation is one.empty and name != "self"] == []


_TYPED = """
import gputest, pytest
from gputest.plugin import GpuLease

@pytest.fixture(scope="module")
def table(gpu_lease: GpuLease) -> None:
    with gpu_lease("4GiB"), gpu_lease(1 << 30):
        pass

def used(session: gputest.Session, folder: str) -> int:
    outcome: gputest.Outcome = session.begin(gputest.Request("1GiB", gpus=2), "name")
    with gputest.Session(name="x", folder=folder) as other, gputest.SimulatedBuffer(1) as buffer:
        return len(other.devices[0].uuid) + buffer.size + gputest.choose(1, 0, wait_limit="5s")
"""


def test_mypy_accepts_right_uses_and_refuses_wrong_ones(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(_TYPED)
    (tmp_path / "wrong.py").write_text(
        "import gputest\ngputest.Session(nam='x')\ngputest.Request(5)\ngputest.choose('1', 0)\ngputest.nothing()\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "right.py",
                           "wrong.py"], cwd=tmp_path, capture_output=True, text=True)
    lines = [line.rpartition(" [")[0].split(":")[:2] for line in done.stdout.splitlines() if ": error: " in line]
    assert lines == [["wrong.py", str(line)] for line in (2, 3, 4, 5)], done.stdout + done.stderr


_WAITER = """
import sys, gputest
session = gputest.Session(name="waiter")
request = gputest.Request("12GiB")
assert session.enter([request])
print("entered", flush=True)
try:
    session.begin(request, "waits")
except KeyboardInterrupt:
    print([one.stage for one in gputest.status() if one.who.startswith("waiter")], flush=True)
    assert session.begin(gputest.Request("1GiB"), "small")
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
