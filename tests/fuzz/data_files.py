"""Damaged and odd data files of every format that gnode reads, and the judge of what gnode makes of them.

A case takes small good files, damages them (bytes cut, flipped, moved; arrays of other kinds, shapes and values; odd cells
of tables), and makes a task of them. A right answer is a valid task, or an error of gnode in one sentence with nothing left
in the cache. Called as a program it judges cases in a process of its own, which an abort may end:

    python data_files.py COUNT SEED FOLDER
"""

import contextlib
import functools
import hashlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tarfile
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
import small_data
from damage import damage_array, damage_bytes, damage_table

SECONDS, LINES, CHARACTERS = 10, 2, 700
"""How long a case may take, and how long its message may be."""

Contents = dict[str, bytes]
"""Files by their paths."""


class Hang(BaseException):
    """Raised when a case takes too long; nothing in the package catches it."""


@dataclass(frozen=True)
class Case:
    """Files, and how they are read: `add` is the data set that they are added as, `use` whether they lie in the cache."""

    label: str
    files: Contents
    add: str | None = None
    use: str | None = None
    options: tuple[tuple[str, object], ...] = ()


def packed(arrays: dict[str, np.ndarray], compressed: bool = False) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


def npy(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values, allow_pickle=True)
    return file.getvalue()


def zipped(files: Contents) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def tarred(files: Contents, mode: str = "w:gz") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


