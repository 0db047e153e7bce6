# SPDX-License-Identifier: BSD-3-Clause
"""gputest/gputest.h by ctypes. What the functions mean, which thread may call them and what blocks is said there."""

import ctypes
import os
import pathlib
# By their names: what tests put in place of the functions of a module is for the code under test.
from contextlib import contextmanager, suppress
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p, cast, sizeof
from operator import index
from os import environ, fsdecode, fsencode, fspath, getpid
from threading import RLock
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Iterator, List, NamedTuple, NoReturn, Optional, Tuple, TypedDict,
                    TypeVar, Union)

from gputest import _portable

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Self = TypeVar("_Self")


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


def _shown(value: Any) -> str:
    """For a message. An object may have no representation, or a long one."""
    try:
        text = repr(value)
    except Exception:
        text = "an object of the type " + type(value).__name__
    return text if len(text) <= 100 else text[:97] + "..."


def _text(value: Any, of: str) -> bytes:
    """What ctypes would take in place of a text, such as a number, would be an address."""
    with suppress(Exception):  # of the object's own functions, too
        text = str.encode(fspath(value), errors="surrogateescape")  # names of files may be no UTF-8
        if b"\0" not in text:
            return text
    raise InvalidSetting("{} is {}; write a text{}".format(of, _shown(value), " without NUL" * isinstance(value, str)))


def _name(value: Any, of: str = "the name") -> bytes:
    """A text for messages, which may have any characters."""
    if not isinstance(value, str):
        raise InvalidSetting("{} is {}; write a text".format(of, _shown(value)))
    return str.encode(value, errors="backslashreplace").replace(b"\0", b"\\0")


def _number(kind: Any, value: Any, of: str) -> Any:
    """ctypes would cut off bits."""
    with suppress(Exception):
        number = float(value) if kind is c_double else index(value)
        if not isinstance(value, bool) and (kind is c_double or kind(number).value == number):
            return number
    whole = "" if kind is c_double else " whole"
    is_signed = kind(-1).value < 0
    limits = "" if not whole else " below 2**{}".format(8 * sizeof(kind) - is_signed)
    raise InvalidSetting("{} is {}; write a{} number{}{}".format(of, _shown(value), whole, limits,
                                                               "" if is_signed else ", from 0 on"))


class _Struct(ctypes.Structure):
    """One that begins with its size. None says nothing."""

    _encoded = staticmethod(_text)

    def __init__(self, of: str = "", members: Any = None) -> None:
        super().__init__()
        self.size = sizeof(self)
        kinds = {field[0]: field[1] for field in self._fields_[1:]}
        for name, value in (members or {}).items():
            if name not in kinds:
                import difflib

                near = difflib.get_close_matches(name, kinds, 1)
                raise InvalidSetting("{} has no {}{}; it has {}".format(
                    of, name, " (did you mean {}?)".format(near[0]) if near else "", ", ".join(kinds)))
            if value is not None:
                where = "{}.{}".format(of, name)
                kind = kinds[name]
                setattr(self, name, self._encoded(value, where) if kind is c_char_p else _number(kind, value, where))


def _texts(*names: str) -> List[Tuple[str, Any]]:
    return [(name, c_char_p) for name in names]


class Settings(TypedDict, total=False):
    """Those of gputest_settings, in its order, as texts. What is left out is as the environment says."""

    devices: Optional[str]
    folder: "Union[str, os.PathLike[str], None]"
    log: "Union[str, os.PathLike[str], None]"
    name: Optional[str]
    memory: Optional[str]
    large: Optional[str]
    run_mode: Optional[str]
    wait_limit: Optional[str]
    forbid_skip: Optional[str]
    overuse: Optional[str]
    leaks: Optional[str]
    meter: Optional[str]
    notation: Optional[str]


class _Settings(_Struct):
    _fields_ = [("size", c_size_t)] + _texts(*Settings.__annotations__)


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
    _encoded = staticmethod(_name)
    _fields_ = [("size", c_size_t), ("suite", c_char_p), ("name", c_char_p), ("result", c_char_p),
                ("seconds", c_double), ("reason", c_char_p), ("file", c_char_p), ("line", c_int)]


