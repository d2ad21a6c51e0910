"""On a CPU: one network after another on each core.

Matrices as small as these leave nothing for a second core, and a vmapped group is no faster than its members one by one.
One compiled program serves all threads.
"""

import threading
import time
from collections.abc import Sequence, Sized

from gnode import interrupts
from gnode.devices import available_cores
from gnode.sweeps._member import pose, result_of
from gnode.sweeps._member_checkpoints import MemberCheckpoints, SavePace
from gnode.sweeps.engines.base import Work
from gnode.sweeps.grid import Grid, Group
from gnode.tasks import Task
from gnode.train import loop
from gnode.train.checkpoint import Checkpoint
from gnode.train.loop import Data

SPARE = 1
"""Threads beyond the cores: while one writes a member's files or waits for Python, another keeps the core busy."""
WAIT_SECONDS = 0.02


class _Stopped(Exception):
    """Raised inside a worker when the sweep is being stopped."""


class Threads:
    """Trains members one by one in `workers` threads, by default one for each core and one more."""

    name = "threads"

    def __init__(self, workers: int | None = None):
        self.workers = available_cores() + SPARE if workers is None else workers

    def train(self, work: Work) -> None:
        _Pool(work, self.workers).train()

    def members_at_once(self, group: Group, task: Task, members: int) -> int:
        return min(self.workers, members)

    def compilations(self, rounds: Sequence[int]) -> int:
        return 1  # one compiled program serves all threads


class _Pool:
    """Threads that take members from a queue until none is left."""

    def __init__(self, work: Work, workers: int):
        self.work, self.members = work, work.grid.members
        self.queue, self.data = _Queue(work.grid, work.todo), _DataCache()
        self.checkpoints = MemberCheckpoints(work.folder)
        self.stop, self.problems = threading.Event(), list[BaseException]()
        self.begun, self.ended = list[None](), list[None]()
        number = min(workers, max(len(work.todo), 1))
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(number)]

    def train(self) -> None:
        try:
            for thread in self.threads:
                thread.start()
            self._wait(self.threads)
        except BaseException:
            self.stop.set()  # one that has been started but has not begun sees it, and does nothing
            self._wait(self.begun)  # each to the end of its epoch: one that computes while the process ends crashes it
            raise
        if self.problems:
            raise self.problems[0]

    def _wait(self, threads: Sized) -> None:
        # Not by join: after a Ctrl-C in it Python takes the thread for ended. In short waits, so that Ctrl-C is heard.
        while len(self.ended) < len(threads):
            time.sleep(WAIT_SECONDS)

    def _work(self) -> None:
        self.begun.append(None)
        try:
            while not self.stop.is_set() and (taken := self.queue.take()) is not None:
                index, group = taken
                try:
                    self._train_member(index, group)
                except _Stopped:
                    return
                except BaseException as problem:
                    self.problems.append(problem)
                    self.stop.set()
                finally:
                    self.queue.give_back(group)
        finally:
            self.ended.append(None)

    def _train_member(self, index: int, group: "_GroupState") -> None:
        began, pace = time.monotonic(), SavePace()
        settings = self.members[index]
        task = self.work.tasks(settings)
        problem = pose(settings, task, self.data(task))
        start = self.checkpoints.load(index, loop.begin(problem))
        self.work.tick(start.epoch)

        def timed(now: Checkpoint) -> Checkpoint:
            return now._replace(seconds=start.seconds + time.monotonic() - began)

        def after_epoch(now: Checkpoint) -> None:
            group.compiled = True
            self.work.tick(1)
            stopped = self.stop.is_set() or interrupts.is_wanted()
            if stopped or pace.is_due():
                with pace:
                    self.checkpoints.save(index, timed(now))
            if self.stop.is_set():
                raise _Stopped

        done = loop.train(problem, start, after_epoch)
        self.work.tick(problem.settings.epochs - done.epoch)
        self.work.deliver(result_of(index, settings, task, problem, timed(done)))


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
