"""Code of a user's own, named by where it is: FILE.py:NAME.

A cell, a task, a loss or a metric can be named so in commands, grids and Python. A folder keeps a copy of the file, and runs
it only for someone who says that they trust it: then that copy is `provided` in place of the file. A function or class of a
notebook has no file; it is known by its name alone, `memory:NAME`, as long as its process lasts.
"""

import contextlib
import dataclasses
import hashlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from gnode import errors

__all__ = [
    "Code",
    "check_not_importing",
    "classes_in",
    "code_of",
    "code_of_class",
    "file_of",
    "in_use",
    "is_own",
    "name_of_object",
    "objects_in_memory",
    "own_name",
    "provided",
    "remember",
    "resolve",
    "signature",
]

MEMORY = "memory:"
_PLACE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")
_TRAINS_ITSELF = (
    "code that is named by its file trains a network when it is imported; put that under if __name__ == '__main__'."
)


@dataclasses.dataclass(frozen=True)
class Code:
    """The content of a file, and where the file is or was. Modules that it imports from beside it are found there."""

    text: str
    path: str

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the content."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


_CODE = "__gnode_code__"
"""The name under which a module keeps its code."""
_LIBRARIES = ("gnode", "builtins", "equinox", "jax", "jaxlib", "jaxtyping", "numpy", "optax")

_provided: dict[str, Code] = {}
_objects: dict[str, tuple[Any, str | None]] = {}
_importing: list[str] = []


def is_own(name: Any) -> bool:
    """Whether a name is one of a user's own code.

    >>> is_own("cells/mine.py:LowRank"), is_own("gnode"), is_own("data.csv")
    (True, False, False)
    """
    return isinstance(name, str) and (name.startswith(MEMORY) or _PLACE.fullmatch(name) is not None)


def own_name(place: str) -> str:
    """Returns the last part of a name, which labels and folders use.

    >>> own_name("cells/mine.py:LowRank")
    'LowRank'
    """
    return place.rpartition(":")[2]


def file_of(place: str) -> str | None:
    """Returns the file of a place as the user named it; None for what has no file."""
    found = None if place.startswith(MEMORY) else _PLACE.fullmatch(place)
    return None if found is None else found["file"]


def code_of(place: str) -> Code | None:
    """Returns the code that a place names: what is provided for its file, or else the file itself; None without a file.

    **Raises:** `ArgumentError` if the file cannot be read.
    """
    file = file_of(place)
    if file is None:
        return None
    if file in _provided:
        return _provided[file]
    path = Path(file)
    if not path.is_file():
        raise errors.ArgumentError(f"there is no file {errors.shown(file)}, which {errors.shown(place)} names.")
    try:
        return Code(path.read_text(encoding="utf-8"), str(path.resolve()))
    except (OSError, UnicodeDecodeError) as problem:
        raise errors.ArgumentError(
            f"{errors.shown(file)} cannot be read ({errors.shortened(str(problem))})."
        ) from problem


@contextlib.contextmanager
def provided(codes: Mapping[str, Code]) -> Generator[None, None, None]:
    """Uses these codes, by the names of their files, in place of what the files hold, also in other threads."""
    before = {file: _provided.get(file) for file in codes}
    _provided.update(codes)
    try:
        yield
    finally:
        for file, code in before.items():
            if code is None:
                _provided.pop(file, None)
            else:
                _provided[file] = code


def in_use() -> dict[str, Code]:
    """Returns the codes that are `provided` at the moment."""
    return dict(_provided)


def resolve(place: str) -> Any:
    """Returns the object that a place names; its file is run once for each content.

    **Raises:** `ArgumentError` if there is no such file or name, or if the file fails.
    """
    code = code_of(place)
    known, digest = _objects.get(place, (None, None))
    if known is not None and (code is None or code.digest == digest):
        return known
    if code is None:
        raise errors.ArgumentError(
            f"{own_name(place)} has no file, and is not known in this process; write it to a file and name it as "
            f"FILE.py:{own_name(place)}."
        )
    module = _module(code)
    name = own_name(place)
    if name not in vars(module):
        public = [one for one in vars(module) if not one.startswith("_")]
        guess = errors.nearest(name, public)
        meant = f" Did you mean {guess!r}?" if guess else ""
        raise errors.ArgumentError(f"{code.path} has no {name!r}.{meant}")
    return vars(module)[name]


