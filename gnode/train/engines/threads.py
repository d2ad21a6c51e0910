"""On a CPU: one network after another on each core.

Matrices as small as these leave nothing for a second core, and a vmapped group is no faster than its members one by one.
One compiled program serves all threads.
"""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gnode import stopping
from gnode.solve import available_cores
from gnode.tasks import Task
from gnode.train import loop, member
from gnode.train.grid import Grid, TaskCache
from gnode.train.loop import Data, Progress
from gnode.train.member import Outcome
from gnode.train.unfinished import Pace, Unfinished

Deliver = Callable[[Outcome], None]
Tick = Callable[[int], None]
"""Called with the number of member-epochs that have just been done."""


SPARE = 1
"""Threads beyond the cores: while one writes a member's files or waits for Python, another keeps the core busy."""
WAIT_SECONDS = 0.02


class _Stopped(Exception):
    """Raised inside a worker when the sweep is being stopped."""


def train_in_threads(
    grid: Grid,
    todo: Sequence[int],
    tasks: TaskCache,
    deliver: Deliver,
    tick: Tick,
    workers: int | None = None,
    folder: Path | None = None,
) -> None:
    """Trains members one by one in a thread for each core, and one more."""
    queue = _Queue(grid, todo)
    members = grid.members
    data = _DataCache()
    problems: list[BaseException] = []
    stop = threading.Event()
    unfinished = Unfinished(folder)
    over: list[None] = []

    def work() -> None:
        try:
            take_and_train()
        finally:
            over.append(None)

    def take_and_train() -> None:
        while not stop.is_set() and (taken := queue.take()) is not None:
            index, group = taken
            try:
                _train_member(
                    index, members[index], tasks(members[index]), data, group, deliver, tick, stop, unfinished
                )
            except _Stopped:
                return
            except BaseException as problem:
                problems.append(problem)
                stop.set()
            finally:
                queue.give_back(group)

    threads = [
        threading.Thread(target=work, daemon=True)
        for _ in range(min(workers or workers_by_default(), max(len(todo), 1)))
    ]

    def wait() -> None:
        # Not by join: after a Ctrl-C in it Python takes the thread for ended. In short waits, so that Ctrl-C is heard.
        while len(over) < len(threads):
            time.sleep(WAIT_SECONDS)

    for thread in threads:
        thread.start()
    try:
        wait()
    except BaseException:
        stop.set()
        wait()  # each to the end of its epoch: one that computes while the process ends takes it down with a crash
        raise
    if problems:
        raise problems[0]


def workers_by_default() -> int:
    """The threads that train members."""
    return available_cores() + SPARE


class _GroupState:
    """Whether a group's program has been compiled, or is being compiled by a thread."""

    def __init__(self) -> None:
        self.compiled = False
        self.compiling = False


class _Queue:
    """Hands out members. While a group's program is being compiled its other members wait, and other groups go first."""

    def __init__(self, grid: Grid, todo: Sequence[int]):
        wanted = set(todo)
        self._waiting = [
            (index, state) for group in grid.groups for state in (_GroupState(),) for index in group.members
        ]
        self._waiting = [(index, state) for index, state in self._waiting if index in wanted]
        self._changed = threading.Condition()

    def take(self) -> tuple[int, _GroupState] | None:
        with self._changed:
            while self._waiting:
                for position, (index, group) in enumerate(self._waiting):
                    if group.compiled or not group.compiling:
                        group.compiling = not group.compiled
                        self._waiting.pop(position)
                        return index, group
                self._changed.wait(0.5)
            return None

    def give_back(self, group: _GroupState) -> None:
        """The group's compilation is over, one way or the other."""
        with self._changed:
            group.compiling = False
            self._changed.notify_all()


class _DataCache:
    """The trials of each task on the device, once."""

    def __init__(self) -> None:
        self._data: dict[int, Data] = {}
        self._lock = threading.Lock()

    def __call__(self, task: Task) -> Data:
        with self._lock:
            if id(task) not in self._data:
                self._data[id(task)] = loop.on_device(task)
            return self._data[id(task)]


def _train_member(
    index: int,
    settings: dict[str, Any],
    task: Task,
    data: _DataCache,
    group: _GroupState,
    deliver: Deliver,
    tick: Tick,
    stop: threading.Event,
    unfinished: Unfinished,
) -> None:
    began, pace = time.monotonic(), Pace()
    problem = member.pose(settings, task, data(task))
    start, before = unfinished.load(index, loop.begin(problem))
    tick(start.epoch)

    def seconds() -> float:
        return before + time.monotonic() - began

    def after_epoch(now: Progress) -> None:
        group.compiled = True
        tick(1)
        stopped = stop.is_set() or stopping.is_wanted()
        if stopped or pace.is_due():
            with pace:
                unfinished.save(index, now, seconds())
        if stop.is_set():
            raise _Stopped

    done = loop.train(problem, start, after_epoch)
    tick(problem.settings.epochs - done.epoch)
    deliver(member.outcome(index, settings, task, problem, done, seconds()))
