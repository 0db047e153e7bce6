# SPDX-License-Identifier: BSD-3-Clause
"""The pytest plugin: tests marked `gpu` lease their memory, across the workers of pytest-xdist and all other processes.

It does nothing, and does not load the library, in a session in which no test needs a GPU and no option is given.
"""

import atexit
import ctypes
import functools
import gc
import inspect
import io
import json
import os
import reprlib
import shlex
import sys
import traceback
import types
# By their names: what tests put in place of the functions of a module is for the code under test.
from contextlib import contextmanager, suppress
from gc import collect
from operator import index
from os import environ, getpid
from os.path import join
from threading import RLock
from time import perf_counter, time
from typing import Callable, ContextManager, NamedTuple, Optional, Union

import gputest
import pytest

_OPTIONS = {
    "gpu_default_memory": "memory of tests that say none, such as auto or 2GiB; then tests without a mark lease, too",
    "gpu_needs": "a file of 'gputest needs --export': what tests that declare nothing take",
    "gpu_map": "what other marks mean, such as large=12GiB,slow_gpu=medium",
    "gpu_large": "exclude or wait: a large test beside other workers (default: exclude)",
    "gpu_devices": "number of devices of each process, chosen before conftest.py is imported (default: 1)",
    "gpu_wait_limit": "the longest wait for memory, such as 90s or 20min (default: 20min)",
}
_WORDS = ("memory", "alone", "gpus", "requires", "heap", "keeps")
# What the context of a process takes, where nothing is known of it.
_CONTEXT_BYTES = 768 << 20
# What stops libraries that take most of a device at their first use.
_AGAINST_PREALLOCATION = {"jax": "XLA_PYTHON_CLIENT_ALLOCATOR=platform", "tensorflow": "TF_FORCE_GPU_ALLOW_GROWTH=true"}
_MIB = 1 << 20
_GIB = 1 << 30
_SUSPENDABLE = types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType
_ALL = "1024TiB"  # may stay of what a fixture, or a test that declares nothing, takes: more than its lease is too much anyway


def pytest_addoption(parser):
    group = parser.getgroup("gputest", "leases of GPU memory")
    in_this_folder = functools.partial(join, os.getcwd())  # a conftest.py may go to another one
    for name, text in _OPTIONS.items():
        group.addoption("--" + name.replace("_", "-"), dest=name, metavar=name.upper(), help=text,
                        type=in_this_folder if name == "gpu_needs" else str)
        parser.addini(name, text)
    # Not --gpu: many suites have an option of that name, and pytest refuses a second one.
    group.addoption("--gpu-auto", dest="gpu_default_memory", action="store_const", const="auto",
                    help="tests that declare nothing use GPUs, and take what they turn out to need: --gpu-default-memory=auto")


def _runs_nothing(options) -> bool:
    return getattr(options, "collectonly", False) or getattr(options, "setupplan", False)


def _option(config, name: str, options=None) -> Optional[str]:
    value = getattr(options or config.option, name, None)
    if value is None:
        value = config.getini(name) or None
        if value and name == "gpu_needs" and config.inipath:  # pytest may be started in any folder
            value = join(str(config.inipath.parent), value)
    return ",".join(value) if isinstance(value, list) else value  # of a pyproject.toml


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Of pytest-xdist, in the process that starts workers: they write one run log, and read the same file of figures."""
    node.workerinput["gputest_needs"] = node.config.option.gpu_needs  # workers may start in another folder
    folder = environ.get("GPUTEST_LOG", "")
    if folder.startswith("/"):
        name = "run-pytest-{}-{}.jsonl".format(int(node.config.gputest_begun), getpid())
        node.workerinput["gputest_log"] = join(folder, name)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Of pytest-xdist, likewise. Nobody looks at how a worker's process ends."""
    node.config.gputest_has_skipped |= getattr(node, "workeroutput", {}).get("gputest_has_skipped", False)


def pytest_sessionfinish(session):
    if getattr(session.config, "gputest_has_skipped", False):
        gputest.Session(log="off").report_end(True)


