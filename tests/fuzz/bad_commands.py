"""A generator of bad command lines: every command, sub-command, option and argument, found by walking the commands.

A new option is fuzzed by itself. Its kind follows from its annotation or, for a setting of a run, from how its text is read.
A text option that takes more than a few names needs an entry in `bad_values.TEXTS`, and a new command one in `BASES`.
"""

import dataclasses
import importlib
import inspect
import math
import random
import typing
from collections.abc import Iterator
from pathlib import Path

import bad_values as bad
import typer

from gnode import options
from gnode.cli import _app
from gnode.cli._shared import RANGES
from gnode.train.spec import OPTIONS

SMALL = {"--trials": "4", "--validation": "2", "--bins": "3", "--widths": "4", "--epochs": "1"}
"""A run of a moment, so that a bad value that is not noticed costs little."""

BASES = {
    "demo": ([], {"--epochs": "1", "--out": "new"}),
    "train": (["flipflop-square"], {**SMALL, "--out": "new"}),
    "sweep run": (["flipflop-square"], {**SMALL, "--lr": "1e-3,1e-2", "--out": "new"}),
    "sweep status": (["sweep"], {}),
    "sweep resume": (["sweep"], {"--workers": "1"}),
    "analyse": (["run"], {"--out": "new", "--starts": "20"}),
    "explore": (["run"], {"--out": "new.html", "--starts": "5"}),
    "export": (["run"], {"--to": "numpy", "--out": "new"}),
    "doctor": (["run"], {}),
    "theory critical": ([], {"--width": "0"}),
    "theory curve": ([], {"--depths": "2", "--points": "2"}),
    "theory capacity": ([], {"--units": "3", "--rows": "2", "--margins": "0"}),
    "theory dynamics": ([], {"--width": "0"}),
    "theory spectra": ([], {"--models": "mgru", "--state": "10", "--duration": "1"}),
    "data list": ([], {}),
    "data get": (["nonsense"], {}),
    "data add": (["characters", "file.txt"], {}),
    "data check": (["characters"], {}),
    "expressivity measure": (["gru"], {"--state": "2", "--bins": "3", "--epochs": "1", "--seeds": "1", "--out": "new"}),
    "expressivity longest": (
        ["gnode"],
        {"--state": "2", "--widths": "4", "--lengths": "3", "--epochs": "1", "--seeds": "1", "--out": "new"},
    ),
    "reproduce list": ([], {}),
    "reproduce run": (["fig1"], {"--out": "new"}),
    "reproduce collect": ([], {"--out": "empty"}),
    "reproduce draw": ([], {"--out": "empty"}),
    "reproduce prepare": (["fig1"], {"--out": "new"}),
    "reproduce keep": (["true-attractors"], {"--sweeps": "empty", "--weights": "new"}),
    "reproduce restore": (["true-attractors"], {"--sweeps": "new", "--weights": "empty"}),
    "reproduce about": (["fig1"], {}),
    "baseline": (["characters"], {"--epochs": "1", "--out": "new"}),
    "bench": (["flip-flop N=6 B=10"], {"--rounds": "1", "--skip": "a"}),
    "list": ([], {}),
    "info": ([], {}),
}
"""Of every command, arguments and options that make it valid (or, where that needs a data set, nearly so)."""

TASK_OF = {
    **dict.fromkeys(["channels", "tau_ou", "lambda_ou", "sigma_ou"], "ou"),
    **dict.fromkeys(["dropped", "ends"], "characters"),
    **dict.fromkeys(["version", "parts"], "speech"),
    **dict.fromkeys(["trial_column", "time_column", "input_columns", "target_columns", "label_column"], "own.csv"),
    **dict.fromkeys(["fill", "timestamp", "counts", "standardise", "test"], "own.npz"),
}
"""The task of an option that the flip-flops do not have."""
MODEL_OF = {"gate": "lem"}


