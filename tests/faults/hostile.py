"""What somebody else's folder may hold in place of a file: links, pipes, devices, and files that are made to do harm."""

import io
import json
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np

HUGE_JSON = 200_000_000


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (os.mkdir, (self.path,))


def put_link(path, outside):
    _clear(path)
    path.symlink_to(outside / "file")


def put_link_of_its_own_kind(path, outside):
    """A link to a good file of the same name."""
    shutil.copyfile(path, outside / f"good-{path.name}")
    _clear(path)
    path.symlink_to(outside / f"good-{path.name}")


def put_link_to_nothing(path, outside):
    _clear(path)
    path.symlink_to(outside / "new")


def put_link_to_a_folder(path, outside):
    _clear(path)
    path.symlink_to(outside / "folder")


def put_hard_link(path, outside):
    _clear(path)
    os.link(outside / "file", path)


def put_pipe(path, outside):
    _clear(path)
    os.mkfifo(path)


def put_endless(path, outside):
    _clear(path)
    path.symlink_to("/dev/zero")


def put_folder(path, outside):
    _clear(path)
    path.mkdir()
    (path / "inside").touch()


IN_PLACE_OF_A_FILE = {
    "a link": put_link,
    "a link to nothing": put_link_to_nothing,
    "a hard link": put_hard_link,
    "a pipe": put_pipe,
    "an endless file": put_endless,
    "a folder": put_folder,
}


def put_pickle(path, outside):
    with path.open("wb") as file:
        np.savez(file, epoch=np.array([Payload(outside / "payload")], dtype=object))


def put_huge_header(path, outside):
    _put_npy(path, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }")


def put_long_header(path, outside):
    _put_npy(path, "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, " * 15_000 + "), }")


def put_bomb(path, outside):
    """An archive of a few kilobytes with an array of gigabytes."""
    header = _npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3000000000,), }")
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("epoch.npy", "w", force_zip64=True) as file,
    ):
        file.write(header)
        for _ in range(30):
            file.write(bytes(10_000_000))


ARRAYS = {
    "a pickle": put_pickle,
    "a huge header": put_huge_header,
    "a long header": put_long_header,
    "an array that is cut": put_bomb,
}


def put_deep(path, outside):
    path.write_text("[" * 100_000 + "]" * 100_000)


def put_deep_inside(path, outside):
    stored = json.loads(path.read_text())
    name = next(iter(stored))
    text = json.dumps(stored | {name: "HERE"})
    path.write_text(text.replace('"HERE"', '{"a":' * 50_000 + "1" + "}" * 50_000))


def put_huge(path, outside):
    with path.open("w") as file:
        file.write("[0.5")
        part = ", 0.5" * 100_000
        for _ in range(HUGE_JSON // len(part)):
            file.write(part)
        file.write("]")


def put_other_types(path, outside):
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({name: [[]] for name in stored}))


JSON = {"deep": put_deep, "deep inside": put_deep_inside, "huge": put_huge, "other types": put_other_types}

NAMES = ["[/]", "[bold]a[/red]", "a\x1b[31mred", "a\nb", "a\x07\x7f", "[link=file:///etc]x", "-x", "ä\u202e"]
"""Names with rich's markup, control characters, several lines, and the look of an option."""


def make_outside(folder):
    """A folder of somebody's that no command has business in."""
    (folder / "folder" / "0000").mkdir(parents=True)
    for name in (
        "file",
        "folder/file",
        "folder/.bait.tmp",
        "folder/0000.npz",
        "folder/0000/file",
        "folder/0000/.x.tmp",
    ):
        (folder / name).write_text(f"precious {name}")
    return folder


def _clear(path):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _npy(header):
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x02\x00" + len(text).to_bytes(4, "little") + text


def _put_npy(path, header):
    buffer = io.BytesIO()
    buffer.write(_npy(header) + bytes(800))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("epoch.npy", buffer.getvalue())