@functools.cache
def own_arrays(kind: str) -> dict[str, np.ndarray]:
    """The arrays of a good task file."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(12, 5, 2))
    targets = np.arange(12) % 3 if kind == "classes" else rng.normal(size=(12, 5, 1))
    found = {"inputs": inputs, "targets": targets, "mask": np.ones((12, 5)), "lengths": np.full(12, 5)}
    return found | ({"times": np.tile(np.arange(5.0), (12, 1))} if kind == "times" else {"dt": np.asarray(0.1)})


@functools.cache
def own_table() -> str:
    rows = ["trial,time,label,x,y"]
    rows += [
        f"{trial},{step},{'ab'[trial % 2]},{trial * 0.5 + step},{step - trial}"
        for trial in range(8)
        for step in range(3)
    ]
    return "\n".join(rows) + "\n"


@functools.cache
def rollouts() -> dict[str, np.ndarray]:
    found = small_data.rollouts(count=10, samples=90, channels=2)
    return {f"walker/rollout_{index}.npy": values for index, values in enumerate(found)}


@functools.cache
def letters() -> dict[str, bytes]:
    """UCI's and UEA's files of the same letters."""
    trials, labels = small_data.letters(per_letter=4)
    with tempfile.TemporaryDirectory() as folder:
        mat = small_data.write_uci_mat(Path(folder, "mixoutALL_shifted.mat"), trials, labels)
        text = small_data.write_uea_ts(Path(folder, "C_TRAIN.ts"), trials, labels)
        return {path.name: path.read_bytes() for path in (mat, text)}


@functools.cache
def clips() -> Contents:
    words = small_data.WORDS[:4]
    found = {
        f"speech/{word}/{clip}_nohash_0.wav": small_data.wav_bytes(small_data.tone(word, clip))
        for word in words
        for clip in range(2)
    }
    return {**found, "speech/testing_list.txt": b"yes/0_nohash_0.wav\n"}


@functools.cache
def compact(name: str) -> dict[str, dict[str, np.ndarray]]:
    """The arrays of the compact files of a data set."""
    from gnode.tasks.datasets.originals import dataset

    with tempfile.TemporaryDirectory() as folder:
        files = {"walker2d": {k: npy(v) for k, v in rollouts().items()}, "characters": letters(), "speech": clips()}[
            name
        ]
        if name == "characters":
            files = {"C_TRAIN.ts": files["C_TRAIN.ts"]}
        write(Path(folder), files)
        return dataset(name).compact([Path(folder)])


def write(folder: Path, files: Contents) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def damaged(rng: random.Random, files: Contents) -> Contents:
    """Damages the bytes of one of the files."""
    name = rng.choice(sorted(files))
    return files | {name: damage_bytes(rng, files[name])}


def an_own_file(rng: random.Random) -> Case:
    kind = rng.choice(["numbers", "classes", "times"])
    arrays = dict(own_arrays(kind))
    how = rng.choice(["bytes", "array", "array", "arrays", "missing", "extra"])
    if how in ("array", "arrays"):
        for name in rng.sample(sorted(arrays), 1 if how == "array" else 2):
            arrays[name] = damage_array(rng, arrays[name])
    elif how == "missing":
        del arrays[rng.choice(sorted(arrays))]
    elif how == "extra":
        arrays[rng.choice(["times", "dt", "mask", "lengths", "other"])] = damage_array(rng, np.arange(12.0))
    content = packed(arrays, rng.random() < 0.5)
    content = damage_bytes(rng, content) if how == "bytes" else content
    options = [("validation", 0.25)]
    options += rng.choice(
        [[], [("standardise", True), ("fill", "hold")], [("timestamp", "relative")], [("fill", "natural")]]
    )
    return Case(f"npz {kind} {how}", {"mine.npz": content}, options=tuple(options))


def an_own_table(rng: random.Random) -> Case:
    content = damage_table(rng, own_table())
    options = rng.choice([{}, {"target_columns": ("y",)}, {"label_column": "label", "input_columns": ("x", "y")}])
    options = options | rng.choice([{}, {"dt": 0.5}, {"fill": "linear"}, {"standardise": True}])
    return Case("csv", {"mine.csv": content}, options=tuple(options.items()) + (("validation", 0.25),))


def some_rollouts(rng: random.Random) -> Case:
    arrays = dict(rollouts())
    how = rng.choice(["bytes", "array", "packed"])
    if how == "array":
        name = rng.choice(sorted(arrays))
        arrays[name] = damage_array(rng, arrays[name])
    files = {name: npy(values) for name, values in arrays.items()}
    files = damaged(rng, files) if how == "bytes" else files
    return _in_a_folder_or_archive(rng, "walker", files, "walker2d", pack=how == "packed")


def _in_a_folder_or_archive(rng: random.Random, name: str, files: Contents, add: str, pack: bool) -> Case:
    """The files in a folder, a zip or a tar archive; `pack`: it is the archive that is damaged."""
    form = rng.choice(["zip", "tar.gz", "tar"] if pack else ["folder", "zip", "tar"])
    if form == "folder":
        return Case(f"{name} folder", files, add)
    content = zipped(files) if form == "zip" else tarred(files, "w:gz" if form == "tar.gz" else "w")
    content = damage_bytes(rng, content) if pack else content
    return Case(f"{name} {form}", {f"{name}.{form}": content}, add)


def some_letters(rng: random.Random) -> Case:
    name = rng.choice(sorted(letters()))
    files = {name: letters()[name]}
    if name.endswith(".ts") and rng.random() < 0.5:
        return Case("ts cells", {name: damage_table(rng, files[name].decode(), ":,"[rng.random() < 0.7])}, "characters")
    if name.endswith(".mat") and rng.random() < 0.5:
        return Case("mat variables", {name: _odd_mat(rng)}, "characters")
    return Case(f"letters {name}", damaged(rng, files), "characters")


def _odd_mat(rng: random.Random) -> bytes:
    """UCI's file with variables of other kinds and shapes."""
    import scipy.io

    trials, labels = small_data.letters(per_letter=2)
    cell = np.empty((1, len(trials)), object)
    for index, trial in enumerate(trials):
        cell[0, index] = trial.T.astype(float)
    key = np.empty((1, 20), object)
    key[0, :] = list(small_data.LETTERS)
    consts = {"key": key, "charlabels": labels[None] + 1}
    odd = [np.array([1, 2]), "text", 3.0, np.zeros((0, 3)), np.array([[1 + 2j]]), {"a": 1}, np.full((3, 4), np.nan)]
    where = rng.choice(["trial", "mixout", "consts", "key", "charlabels", "missing"])
    value = rng.choice(odd)
    if where == "trial":
        cell[0, rng.randrange(len(trials))] = value
    elif where in consts:
        consts[where] = value
    stored = {"mixout": value if where == "mixout" else cell, "consts": value if where == "consts" else consts}
    if where == "missing":
        del stored[rng.choice(sorted(stored))]
    file = io.BytesIO()
    scipy.io.savemat(file, stored)
    return file.getvalue()


