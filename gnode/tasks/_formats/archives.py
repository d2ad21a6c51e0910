"""The files inside a folder, a zip or a tar, one after the other, without unpacking anything to disk.

An archive in which any entry points out of its folder, or is a link, is refused.
"""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from gnode import errors

LARGEST = 2**31
"""Bytes of one entry that are read at most; the largest file of the data sets is far below."""

BROKEN = (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
"""What the readers of archives raise for one that is cut short or damaged."""


def entries(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files whose name is `wanted`, in a folder, a .zip, a .tar(.gz), or of one plain file.

    Names are relative to the folder or archive, with forward slashes; the order is that of the folder (by name) or
    archive.
    """
    path = Path(path)
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path).as_posix()
            if file.is_file() and wanted(name):
                yield name, file.read_bytes()
    elif not path.is_file():
        raise errors.ArgumentError(f"{path} does not exist.")
    elif zipfile.is_zipfile(path):
        yield from _guarded(path, _zip_entries(path, wanted))
    elif _is_tar(path):
        yield from _guarded(path, _tar_entries(path, wanted))
    elif _was_an_archive(path):
        raise errors.ArgumentError(f"the archive {path} is broken or truncated; fetch it again.")
    elif wanted(path.name):
        yield path.name, path.read_bytes()


def _guarded(path: Path, found: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    try:
        yield from found
    except BROKEN as problem:
        raise errors.ArgumentError(
            f"the archive {path} is broken or truncated ({str(problem) or type(problem).__name__}); fetch it again."
        ) from problem


def _was_an_archive(path: Path) -> bool:
    """Whether a file that cannot be opened as an archive is a damaged one, by its name or its first bytes."""
    with path.open("rb") as file:
        begins = file.read(2)
    return path.suffix.lower() in (".zip", ".gz", ".tgz", ".tar") or begins in (b"PK", b"\x1f\x8b")


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except BROKEN:
        return False


def _zip_entries(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            is_link = stat.S_ISLNK(entry.external_attr >> 16)
            name = _safe_name(path, entry.filename, is_link, entry.file_size)
            if not entry.is_dir() and wanted(name):
                yield name, archive.read(entry)


def _tar_entries(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path, mode="r:*") as archive:
        for entry in archive:
            name = _safe_name(path, entry.name, not (entry.isfile() or entry.isdir()), entry.size)
            if entry.isfile() and wanted(name):
                content = archive.extractfile(entry)
                assert content is not None
                yield name, content.read()


def _safe_name(path: Path, name: str, is_link: bool, size: int) -> str:
    """The name without a leading "./"; an entry that might leave the folder is an error."""
    parts = PurePosixPath(name.replace("\\", "/"))
    if is_link:
        raise errors.ArgumentError(f"the archive {path} holds {name!r}, which is a link or a device; it is not read.")
    if parts.is_absolute() or ".." in parts.parts or (parts.parts and ":" in parts.parts[0]):
        raise errors.ArgumentError(f"the archive {path} holds {name!r}, which points outside of it; it is not read.")
    if size > LARGEST:
        raise errors.ArgumentError(
            f"the archive {path} holds {name!r} of {size} bytes, more than any file of this data."
        )
    return parts.as_posix()