@dataclasses.dataclass(frozen=True)
class Case:
    """A bad command line; `damage`, what is done to a stored file before: (path, kind)."""

    words: tuple[str, ...]
    group: str
    damage: tuple[str, str] | None = None

    def __str__(self) -> str:
        shown = " ".join(word if len(word) < 80 else f"{word[:20]}...({len(word)})" for word in map(ascii, self.words))
        return f"{self.group}: gnode {shown}" + (f" with {self.damage[1]} {self.damage[0]}" if self.damage else "")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """An option or argument of a command: its name, its flag (none for an argument), its type, and its range."""

    name: str
    flag: str | None
    kind: type
    least: float | None = None
    largest: float | None = None


def parameters() -> dict[str, list[Parameter]]:
    """Returns the parameters of every command, by its words."""
    found: dict[str, list[Parameter]] = {}
    for name in _app.COMMANDS:
        app = typer.Typer()
        importlib.import_module(f"gnode.cli.{_app._module(name)}").add_to(app)
        for command in app.registered_commands:
            if command.name == name:
                found[name] = _parameters(command.callback)
        for group in app.registered_groups:
            for command in group.typer_instance.registered_commands:
                found[f"{name} {command.name}"] = _parameters(command.callback)
    return found


def _parameters(function) -> list[Parameter]:
    found = []
    for name, one in inspect.signature(function).parameters.items():
        hint, info = typing.get_args(one.annotation)[:2]
        kinds = [kind for kind in (bool, int, float, str, Path) if kind is hint or kind in _inside(hint)]
        is_option = type(info).__name__ == "OptionInfo"
        flags = [flag for flag in info.param_decls or () if flag.startswith("--")]
        flag = (flags[0] if flags else "--" + name.replace("_", "-")) if is_option else None
        found.append(Parameter(name, flag, kinds[0], *RANGES.get(info.callback, (None, None))))
    return found


def _inside(hint) -> set:
    return {kind for one in typing.get_args(hint) for kind in ({one} | _inside(one))}


def bad_texts(command: str, parameter: Parameter) -> list[str]:
    """Returns texts that a parameter must refuse."""
    name = parameter.name
    if command in ("train", "sweep run") and name in OPTIONS and parameter.flag:
        return _bad_settings(name, several=command == "sweep run")
    if parameter.kind is bool:
        return []
    if parameter.kind is int:
        above = [] if parameter.largest is None else [str(int(parameter.largest) + 1)]
        return _bad_wholes(name, 1 if parameter.least is None else int(parameter.least)) + above
    if parameter.kind is float:
        return _bad_numbers(name)
    if parameter.kind is Path:
        return _bad_paths(command, name)
    if name in bad.FREE:
        return []
    return [text for text in bad.ODD + bad.TEXTS.get(name, []) if not _is_fine(name, text)]


def _is_fine(name: str, text: str) -> bool:
    """Whether an odd text happens to be a value: nothing to search for, no layers, or an address (not drawn here)."""
    if name == "search":
        return not text.strip(" ,")
    return name == "url" or (name == "widths" and not text.strip())


def _bad_wholes(name: str, least: int) -> list[str]:
    huge = bad.HUGE[1:] if name in bad.SEEDS else bad.HUGE
    texts = [text for text in bad.ODD if not bad.is_number(text)]
    return texts + huge + bad.NOT_WHOLE + (["0"] if least > 0 and name not in bad.SEEDS else [])


def _bad_numbers(name: str) -> list[str]:
    texts = bad.ODD + [text for text in bad.NOT_FINITE if name not in bad.UNBOUNDED or float(text) != math.inf]
    texts += bad.BEYOND_FLOAT32 if name in bad.SINGLE else []
    return texts + (["0", "1"] if name in bad.NEGATIVE else bad.NOT_POSITIVE)


def _bad_paths(command: str, name: str) -> list[str]:
    if name in ("run", "folder", "resume"):
        return [
            text for text in bad.NO_RUN if command != "doctor" or text != "/"
        ]  # what is there is the machine's matter
    if command == "reproduce collect":
        return [*bad.BAD_FOLDERS, "missing", "own.npz", "/", "[bold]missing"]
    if name == "paths":
        return ["missing", "n" * 256, "[/red]", "/proc/nope", "\udcff"]
    if command.startswith("theory") or command in ("bench", "explore"):
        return bad.BAD_FILES
    if command in ("reproduce list", "reproduce draw"):
        return [*bad.BAD_FOLDERS, "missing"]
    return [*bad.BAD_FOLDERS, *bad.OCCUPIED.get(command, [])]