_EACH = ctypes.CFUNCTYPE(None, POINTER(_Claimant), c_void_p)
# It has no `data`, so that the send() of a generator can be called.
_ON_WAIT = ctypes.CFUNCTYPE(c_int, c_char_p)


def _load() -> Any:
    if _portable.is_needed():
        return _portable.Library()
    beside = pathlib.Path(__file__).parent / "lib" / "libgputest.so.0"
    try:
        library = ctypes.CDLL(str(beside) if beside.exists() else "libgputest.so.0")
    except OSError as error:
        raise ImportError("gputest: its library cannot be loaded: {}. Install the package again; in a build tree, build "
                          "the target gputest_c".format(error)) from None
    # Arguments need no types: texts are bytes, structs are passed by reference, and a whole number wider than int has its type.
    for name in ("version", "message", "explain_out_of_memory"):
        getattr(library, "gputest_" + name).restype = c_char_p
    library.gputest_device_count.restype = c_size_t
    library.gputest_allocated.restype = c_int64
    for name in ("close", "release", "simulated_give_back"):
        getattr(library, "gputest_" + name).restype = None
    return library


_library = _load()
is_portable = isinstance(_library, _portable.Library)
if not is_portable:
    _environment = ctypes.CDLL(None).getenv
    _environment.argtypes = [c_char_p]
    _environment.restype = c_char_p


def _message(settings: str = "Session") -> str:
    """In the names of Python. `settings`: what has those that were passed."""
    text = _library.gputest_message().decode(errors="replace")
    for name, own in (("gputest_request.", "Request."), ("gputest_wait.", ""), ("gputest_settings", settings),
                      ("gputest_test_end.", "test_ended()."), ("gputest_session", "gputest.Session"),
                      ("gputest::Session", "gputest.Session"), ("Session::enter", "Session.enter")):
        text = text.replace(name, own)
    return text


def _checked(result: int, settings: str = "Session") -> int:
    if result > _STOPPED:
        raise _ERRORS.get(result, Error)(_message(settings))
    return result


def _refresh_environment() -> None:
    """Makes os.environ, which Python copies once, what the library has made of the environment."""
    known = [name for name in environ if name.startswith(("GPUTEST_", "CTEST_RESOURCE_GROUP_"))]
    for name in () if is_portable else ("CUDA_VISIBLE_DEVICES", "GPUTEST_LEASE_OF", "GPUTEST_ALLOCATION", *known):
        value = _environment(fsencode(name))
        if value is not None:
            environ[name] = fsdecode(value)
        else:
            environ.pop(name, None)


_refresh_environment()  # as it is loaded, the library forgets what an entry above ctest has set


def version() -> str:
    """The version of the library."""
    return _library.gputest_version().decode()


def parse_bytes(text: str) -> int:
    """Reads a size such as "1.5GiB". Raises InvalidSetting."""
    size = c_uint64()
    _checked(_library.gputest_parse_bytes(_text(text, "the size"), byref(size)))
    return size.value


def may_write_notes() -> bool:
    """Whether an adapter may write into the output of this process what is no warning: not where CTest judges it, or may do so."""
    return bool(_library.gputest_may_write_notes())


class Request(NamedTuple):
    """What a test needs of each device. None says nothing."""

    memory: Optional[str] = None  # "small", "medium", "large", or a size such as "3GiB"
    bytes: int = 0  # of a class; 0: what the class says
    gpus: int = 0
    capabilities: Optional[str] = None  # such as "memory_pools sm_80"
    heap: Optional[str] = None
    keeps: Optional[str] = None


def _request(request: Request) -> _Request:
    if not isinstance(request, Request):
        raise InvalidSetting("the request is {}; write a gputest.Request, such as Request('3GiB')".format(_shown(request)))
    return _Request("Request", request._asdict())


def check(request: Request) -> None:
    """Raises InvalidSetting for a request that cannot be read, on whatever machine."""
    _checked(_library.gputest_check(byref(_request(request))))


