# SPDX-License-Identifier: BSD-3-Clause
"""gputest/gputest.h by ctypes. What the functions mean, which thread may call them and what blocks is said there."""

import ctypes
import os
import pathlib
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from typing import Callable, List, NamedTuple, Optional


class Error(Exception):
    """Base of what this package raises. Its text says what was asked, what was seen, and what to do."""


class InvalidSetting(Error):
    """An argument or a setting that cannot be used."""


class LedgerError(Error):
    """The ledger cannot be created, opened or trusted."""


class NestedLease(Error):
    """This process holds a lease already."""


class OutOfMemory(Error):
    """A simulated device has no room."""


_OK, _SKIP, _FAIL, _STOPPED = range(4)
_ERRORS = {4: InvalidSetting, 5: LedgerError, 6: NestedLease, 7: OutOfMemory}


class _Struct(ctypes.Structure):
    """One that begins with its size. None says nothing."""

    def __init__(self, **members):
        super().__init__()
        self.size = ctypes.sizeof(self)
        for name, value in members.items():
            if value is not None:
                setattr(self, name, value.encode() if isinstance(value, str) else value)


def _texts(*names):
    return [(name, c_char_p) for name in names]


class _Settings(_Struct):
    _fields_ = [("size", c_size_t)] + _texts(
        "devices", "folder", "log", "name", "memory", "large", "run_mode", "wait_limit", "forbid_skip", "overuse",
        "leaks", "meter")


class _Request(_Struct):
    _fields_ = [("size", c_size_t), ("memory", c_char_p), ("bytes", c_uint64), ("gpus", c_int)] + _texts(
        "capabilities", "heap", "keeps")


class _Wait(_Struct):
    _fields_ = [("size", c_size_t), ("limit", c_char_p), ("on_wait", c_void_p), ("data", c_void_p)]


class _Device(ctypes.Structure):
    _fields_ = _texts("uuid", "name") + [("total_bytes", c_uint64), ("simulated", c_int)]


class _Findings(_Struct):
    _fields_ = [("size", c_size_t), ("peak_bytes", c_int64), ("left_bytes", c_int64), ("evidence", c_char_p),
                ("overuse", c_char_p), ("problems", POINTER(c_char_p)), ("problem_count", c_size_t)]


class _Claimant(ctypes.Structure):
    _fields_ = [("who", c_char_p), ("pid", c_int64), ("stage", c_char_p), ("lease_bytes", c_uint64),
                ("whole_devices", c_int), ("overhead_bytes", c_uint64), ("devices", c_char_p)]


class _TestEnd(_Struct):
    _fields_ = [("size", c_size_t), ("suite", c_char_p), ("name", c_char_p), ("result", c_char_p),
                ("seconds", c_double), ("reason", c_char_p), ("file", c_char_p), ("line", c_int),
                ("declared_in", c_char_p), ("declared_line", c_int)]


_EACH = ctypes.CFUNCTYPE(None, POINTER(_Claimant), c_void_p)
# It has no `data`, so that the send() of a generator can be called.
_ON_WAIT = ctypes.CFUNCTYPE(c_int, c_char_p)


def _load():
    beside = pathlib.Path(__file__).parent / "lib" / "libgputest.so.0"
    try:
        library = ctypes.CDLL(str(beside) if beside.exists() else "libgputest.so.0")
    except OSError as error:
        raise ImportError("gputest: its library cannot be loaded: {}. Install the package again; in a build tree, build "
                          "the target gputest_c".format(error)) from None
    for name, arguments in {
        "version": [],
        "message": [],
        "parse_bytes": [c_char_p, POINTER(c_uint64)],
        "open": [POINTER(_Settings), POINTER(c_void_p)],
        "close": [c_void_p],
        "check": [POINTER(_Request)],
        "choose": [POINTER(_Settings), c_int, c_uint, POINTER(c_uint64)],
        "enter": [c_void_p, POINTER(_Request), c_size_t, POINTER(_Wait)],
        "device_count": [c_void_p],
        "get_device": [c_void_p, c_size_t, POINTER(_Device)],
        "lease": [c_void_p, POINTER(_Request), c_char_p, POINTER(_Wait)],
        "allocated": [c_void_p],
        "release": [c_void_p],
        "examine": [c_void_p, c_char_p, POINTER(_Findings)],
        "count_unleased": [c_void_p, c_char_p],
        "explain_out_of_memory": [c_void_p, c_char_p],
        "status": [POINTER(_Settings), _EACH, c_void_p],
        "test_begins": [c_void_p, c_char_p],
        "test_ended": [c_void_p, POINTER(_TestEnd)],
        "report_end": [c_int],
        "simulated_take": [c_uint64, c_int, POINTER(c_void_p)],
        "simulated_give_back": [c_void_p],
    }.items():
        getattr(library, "gputest_" + name).argtypes = arguments
    for name in ("version", "message", "explain_out_of_memory"):
        getattr(library, "gputest_" + name).restype = c_char_p
    library.gputest_device_count.restype = c_size_t
    library.gputest_allocated.restype = c_int64
    for name in ("close", "release", "simulated_give_back"):
        getattr(library, "gputest_" + name).restype = None
    return library