def _bad_settings(name: str, several: bool) -> list[str]:
    """Returns bad texts of a setting of a run. A sweep takes values that are separated by commas."""
    read = OPTIONS[name].read
    texts = {
        int: _bad_wholes(name, 1),
        float: _bad_numbers(name),
        options.widths: bad.BAD_WIDTHS + bad.HUGE + ["nonsense", "[/red]", "$5_{$", "z" * 300, "\udcff"],
        options.stages: bad.ODD + bad.BAD_STAGES,
        options.numbers: bad.ODD + (bad.BAD_SPANS if name == "span" else bad.BAD_STARTS),
        options.yes_or_no: bad.ODD + bad.BAD_TRUTHS,
        options.words: ["nosuch", ":", "x:nosuch", "[/red]", "z" * 300],
    }.get(read, ["nosuch", "[/red]", "z" * 5000] if name in bad.FREE else bad.ODD)
    return texts if not several else [*texts, *(f"{text},{text}" for text in texts if text.strip(" ,"))]


class Generator:
    """Draws bad command lines from a seed. `groups` names what is drawn; `stored` are damaged folders."""

    GROUPS = ("value", "argument", "pair", "usage", "stored")

    def __init__(self, seed: int = 0, groups: tuple[str, ...] = GROUPS):
        self._choose = random.Random(seed)
        self._groups = groups
        self._known = parameters()
        assert set(self._known) == set(BASES), "every command needs an entry in BASES"

    def all_values(self) -> Iterator[Case]:
        """Yields every option of every command with each of its bad values."""
        for command, known in self._known.items():
            for parameter in known:
                for text in bad_texts(command, parameter):
                    yield self._with(command, parameter, text)

    def draw(self, count: int) -> list[Case]:
        """Draws different cases: as many of each group as there are, up to an equal share of each command."""
        found: dict[Case, None] = {}
        makers = {"value": self._value, "argument": self._argument, "pair": self._pair, "usage": self._usage}
        makers["stored"] = self._stored
        while len(found) < count:
            case = makers[self._choose.choices(self._groups, [WEIGHTS[group] for group in self._groups])[0]]()
            if case is not None:
                found[case] = None
        return list(found)

    def _command(self) -> str:
        return self._choose.choice(list(self._known))

    def _value(self) -> Case | None:
        command = self._choose.choices(list(self._known), [1 + len(known) for known in self._known.values()])[0]
        flagged = [one for one in self._known[command] if one.flag and one.kind is not bool]
        if not flagged:
            return None
        parameter = self._choose.choice(flagged)
        texts = bad_texts(command, parameter)
        return self._with(command, parameter, self._choose.choice(texts)) if texts else None

    def _argument(self) -> Case | None:
        command = self._command()
        arguments = [one for one in self._known[command] if one.flag is None]
        if not arguments:
            return Case((*command.split(), self._choose.choice(bad.ODD) or "x"), "argument")
        parameter = self._choose.choice(arguments)
        return self._with(command, parameter, self._choose.choice(bad_texts(command, parameter)))

    def _pair(self) -> Case | None:
        command = self._command()
        flagged = [one for one in self._known[command] if one.flag and bad_texts(command, one)]
        if len(flagged) < 2:
            return None
        first, second = self._choose.sample(flagged, 2)
        words = self._with(command, first, self._choose.choice(bad_texts(command, first))).words
        return Case((*words, f"{second.flag}={self._choose.choice(bad_texts(command, second))}"), "pair")

    def _with(self, command: str, parameter: Parameter, text: str) -> Case:
        """A valid command line but for one value."""
        arguments, given = list(BASES[command][0]), dict(BASES[command][1])
        if command in ("train", "sweep run") and parameter.flag and parameter.name in OPTIONS:
            arguments, given = self._fitting(command, parameter.name, given)
        if parameter.flag is None:
            places = [one.name for one in self._known[command] if one.flag is None]
            place = places.index(parameter.name)
            arguments[place : place + 1] = [text]
        elif parameter.name == "resume":
            arguments, given = [], {"--resume": text}
        else:
            given[parameter.flag] = text
        words = [f"{flag}={value}" for flag, value in given.items()]
        separator = ["--"] if any(word.startswith("-") for word in arguments) else []
        return Case((*command.split(), *words, *separator, *arguments), "argument" if not parameter.flag else "value")

    def _fitting(self, command: str, name: str, given: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """Returns a task and a model that have a setting."""
        task = TASK_OF.get(name, "flipflop-square")
        if task != "flipflop-square":
            kept = ("--widths", "--epochs", "--out", "--lr")
            given = {flag: value for flag, value in given.items() if flag in kept}
        if task == "own.csv":
            given |= {"--trial-column": "trial", "--input-columns": "x", "--target-columns": "y"}
        if name in MODEL_OF:
            given = {flag: value for flag, value in given.items() if flag != "--widths"} | {"--model": MODEL_OF[name]}
        if name in ("method", "rtol", "atol", "max_steps", "substeps"):
            given |= {"--method": "tsit5" if name != "substeps" else "rk4"}
        return [task], given

    def _usage(self) -> Case:
        """Something wrong with the form: unknown commands and options, missing values, doubled arguments."""
        command, choose = self._command(), self._choose
        words, known = command.split(), self._known[command]
        arguments, flags = BASES[command][0], [one for one in known if one.flag]
        kind = choose.randrange(5)
        if kind == 0:
            wrong = choose.choice([bad.near(words[0], choose), *bad.ODD])
            wrong = wrong if wrong not in _app.COMMANDS else "nonsense"
            return Case((wrong or "x", *words[1:], *arguments), "usage")
        if kind == 1 and flags:
            flag = bad.near(choose.choice(flags).flag, choose)
            flag = flag if flag not in [one.flag for one in flags] and flag.startswith("-") else "--nonsense"
            return Case((*words, flag, "1", *arguments), "usage")
        if kind == 2 and [one for one in flags if one.kind is not bool]:
            return Case(
                (*words, *arguments, choose.choice([one for one in flags if one.kind is not bool]).flag), "usage"
            )
        if kind == 3 and not any(one.name in ("paths", "shapes") for one in known):
            return Case((*words, *2 * (arguments or ["extra"])), "usage")
        return Case((*words, *arguments, "--" + (choose.choice(bad.ODD).strip() or "x")), "usage")

    def _stored(self) -> Case:
        """A command on a folder with a damaged file that it reads."""
        path, words = self._choose.choice([(path, words) for path, many in STORED.items() for words in many])
        kinds = [
            kind for kind in DAMAGES if path.endswith(".json") or kind in ("empty", "truncated", "binary", "folder")
        ]
        damage = f"{self._choose.choice(kinds)}:{self._choose.randrange(1000)}"
        return Case((*words.split(), path.split("/")[0]), "stored", (path, damage))


WEIGHTS = {"value": 10, "argument": 3, "pair": 3, "usage": 4, "stored": 3}
"""How often each group is drawn."""

STORED = {
    "run/config.json": ["train --resume", "analyse --out=new"],
    "run/weights.npz": ["train --resume", "analyse --out=new"],
    "run/result.json": ["train --resume", "analyse --out=new"],
    "begun/config.json": ["train --resume", "analyse --out=new"],
    "begun/checkpoint.npz": ["train --resume"],
    "sweep/sweep.json": ["sweep status", "sweep resume"],
    "trained/sweep.json": ["sweep status", "sweep resume"],
    "trained/members/0000/result.json": ["sweep status"],  # resuming sets the member aside and trains it again
}
"""Stored files, and the commands that read each."""
DAMAGES = ("empty", "truncated", "binary", "folder", "deep", "list", "number", "missing", "unknown", "retyped")
"""Kinds of damage of a stored file; all but the first four are of JSON."""