class Outcome(NamedTuple):
    """What came of a request. True if it was granted."""

    kind: str  # "granted", "skip", "fail"
    reason: str = ""

    def __bool__(self) -> bool:
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
    raised: List[BaseException] = []

    def watch() -> Any:
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
    wait = _Wait("the wait", {"limit": limit})
    wait.on_wait = cast(on_wait, c_void_p).value
    result = call(wait)
    watcher.close()
    if raised:
        raise raised[0]
    _checked(result)
    return Outcome("granted") if result == _OK else Outcome("skip" if result == _SKIP else "fail", _message())


class _Owner:
    """Has a handle of the library, which one object gives back once."""

    _handle: Optional[c_void_p] = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a gputest.{} cannot be copied or pickled".format(type(self).__name__))


class Session(_Owner):
    """This process's use of the devices. A process has one in its life; a forked process must not use its parent's.

    A call of another thread, or of a signal's handler, while one is in progress: that of the thread waits, and that of the
    handler raises Error, as does every call after close().
    """

    def __init__(self, **settings: "Unpack[Settings]") -> None:
        handle = c_void_p()
        self._is_in_entry = "GPUTEST_ENTRY" in environ  # which the library removes
        _checked(_library.gputest_open(byref(_Settings("Session", settings)), byref(handle)))
        self._handle = handle
        self._pid = getpid()
        self._lock = RLock()
        self._is_calling = False

    @contextmanager
    def _calling(self) -> Iterator[c_void_p]:
        """The handle for one call, until what it returns is copied: texts of the library live until the next one."""
        if self._handle is None:
            raise Error("this gputest.Session is closed: open one session, and use it for all tests")
        if getpid() != self._pid:  # another thread of the parent may have had the lock
            raise Error("this process was forked from the one that opened the gputest.Session, and must not use it: open its "
                        "own, or leave the lease to its parent")
        with self._lock:
            if self._is_calling:
                raise Error("this thread is in another call of the gputest.Session: a signal's handler must not use it")
            if self._handle is None:
                raise Error("another thread has closed this gputest.Session")
            self._is_calling = True
            try:
                yield self._handle
            finally:
                self._is_calling = False

    def close(self) -> None:
        """Gives back what is held. The second time, and in a forked process, it does nothing."""
        if self._handle is not None and getpid() == self._pid:
            with self._calling() as handle:
                self._handle = None
                _library.gputest_close(handle)
            _refresh_environment()

    def __enter__(self: _Self) -> _Self:
        with self._calling():  # type: ignore[attr-defined]
            return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def enter(self, requests: Iterable[Request], limit: Optional[str] = None) -> Outcome:
        """Chooses devices and enters the ledger. Blocks; KeyboardInterrupt ends the wait. Once."""
        asked = [_request(request) for request in requests]
        plan = (_Request * len(asked))(*asked)
        with self._calling() as handle:
            try:
                return _interruptible(lambda wait: _library.gputest_enter(handle, plan, c_size_t(len(asked)), byref(wait)), limit)
            finally:
                _refresh_environment()

    @property
    def devices(self) -> List[Device]:
        """The chosen devices, as CUDA numbers them."""
        devices = []
        with self._calling() as handle:
            for i in range(_library.gputest_device_count(handle)):
                one = _Device()
                _checked(_library.gputest_get_device(handle, c_size_t(i), byref(one)))
                devices.append(Device(one.uuid.decode(), one.name.decode(), one.total_bytes, bool(one.simulated)))
        return devices

    def begin(self, request: Request, who: str, limit: Optional[str] = None) -> Outcome:
        """The test begins: leases memory. Blocks until it is free; KeyboardInterrupt ends the wait."""
        asked, name = _request(request), _name(who)
        with self._calling() as handle:
            return _interruptible(lambda wait: _library.gputest_begin(handle, byref(asked), name, byref(wait)), limit)

    def allocated(self) -> Optional[int]:
        """The bytes of all devices that were allocated under the lease and not freed by now. None: not known."""
        with self._calling() as handle:
            size: int = _library.gputest_allocated(handle)
        return None if size < 0 else size

    def end(self, who: str) -> Findings:
        """The test has ended: gives its lease back, if there is one. What was found since the last call."""
        return self._found_by(_library.gputest_end, who)

    def _found_by(self, function: Any, who: str) -> Findings:
        found = _Findings()
        with self._calling() as handle:
            _checked(function(handle, _name(who), byref(found)))
            return Findings([found.problems[i].decode(errors="replace") for i in range(found.problem_count)],
                            found.overuse.decode(), None if found.peak_bytes < 0 else found.peak_bytes,
                            None if found.left_bytes < 0 else found.left_bytes, found.evidence.decode())

    # The steps of begin() and end(), one by one.

    def test_begins(self, who: str) -> None:
        """For messages and the run log."""
        with self._calling() as handle:
            _checked(_library.gputest_test_begins(handle, _name(who)))

    def count_unleased(self, where: str) -> None:
        """Counts memory that was taken without a lease as this process's own."""
        with self._calling() as handle:
            _checked(_library.gputest_count_unleased(handle, _name(where)))

    def lease(self, request: Request, who: str, limit: Optional[str] = None) -> Outcome:
        """Leases memory. Blocks until it is free; KeyboardInterrupt ends the wait."""
        asked, name = _request(request), _name(who)
        with self._calling() as handle:
            return _interruptible(lambda wait: _library.gputest_lease(handle, byref(asked), name, byref(wait)), limit)

    def release(self) -> None:
        """Gives the lease back, if there is one."""
        with self._calling() as handle:
            _library.gputest_release(handle)

    def examine(self, who: str) -> Findings:
        """What was found since the last call."""
        return self._found_by(_library.gputest_examine, who)

    def explain_out_of_memory(self, who: str) -> str:
        """For a test that ran out of memory under its lease: who has memory beyond what was leased, and what to do."""
        with self._calling() as handle:
            text: bytes = _library.gputest_explain_out_of_memory(handle, _name(who))
        return text.decode(errors="replace")

    def test_ended(self, **end: Union[str, float, None]) -> None:
        """Writes the members of gputest_test_end to the run log."""
        with self._calling() as handle:
            _checked(_library.gputest_test_ended(handle, byref(_TestEnd("test_ended()", end))))

    def report_end(self, any_was_skipped: bool = False) -> None:
        """All tests have ended, and the process will exit as they did: for the run log, and for CTest, which shows an entry as
        skipped if gputest has skipped any test of it."""
        with self._calling():
            _library.gputest_report_end(77 if any_was_skipped and self._is_in_entry else 0)


