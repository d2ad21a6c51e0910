"""Wrong calls of public functions, derived from valid ones, and the judge of what they do.

A table of valid calls, `VALID`, maps a name to a function that returns a callable and its keyword arguments. From each valid
call wrong ones are made: one or two arguments replaced by values that do not suit them, arguments left out, misspelled, or
too many. A right answer is an error of gnode in a sentence, or, where the value may be valid after all, a result. Call it as
a program to judge the calls of a table in a process of its own, which an abort may end:

    python calls.py TABLE COUNT SEED FOLDER [NAMES]
"""

import contextlib
import dataclasses
import faulthandler
import importlib
import inspect
import io
import json
import random
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bad_arguments import BY_KIND, MAY_SUIT, ODD, Odd, OwnError, Value, kind_of

Valid = Mapping[str, Callable[[], tuple[Callable[..., Any], dict[str, Any]]]]

SECONDS, LINES, CHARACTERS = 20, 2, 600
"""How long a call may take, and how long its message may be."""

CALLBACKS = ("progress", "after_shape", "after_round", "after_epoch", "callback", "report", "tell")
"""Arguments that are functions of the user's which the package only tells something: their own error is the user's."""


class Hang(BaseException):
    """Raised when a call takes too long; no code of the package catches it."""


@dataclasses.dataclass(frozen=True)
class WrongCall:
    """A wrong call: what is replaced, by argument; left out; added; and how many arguments by position are too many."""

    name: str
    replaced: tuple[tuple[str, Value], ...] = ()
    left_out: str | None = None
    added: tuple[tuple[str, Any], ...] = ()
    positional: int = 0

    @property
    def sure(self) -> bool:
        """Whether no function may return for it."""
        return bool(self.left_out or self.added or self.positional) or any(value.sure for _, value in self.replaced)

    @property
    def label(self) -> str:
        """What is wrong in a few words."""
        parts = [f"{argument}={value.label}" for argument, value in self.replaced]
        parts += [f"without {self.left_out}"] * bool(self.left_out) + [f"with {name}" for name, _ in self.added]
        parts += [f"{self.positional} more by position"] * bool(self.positional)
        return f"{self.name}({', '.join(parts)})"


def arguments_of(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that can be replaced: those that are given, and those with a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return dict(given)
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty and one.kind not in several}
    return {**defaults, **given}


def _suits(kind: str, value: Value) -> Value:
    """A value for an argument of a kind: what is surely wrong for a number may be right for an object."""
    return dataclasses.replace(value, sure=value.sure and value.label not in MAY_SUIT.get(kind, ()))


def wrong_calls_of(name: str, function: Callable[..., Any], given: dict[str, Any]) -> list[WrongCall]:
    """All wrong calls of one function with one thing wrong."""
    found = []
    for argument, value in arguments_of(function, given).items():
        kind = "object" if value is None else kind_of(value)
        for bad in BY_KIND[kind]:
            bad = (
                dataclasses.replace(bad, sure=False)
                if value is None and bad.label not in ODD - {"type"}
                else _suits(kind, bad)
            )
            found.append(WrongCall(name, ((argument, bad),)))
    found += _wrong_shapes(name, function, given)
    return found


def _wrong_shapes(name: str, function: Callable[..., Any], given: dict[str, Any]) -> list[WrongCall]:
    """Calls with arguments that are unknown, misspelled, missing or too many."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    found = [WrongCall(name, added=(("nosuchargument", 1),))]
    for argument in given:
        parameter = parameters.get(argument)
        needed = parameter is not None and parameter.default is parameter.empty
        misspelled = argument + "s" if argument[-1] != "s" else argument[:-1]
        if misspelled not in parameters:
            found.append(WrongCall(name, left_out=argument if needed else None, added=((misspelled, given[argument]),)))
        if needed:
            found.append(WrongCall(name, left_out=argument))
    if not any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters.values()):
        found.append(WrongCall(name, positional=len(parameters) + 3))
    return found


def wrong_calls(valid: Valid, count: int, seed: int = 0) -> Iterator[WrongCall]:
    """Draws `count` different wrong calls of a table, of every function about as many, four in five with one thing wrong."""
    draw = random.Random(seed)
    single = {name: wrong_calls_of(name, *make()) for name, make in valid.items()}
    seen: set[str] = set()
    for calls in single.values():
        draw.shuffle(calls)
    left = {name: list(calls) for name, calls in single.items()}
    while len(seen) < count:
        for name, calls in single.items():
            call = left[name].pop() if left[name] and draw.random() < 0.8 else _pair(draw, calls)
            if call.label in seen:
                continue
            seen.add(call.label)
            yield call
            if len(seen) == count:
                return


def _pair(draw: random.Random, calls: list[WrongCall]) -> WrongCall:
    """Two wrong calls of one function as one."""
    one, other = draw.choice(calls), draw.choice(calls)
    replaced = {**dict(other.replaced), **dict(one.replaced)}
    return dataclasses.replace(one, replaced=tuple(replaced.items()))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a call did: "refused" and "returned" are right, everything else is not."""

    what: str
    detail: str = ""

    @property
    def right(self) -> bool:
        return self.what in ("refused", "returned")


