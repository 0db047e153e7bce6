# SPDX-License-Identifier: BSD-3-Clause
"""The package as the wheel for all machines has it: without a library."""

import ctypes
import pathlib
import shutil
import subprocess
import sys

import gputest
import pytest
from gputest import _portable


@pytest.fixture
def portable(tmp_path, monkeypatch):
    """Runs a program in Python that sees such a package."""
    monkeypatch.delenv("GPUTEST_DEVICES")
    site = tmp_path / "site"
    (site / "gputest").mkdir(parents=True)
    for file in pathlib.Path(gputest.__file__).parent.glob("*.py"):
        shutil.copy(file, site / "gputest")
    information = site / "pytest_gputest-1.2.3.dist-info"
    information.mkdir()
    (information / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-gputest\nVersion: 1.2.3\n")
    monkeypatch.setenv("PYTHONPATH", str(site))

    def run(*arguments):
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, cwd=tmp_path)

    return run


SUITE = """
import gputest, pytest

@pytest.fixture(scope="module")
def table(gpu_lease):
    with gpu_lease("4GiB"):
        yield gputest.SimulatedBuffer("4GiB")

@pytest.mark.gpu("3GiB", gpus=2, requires=["sm_80"])
def test_marked(table): assert table.size == 4 << 30

@pytest.mark.gpu("large")
def test_large(): pass

@pytest.mark.no_gpu
def test_host(): pass

def test_unmarked(): pass

@pytest.mark.gpu(size="3GiB")
def test_mistake(): pass
"""


@pytest.mark.parametrize("arguments", [(), ("-pxdist", "-n2")])
@pytest.mark.parametrize("by_ctest", [False, True])
def test_marks_and_fixtures_lease_nothing(portable, tmp_path, monkeypatch, arguments, by_ctest):
    if by_ctest:
        monkeypatch.setenv("CTEST_INTERACTIVE_DEBUG_MODE", "1")
    (tmp_path / "test_it.py").write_text(SUITE)
    done = portable("-m", "pytest", "-p", "gputest.plugin", "-p", "no:cacheprovider", "--gpu-auto", *arguments)
    assert "3 tests leased no GPU memory, and nothing was measured" in done.stdout, done.stdout + done.stderr
    assert "4 passed, 1 error" in done.stdout and "has unknown size" in done.stdout


def test_a_program_has_its_leases(portable):
    done = portable("-c", """
from gputest import *
assert version() == "1.2.3" and status() == [] and choose(1, 0) == 0
assert parse_bytes("1.5GiB") == 3 << 29 and parse_bytes("7B") == 7
try:
    parse_bytes("3GB")
except InvalidSetting as error:
    assert "3GB" in str(error)
else:
    raise AssertionError("a size without a unit of 1024")
with Session(name="a") as session:
    assert session.enter([Request("3GiB")]) and session.devices == []
    assert session.begin(Request("3GiB"), "one")
    found = session.end("one")
    assert found.problems == [] and found.peak is None and found.evidence == "unknown"
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text, size", [
    ("1B", 1), ("4096B", 4096), ("1.9B", 1), ("0.5KiB", 512), ("256MiB", 256 << 20), ("1.5GiB", 3 << 29), ("007GiB", 7 << 30),
    ("1024TiB", 1024 << 40), ("1125899906842624.5B", 1024 << 40), ("", None), ("GiB", None), (" 3GiB", None), ("-3GiB", None),
    (".5GiB", None), ("5.GiB", None), ("1.2.3GiB", None), ("3", None), ("3GB", None), ("3gib", None), ("3 GiB", None),
    ("3GiB ", None), ("3GiB\n", None), ("0B", None), ("0GiB", None), ("0.1B", None), ("1025TiB", None), ("5000TiB", None),
    ("9" * 400 + "TiB", None), ("\u0663GiB", None)])
def test_a_size_is_read_or_refused_as_by_the_library(text, size):
    found = ctypes.c_uint64()
    portable = _portable.Library()
    if size is None:
        assert portable.gputest_parse_bytes(text.encode(), ctypes.byref(found)) != 0
        assert b"1B to 1024TiB; write a number and a unit" in portable.gputest_message()
        with pytest.raises(gputest.InvalidSetting, match="write a number and a unit"):
            gputest.parse_bytes(text)
    else:
        assert portable.gputest_parse_bytes(text.encode(), ctypes.byref(found)) == 0
        assert gputest.parse_bytes(text) == found.value == size