_library = _load()
_environment = ctypes.CDLL(None).getenv
_environment.argtypes = [c_char_p]
_environment.restype = c_char_p


def _message() -> str:
    return _library.gputest_message().decode(errors="replace")


def _checked(result: int) -> int:
    if result > _STOPPED:
        raise _ERRORS.get(result, Error)(_message())
    return result


def _refresh_environment():
    """Makes os.environ, which Python copies once, what the library has made of the environment."""
    for name in ("CUDA_VISIBLE_DEVICES", "GPUTEST_LEASE_OF", "GPUTEST_ENTRY"):
        value = _environment(name.encode())
        if value is not None:
            os.environ[name] = value.decode()
        else:
            os.environ.pop(name, None)


def version() -> str:
    """The version of the library."""
    return _library.gputest_version().decode()


def parse_bytes(text: str) -> int:
    """Reads a size such as "1.5GiB". Raises InvalidSetting."""
    size = c_uint64()
    _checked(_library.gputest_parse_bytes(text.encode(), byref(size)))
    return size.value


class Request(NamedTuple):
    """What a test needs of each device. None says nothing."""

    memory: Optional[str] = None  # "small", "medium", "large", or a size such as "3GiB"
    bytes: int = 0  # of a class; 0: what the class says
    gpus: int = 0
    capabilities: Optional[str] = None  # such as "memory_pools sm_80"
    heap: Optional[str] = None
    keeps: Optional[str] = None


def check(request: Request):
    """Raises InvalidSetting for a request that cannot be read, on whatever machine."""
    _checked(_library.gputest_check(byref(_Request(**request._asdict()))))


class Outcome(NamedTuple):
    """What came of a request. True if it was granted."""

    kind: str  # "granted", "skip", "fail"
    reason: str = ""

    def __bool__(self):
        return self.kind == "granted"


class Findings(NamedTuple):
    """What a test has left, and what it had."""

    problems: List[str]
    overuse: str  # such as "5 GiB of 256 MiB"; empty: not seen
    peak: Optional[int]  # bytes of one device; None: not known
    left: Optional[int]
    evidence: str  # "exact", "sampled", "unknown"; empty: there was no lease


class Device(NamedTuple):
    uuid: str
    name: str
    total_bytes: int
    simulated: bool


class Claimant(NamedTuple):
    """One process in the ledger."""

    who: str
    pid: int
    stage: str
    lease_bytes: int
    whole_devices: bool
    overhead_bytes: int
    devices: List[str]


def _interruptible(call: Callable[[_Wait], int], limit: Optional[str]) -> Outcome:
    """Calls what may wait. An exception of a signal handler, such as KeyboardInterrupt, ends the wait."""
    raised = []

    def watch():
        # A signal's handler runs when Python code does. Resumed by send(), a generator is inside its `try` at once; a
        # function would be interrupted before its own.
        try:
            while True:
                yield 0
        except GeneratorExit:
            raise
        except BaseException as error:
            raised.append(error)
        while True:
            yield 1

    watcher = watch()
    next(watcher)
    on_wait = _ON_WAIT(watcher.send)
    wait = _Wait(limit=limit, on_wait=ctypes.cast(on_wait, c_void_p).value)
    result = call(wait)
    watcher.close()
    if raised:
        raise raised[0]
    _checked(result)
    return Outcome("granted") if result == _OK else Outcome("skip" if result == _SKIP else "fail", _message())


