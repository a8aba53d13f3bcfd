"""
Keep the world across restarts: one pickle of our tables and of moto's backends, replaced in one step, written shortly after each change.

Pickling, and not replaying the calls: moto draws ids and times at random, so that a replay would give other ids than the ones that stacks remember.
A kill -9 loses at most the changes of the last `SAVE_AFTER_SECONDS` and the time of one write. The file is read by this program alone, from a
directory that only its owner can write (mode 0700).
"""

import _thread
import collections
import io
import os
import pickle
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from moto.backends import get_backend
from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.common_models import BaseModel

from gpukit_sandbox.cloud.state import World

SAVE_AFTER_SECONDS: Final = 0.5
FORMAT: Final = 1
_LOCK_TYPES: Final = (type(threading.Lock()), type(threading.RLock()))


def save_world(world: World, path: Path) -> int:
    """Write the world in one step and return the version that was written."""
    with world.lock:
        version = world.version
        content = dump(world)
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    with os.fdopen(handle, "wb") as sink:
        sink.write(content)
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(scratch, path)
    return version


def load_world(path: Path) -> World:
    """Return the world that was saved, with moto's backends filled again; a new one when there is no file."""
    world = World()
    if not path.is_file():
        return world
    saved = _Unpickler(io.BytesIO(path.read_bytes())).load()
    if saved["format"] != FORMAT:
        raise ValueError(f"{path} has format {saved['format']}, this program reads {FORMAT}")
    world.tables = saved["tables"]
    for (service, account, region), state in saved["moto"].items():
        backend = get_backend(service)[account][region]
        backend.__dict__.clear()
        backend.__dict__.update(state)
    return world


def dump(world: World) -> bytes:
    """Return the bytes of the world; the caller holds its lock."""
    moto: dict[tuple[str, str, str], dict[str, Any]] = {}
    for backends in list(BackendDict._instances):
        for account, region, backend in backends.iter_backends():
            moto[(backends.service_name, account, region)] = backend.__dict__
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump({"format": FORMAT, "tables": world.tables, "moto": moto})
    return buffer.getvalue()


class Saver:
    """A thread that writes the world soon after it changed."""

    def __init__(self, world: World, path: Path) -> None:
        """Save into `path`; nothing happens before `start`."""
        self.world = world
        self.path = path
        self._ended = threading.Event()
        self._saved_version = world.version
        self._thread = threading.Thread(target=self._run, name="saver", daemon=True)

    def start(self) -> None:
        """Begin to watch the world's version."""
        self._thread.start()

    def end(self) -> None:
        """Stop watching and write the last state."""
        self._ended.set()
        self._thread.join(timeout=10)
        save_world(self.world, self.path)

    def _run(self) -> None:
        while not self._ended.wait(SAVE_AFTER_SECONDS):
            if self.world.version == self._saved_version:
                continue
            try:
                self._saved_version = save_world(self.world, self.path)
            except Exception:
                # A world that cannot be written must be seen: it is in the log, and the next change tries again.
                self._saved_version = self.world.version
                traceback.print_exc(file=sys.stderr)


def empty_of_moto() -> None:
    """Forget everything that moto's backends hold."""
    BackendDict.reset()


def forget_instance_tracking() -> None:
    """Keep moto from holding every object it ever made: it does so for a dashboard that is not served here, and never frees one."""

    def make(cls: type, *_args: Any, **_kwargs: Any) -> Any:
        return object.__new__(cls)

    BaseModel.__new__ = make  # type: ignore[method-assign,assignment]


class _Pickler(pickle.Pickler):
    def persistent_id(self, thing: Any) -> Any:
        """Name moto's backends instead of copying them into each of their objects."""
        if isinstance(thing, BaseBackend):
            return ("backend", _service_of(thing), thing.account_id, thing.region_name)
        return None

    def reducer_override(self, thing: Any) -> Any:
        """Write keys as DER, locks as new locks, and default factories that have no name by what they make."""
        if isinstance(thing, (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey)):
            der = thing.private_bytes(
                serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            return _load_private_key, (der,)
        if isinstance(thing, _LOCK_TYPES):
            return (_thread.RLock if isinstance(thing, _LOCK_TYPES[1]) else _thread.allocate_lock), ()
        if isinstance(thing, collections.defaultdict) and getattr(thing.default_factory, "__name__", "") == "<lambda>":
            return _make_default_dict, (_factory_kind(thing.default_factory),), None, None, iter(thing.items())
        if isinstance(thing, collections.defaultdict) and type(thing) is not collections.defaultdict:
            # A subclass may want arguments that pickle does not know: its attributes are restored instead (moto's SSM parameters).
            return _make_bare, (type(thing), thing.default_factory), thing.__dict__, None, iter(dict(thing).items())
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: Any) -> Any:
        """Return the backend that a name stands for, made empty if it is not there yet."""
        _, service, account, region = name
        return get_backend(service)[account][region]


def _service_of(backend: BaseBackend) -> str:
    for backends in BackendDict._instances:
        if isinstance(backend, backends.backend):
            return str(backends.service_name)
    raise ValueError(f"no service holds {type(backend).__name__}")


def _load_private_key(der: bytes) -> Any:
    return serialization.load_der_private_key(der, password=None)


def _factory_kind(factory: Any) -> str:
    made = factory()
    if isinstance(made, collections.defaultdict):
        return "dict of dicts" if made.default_factory is dict else "dict of lists"
    for kind, example in _PLAIN_DEFAULTS.items():
        if type(made) is type(example) and made == example:
            return kind
    raise pickle.PicklingError(f"a default factory makes {made!r}, which the saver does not know")


_PLAIN_DEFAULTS: Final[dict[str, Any]] = {"dict": {}, "list": [], "str": "", "int": 0, "none": None, "set": set()}


def _dict_of_dicts() -> Any:
    return collections.defaultdict(dict)


def _dict_of_lists() -> Any:
    return collections.defaultdict(list)


def _none() -> None:
    return None


def _make_bare(kind: type, factory: Any) -> Any:
    made = kind.__new__(kind)
    made.default_factory = factory
    return made


def _make_default_dict(kind: str) -> Any:
    factories: dict[str, Any] = {
        "dict of dicts": _dict_of_dicts,
        "dict of lists": _dict_of_lists,
        "dict": dict,
        "list": list,
        "str": str,
        "int": int,
        "none": _none,
        "set": set,
    }
    return collections.defaultdict(factories[kind])
