"""A process that is killed while it adds or replaces a data set: the old or the new one is there, and no leftovers stay."""

import os
import subprocess
import sys

import numpy as np
import pytest

from gnode import errors, files
from gnode.tasks import _replacing, cache

NAME, FILE = "walker2d", "walker2d_rollouts.npz"
OPERATIONS = ("replace", "rename", "mkdir", "unlink", "rmdir", "fsync")


class Killed(BaseException):
    """Nothing after it happens: a dead process neither cleans up nor puts anything back."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


def store(number, replace=False):
    cache.store(NAME, {FILE: {"values": np.full((2, 1), number)}}, {"number": number}, replace)


def stored():
    """The number in the data set that is found, None if there is none."""
    found = cache.find(NAME, [FILE])
    return None if found is None else int(files.read_arrays(found[0])["values"][0, 0])


def killed_at(call, monkeypatch, action):
    """Runs `action` and lets it die before the given operation on files; False if it needed fewer."""
    done = 0
    with monkeypatch.context() as patches:
        for name in OPERATIONS:
            original = getattr(os, name)

            def operation(*args, _original=original, **options):
                nonlocal done
                done += 1
                if done > call:
                    raise Killed
                return _original(*args, **options)

            patches.setattr(os, name, operation)
        try:
            action()
        except Killed:
            return True
    return False


def listing(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_killed_at_every_operation_of_a_first_add(folder, monkeypatch):
    seen = []
    for call in range(100):
        if not killed_at(call, monkeypatch, lambda: store(1)):
            break
        seen.append(stored())
        cache.tidy([NAME])
        assert stored() == seen[-1]
        assert listing(folder) == ([NAME] if seen[-1] else [])
        if seen[-1]:
            _replacing.remove(folder / NAME)
    assert call > 5
    assert set(seen) == {None, 1}
    assert stored() == 1


def test_killed_at_every_operation_of_a_replacement(folder, monkeypatch):
    store(1)
    seen = []
    for call in range(100):
        if not killed_at(call, monkeypatch, lambda: store(2, replace=True)):
            break
        # What a reader finds at once, what it finds in a cache that it cannot write, and what is found after tidying.
        left = listing(folder)
        monkeypatch.setattr(_replacing, "is_writable", lambda folder: False)
        in_place = stored()
        monkeypatch.undo()
        monkeypatch.setenv("GNODE_DATA", str(folder))
        assert listing(folder) == left
        assert in_place in (1, 2)
        assert stored() == in_place
        cache.tidy([NAME])
        assert stored() == in_place
        assert listing(folder) == [NAME]
        seen.append(in_place)
        store(1, replace=True)
    assert call > 8
    assert set(seen) == {1, 2}
    assert (stored(), listing(folder)) == (2, [NAME])


def test_killed_again_while_tidying(folder, monkeypatch):
    """A kill of the replacement at each moment, and then of the tidying at each moment."""
    store(1)
    for call in range(100):
        killed = True
        for second in range(100):
            killed = killed_at(call, monkeypatch, lambda: store(2, replace=True))
            before = stored()
            again = killed_at(second, monkeypatch, lambda: cache.tidy([NAME]))
            assert stored() == before
            cache.tidy([NAME])
            assert (stored(), listing(folder)) == (before, [NAME])
            store(1, replace=True)
            if not again:
                break
        if not killed:
            break
    assert call > 8


def test_a_real_kill_between_the_two_renames(folder):
    store(1)
    program = f"""
import os, signal, sys
import numpy as np
from gnode.tasks import cache
rename, done = os.replace, []
def replace(source, target):
    rename(source, target)
    if ".old." in str(target):
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
cache.store({NAME!r}, {{{FILE!r}: {{"values": np.full((2, 1), 2)}}}}, {{}}, True)
"""
    end = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert end.returncode == -9, end.stderr
    assert NAME not in listing(folder)
    assert len(listing(folder)) == 2
    assert stored() == 1
    cache.tidy([NAME])
    assert listing(folder) == [NAME]


def test_what_a_living_process_writes_is_left_alone(folder):
    store(1)
    with cache.temporary_folder(NAME) as mine:
        (mine / "half").write_text("")
        program = f"from gnode.tasks import cache; cache.tidy([{NAME!r}])"
        subprocess.run([sys.executable, "-c", program], check=True)
        assert (mine / "half").exists()
    assert listing(folder) == [NAME]


def test_leftovers_of_earlier_versions_and_of_others(folder):
    store(1)
    (folder / NAME).rename(folder / f".{NAME}.old.0123abcd.tmp")
    (folder / f".{NAME}.4567abcd.tmp").mkdir()
    (folder / f".{NAME}-original.4567abcd.tmp").write_text("half a download")
    others = [".result.json.0123abcd.tmp", ".mine.tmp", "notes.txt"]
    for name in others:
        (folder / name).write_text("not of a data set")
    cache.tidy([NAME])
    assert stored() == 1
    assert listing(folder) == sorted([NAME, *others])


def test_links_are_removed_and_not_what_they_lead_to(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / FILE).write_text("mine")
    folder.mkdir()
    for name in (f".{NAME}.0123abcd.tmp", f".{NAME}.old.tmp", NAME):
        (folder / name).symlink_to(outside)
    cache.tidy([NAME])
    assert listing(folder) == [NAME]
    store(2, replace=True)
    assert listing(folder) == [NAME]
    assert stored() == 2
    assert not (folder / NAME).is_symlink()
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [(FILE, "mine")]


def test_files_of_a_data_set_that_are_links_are_replaced_and_not_written_through(folder, tmp_path):
    (tmp_path / "precious").write_text("mine")
    (folder / NAME).mkdir(parents=True)
    for name in (FILE, "about.json"):
        (folder / NAME / name).symlink_to(tmp_path / "precious")
    store(2, replace=True)
    assert stored() == 2
    assert (tmp_path / "precious").read_text() == "mine"


def test_another_process_that_changes_names_for_long(folder, monkeypatch):
    store(1)
    monkeypatch.setattr(_replacing, "PATIENCE", 0.05)
    with _replacing.locked(folder), pytest.raises(errors.StoreError, match="in use by another process"):
        store(2, replace=True)
    assert (stored(), listing(folder)) == (1, [NAME])


def test_no_home_folder(monkeypatch):
    monkeypatch.delenv("GNODE_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    with pytest.raises(errors.StoreError, match="set GNODE_DATA to a folder"):
        cache.find(NAME, [FILE])
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp")
    assert str(cache.cache_folder()) == "/tmp/gnode"
