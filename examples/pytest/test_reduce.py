# SPDX-License-Identifier: BSD-3-Clause
# Run it on simulated devices: GPUTEST_DEVICES=simulated:1x16GiB pytest -n 4
import gputest
import pytest


def reduce(size):
    """Simulated memory in place of an array of CuPy's or PyTorch's, and of a kernel."""
    with gputest.SimulatedBuffer(size):
        pass


@pytest.fixture(scope="module")
def table(gpu_lease):
    """What the tests of this module share. It stays allocated, and counts as the process's own."""
    with gpu_lease("1GiB"):
        buffer = gputest.SimulatedBuffer("1GiB")
    yield buffer
    buffer.free()


@pytest.mark.gpu("2GiB")
def test_sum(table):
    reduce("2GiB")


@pytest.mark.parametrize("size", ["512MiB", "4GiB"])
@pytest.mark.gpu(memory=lambda size: size)
def test_sizes(size):
    reduce(size)


@pytest.mark.slow_gpu
def test_mark_of_the_suite():
    reduce("3GiB")


@pytest.mark.gpu("large")  # the whole device; beside other workers it is skipped, or waits: --gpu-large=wait
def test_everything():
    reduce("10GiB")


def test_without_a_gpu():
    pass
