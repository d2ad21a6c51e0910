"""Compiled programs are kept on disk: by whom, where, and what happens to broken ones and to too many."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnode import compilation_cache

PROGRAM = """
import time
import gnode
cell = gnode.cells.gru(2, 7, tau=0.1, key=0)
began = time.perf_counter()
states = gnode.rollout(cell, [[1.0, 2.0]] * 9, [0.0] * 7, dt=0.1)
print(float(states.sum()))
import jax
print(jax.config.values["jax_compilation_cache_dir"])
"""


def environment(home, **more):
    """That of a user whose home is `home`, without what the tests set for themselves."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_COMP", "JAX_PERS"))}
    return kept | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")} | more


def run(home, **more):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment(home, **more)
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def entries(home):
    return sorted((home / "cache").rglob("*-cache"))


def test_the_second_process_compiles_nothing_and_a_broken_entry_is_made_again(tmp_path):
    value, folder = run(tmp_path)
    first = {path: path.read_bytes() for path in entries(tmp_path)}
    assert first
    assert all(path.parent == Path(folder) for path in first)
    assert Path(folder).stat().st_mode & 0o077 == 0

    assert run(tmp_path)[0] == value
    assert {path: path.read_bytes() for path in entries(tmp_path)} == first  # nothing new was compiled

    broken = max(first, key=lambda path: len(first[path]))
    broken.write_bytes(first[broken][: len(first[broken]) // 2])  # as a process that was killed leaves it
    assert run(tmp_path)[0] == value
    assert compilation_cache._is_whole(broken)


def test_many_processes_at_once(tmp_path):
    command = [sys.executable, "-c", PROGRAM]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment(tmp_path)}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    said = [process.communicate() for process in processes]
    assert {process.returncode for process in processes} == {0}
    assert len({out for out, _ in said}) == 1
    assert {err for _, err in said} == {""}
    assert all(compilation_cache._is_whole(path) for path in entries(tmp_path))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"GNODE_COMPILATION_CACHE": "off"}, "None"),
        ({"GNODE_COMPILATION_CACHE": "{home}/elsewhere"}, "{home}/elsewhere/"),
        ({"JAX_COMPILATION_CACHE_DIR": "{home}/own"}, "{home}/own"),
        ({"XDG_CACHE_HOME": "/proc/none"}, "None"),  # cannot be written
    ],
)
def test_where_it_is(given, expected, tmp_path):
    given = {name: value.format(home=tmp_path) for name, value in given.items()}
    assert run(tmp_path, **given)[1].startswith(expected.format(home=tmp_path))


def test_a_folder_that_others_can_write_is_not_used(tmp_path):
    """Who can put a compiled program there can run code as the user."""
    (tmp_path / "cache" / "gnode" / "compiled").mkdir(parents=True)
    (tmp_path / "cache" / "gnode" / "compiled").chmod(0o777)
    assert run(tmp_path)[1] == "None"


def test_the_oldest_go_when_there_are_too_many(tmp_path):
    mine, other, measured = tmp_path / ("1" * 16), tmp_path / ("a" * 16), tmp_path / ("1" * 16) / "autotuned"
    for folder in (mine, other, measured):
        folder.mkdir()
    (tmp_path / "notes").write_bytes(bytes(50_000))  # a user's, who named this folder for the cache
    compilation_cache.tidy(tmp_path, mine)  # what is older than this is not read again, which would count as being used
    now = time.time()
    for age in range(10):
        path = (mine, other, measured)[age % 3] / (f"{age}-cache" if age % 3 < 2 else str(age))
        path.write_bytes(compilation_cache.zlib.compress(os.urandom(1000)))
        os.utime(path, (now - 1000 * age, now - 1000 * age))
    size = path.stat().st_size
    compilation_cache.tidy(tmp_path, mine, largest=9 * size)
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()} - {compilation_cache.STAMP, "notes"}
    assert sorted(left) == ["0-cache", "1-cache", "2", "3-cache", "4-cache", "5", "6-cache"]
    compilation_cache.tidy(tmp_path, mine, largest=9 * size)
    assert len(list(tmp_path.rglob("*-cache"))) == 5
    assert (tmp_path / "notes").exists()


def test_only_new_entries_are_checked(tmp_path):
    """Reading a gigabyte at every start would be a wait of its own."""
    old, new = tmp_path / "old-cache", tmp_path / "new-cache"
    compilation_cache.tidy(tmp_path, tmp_path)
    for path in (old, new):
        path.write_bytes(b"no program")
    os.utime(old, (time.time() - 100, time.time() - 100))
    compilation_cache.tidy(tmp_path, tmp_path)
    assert old.exists()
    assert not new.exists()
