"""Runs bad command lines in this process, in a folder of their own, and says how each ended.

A command line ends well if its exit status is 2, if it says one thing on stderr in at most two lines, and if nothing in the
folder has changed. As a script it judges the cases of a generator one after another, so that one that aborts the process is
known, too:

    python tests/fuzz/judge.py FOLDER SEED COUNT FIRST [GROUP ...]
"""

import contextlib
import dataclasses
import io
import json
import os
import random
import shutil
import signal
import sys
import traceback
from pathlib import Path

LONGEST = 600
"""Characters of a message that somebody still reads."""
SECONDS = 20

KINDS = ("ok", "traceback", "abort", "time-out", "exit status", "long message", "files changed")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a command line ended: `kind`, one of KINDS, and what was seen."""

    kind: str
    seen: str = ""


class _TimeOut(BaseException):
    pass


class Sandbox:
    """A folder with a run, sweeps, files and empty folders, which is as it was before each case."""

    def __init__(self, folder: Path):
        self.folder, self._pristine = folder / "here", folder / "pristine"
        if not self._pristine.exists():
            _furnish(self._pristine)
        self._restore()

    def _restore(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._pristine, self.folder)

    def judge(self, case) -> Outcome:
        """Runs one case and returns how it ended."""
        if case.damage:
            _damage(self.folder, *case.damage)
        before = self._state()
        outcome = _run(case.words, self.folder)
        changed = [path for path, state in self._state().items() ^ before.items()]
        if changed or case.damage:
            self._restore()
        if outcome.kind == "ok" and changed:
            return Outcome("files changed", ", ".join(sorted(set(changed))[:5]))
        return outcome

    def _state(self) -> dict[str, tuple]:
        """The size, the time of change and the kind of everything in the folder."""
        found = {}
        for place, folders, files in os.walk(self.folder):
            for name in (*folders, *files, "."):
                path = os.path.join(place, name)
                facts = os.lstat(path)
                # Who has had the lock of a folder that is there already is of no matter; a new lock is a new file.
                touched = 0 if name == ".lock" else facts.st_mtime_ns
                size = 0 if name == ".lock" else facts.st_size
                found[os.path.relpath(path, self.folder)] = facts.st_mode, size, touched
        return found


def _run(words: tuple[str, ...], folder: Path) -> Outcome:
    from gnode.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors) for errors in ("strict", "backslashreplace"))
    signals = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    environment, here = dict(os.environ), os.getcwd()
    os.chdir(folder)
    os.environ.update({"COLUMNS": "200", "GNODE_DATA": str(folder / "cache")})
    signal.signal(signal.SIGALRM, _time_out)
    signal.alarm(SECONDS)
    status, foreign = 0, ""
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(words))
    except SystemExit as end:
        status = end.code or 0
    except _TimeOut:
        return Outcome("time-out", "".join(traceback.format_exc()[-1500:]))
    except BaseException:
        foreign = traceback.format_exc()
    finally:
        signal.alarm(0)
        for one, handler in signals.items():
            signal.signal(one, handler)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(here)
    return _classified(status, foreign, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    with contextlib.suppress(ValueError):
        stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "replace")


def _classified(status: object, foreign: str, out: str, err: str) -> Outcome:
    if foreign or "Traceback" in out + err:
        return Outcome("traceback", (foreign or out + err)[-1500:])
    if status != 2:
        return Outcome("exit status", f"{status}: {(out + err)[-300:]}")
    lines = err.strip().splitlines()
    if not 1 <= len(lines) <= 2 or len(err) > LONGEST or not lines[0].startswith("gnode: "):
        return Outcome("long message", f"{len(lines)} lines, {len(err)} characters: {err[:700]}")
    return Outcome("ok", err)


def _time_out(number, frame):
    raise _TimeOut


def _furnish(folder: Path) -> None:
    """Makes a run, one that is unfinished, a prepared and a trained sweep, own data, and odd names."""
    import numpy as np

    from gnode.sweeps import sweep
    from gnode.train.spec import RunSpec, train_spec

    folder.mkdir(parents=True)
    small = {"trials": 4, "validation": 2, "bins": 3, "widths": (4,), "epochs": 1}
    train_spec(RunSpec.of("flipflop-square", small), folder / "run")
    sweep("flipflop-square", folder / "sweep", prepare=True, **small)
    sweep("flipflop-square", folder / "trained", lr=[1e-3, 1e-2], engine="threads", workers=1, **small)
    for copy in ("begun", "[link=x]run"):
        shutil.copytree(folder / "run", folder / copy)
    (folder / "begun" / "result.json").unlink()
    shutil.copytree(folder / "sweep", folder / "[/red]sweep")
    for name in ("empty", "[/red]", "cache"):
        (folder / name).mkdir()
    (folder / "file.txt").write_text("nothing\n")
    numbers = np.random.default_rng(0).standard_normal((8, 3, 1))
    np.savez(folder / "own.npz", inputs=numbers, targets=numbers)
    rows = [f"{trial},{t},{x},{x}" for trial in range(8) for t, x in enumerate((0.1, 0.2, 0.3))]
    (folder / "own.csv").write_text("\n".join(["trial,time,x,y", *rows]) + "\n")


def _damage(folder: Path, name: str, kind: str) -> None:
    """Damages a stored file."""
    path, (kind, seed) = folder / name, kind.split(":")
    choose = random.Random(int(seed))
    content = path.read_bytes()
    if kind == "folder":
        path.unlink()
        path.mkdir()
        return
    plain = {
        "empty": lambda: b"",
        "truncated": lambda: content[: choose.randrange(1, len(content) - 2)],
        "binary": lambda: choose.randbytes(200),
        "deep": lambda: b"[" * 100_000,
        "list": lambda: b"[1, 2]",
        "number": lambda: choose.choice([b"3", b"null", b'"text"', b"true", b"NaN"]),
    }
    path.write_bytes(
        plain[kind]() if kind in plain else json.dumps(_altered(json.loads(content), kind, choose)).encode()
    )


def _altered(value: dict, kind: str, choose: random.Random) -> dict:
    """Takes away, adds or retypes one key of a JSON object."""
    # What describes the machine and the versions is not needed to read the folder.
    needed = [key for key in value if key in ("task", "settings", "network", "axes", "status")]
    name = choose.choice(needed or list(value))
    if kind == "missing":
        return {key: part for key, part in value.items() if key != name}
    if kind == "unknown":
        part = value.get("settings", value.get("axes", value))
        part["nonsense"] = [1]
        return value
    wrong = [17, "text", [], {}, None, [[]], 1e300]
    return value | {name: choose.choice([one for one in wrong if type(one) is not type(value[name])])}


def main() -> None:
    """Judges a range of cases and prints a line of JSON for each: its number, kind, and what was seen."""
    folder, seed, count, first, *groups = sys.argv[1:]
    from bad_commands import Generator

    cases = Generator(int(seed), *([tuple(groups)] if groups else [])).draw(int(count))
    sandbox = Sandbox(Path(folder))
    for number, case in list(enumerate(cases))[int(first) :]:
        print(json.dumps({"begun": number}), flush=True)
        outcome = sandbox.judge(case)
        print(json.dumps({"number": number, "case": str(case), "kind": outcome.kind, "seen": outcome.seen}), flush=True)


if __name__ == "__main__":
    main()