def some_clips(rng: random.Random) -> Case:
    how = rng.choice(["bytes", "header", "packed"])
    files = dict(clips())
    if how != "packed":
        for name in rng.sample([name for name in sorted(files) if name.endswith(".wav")], 1):
            files[name] = damage_bytes(rng, files[name], within=44 if how == "header" else None)
    return _in_a_folder_or_archive(rng, "speech", files, "speech", pack=how == "packed")


def compact_files(rng: random.Random) -> Case:
    name = rng.choice(["walker2d", "characters", "speech"])
    arrays = {file: dict(parts) for file, parts in compact(name).items()}
    file = rng.choice(sorted(arrays))
    how = rng.choice(["bytes", "array", "array", "missing"])
    which = rng.choice(sorted(arrays[file]))
    if how == "array":
        arrays[file][which] = damage_array(rng, arrays[file][which])
    elif how == "missing":
        del arrays[file][which]
    files = {one: packed(parts, True) for one, parts in arrays.items()}
    if how == "bytes":
        files[file] = damage_bytes(rng, files[file])
    label = f"compact {name} {how}"
    return Case(label, files, add=name) if rng.random() < 0.5 else Case(label, files, use=name)


KINDS: tuple[Callable[[random.Random], Case], ...] = (
    an_own_file,
    an_own_file,
    an_own_table,
    an_own_table,
    some_rollouts,
    some_letters,
    some_clips,
    compact_files,
    compact_files,
)


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yields cases, each kind in turn; case n depends on the seed and on n alone."""
    for number in range(count):
        yield KINDS[number % len(KINDS)](random.Random(f"{seed} {number}"))


def judged(case: Case, folder: Path) -> str:
    """Makes a task of the files of a case: "task", "sentence", or what is wrong."""
    from gnode.errors import GnodeError

    cache = folder / "cache"
    shutil.rmtree(folder, ignore_errors=True)
    place = cache if case.use else folder / "files"
    write(place, case.files)
    os.environ["GNODE_DATA"] = str(cache)
    before = _digests(place)
    found = "task"
    try:
        with _limited(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            _make(case, folder)
    except Hang:
        return "hang"
    except GnodeError as problem:
        text = str(problem)
        found = (
            "sentence" if len(text.splitlines()) <= LINES and len(text) <= CHARACTERS else f"long message: {text[:300]}"
        )
        if case.add and cache.exists() and list(cache.iterdir()) not in ([], [cache / _folder_of(case.add)]):
            return f"left in the cache: {list(cache.iterdir())}"
    except MemoryError as problem:
        return f"memory: {problem}"
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return found if _digests(place) == before else "files changed"


def _make(case: Case, folder: Path) -> None:
    from gnode import tasks
    from gnode.tasks.datasets import obtain
    from gnode.tasks.datasets.originals import dataset

    if case.add is None and case.use is None:
        (name,) = case.files
        task = tasks.make(str(folder / "files" / name), **dict(case.options))
    else:
        if case.add is not None:
            top = sorted({name.split("/")[0] for name in case.files})
            obtain.add(dataset(case.add), [folder / "files" / name for name in top])
        task = tasks.make(case.use or case.add)
    for part in (task.train, task.validation, task.test):
        if part is not None and not (np.isfinite(part.inputs).all() and np.isfinite(part.targets).all()):
            raise AssertionError("a task with values that are not finite")


def _folder_of(add: str) -> str:
    return "speech-v1" if add == "speech" else add


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    earlier = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)


def judge(count: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Returns how often each answer came, and a line for each wrong one."""
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning, module="gnode")
        for number, case in enumerate(cases(count, seed)):
            print(number, case.label, file=sys.stderr, flush=True)
            answer = judged(case, folder)
            outcomes[answer if answer in ("task", "sentence", "hang") else "wrong"] += 1
            if answer not in ("task", "sentence"):
                wrong.append(f"case {number} of seed {seed} ({case.label}): {answer}")
    return outcomes, wrong


if __name__ == "__main__":
    counted, lines = judge(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    print(json.dumps({"outcomes": counted, "wrong": lines}))
