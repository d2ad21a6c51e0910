"""Iteration over the files of a folder, a zip or a tar archive, without unpacking to disk.

An archive with an entry that is a link, or whose path leads outside of the archive, is refused.
"""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from gnode import errors

MAX_ENTRY_BYTES = 2**31
"""Largest size of an entry that is read; the files of the data sets are much smaller."""

ARCHIVE_ERRORS = (
    EOFError,
    OSError,
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
            if file.is_file() and wanted(name):
                yield name, file.read_bytes()
    elif not path.is_file():
        raise errors.ArgumentError(f"{path} does not exist.")
    elif zipfile.is_zipfile(path):
        yield from _checked_entries(path, _zip_entries(path, wanted))
    elif _is_tar(path):
        yield from _checked_entries(path, _tar_entries(path, wanted))
    elif _is_damaged_archive(path):
        raise errors.ArgumentError(f"the archive {path} is broken or truncated; fetch it again.")
    elif wanted(path.name):
        yield path.name, path.read_bytes()


def _checked_entries(path: Path, found: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Turns the exceptions of a damaged archive into an `ArgumentError`."""
    try:
        yield from found
    except ARCHIVE_ERRORS as problem:
        raise errors.ArgumentError(
            f"the archive {path} is broken or truncated ({str(problem) or type(problem).__name__}); fetch it again."
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
    """Returns the name without a leading "./", or raises an `ArgumentError` if the entry may lead outside of the archive."""
    parts = PurePosixPath(name.replace("\\", "/"))
    if is_link:
        raise errors.ArgumentError(f"the archive {path} holds {name!r}, which is a link or a device; it is not read.")
    if parts.is_absolute() or ".." in parts.parts or (parts.parts and ":" in parts.parts[0]):
        raise errors.ArgumentError(f"the archive {path} holds {name!r}, which points outside of it; it is not read.")
    if size > MAX_ENTRY_BYTES:
        raise errors.ArgumentError(
            f"the archive {path} holds {name!r} of {size} bytes, but must hold files of at most {MAX_ENTRY_BYTES} bytes."
        )
    return parts.as_posix()