def _loaded():
    """Loads the library of the package."""
    try:
        if not hasattr(gputest, "SimulatedBuffer"):
            raise ImportError("gputest: {} is of another program, which PyPI has under the name gputest, and this plugin is of "
                              "pytest-gputest. Type: pip uninstall gputest, and install pytest-gputest again".format(
                                  gputest.__file__))
    except ImportError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Chooses devices before conftest.py can import what starts CUDA, if an option says that tests use them."""
    options = early_config.known_args_namespace
    said = {name: _option(early_config, name, options) for name in _OPTIONS}
    if not any(said.values()):
        return
    _loaded()
    try:
        gpus = _checked_options(said)
        worker = environ.get("PYTEST_XDIST_WORKER", "")  # config.workerinput comes after the conftests
        controls = getattr(options, "numprocesses", None) or getattr(options, "tx", None)
        if not _runs_nothing(options) and (worker or not controls):
            turn = int(worker[2:]) if worker[2:].isdecimal() else 0
            early_config.gputest_usable_bytes = gputest.choose(gpus, turn)
    except gputest.Error as error:
        raise pytest.UsageError("gputest: " + _in_words_of_options(error)) from None


def _checked_options(said) -> int:
    """Refuses what cannot be used, also in the process that starts workers: one that fails so is an internal error of
    pytest-xdist. The number of devices is returned."""
    gpus = said["gpu_devices"] or "1"
    if not gpus.isdecimal() or not 1 <= int(gpus) <= 16:
        raise pytest.UsageError("gputest: gpu_devices is '{}'; write a number from 1 to 16".format(gpus))
    if said["gpu_large"] not in (None, "exclude", "wait"):
        raise pytest.UsageError("gputest: gpu_large is '{}'; write exclude or wait".format(said["gpu_large"]))
    for memory in {said["gpu_default_memory"], *_map_of(said["gpu_map"]).values()} - {"none"}:
        gputest.check(gputest.Request(memory))
    if "PYTEST_XDIST_WORKER" not in environ:
        _needs_in(said["gpu_needs"])
    if said["gpu_wait_limit"]:
        gputest.Session(wait_limit=said["gpu_wait_limit"], log="off").close()  # reads its settings
    return int(gpus)


def _map_of(text) -> dict:
    """What gpu_map says: the memory that other marks mean."""
    memory_of = {}
    for pair in (text or "").replace(",", " ").split():
        name, equals, memory = pair.partition("=")
        if not equals or not memory:
            raise pytest.UsageError("gputest: gpu_map has '{}'; write <mark>=<memory>, such as large=12GiB".format(pair))
        memory_of[name] = memory
    return memory_of


def _needs_in(file) -> dict:
    """What a file of 'gputest needs --export' says: of each test, its memory by the memory of the device."""
    needs = {}
    if file:
        try:
            with open(file, encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        said = json.loads(line)
                        if not (isinstance(said, dict) and isinstance(said.get("test"), str) and isinstance(said.get("needs"), dict)):
                            raise ValueError("it has no text 'test', or no 'needs' of sizes")
                        needs.setdefault(said["test"], {}).update(_sizes_in(said["needs"]))
        except OSError as error:
            raise pytest.UsageError("gputest: gpu_needs cannot be read: {}. 'gputest needs --export' writes it".format(
                error)) from None
        except Exception as error:
            raise pytest.UsageError("gputest: line {} of {} is not such as {}: {}".format(
                number, file, '{"test":"test_sort.py::test_keys","needs":{"80GiB":"1984MiB"}}', error)) from None
    return needs


def _sizes_in(sizes) -> dict:
    return {gputest.parse_bytes(device): gputest.parse_bytes(size) for device, size in sizes.items()}


_configs = []  # of the sessions of pytest in this process: the one that runs is the last


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    _configs.append(config)
    if hasattr(config, "workerinput"):
        config.add_cleanup(functools.partial(_end_worker, config))  # the first that is added is the last that is called
        config.option.gpu_needs = config.workerinput.get("gputest_needs")
    config.gputest_begun = time()
    config.gputest_has_skipped = False  # in a worker
    config.addinivalue_line("markers", "gpu(memory, alone=False, gpus=1, requires=[...], heap=None, keeps=None): the GPU memory that "
                            "the test needs: 'small', 'medium', 'large', a size such as '3GiB', 'none', or a function "
                            "of the test's parameters")
    config.addinivalue_line("markers", "no_gpu: the test uses no GPU, whatever the suite says")


def _end_worker(config):
    """Ends a worker of pytest-xdist that has told its last result, if it has had devices: else its context would stay until the
    whole session ends, and others may wait for that memory."""
    leases = config.pluginmanager.get_plugin("gputest-leases")
    if leases is not None and leases.has_devices:
        atexit.register(_flush_files)
        # As Python ends: it waits for threads, and exit handlers of libraries write the end to the run log.
        ctypes.pythonapi.Py_Exit(0)


def _flush_files():
    """Those, too, of objects that the functions which have not returned still have: nothing closes these."""
    for one in gc.get_objects():
        if issubclass(type(one), (io.TextIOWrapper, io.BufferedWriter)):
            with suppress(Exception):  # it is closed
                one.flush()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if getattr(config.option, "loadgroup", False):  # of pytest-xdist, which appends @group to the ids of items next
        for item in items:
            item.gputest_name = item.nodeid


def _name_of(node) -> str:
    """By which a test is known in every run, and can be selected."""
    return getattr(node, "gputest_name", node.nodeid)


def pytest_collection_finish(session):
    config = session.config
    if _runs_nothing(config.option) or config.pluginmanager.has_plugin("gputest-leases"):
        return
    read = _Reader(config)
    needs = {item: need for item, need in ((item, read.need_of(item)) for item in session.items) if need is not None}
    if needs:
        threads = getattr(config.option, "tests_per_worker", None) or "1"  # of pytest-parallel
        if threads != "1":
            raise pytest.UsageError("gputest: --tests-per-worker={0} of pytest-parallel runs tests at once in threads, and a process "
                                    "has one lease. Leave it out, or use pytest-xdist: -n {0}".format(threads))
        try:
            _loaded()
            needs = {item: need if need.mistake else _checked(need) for item, need in needs.items()}
        except pytest.UsageError as error:  # of which pytest-xdist would tell no more than "internal error"
            needs = {item: _Need(mistake=str(error)) for item in needs}
        config.pluginmanager.register(_Leases(config, needs), "gputest-leases")


def pytest_unconfigure(config):
    with suppress(ValueError):  # another plugin's pytest_configure() has failed before
        _configs.remove(config)


GpuLease = Callable[[Union[str, int]], ContextManager[None]]


@pytest.fixture(scope="session")
def gpu_lease(request: pytest.FixtureRequest) -> GpuLease:
    """`with gpu_lease("4GiB"):` around what a module or session fixture allocates. It may stay allocated."""
    return _leases_of(request.config).lease_of_fixture


def lease(memory: Union[str, int]) -> ContextManager[None]:
    """gpu_lease() where there are no fixtures: in setUpClass() and setup_module()."""
    if not _configs:
        raise RuntimeError("gputest.plugin.lease() is for tests that pytest runs: use gputest.Session elsewhere")
    return _leases_of(_configs[-1]).lease_of_fixture(memory)


def _leases_of(config) -> "_Leases":
    if not config.pluginmanager.has_plugin("gputest-leases"):  # no test has a mark
        _loaded()
        config.pluginmanager.register(_Leases(config, {}), "gputest-leases")
    return config.pluginmanager.get_plugin("gputest-leases")


class _Need(NamedTuple):
    """What a test asks for."""

    memory: Optional[str] = None
    gpus: int = 0
    capabilities: Optional[str] = None
    heap: Optional[str] = None
    keeps: Optional[str] = None
    mistake: str = ""  # why its marks cannot be used

    @property
    def is_large(self) -> bool:
        return self.memory in ("large", "large alone")

    @property
    def is_auto(self) -> bool:
        return self.memory in ("auto", "auto alone")


class _Reader:
    """Reads what tests say of themselves."""

    def __init__(self, config):
        self._default = _option(config, "gpu_default_memory")
        self._map = _map_of(_option(config, "gpu_map"))

    def need_of(self, item) -> Optional[_Need]:
        """As below. An object in a mark may raise whatever it is asked for."""
        try:
            return self(item)
        except pytest.exit.Exception:
            raise
        except Exception as error:
            return _Need(mistake="its marks cannot be read: {}: {}".format(type(error).__name__, _text_of_error(error)))

    def __call__(self, item) -> Optional[_Need]:
        """None: it uses no GPU. The closest mark comes first; what it leaves out, the others say."""
        words = {}
        required = []
        is_marked = is_declared = False  # by any mark; by a mark `gpu`, not by what the suite says for the test
        of_parameters = getattr(getattr(item, "callspec", None), "marks", ())
        for mark in [*of_parameters, *item.iter_markers()]:
            if mark.name not in ("gpu", "no_gpu", *self._map):
                continue
            said = dict(mark.kwargs) if mark.name == "gpu" else {"memory": self._map.get(mark.name)}
            if mark.name == "gpu":
                if mark.args:
                    said["memory"] = mark.args[0]
                unknown = sorted(set(said) - set(_WORDS))
                if unknown or len(mark.args) > 1 or (mark.args and "memory" in mark.kwargs):
                    return _Need(mistake="{} has {}; allowed are one memory and {}".format(
                        _text_of(mark), "unknown " + ", ".join(unknown) if unknown else "the memory twice",
                        ", ".join(_WORDS)))
            if mark.name == "no_gpu" or said.get("memory") == "none" or (_is_whole(said.get("gpus")) and said["gpus"] == 0):
                if said.get("memory") not in (None, "none") or said.get("gpus", 0) != 0 or set(said) - {"memory", "gpus"}:
                    return _Need(mistake="{} contradicts itself; a test that uses no GPU says 'none' or gpus=0, and nothing "
                                 "else".format(_text_of(mark)))
                if not is_marked:
                    return None
                break
            is_marked = True
            is_declared = is_declared or mark.name == "gpu"
            requires = said.pop("requires", ())
            if isinstance(requires, str):
                requires = [requires]
            if not isinstance(requires, (list, tuple, set, frozenset)) or not all(map(_is_text, requires)):
                return _Need(mistake="{} has requires={}; write a list such as ['sm_80']".format(
                    _text_of(mark), _shown(requires)))
            required += requires
            words = {**said, **words}
        if not is_marked and not self._default:
            return None
        if "memory" not in words:  # a mark that says no more than that the test uses a GPU
            words["memory"] = self._default or _memory_of_environment()
        try:
            if callable(words["memory"]):
                words["memory"] = _called(words["memory"], item)
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException as error:  # also of pytest.skip()
            return _Need(mistake="its memory cannot be computed: {!r}".format(error))
        if words["memory"] == "none":  # of a function, or for all tests that say nothing
            return None
        for word in ("memory", "heap", "keeps"):
            try:
                words[word] = _size_of(words.get(word))
            except ValueError as error:
                return _Need(mistake="its {} is {}".format(word, error))
        if words.pop("alone", False):
            words["memory"] = "{} alone".format(words["memory"] or "small")
        if "gpus" in words and not (_is_whole(words["gpus"]) and 1 <= words["gpus"] <= 16):
            return _Need(mistake="its gpus is {}; write a number from 1 to 16".format(_shown(words["gpus"])))
        words["gpus"] = index(words.get("gpus", 0))
        if not is_declared and not environ.get("GPUTEST_LEAKS"):
            words["keeps"] = _ALL
        return _Need(capabilities=" ".join(dict.fromkeys(required)) or None, **words)


def _memory_of_environment() -> Optional[str]:
    """None: the library reads it there."""
    if environ.get("GPUTEST_MEMORY"):
        _loaded()  # it may be that of an entry above ctest
    return "auto" if environ.get("GPUTEST_MEMORY", "") in ("", "none", "unseen") else None


def _is_whole(value) -> bool:
    """Whether it is a number without a fraction, also of NumPy, whose arrays are none."""
    try:
        return not isinstance(value, bool) and index(value) is not None
    except Exception:
        return False


def _shown(value) -> str:
    """For a message. An object may have no representation, or a long one."""
    try:
        return reprlib.repr(value)
    except Exception:
        return "an object of the type " + type(value).__name__


def _size_of(value) -> Optional[str]:
    """A number of bytes as a text; texts are left to the library. ValueError: what it is, and what to write."""
    if _is_whole(value) and 0 <= index(value) < 1 << 64:
        return "{}B".format(max(1, index(value)))
    if value is not None and not _is_text(value):
        raise ValueError("{}; write a size such as '3GiB', or a number of bytes".format(_shown(value)))
    return value


def _is_text(value) -> bool:
    return isinstance(value, str) and "\0" not in value


@functools.lru_cache(maxsize=None)
def _checked(need):
    """The need, or one with the mistake that the library sees in it: it would refuse those of all tests at once."""
    try:
        gputest.check(_request_of(need))
    except gputest.Error as error:
        return _Need(mistake=_in_words_of_options(error))
    return need


def _in_words_of_options(error) -> str:
    text = str(error).replace("Request.capabilities", "requires").replace("Request.", "")
    return text.replace("Session.wait_limit=", "gpu_wait_limit=")


def _request_of(need, least=0):
    return gputest.Request(need.memory, least, need.gpus, need.capabilities, need.heap, need.keeps)


def _text_of(mark) -> str:
    words = [_shown(one) for one in mark.args] + ["{}={}".format(name, _shown(one)) for name, one in mark.kwargs.items()]
    return "@pytest.mark.gpu({})".format(", ".join(words))


def _called(memory, item):
    """What a function of the test's parameters says."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    asked = inspect.signature(memory).parameters.values()
    names = [one.name for one in asked if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    missing = [one.name for one in asked if one.name in names and one.default is one.empty and one.name not in parameters]
    if missing:
        raise TypeError("the function asks for {}, and the test has {}".format(
            ", ".join(missing), "the parameters " + ", ".join(parameters) if parameters else "no parameters"))
    takes_all = any(one.kind is one.VAR_KEYWORD for one in asked)
    return memory(**{name: value for name, value in parameters.items() if takes_all or name in names})


def _size(count: int) -> str:
    """Rounded up, as a mark writes it."""
    mib = -(-count // _MIB)
    return "{}GiB".format(mib // 1024) if mib and mib % 1024 == 0 else "{}MiB".format(mib)


class _Holder:
    """A test, or a fixture's `with gpu_lease()`: what it leases, and in whose place."""

    def __init__(self, who, need, item=None):
        self.who = who
        self.need = need
        self.item = item
        self.outer = None
        self.has_ended = False


# Also of an object that a test has put in place of what Python has. pytest.exit(), which a signal's handler may call while a test
# waits, is an Exception, too, and ends the session.
_ERRORS = Exception, pytest.fail.Exception, pytest.skip.Exception


@contextmanager
def _whatever_fails():
    """Goes on after an error of a library, or of a test's object, which may raise whatever it is asked for."""
    try:
        yield
    except pytest.exit.Exception:
        raise
    except Exception:
        pass


class _Found(pytest.fail.Exception):
    """What gputest has found of a test."""

    __module__, __qualname__ = "builtins", "Failed"  # as pytest shows its own


def _device_memory(device) -> str:
    """By which figures are kept apart: devices of a model differ by some MiB."""
    return "{}{}GiB".format("simulated " if device.simulated else "", max(1, (device.total_bytes + _GIB // 2) // _GIB))


def _figures(config) -> dict:
    """The bytes that tests of which nothing is declared took in earlier runs: of the nearest size of device."""
    usable = getattr(config, "gputest_usable_bytes", 0)
    simulated = environ.get("GPUTEST_DEVICES", "").startswith("simulated")
    needs = _needs_in(_option(config, "gpu_needs"))
    for test, sizes in _known(config).items():
        own = {name[len("simulated "):] if simulated else name: size for name, size in sizes.items()
               if name.startswith("simulated ") == simulated}
        needs.setdefault(test, {}).update(_sizes_in(own))
    return {test: sizes[min(sizes, key=lambda size: abs(size - usable))] if usable else max(sizes.values())
            for test, sizes in needs.items() if sizes}


def _known(config) -> dict:
    cache = getattr(config, "cache", None)  # -p no:cacheprovider
    known = cache.get("gputest/needs", None) if cache else None
    sound = {}
    for test, sizes in known.items() if isinstance(known, dict) else ():
        with suppress(Exception):  # what is damaged is left out, and replaced
            _sizes_in({name.replace("simulated ", ""): size for name, size in sizes.items()})
            sound[test] = sizes
    return sound


def _keep_figures(config, learned):
    """For the next run. A figure rises only: `pytest --cache-clear` forgets them."""
    cache = getattr(config, "cache", None)
    if not cache or not learned:
        return
    known = _known(config)
    for test, device, count in learned:
        with suppress(Exception):
            sizes = known.setdefault(test, {})
            sizes[device] = _size(max(count, gputest.parse_bytes(sizes.get(device, "1B"))))
    cache.set("gputest/needs", known)


class _Leases:
    """The session of this process, and the lease of the running test. It exists if a test of the session needs one."""

    _clock = staticmethod(perf_counter)  # in no module, whose functions freezegun replaces

    def __init__(self, config, needs):
        self._config = config
        self._needs = needs
        self._workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
        self._large = _option(config, "gpu_large") or ("exclude" if self._workers > 1 else None)
        self._pid = getpid()
        self._figures = _figures(config) if any(need.is_auto for need in needs.values()) else {}
        self._session = None
        self._entered = None
        self._item = None  # whose lease was asked for
        self._answer = None  # what came of it
        self._holder = None  # of the lease of this process
        self._changing = RLock()  # held while one holder takes the place of another
        self._fixture = ""  # which is being set up
        self._errors = []  # of the test's phases
        self._instance = None  # of the test's class
        self._problems = []
        self._has_skipped = False  # any test
        self._results = {}

    # ---- the hooks ----

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        # Before other plugins' own: a time limit of pytest-timeout begins after the wait, and the processes of
        # pytest-forked run under the lease.
        if item not in self._needs or _is_skipped(item):
            yield
            return
        begun = self._clock()
        self._ask(item)
        try:
            yield
        finally:
            self._end(item, self._clock() - begun)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef, request):
        outer, fixture = self._holder, self._fixture
        self._fixture = "{} (fixture {})".format(_name_of(request.node), fixturedef.argname).strip()
        yield
        self._fixture = fixture
        # It yields inside of `with gpu_lease()`: the test that set it up goes on under its own lease. A test without one
        # goes on under that of the fixture.
        if self._item and self._holder is not outer and self._holder and not self._holder.item and getpid() == self._pid:
            self._end_fixture(self._holder)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        if item not in self._needs:
            return
        if self._item is not item and getpid() == self._pid:
            if _is_skipped(item):
                return
            self._ask(item)  # again: a rerun
        kind, reason = self._answer or ("granted", "")
        if kind == "skip":
            has_line = item.location[1] is not None  # a doctest may have none
            raise pytest.skip.Exception(reason, _use_item_location=has_line)
        if kind == "fail":
            pytest.fail(reason, pytrace=False)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        is_own = getpid() == self._pid
        if is_own and self._holder and self._item is item:
            with self._failing(item):
                self._keep_error(item, call)
        outcome = yield
        if is_own and call.when == "teardown" and not outcome.excinfo:
            report = outcome.get_result()
            report.gputest_name = _name_of(item)
            self._fail_in_spite_of_skip(item, call, report)

    def _keep_error(self, item, call):
        instance = getattr(getattr(item, "_obj", None), "__self__", None)
        if type(instance) is getattr(item, "cls", None):  # pytest 7 has forgotten a unittest.TestCase when its teardown has ended
            self._instance = instance
        excinfo = call.excinfo or (getattr(item, "_excinfo", None) or [None])[0]  # of a unittest.TestCase
        if excinfo:
            self._errors.append(excinfo.value)
            if _is_out_of_memory(excinfo.value):
                text = self._session.explain_out_of_memory(_name_of(item))
                item.add_report_section(call.when, "gpu", text)

    def _fail_in_spite_of_skip(self, item, call, report):
        """A test that is expected to fail, or a fixture's teardown that skips, would hide what is found of the test."""
        if report.outcome == "failed":
            return
        error = call.excinfo and call.excinfo.value
        if not isinstance(error, _Found):
            if self._item is item:
                self._finish(item)
            error = self._found()
        if error:
            report.outcome, report.longrepr = "failed", error.msg
            vars(report).pop("wasxfail", None)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item):
        if getpid() == self._pid:
            if self._item is item:
                self._finish(item)
            elif self._holder:  # a test without a mark has run under the lease of a fixture
                with self._failing(item):
                    self._add_problems(self._session.examine(self._holder.who), self._holder)
            error = self._found()  # also of a fixture that a test without a mark has set up
            if error:
                raise error

    @contextmanager
    def _failing(self, item):
        """What fails in here fails the test: a hook that raises would end the session, and lose tests."""
        try:
            yield
        except pytest.exit.Exception:
            raise
        except _ERRORS as error:
            self._problems.append(_text_of_own(error, _name_of(item)))

    def _found(self) -> Optional["_Found"]:
        problems, self._problems = self._problems, []
        return _Found("\n".join(problems), pytrace=False) if problems else None

    def pytest_runtest_logreport(self, report):
        # Another plugin's "rerun" says nothing of how the test ends.
        if report.outcome == "failed" or (report.outcome == "skipped" and report.nodeid not in self._results):
            known, text = self._results.get(report.nodeid, ("", ""))
            texts = [text] if known == report.outcome else []  # the teardown may fail, too
            self._results[report.nodeid] = report.outcome, "\n".join([*texts, _reason_in(report.longrepr)])

    def pytest_sessionfinish(self):
        if self._session and getpid() == self._pid:
            self._session.report_end(self._has_skipped)
            if hasattr(self._config, "workeroutput"):
                self._config.workeroutput["gputest_has_skipped"] = self._has_skipped

    def pytest_unconfigure(self):
        if self._session and getpid() == self._pid:
            self._session.close()

    @property
    def has_devices(self):
        return self._session is not None and getpid() == self._pid

    # ---- the lease of a test ----

    def _ask(self, item):
        self._item, self._answer = item, None
        with self._failing(item):
            self._drop()  # that of a fixture, which tests without a mark have used
        self._answer = self._lease(_Holder(_name_of(item), self._needs[item], item))

    def _lease(self, holder):
        who, need = holder.who, holder.need
        if need.mistake:
            return "fail", "{}: {}".format(who, need.mistake)
        try:
            if self._entered is None:
                self._enter()
            chosen = len(self._session.devices)
            # Chosen before the tests were known. Else there are no more, and the test is skipped.
            was_early = hasattr(self._config, "gputest_usable_bytes")
            if was_early and chosen and need.gpus > max(chosen, int(_option(self._config, "gpu_devices") or 1)) and self._entered:
                return "fail", ("{} needs {} GPUs, and this process has chosen {}: write gpu_devices = {} in pytest.ini, "
                                "or --gpu-devices={}").format(who, need.gpus, chosen, need.gpus, need.gpus)
            outcome = self._session.begin(self._request(need, who), who)
        except pytest.exit.Exception:
            raise
        except _ERRORS as error:
            return "fail", _text_of_own(error, who)
        if outcome:
            self._holder = holder
        self._has_skipped = self._has_skipped or outcome.kind == "skip"
        reason = outcome.reason
        if "--gpu-large=wait" in reason and self._workers > 1:
            said = ((name, getattr(self._config.option, name, None)) for name in _OPTIONS if name != "gpu_large")
            options = ("--{}={}".format(name.replace("_", "-"), value) for name, value in said if value)
            reason += ". To run it alone: " + " ".join(map(shlex.quote, ["pytest", "-n0", *options, who]))
        return outcome.kind, reason

    def _enter(self):
        beside_others = self._workers > 1
        session = gputest.Session(
            name=environ.get("GPUTEST_TEST") or "pytest",
            log=getattr(self._config, "workerinput", {}).get("gputest_log"),
            run_mode=None if environ.get("GPUTEST_RUN_MODE") else "parallel" if beside_others else "serial",
            large=self._large,
            wait_limit=_option(self._config, "gpu_wait_limit"),
            overuse=None if environ.get("GPUTEST_OVERUSE") else "fail",
            leaks=None if environ.get("GPUTEST_LEAKS") else "fail",
            notation="marks")
        plan = {self._request(need, _name_of(item)) for item, need in self._needs.items() if not need.mistake}
        # The place of a worker may be free only when another has run all of its tests.
        try:
            self._entered = session.enter(sorted(plan, key=repr), "24h" if beside_others else None)
        except _ERRORS:
            session.close()
            raise
        self._session = session

    def _request(self, need, who):
        # Whole devices cannot be had, since the contexts of the other workers stay: all that these leave.
        room = max(0, getattr(self._config, "gputest_usable_bytes", 0) - self._workers * _CONTEXT_BYTES)
        if need.is_auto:
            figure = self._figures.get(who, 0)
            return _request_of(need, min(figure, room) if room else figure)
        return _request_of(need, room if need.is_large and self._workers > 1 and self._large == "wait" else 0)

    def _give_back(self, item=None):
        """Ends the lease; what it had and left is returned, and what is wrong added to the problems. The item: it is over."""
        holder, self._holder = self._holder, None
        who, need = holder.who, holder.need
        try:
            _trim(need.gpus)
            if self._session.allocated():
                if item is not None:  # else it still runs
                    with _whatever_fails():
                        _free_unused(item, self._instance, self._errors)
                collect()
                _trim(need.gpus)
        finally:
            found = self._session.end(who)
        if holder.item and need.keeps == _ALL and found.left:
            holder.item.user_properties.append(("gpu_left_bytes", found.left))
        self._add_problems(found, holder)
        return found

    def _add_problems(self, found, holder):
        problems = list(found.problems)
        if found.overuse and problems:
            problems[0] += _advice_against_preallocation()
        self._problems += problems if holder.item else [one.replace("@pytest.mark.gpu(", "gpu_lease(") for one in problems]

    def _drop(self, item=None):
        """Ends the lease, and those in whose place it was taken."""
        outer = self._holder
        while outer:
            outer.has_ended = True
            outer = outer.outer
        return self._give_back(item) if self._holder else None

    def _finish(self, item):
        self._item = None
        with self._failing(item):
            found = self._drop(item)
            if found:
                self._report(item, found)

    def _report(self, item, found):
        need = self._needs[item]
        self._instance = None
        self._errors.clear()
        lease = need.memory or "small"
        if need.is_auto and self._figures.get(_name_of(item)):
            lease = "{} ({})".format(lease, _size(self._figures[_name_of(item)]))
        devices = self._session.devices[:max(1, need.gpus)]
        item.user_properties.append(("gpu_lease", lease))
        if devices:
            item.user_properties.append(("gpu_device", " ".join(one.uuid for one in devices)))
            item.user_properties.append(("gpu_device_memory", _device_memory(devices[0])))
        if found.peak is not None:
            item.user_properties.append(("gpu_peak_mib", -(-found.peak // _MIB)))
        item.user_properties.append(("gpu_evidence", found.evidence))
        peak = "not known" if found.peak is None else _size(found.peak)
        item.add_report_section("teardown", "gpu", "lease {}, peak {} ({})".format(lease, peak, found.evidence))

    def _end(self, item, seconds):
        """The test is over, also if its teardown was not reached."""
        if getpid() != self._pid:
            return
        if self._item is item:
            self._finish(item)
        problems, self._problems = self._problems, []
        try:
            for problem in problems:
                sys.stderr.write("gputest: failed: {}\n".format(problem))
            self._write_end(item, seconds)
        except pytest.exit.Exception:
            raise
        except _ERRORS as error:  # as _failing(), and there is no phase of the test left that could fail
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", _text_of_own(error, _name_of(item)), "teardown")
            item.ihook.pytest_runtest_logreport(report=report)

    def _write_end(self, item, seconds):
        """To the run log."""
        kind, reason = self._answer or ("granted", "")
        result, text = self._results.pop(item.nodeid, ("passed", ""))
        if self._session:
            file, line, _ = item.location
            self._session.test_ended(name=_name_of(item), result=result, seconds=seconds, reason=reason or text,
                                     file=join(str(self._config.rootpath), file), line=(line or 0) + 1)

    # ---- leases of fixtures ----

    @contextmanager
    def lease_of_fixture(self, memory):
        """Holds `memory` in place of the lease of the test that sets up the fixture."""
        if getpid() != self._pid:  # a forked test runs under the lease of its parent
            yield
            return
        item = self._item
        try:
            need = _checked(_Need(memory=_size_of(memory), keeps=_ALL))
        except ValueError as error:
            need = _Need(mistake="the memory of gpu_lease() is {}".format(error))
        holder = _Holder(self._fixture or (_name_of(item) if item else "a fixture"), need)
        with self._changing:
            holder.outer = self._holder
            if self._holder and not need.mistake:
                self._give_back()
            kind, reason = self._lease(holder)
            if kind != "granted" and holder.outer and not self._holder:  # the caller may catch it, and go on
                again = self._lease(holder.outer)
                kind, reason = (kind, reason) if again[0] == "granted" else again
        if kind != "granted":
            (pytest.skip if kind == "skip" else pytest.fail)(reason)
        try:
            yield
        finally:
            self._end_fixture(holder)

    def _end_fixture(self, holder):
        """Its lease becomes again that of the one in whose place it was taken."""
        with self._changing:
            if holder.has_ended:
                return
            holder.has_ended = True
            if self._holder is not holder:  # it ends before one that was taken in its place
                return
            self._give_back()
            outer = holder.outer
            while outer and outer.has_ended:
                outer = outer.outer
            kind, reason = self._lease(outer) if outer else ("granted", "")
        if kind != "granted":
            pytest.fail(reason, pytrace=False)


def _is_skipped(item) -> bool:
    """Whether its own marks say that it does not run, so that it need not wait."""
    try:
        from _pytest.skipping import evaluate_skip_marks, evaluate_xfail_marks

        xfail = None if item.config.option.runxfail else evaluate_xfail_marks(item)
        function = getattr(item, "obj", None)
        return (evaluate_skip_marks(item) is not None or (xfail is not None and not xfail.run) or
                any(getattr(one, "__unittest_skip__", False) for one in (function, getattr(item, "cls", None))))
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException:  # of pytest.fail(), too: the test says what is wrong with its marks; there may be no such function
        return False


def _is_out_of_memory(error) -> bool:
    """Of CuPy, PyTorch, Numba, RMM, or a simulated device."""
    return "OutOfMemory" in type(error).__name__ or "out_of_memory" in _text_of_error(error).lower()


def _text_of_error(error) -> str:
    """An exception may have no text."""
    try:
        return str(error)
    except Exception:
        return "it has no text"


def _reason_in(longrepr) -> str:
    """Of a report: why the test was skipped, or the first line of why it failed."""
    if isinstance(longrepr, tuple):
        return longrepr[2]
    crash = getattr(longrepr, "reprcrash", None)
    return "".join((crash.message if crash else str(longrepr)).splitlines()[:1])[:500]


def _text_of_own(error, who) -> str:
    """Of an error in gputest's own work around a test."""
    if isinstance(error, gputest.Error):
        return "{}: {}".format(who, error)
    return ("{}: gputest's own work before or after the test has failed: {}: {}. If the suite has replaced what that calls, replace "
            "it within the test, or only in the code under test").format(who, type(error).__name__, _text_of_error(error))


def _advice_against_preallocation() -> str:
    """Of a library that this process has imported, and whose variable nobody has set."""
    return "".join(". {} takes most of a GPU at its first use: set {} before it is imported".format(library, setting)
                   for library, setting in _AGAINST_PREALLOCATION.items()
                   if library in sys.modules and setting.partition("=")[0] not in environ)


def _trim(gpus):
    """Gives back what frameworks keep of memory that is free. Of those that are imported already. RMM has no call for
    its pools; gputest's library trims those of the driver, and synchronises the devices."""
    modules = sys.modules
    with _whatever_fails():
        if "torch" in modules and modules["torch"].cuda.is_initialized():
            modules["torch"].cuda.empty_cache()
    with _whatever_fails():
        if "cupy" in modules:
            cupy = modules["cupy"]
            cupy.get_default_pinned_memory_pool().free_all_blocks()
            cupy.get_default_memory_pool().free_all_blocks()  # of the current device
            for device in range(gpus if gpus > 1 else 0):
                with cupy.cuda.Device(device):
                    cupy.get_default_memory_pool().free_all_blocks()
    with _whatever_fails():
        driver = modules.get("numba.cuda.cudadrv.driver")
        for device in modules["numba.cuda"].gpus if driver and driver.driver.is_initialized else ():
            if device.primary_context is not None:
                device.primary_context.memory_manager.deallocations.clear()


def _free_unused(item, instance, errors):
    """Frees what no test can reach any more, and pytest or Python still has: values of fixtures, attributes of the instance of
    the test's class, local variables of a failed test, to which its traceback leads, log records, which may have such a
    traceback, objects that refer to each other."""
    values = getattr(item, "funcargs", None) or {}
    for name in [name for name, value in values.items() if not _has_no_memory(value)]:
        del values[name]
    with _whatever_fails():  # -p no:logging, or a pytest without this name
        from _pytest.logging import caplog_records_key

        for records in item.stash[caplog_records_key].values():
            records.clear()
    getattr(instance, "__dict__", {}).clear()
    seen = []
    while errors:
        error = errors.pop()
        if not isinstance(error, BaseException) or any(error is one for one in seen):
            continue
        seen.append(error)
        inner = getattr(error, "exceptions", None)  # of a group
        errors += [error.__cause__, error.__context__, *(inner if isinstance(inner, tuple) else ())]
        for frame, _ in traceback.walk_tb(error.__traceback__):
            while frame is not None:
                with suppress(RuntimeError):  # it still runs
                    if not _goes_on_later(frame):
                        frame.clear()
                    frame.f_locals  # before Python 3.13 a copy, which this renews
                frame = frame.f_back


def _has_no_memory(value) -> bool:
    """Of a GPU. Hooks of others may look for such values of fixtures after the test, as for its `tmp_path`."""
    kind = type(value)
    return issubclass(kind, (str, bytes, int, float, os.PathLike)) or kind.__module__.partition(".")[0] == "_pytest"


def _goes_on_later(frame) -> bool:
    """Whether it is of a generator or a coroutine that has not ended, which clear() would close before Python 3.13: a fixture's,
    or one that runs an event loop for several tests."""
    kinds = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    return bool(frame.f_code.co_flags & kinds) and any(
        getattr(one, name, None) is frame
        for one in gc.get_referrers(frame) if isinstance(one, _SUSPENDABLE) for name in ("gi_frame", "cr_frame", "ag_frame"))


def pytest_terminal_summary(terminalreporter):
    """What tests have left, of those that declare nothing themselves, and what others have leased and not used."""
    left, wasted, learned, unknown, unleased = [], [], [], 0, 0
    all_reports = [one for reports in list(terminalreporter.stats.values()) for one in reports]
    # One that was skipped, or failed, may not have come to what it needs the memory for.
    passed = {one.nodeid for one in all_reports if getattr(one, "when", "") == "call" and one.outcome == "passed"}
    passed -= {one.nodeid for one in all_reports if getattr(one, "outcome", "") == "failed" and one.nodeid in passed}  # a subtest
    for report in all_reports:
        properties = {}
        for pair in getattr(report, "user_properties", ()):
            with suppress(TypeError, ValueError):  # of another plugin, which may append anything
                properties.update([pair])
        if "gpu_evidence" not in properties or report.when != "teardown":
            continue
        test = getattr(report, "gputest_name", report.nodeid)
        if "gpu_device" not in properties:
            unleased += 1
            continue
        if "gpu_left_bytes" in properties:
            left.append((properties["gpu_left_bytes"], test))
        if str(properties.get("gpu_lease")).startswith("auto") and report.nodeid in passed:
            unknown += "(" not in properties["gpu_lease"]
            with suppress(LookupError, TypeError):
                peak = max(2, properties["gpu_peak_mib"]) * _MIB
                is_exact = properties["gpu_evidence"] == "exact"
                learned.append((test, properties["gpu_device_memory"],
                                peak + peak // 16 if is_exact else peak + peak // 4 + 256 * _MIB))
        if properties["gpu_evidence"] == "exact" and report.nodeid in passed:
            with suppress(gputest.InvalidSetting, LookupError, TypeError):  # a class; those of another plugin
                lease, peak = properties["gpu_lease"], properties["gpu_peak_mib"]
                unused = gputest.parse_bytes(lease) // _MIB - peak
                if unused >= 256 and unused >= peak:
                    wasted.append((unused, "{}: {} leased, {} MiB used".format(test, lease, peak)))
    _keep_figures(terminalreporter.config, learned)
    if unleased:  # a warning
        terminalreporter.section("gputest: portable mode")
        terminalreporter.line("{} test{} leased no GPU memory, and nothing was measured. That needs Linux, and a wheel with gputest's "
                              "library.".format(unleased, "s" * (unleased > 1)))
    if not (left or unknown or wasted) or not gputest.may_write_notes():
        return
    if left:
        terminalreporter.section("gpu memory that {} test{} left allocated".format(len(left), "s" * (len(left) > 1)))
        _list_largest(terminalreporter, [(-(-count // _MIB), test) for count, test in left])
        terminalreporter.line("It counts as the process's own. Libraries keep memory in caches, and fixtures that outlive a test "
                              "do. GPUTEST_LEAKS=fail fails these tests, GPUTEST_LEAKS=off says nothing.")
    if unknown:
        terminalreporter.section("gpu memory that was not known yet")
        keeps = ("The next run has the figures, from pytest's cache. For other machines: gputest needs --export, and --gpu-needs."
                 if getattr(terminalreporter.config, "cache", None) else
                 "The next run does not have the figures, because pytest has no cache (-p no:cacheprovider). Write them to a file with "
                 "gputest needs --export, and give it to --gpu-needs.")
        terminalreporter.line("{} test{} took turns on each GPU, since nobody has declared or measured what they take. {}".format(
            unknown, "s" * (unknown > 1), keeps))
    if wasted:
        terminalreporter.section("gpu memory that was leased and not used")
        _list_largest(terminalreporter, wasted)


def _list_largest(terminalreporter, lines):
    for mib, text in sorted(lines, reverse=True)[:5]:
        terminalreporter.line("{:>8} MiB  {}".format(mib, text))
