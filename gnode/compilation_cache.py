"""Compiled programs are kept on disk, so that no process waits for a compiler where an earlier one did.

JAX has the cache; this file turns it on when gnode first needs JAX, decides where it is, and keeps it small and whole:

- Each machine type has a folder of its own, because a home folder may be shared by machines with different processors.
- The folder can be written by its owner only: a compiled program is code.
- Programs that were not used for longest go when there are too many bytes of them.
- A program that a killed process left half written is removed. Removing one that is just being written or read loses that
  one entry and nothing else, so processes need no lock.

The environment variable GNODE_COMPILATION_CACHE names another folder, or is "off". Whoever has set JAX's own cache keeps it.
"""

import contextlib
import hashlib
import importlib
import os
import platform
import stat
import sys
import warnings
import zlib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from gnode.user_folders import cache_folder

__all__ = ["begin", "tidy"]

VARIABLE = "GNODE_COMPILATION_CACHE"
OFF = "off"
LARGEST = 1_000_000_000
"""In bytes, all machine types together."""
KEPT_WHEN_FULL = 0.8
"""The share of `LARGEST` that stays when something has to go, so that not every process removes something."""
STAMP = "checked"
"""Its time is when the entries of a folder were last checked; only newer ones may be half written."""
PROGRAMS = "*-cache"
"""What JAX calls compiled programs."""
MACHINES = "[0-9a-f]" * 16
"""What folders of machine types are called. Nothing beside them is ever removed: a user may have named any folder."""

_begun = False


def begin() -> None:
    """Turns JAX's persistent cache on, once in a process, unless the user has chosen otherwise. It never fails."""
    global _begun
    if _begun:
        return
    _begun = True
    import jax

    if os.environ.get(VARIABLE, "").lower() == OFF or jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    with contextlib.suppress(OSError, RuntimeError):  # no home folder, or one that cannot be written
        whole = _folder()
        mine = whole / _machine()
        mine.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (_is_private(whole) and _is_private(mine) and os.access(mine, os.W_OK)):
            return
        tidy(whole, mine)
        # An entry that another process is writing at this moment is compiled instead; no one needs to hear of it.
        warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation cache entry")
        jax.config.update("jax_compilation_cache_dir", str(mine))
        if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def tidy(whole: Path, mine: Path, largest: int = LARGEST) -> None:
    """Removes programs of this machine that are not whole, and the oldest files of all machines if there are too many."""
    stamp = mine / STAMP
    checked = stamp.stat().st_mtime if stamp.exists() else 0.0
    for entry in _entries(mine, PROGRAMS):
        if entry.written >= checked - 1 and not _is_whole(entry.path):
            entry.path.unlink(missing_ok=True)
    stamp.touch(mode=0o600)
    # All files, not programs alone: XLA keeps what it measured on a GPU beside them.
    entries = [entry for folder in whole.glob(MACHINES) for entry in _entries(folder, "*") if entry.path.name != STAMP]
    size = sum(entry.size for entry in entries)
    if size > largest:
        for entry in sorted(entries, key=lambda entry: entry.used):
            entry.path.unlink(missing_ok=True)
            size -= entry.size
            if size <= KEPT_WHEN_FULL * largest:
                break


class _Entry(NamedTuple):
    path: Path
    size: int
    written: float
    used: float


def _entries(folder: Path, pattern: str) -> list[_Entry]:
    """Returns the files in a folder and the folders in it. One that another process removes is left out."""
    found: list[_Entry] = []
    for path in folder.rglob(pattern):
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                continue
            found.append(_Entry(path, status.st_size, status.st_mtime, max(status.st_atime, status.st_mtime)))
    return found


def _is_whole(path: Path) -> bool:
    """Whether a compressed file ends where its compression says. Where this cannot be told, it counts as not whole."""
    try:
        data = path.read_bytes()
        if data[:4] == b"\x28\xb5\x2f\xfd":
            zstandard = importlib.import_module("zstandard")  # JAX takes it instead of zlib where it is installed

            reader = zstandard.ZstdDecompressor().decompressobj()
        else:
            reader = zlib.decompressobj()
        reader.decompress(data)
        return bool(reader.eof)
    except Exception:  # each library has errors of its own, and the entry can be made again
        return False


def _folder() -> Path:
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser().absolute() if named else cache_folder() / "compiled"


def _is_private(folder: Path) -> bool:
    """Whether nobody else can put a program there. Where files have no owners, the platform's folder is trusted."""
    status = folder.stat()
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _machine() -> str:
    """Returns a name for what decides whether a compiled program runs here: the versions of JAX and the processor."""
    facts = [version("jax"), version("jaxlib"), sys.platform, platform.machine(), platform.processor()]
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        facts += sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))})
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
