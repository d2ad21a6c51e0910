"""Iteration over the files of a folder, a zip or a tar archive, without unpacking to disk.

An archive is refused if an entry is a link, if its path leads outside of the archive, or if it would unpack to too much.
"""

import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from gnode import errors
from gnode.tasks._formats.plain import plain_file, told

MAX_ENTRY_BYTES = 2**31
"""Largest size of an entry that is read; the files of the data sets are much smaller."""
MAX_TOTAL_BYTES = 2**34
"""Largest size of all entries together: 16 GiB, some five times that of the largest data set."""
MAX_ENTRIES = 500_000
"""Largest number of entries, some five times that of the data set with the most files."""
MAX_DEFLATED = 1032
"""How many times its size the content of a zip entry can be: what the method of compression reaches at most."""

ARCHIVE_ERRORS = (
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    struct.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
)
"""Exceptions that the readers of archives raise for a truncated or damaged archive."""


def entries(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yields name and content of the wanted files of a folder or archive, or of a single file.

    **Arguments:**

    - `path`: a folder, a .zip or .tar(.gz) archive, or a plain file.
    - `wanted`: function that selects files by name. Names are relative to the folder or archive, with forward slashes.

    **Returns:** an iterator, ordered by name for a folder and as stored for an archive.

    **Raises:** `ArgumentError` if the path does not exist, or if the archive is damaged or refused.
    """
    path = Path(path)
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path).as_posix()
            if wanted(name) and not file.is_dir():
                yield name, _content(file)
        return
    plain_file(path)
    if zipfile.is_zipfile(path):
        yield from _checked_entries(path, _zip_entries(path, wanted))
    elif _is_tar(path):
        yield from _checked_entries(path, _tar_entries(path, wanted))
    elif _is_damaged_archive(path):
        raise errors.ArgumentError(f"the archive {path} is broken or truncated; fetch it again.")
    elif wanted(path.name):
        yield path.name, _content(path)


def _content(path: Path) -> bytes:
    """Returns the content of a plain file."""
    errors.affordable("the size of", path.name, plain_file(path).stat().st_size)
    try:
        return path.read_bytes()
    except OSError as problem:
        raise errors.ArgumentError(f"file {path} cannot be read ({told(problem)}).") from problem


def _checked_entries(path: Path, found: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Turns the exceptions of a damaged archive into an `ArgumentError`."""
    try:
        yield from found
    except errors.ArgumentError:
        raise
    except ARCHIVE_ERRORS as problem:
        raise errors.ArgumentError(
            f"the archive {path} is broken or truncated ({told(problem)}); fetch it again."
        ) from problem


def _is_damaged_archive(path: Path) -> bool:
    """Whether a file that cannot be opened as an archive looks like one by its suffix or its first bytes."""
    with path.open("rb") as file:
        begins = file.read(2)
    return path.suffix.lower() in (".zip", ".gz", ".tgz", ".tar") or begins in (b"PK", b"\x1f\x8b")


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except ARCHIVE_ERRORS:
        return False


def _zip_entries(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        found = archive.infolist()
        _refuse_much(path, len(found), sum(entry.file_size for entry in found))
        for entry in found:
            is_link = stat.S_ISLNK(entry.external_attr >> 16)
            name = _safe_name(path, entry.filename, is_link, entry.file_size)
            if not entry.is_dir() and wanted(name):
                refuse_expansion(entry)
                yield name, archive.read(entry)


def _tar_entries(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    total = 0
    with tarfile.open(path, mode="r:*") as archive:
        for count, entry in enumerate(archive, start=1):
            total += entry.size
            _refuse_much(path, count, total)
            name = _safe_name(path, entry.name, not (entry.isfile() or entry.isdir()), entry.size)
            if entry.isfile() and wanted(name):
                content = archive.extractfile(entry)
                assert content is not None
                yield name, content.read()


def _refuse_much(path: Path, count: int, total: int) -> None:
    """Raises an `ArgumentError` if an archive holds too much."""
    if count > MAX_ENTRIES:
        raise errors.ArgumentError(
            f"the archive {path} holds {count} files or more, but may hold at most {MAX_ENTRIES}."
        )
    if total > MAX_TOTAL_BYTES:
        raise errors.ArgumentError(
            f"the archive {path} unpacks to {total} bytes or more, but may hold at most {MAX_TOTAL_BYTES}."
        )


def refuse_expansion(entry: zipfile.ZipInfo) -> None:
    """Raises an `ArgumentError` if an entry claims to unpack to more than its bytes can hold."""
    most = MAX_DEFLATED if entry.compress_type == zipfile.ZIP_DEFLATED else 1
    if entry.compress_type in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED) and (
        entry.file_size > most * entry.compress_size + 1024
    ):
        raise errors.ArgumentError(
            f"{errors.shortened(entry.filename)} claims to unpack from {entry.compress_size} to {entry.file_size} bytes, "
            f"which it cannot; it is damaged."
        )


def _safe_name(path: Path, name: str, is_link: bool, size: int) -> str:
    """Returns the name without a leading "./", or raises an `ArgumentError` if the entry may lead outside of the archive."""
    parts = PurePosixPath(name.replace("\\", "/"))
    if is_link:
        raise errors.ArgumentError(
            f"the archive {path} holds {errors.shown(name)}, which is a link or a device; it is not read."
        )
    if parts.is_absolute() or ".." in parts.parts or (parts.parts and ":" in parts.parts[0]):
        raise errors.ArgumentError(
            f"the archive {path} holds {errors.shown(name)}, which points outside of it; it is not read."
        )
    if size > MAX_ENTRY_BYTES:
        raise errors.ArgumentError(
            f"the archive {path} holds {errors.shown(name)} of {size} bytes, but must hold files of at most "
            f"{MAX_ENTRY_BYTES} bytes."
        )
    return parts.as_posix()