def judge(call: WrongCall, valid: Valid, folder: Path) -> Outcome:
    """Makes a call inside a folder and says what it did."""
    from gnode.errors import GnodeError

    with contextlib.chdir(folder):
        function, arguments = valid[call.name]()
        arguments = arguments | {argument: value.value for argument, value in call.replaced} | dict(call.added)
        if call.left_out:
            arguments.pop(call.left_out, None)
        before = files_in(folder)
        said = io.StringIO()
        try:
            with (
                _alarm(),
                warnings.catch_warnings(),
                contextlib.redirect_stderr(said),
                contextlib.redirect_stdout(said),
            ):
                warnings.simplefilter("ignore")
                _finish(function(*[Odd()] * call.positional, **arguments))
        except GnodeError as error:
            outcome = _of_message(str(error))
            if outcome.right and files_in(folder) != before:
                outcome = Outcome("changed files", str(error))
        except Hang:
            outcome = Outcome("hang")
        except BaseException as error:
            own = isinstance(error, OwnError) and any(argument in CALLBACKS for argument, _ in call.replaced)
            outcome = Outcome("refused", "own error") if own else Outcome("foreign", _brief(error))
        else:
            outcome = Outcome("accepted") if call.sure else Outcome("returned")
    return Outcome("traceback printed", said.getvalue()[-500:]) if "Traceback" in said.getvalue() else outcome


def _of_message(message: str) -> Outcome:
    if len(message.splitlines()) > LINES or len(message) > CHARACTERS:
        return Outcome("long message", message)
    return Outcome("refused", message) if message.strip() else Outcome("no message")


def _brief(error: BaseException) -> str:
    """An error and the last line of the package that it passed through."""
    frame, where = error.__traceback__, ""
    while frame is not None:
        path = frame.tb_frame.f_code.co_filename
        where = f"{path.rsplit('gnode/', 1)[-1]}:{frame.tb_lineno}" if "/gnode/" in path else where
        frame = frame.tb_next
    return f"{type(error).__name__} at {where}: {str(error)[:200]!r}"


def _finish(result: Any) -> None:
    """Waits for the values of a result, since jax computes them later, and prints it, as a session would."""
    import jax

    jax.block_until_ready(jax.tree.leaves(result))
    repr(result)


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    faulthandler.dump_traceback_later(6 * SECONDS, exit=True)  # for a hang outside Python
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def files_in(folder: Path) -> dict[str, tuple[int, int]]:
    """The files of a folder with size and time of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        found[str(path.relative_to(folder))] = (facts.st_size if path.is_file() else 0, facts.st_mtime_ns)
    return found


def judge_table(table: str, count: int, seed: int, folder: Path, names: str = "") -> dict[str, Any]:
    """Judges wrong calls of a module's `VALID`, and notes in a file which one is under way."""
    valid: Valid = importlib.import_module(table).VALID
    chosen = {name: make for name, make in valid.items() if not names or name in names.split(",")}
    under_way, place = folder / "under_way.txt", folder / "place"
    place.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    wrong = []
    with contextlib.chdir(place):
        calls = list(wrong_calls(chosen, count, seed))
    for call in calls:
        under_way.write_text(call.label)
        outcome = judge(call, chosen, place)
        counts[outcome.what] += 1
        if not outcome.right:
            wrong.append(f"{call.label}: {outcome.what} {outcome.detail[:300]}".strip())
    return {"counts": dict(counts), "wrong": wrong}


if __name__ == "__main__":
    table, count, seed, folder, *names = sys.argv[1:]
    found = judge_table(table, int(count), int(seed), Path(folder), *names)
    (Path(folder) / "found.json").write_text(json.dumps(found, indent=1))
