"""A disk that forgets: records what a program does to a folder, and makes the folders that a power cut could leave.

A file's content is sure to be there only after the file was flushed (fsync), and a name, a rename or a removal only after
its folder was flushed. At every operation the disk may have kept all, nothing, or one of content and names.
"""

import os
import sys
from pathlib import Path

POLICIES = ("all", "nothing", "names without content", "names with half the content", "content without names")
"""What of the unflushed a power cut leaves. The first is a kill of the process alone."""


class File:
    """A file: its content now, and what of it was flushed."""

    def __init__(self):
        self.now, self.flushed = b"", b""


class Folder:
    """A folder: its names now, and those that were flushed."""

    def __init__(self):
        self.now, self.flushed = {}, {}


class Recorder:
    """Records the operations on files below a folder while it is used as a context.

    `trees[k]` are those that can be left if the power fails before operation k, by what was kept.
    """

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.operations, self.trees, self._disk, self._is_on = [], [], Folder(), False
        self._fsync = os.fsync
        sys.addaudithook(self._heard)

    def __enter__(self):
        self._is_on, os.fsync = True, self._fsync_heard
        return self

    def __exit__(self, *problem):
        self._is_on, os.fsync = False, self._fsync
        self._cut("end")

    def _heard(self, event, arguments):
        """Hears of an operation before it is done."""
        if not self._is_on:
            return
        if event == "open" and isinstance(arguments[0], str) and (arguments[2] or 0) & (os.O_CREAT | os.O_TRUNC):
            self._note("write", arguments[0])
        elif event in ("os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir"):
            self._note(event.removeprefix("os."), *_full_paths(arguments))

    def _fsync_heard(self, number):
        self._note("flush", os.readlink(f"/proc/self/fd/{number}"))
        self._fsync(number)

    def _note(self, what, *paths):
        places = [self._place(path) for path in paths]
        if any(place is None for place in places) or (places == [()] and what != "flush"):
            return
        self._cut(f"{what} {' '.join('/'.join(place) for place in places)}")
        getattr(self, f"_{what}")(*places)

    def _place(self, path):
        full = Path(os.path.abspath(path))
        return full.relative_to(self.root).parts if full.is_relative_to(self.root) else None

    def _cut(self, name):
        """What the disk could hold before the operation of this name."""
        self._is_on = False
        try:
            self._read(self._disk, self.root)
        finally:
            self._is_on = name != "end"
        self.operations.append(name)
        left = {policy: _tree(self._disk, policy) for policy in POLICIES}
        for folder, one in _unflushed(self._disk):  # a disk may keep a later change of names and forget an earlier one
            left[f"all but the name {one}"] = _tree(self._disk, "all", (folder, one))
        self.trees.append(left)

    def _read(self, folder, path):
        """Brings the contents up to date with what the program has written so far."""
        for name, node in folder.now.items():
            if isinstance(node, Folder):
                self._read(node, path / name)
            elif (path / name).is_file():
                node.now = (path / name).read_bytes()

    def _at(self, place):
        node = self._disk
        for name in place:
            node = node.now[name]
        return node

    def _write(self, place):
        self._at(place[:-1]).now.setdefault(place[-1], File())

    def _mkdir(self, place):
        if (self.root / Path(*place[:-1])).is_dir():  # else it fails
            self._at(place[:-1]).now.setdefault(place[-1], Folder())

    def _remove(self, place):
        if os.path.lexists(self.root / Path(*place)):
            self._at(place[:-1]).now.pop(place[-1], None)

    _rmdir = _remove

    def _link(self, old, new):
        self._at(new[:-1]).now[new[-1]] = self._at(old)

    def _rename(self, old, new):
        self._at(new[:-1]).now[new[-1]] = self._at(old[:-1]).now.pop(old[-1])

    def _flush(self, place):
        node = self._at(place)
        if isinstance(node, Folder):
            node.flushed = dict(node.now)
        else:
            node.flushed = node.now


def _full_paths(arguments):
    """The paths among the arguments of an operation. Some are relative to an open folder, whose number comes after them."""
    paths = [path for path in arguments if isinstance(path, str | os.PathLike)]
    folders = arguments[-len(paths) :]
    return [
        path if number < 0 else f"{os.readlink(f'/proc/self/fd/{number}')}/{path}"
        for path, number in zip(paths, folders)
    ]


def _unflushed(folder):
    """Every name that was given, changed or removed and not flushed, with its folder."""
    names = dict.fromkeys([*folder.now, *folder.flushed])
    found = [(folder, name) for name in names if folder.now.get(name) is not folder.flushed.get(name)]
    for node in folder.now.values():
        found += _unflushed(node) if isinstance(node, Folder) else []
    return found


def _tree(folder, policy, forgotten=(None, None)):
    """The content of a folder after a power cut: bytes by name, and further trees. `forgotten` is a folder and a name."""
    names = dict(folder.flushed if policy in ("nothing", "content without names") else folder.now)
    if forgotten[0] is folder:
        names.pop(forgotten[1], None)
        if forgotten[1] in folder.flushed:
            names[forgotten[1]] = folder.flushed[forgotten[1]]
    return {name: _left(node, policy, forgotten) for name, node in names.items()}


def _left(node, policy, forgotten):
    if isinstance(node, Folder):
        return _tree(node, policy, forgotten)
    if policy in ("all", "content without names") or node.now == node.flushed:
        return node.now
    return node.now[: len(node.now) // 2] if policy == "names with half the content" else node.flushed


def restore(tree, folder):
    """Writes a tree that was left to a folder."""
    folder.mkdir(parents=True)
    for name, content in tree.items():
        if isinstance(content, dict):
            restore(content, folder / name)
        else:
            (folder / name).write_bytes(content)