class Session:
    """This process's use of the devices. A process has one in its life; a forked process must not use its parent's.

    The settings are those of gputest_settings, as texts; what is left out is as the environment says.
    """

    def __init__(self, **settings):
        self._handle = c_void_p()
        _checked(_library.gputest_open(byref(_Settings(**settings)), byref(self._handle)))

    def close(self):
        """Gives back what is held. The second time it does nothing."""
        _library.gputest_close(self._handle)
        self._handle = c_void_p()
        _refresh_environment()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def enter(self, requests: List[Request], limit: Optional[str] = None) -> Outcome:
        """Chooses devices and enters the ledger. Blocks; KeyboardInterrupt ends the wait. Once."""
        plan = (_Request * len(requests))(*(_Request(**request._asdict()) for request in requests))
        try:
            return _interruptible(
                lambda wait: _library.gputest_enter(self._handle, plan, len(requests), byref(wait)), limit)
        finally:
            _refresh_environment()

    @property
    def devices(self) -> List[Device]:
        """The chosen devices, as CUDA numbers them."""
        devices = []
        for index in range(_library.gputest_device_count(self._handle)):
            one = _Device()
            _checked(_library.gputest_get_device(self._handle, index, byref(one)))
            devices.append(Device(one.uuid.decode(), one.name.decode(), one.total_bytes, bool(one.simulated)))
        return devices

    def lease(self, request: Request, who: str, limit: Optional[str] = None) -> Outcome:
        """Leases memory. Blocks until it is free; KeyboardInterrupt ends the wait."""
        asked = _Request(**request._asdict())
        return _interruptible(
            lambda wait: _library.gputest_lease(self._handle, byref(asked), who.encode(), byref(wait)), limit)

    def allocated(self) -> Optional[int]:
        """The bytes of all devices that were allocated under the lease and not freed by now. None: not known."""
        size = _library.gputest_allocated(self._handle)
        return None if size < 0 else size

    def release(self):
        """Gives the lease back, if there is one."""
        _library.gputest_release(self._handle)

    def examine(self, who: str) -> Findings:
        """What was found since the last call."""
        found = _Findings()
        _checked(_library.gputest_examine(self._handle, who.encode(), byref(found)))
        return Findings([found.problems[i].decode(errors="replace") for i in range(found.problem_count)],
                        found.overuse.decode(), None if found.peak_bytes < 0 else found.peak_bytes,
                        None if found.left_bytes < 0 else found.left_bytes, found.evidence.decode())

    def count_unleased(self, where: str):
        """Counts memory that was taken without a lease as this process's own."""
        _checked(_library.gputest_count_unleased(self._handle, where.encode()))

    def explain_out_of_memory(self, who: str) -> str:
        """For a test that ran out of memory under its lease: who has memory beyond what was leased, and what to do."""
        return _library.gputest_explain_out_of_memory(self._handle, who.encode()).decode(errors="replace")

    def test_begins(self, who: str):
        """For messages and the run log."""
        _checked(_library.gputest_test_begins(self._handle, who.encode()))

    def test_ended(self, **end):
        """Writes the members of gputest_test_end to the run log."""
        _checked(_library.gputest_test_ended(self._handle, byref(_TestEnd(**end))))

    def report_end(self):
        """All tests have ended, and the process will exit as they did: for the run log, and for CTest with LAUNCHER off."""
        _library.gputest_report_end(0)


def choose(gpus: int, turn: int, **settings) -> int:
    """Makes `gpus` devices visible to CUDA before a session is opened. The bytes a process can have of the smallest."""
    usable = c_uint64()
    _checked(_library.gputest_choose(byref(_Settings(**settings)), gpus, turn, byref(usable)))
    _refresh_environment()
    return usable.value


def status(**settings) -> List[Claimant]:
    """All processes in the ledger."""
    claimants = []

    @_EACH
    def each(claimant, _):
        one = claimant.contents
        claimants.append(Claimant(one.who.decode(errors="replace"), one.pid, one.stage.decode(), one.lease_bytes,
                                  bool(one.whole_devices), one.overhead_bytes, one.devices.decode().split()))

    _checked(_library.gputest_status(byref(_Settings(**settings)), each, None))
    return claimants


class SimulatedBuffer:
    """Memory of a simulated device: counted, never touched. Raises OutOfMemory if it does not fit."""

    def __init__(self, size, device: int = 0):
        self._handle = c_void_p()
        self.size = parse_bytes(size) if isinstance(size, str) else size
        _checked(_library.gputest_simulated_take(self.size, device, byref(self._handle)))

    def free(self):
        """Gives it back. The second time it does nothing."""
        handle, self._handle = self._handle, c_void_p()
        _library.gputest_simulated_give_back(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free()

    def __del__(self, give_back=_library.gputest_simulated_give_back):
        if self._handle:
            give_back(self._handle)