def _module(code: Code) -> types.ModuleType:
    """Runs a file as a module. Its name holds its digest, so the same content is the same module wherever it lies."""
    name = f"gnode_own_{re.sub(r'[^0-9A-Za-z_]', '_', PurePath(code.path).stem)}_{code.digest[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name)
    module.__file__ = code.path
    vars(module)[_CODE] = code
    sys.modules[name] = module  # first: dataclasses and pickle look a class's module up
    beside = str(Path(code.path).parent)
    sys.path.insert(0, beside)
    _importing.append(code.path)
    try:
        exec(compile(code.text, code.path, "exec"), vars(module))
    except (Exception, SystemExit) as problem:
        del sys.modules[name]
        if isinstance(problem, errors.GnodeError):
            raise
        raise errors.ArgumentError(
            f"{code.path} cannot be imported: {_where(problem, code.path)}{type(problem).__name__}: "
            f"{errors.shortened(str(problem))}."
        ) from problem
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        _importing.pop()
        with contextlib.suppress(ValueError):
            sys.path.remove(beside)
    return module


def _where(problem: BaseException, path: str) -> str:
    """The line of a file in which something failed."""
    if isinstance(problem, SyntaxError):
        return f"line {problem.lineno}, "
    lines = []
    trace = problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f"line {lines[-1]}, " if lines else ""


def check_not_importing() -> None:
    """Raises an `ArgumentError` while a file is imported by its name: it would train again and again."""
    if _importing:
        raise errors.ArgumentError(f"{_importing[-1]}: {_TRAINS_ITSELF}")


def name_of_object(value: Callable[..., Any]) -> str:
    """Returns a name for a function or class by which `resolve` finds it: its file and name, or its name alone.

    >>> name_of_object(lambda key: key)
    'memory:lambda'
    """
    name = str(getattr(value, "__name__", type(value).__name__)).strip("<>")
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    alone = not getattr(module, "__package__", None) and str(file).endswith(".py")
    if file is not None and alone and Path(file).is_file() and vars(module).get(name) is value:
        here = Path(file).resolve()
        short = here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here
        place = f"{short.as_posix()}:{name}"
        code = code_of(place)
        _objects[place] = (value, None if code is None else code.digest)
        return place
    if name in ("lambda", type(value).__name__):  # of these there may be several; of others the newest is meant
        name = type(value).__name__ if name != "lambda" else name
        name += "" if (same := _number(name, value)) == 1 else f"_{same}"
    _objects[MEMORY + name] = (value, None)
    return MEMORY + name


def _number(name: str, value: Any) -> int:
    """The first number with which a name is free, or is that of the same object."""
    number = 1
    while _objects.get(f"{MEMORY}{name}" + ("" if number == 1 else f"_{number}"), (value,))[0] is not value:
        number += 1
    return number


def objects_in_memory(places: Iterable[str]) -> dict[str, Any]:
    """Returns the objects behind those of the names that have no file, to be handed to another process."""
    return {place: _objects[place][0] for place in places if place.startswith(MEMORY) and place in _objects}


def remember(objects: Mapping[str, Any]) -> None:
    """Makes objects known under their names in memory, in a process that was handed them."""
    _objects.update({place: (value, None) for place, value in objects.items()})


def signature(place: str, value: Any) -> inspect.Signature:
    """Returns the arguments that a user's function or class takes.

    **Raises:** `ArgumentError` if it is neither.
    """
    if not callable(value):
        raise errors.ArgumentError(
            f"{errors.shown(place)} is {errors.shown(value)}, but must be a function or a class."
        )
    try:
        return inspect.signature(value)
    except ValueError as problem:  # a function in C
        raise errors.ArgumentError(f"the arguments of {errors.shown(place)} cannot be found out.") from problem


def code_of_class(kind: type) -> tuple[str, Code] | None:
    """Returns the place and the code of a class that is a user's own; None for others, and for one without a file."""
    if kind.__module__.split(".")[0] in _LIBRARIES:
        return None
    module = sys.modules.get(kind.__module__)
    if isinstance(code := vars(module).get(_CODE) if module else None, Code):
        return f"{code.path}:{kind.__name__}", code
    place = name_of_object(kind)
    code = code_of(place)
    return None if code is None else (place, code)


def classes_in(codes: Iterable[Code]) -> dict[str, type]:
    """Runs codes and returns the classes that they define, by name."""
    found: dict[str, type] = {}
    for code in codes:
        module = _module(code)
        found |= {name: kind for name, kind in vars(module).items() if isinstance(kind, type)}
    return found