def choose(gpus: int, turn: int, **settings: "Unpack[Settings]") -> int:
    """Makes `gpus` devices visible to CUDA before a session is opened. The bytes a process can have of the smallest."""
    usable = c_uint64()
    _checked(_library.gputest_choose(byref(_Settings("choose()", settings)), _number(c_int, gpus, "gpus"),
                                     c_uint(_number(c_uint, turn, "turn")), byref(usable)), "choose()")
    _refresh_environment()
    return usable.value


def status(**settings: "Unpack[Settings]") -> List[Claimant]:
    """All processes in the ledger."""
    claimants = []

    @_EACH
    def each(claimant: Any, _: Any) -> None:
        one = claimant.contents
        claimants.append(Claimant(one.who.decode(errors="replace"), one.pid, one.stage.decode(), one.lease_bytes,
                                  bool(one.whole_devices), one.overhead_bytes, one.devices.decode().split()))

    _checked(_library.gputest_status(byref(_Settings("status()", settings)), each, None), "status()")
    return claimants


class SimulatedBuffer(_Owner):
    """Memory of a simulated device: counted, never touched. Raises OutOfMemory if it does not fit."""

    def __init__(self, size: Union[int, str], device: int = 0) -> None:
        self.size: int = parse_bytes(size) if isinstance(size, str) else _number(c_uint64, size, "the size")
        handle = c_void_p()
        _checked(_library.gputest_simulated_take(c_uint64(self.size), _number(c_int, device, "device"), byref(handle)))
        self.free()  # what it had, if it is called again
        self._handle = handle

    def free(self, _give_back: Any = _library.gputest_simulated_give_back) -> None:
        """Gives it back. The second time it does nothing."""
        _give_back(self.__dict__.pop("_handle", None))  # in one step, also for several threads

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    __del__ = free
